import { NEWLINE, PERL_SETS } from './regex-sets.ts'
import { type Automaton, follow } from './regex.ts'

/** States of the automaton that paths have come to, and what lies before them. Its edges are found when needed. */
interface Node {
  readonly states: readonly number[]
  readonly before: number
  /** For each ASCII character, and for the end of the text, an edge or {@link UNKNOWN}. */
  readonly edges: Int32Array
}

/** A step by one character: twice the node that it leads to, and 1 more if a match ends before the character. */
export type Edge = number

/** The node that nothing leads on from. */
export const DEAD = 0
/** In place of a character: the end of the text. */
export const TEXT_END = -1
/** In place of a node or an edge: there would be too many nodes. */
export const NO_ROOM = -2
const UNKNOWN = -1
const ASCII = 128
const MAX_NODES = 500
const MAX_OTHERS = 10_000
/** States that all nodes name together. */
const MAX_STORED = 200_000

/** What may lie before a character, as assertions see it: nothing, or one of these characters. */
const NOTHING = -1
const WORD = 0x61
const OTHER = 0x20

/**
 * A pattern as a deterministic automaton, of which only those nodes are made that texts lead to. Most texts lead to
 * few of them, and a step by a character is then one look into an array.
 */
export class Dfa {
  /** States of the automaton that edges were found by since this was last asked for. */
  private visits = 0
  private stored = 0
  private readonly nodes: Node[] = []
  /** The nodes of paths that begin, by what is before. */
  private readonly starts = new Map<number, number>()
  private readonly indices = new Map<string, number>()
  /** Edges by characters beyond ASCII. */
  private readonly others = new Map<number, Edge>()
  private readonly automaton: Automaton

  constructor(automaton: Automaton) {
    this.automaton = automaton
    this.nodeOf([], NOTHING)
  }

  /** The node of a path that begins at a position. */
  startAt(codes: ArrayLike<number>, at: number): number {
    const before = at === 0 ? NOTHING : kindOf(codes[at - 1])
    const known = this.starts.get(before)
    if (known !== undefined) return known
    const node = this.nodeOf([this.automaton.start], before)
    if (node !== NO_ROOM) this.starts.set(before, node)
    return node
  }

  /** @returns the number of states of the automaton that edges were found by since this was last asked */
  takeVisits(): number {
    const { visits } = this
    if (visits !== 0) this.visits = 0
    return visits
  }

  /** What a character, or {@link TEXT_END}, leads to; {@link NO_ROOM} where that would be one node too many. */
  edge(node: number, code: number): Edge {
    const isPlain = code < ASCII
    const slot = code === TEXT_END ? ASCII : code
    const key = node * 0x200000 + code
    const known = isPlain ? this.nodes[node].edges[slot] : (this.others.get(key) ?? UNKNOWN)
    if (known !== UNKNOWN) return known
    const found = this.find(this.nodes[node], code)
    if (found === NO_ROOM) return NO_ROOM
    if (isPlain) this.nodes[node].edges[slot] = found
    else if (this.others.size < MAX_OTHERS) this.others.set(key, found)
    return found
  }

  private find({ states: current, before }: Node, code: number): Edge {
    const { states } = this.automaton
    const context = [...(before === NOTHING ? [] : [before]), ...(code === TEXT_END ? [] : [code])]
    const reached: number[] = []
    const seenAt = new Int32Array(states.length).fill(-1)
    this.visits += states.length + follow(states, current, reached, seenAt, context, before === NOTHING ? 0 : 1)
    const next = new Set<number>()
    for (const index of reached) {
      const state = states[index]
      if (code !== TEXT_END && state.kind === 'char' && state.set(code)) next.add(state.next)
    }
    const node =
      next.size === 0
        ? DEAD
        : this.nodeOf(
            [...next].sort((a, b) => a - b),
            kindOf(code)
          )
    return node === NO_ROOM ? NO_ROOM : 2 * node + (reached.includes(0) ? 1 : 0)
  }

  private nodeOf(states: readonly number[], before: number): number {
    const key = `${before},${states.join()}`
    const known = this.indices.get(key)
    if (known !== undefined) return known
    this.stored += states.length
    if (this.nodes.length >= MAX_NODES || this.stored > MAX_STORED) return NO_ROOM
    this.indices.set(key, this.nodes.length)
    return this.nodes.push({ states, before, edges: new Int32Array(ASCII + 1).fill(UNKNOWN) }) - 1
  }
}

const kindOf = (code: number): number => (code === NEWLINE ? NEWLINE : PERL_SETS.w(code) ? WORD : OTHER)
