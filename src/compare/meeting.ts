import type { Node } from '../graph/graph.ts'
import type { Propagation } from '../infer/propagate.ts'
import type { StepEvent } from '../runtime/run.ts'
import { knownValue } from '../shapes/fact.ts'
import { isTensor, memoryBytes, type Tensor, type Value } from '../tensor/tensor.ts'
import { inLayoutOf } from './layout.ts'
import type { Closeness, Distance } from './measure.ts'
import type { Pair } from './pairs.ts'
import { statisticsOfValue, type ValueStatistics } from './result.ts'
import type { MadeValue, Side } from './side.ts'
import { distanceBetween, inPlaceOf } from './ties.ts'

/** A pair of values that were held against each other. */
export interface Met {
  readonly pair: Pair
  readonly distance: Distance
  /** When the run of `a` made it, in nodes that had run. */
  readonly time: number
  /** Of values in bodies. */
  readonly iteration?: number
  /** Set where no pair that was measured earlier differs. */
  readonly statistics?: { readonly a: ValueStatistics; readonly b: ValueStatistics }
}

export type Walk = AsyncGenerator<StepEvent, Record<string, Value>>
/** What a node made, in a run or known before it. */
export type Made = Pick<StepEvent, 'node' | 'outputs'>
/** A model that is compared: its nodes and values, and a session that runs it on the inputs of the comparison. */
export interface Runner {
  readonly side: Side
  /** A run from the start. */
  walk(): Walk
  /** Values that are known before a run. */
  readonly folded: Iterable<Made>
  end(): void
}

export type SideName = 'a' | 'b'

/** Bytes of values that may wait for their counterparts, beside what the two runs hold themselves. */
export const WAITING_BYTES = 48 * 2 ** 20

/**
 * What plans fold: the values of nodes of the main graph that are known before a run. Runs have no steps for these
 * nodes. (Ids of values in bodies say nothing in the main graph.)
 */
export function* foldedSteps({ bound }: Side, { facts }: Pick<Propagation, 'facts'>): Generator<Made> {
  for (const { node } of bound.items) {
    const outputs = node.outputs.map(id => {
      const fact = id === undefined ? undefined : facts.get(id)
      return fact?.kind === 'tensor' ? knownValue(fact) : undefined
    })
    if (outputs.some(value => value !== undefined)) yield { node, outputs }
  }
}

/** The values that a node made, with the tensors in them. */
export function tensorsMade({ made }: Side, { node, outputs }: Made): [value: MadeValue, tensor: Tensor, at: number][] {
  return (made.get(node) ?? []).flatMap((value, i) => {
    const tensor = outputs[i]
    return value === undefined || tensor === undefined || !isTensor(tensor) ? [] : [[value, tensor, i]]
  })
}

/** Nodes of bodies run before the node that has the bodies. */
export const isInMain = ({ place }: Node): boolean => (place.graphPath ?? '') === ''

/** Pairs by their value on one side. */
export function pairsBy(pairs: Iterable<Pair>, side: SideName): Map<MadeValue, Pair[]> {
  const groups = new Map<MadeValue, Pair[]>()
  for (const pair of pairs) {
    const group = groups.get(pair[side])
    if (group) group.push(pair)
    else groups.set(pair[side], [pair])
  }
  return groups
}

interface Waiting {
  readonly tensor: Tensor
  readonly time: number
}

/** Values of one side that wait for their counterparts. */
export class WaitingRoom {
  /** Bytes of all values here. */
  bytes = 0
  /** In the order of the iterations of a body; the pair that has waited longest comes first. */
  private readonly queues = new Map<Pair, Waiting[]>()

  get isEmpty(): boolean {
    return this.queues.size === 0
  }

  get pairs(): IterableIterator<Pair> {
    return this.queues.keys()
  }

  add(pair: Pair, waiting: Waiting): void {
    const queue = this.queues.get(pair)
    if (queue) queue.push(waiting)
    else this.queues.set(pair, [waiting])
    this.bytes += bytesOf(waiting.tensor)
  }

  take(pair: Pair): Waiting | undefined {
    const queue = this.queues.get(pair)
    const first = queue?.shift()
    if (queue?.length === 0) this.queues.delete(pair)
    if (first) this.bytes -= bytesOf(first.tensor)
    return first
  }

  remove(pair: Pair): void {
    while (this.take(pair));
  }

  bytesOf(pair: Pair): number {
    return (this.queues.get(pair) ?? []).reduce((sum, { tensor }) => sum + bytesOf(tensor), 0)
  }
}

const bytesOf = ({ type, size }: Tensor): number => memoryBytes(type, size)

/**
 * Two runs in step. A value waits until the other run has made its counterpart, or has passed the position where it
 * would have made it. Where more waits than there is room for, pairs are left for another pass over both runs ({@link
 * late}); that which has waited longest stays, so each pass gets further.
 */
export class Meeting {
  /** Values that have been compared. */
  readonly seen = { a: new Set<MadeValue>(), b: new Set<MadeValue>() }
  private readonly all: Met[] = []
  /** Pairs for which there was no room. */
  readonly late = new Set<Pair>()
  private readonly sides: Readonly<Record<SideName, Side>>
  private readonly closeness: Closeness
  private readonly room: number
  private readonly twins: Readonly<Record<SideName, ReadonlyMap<MadeValue, readonly Pair[]>>>
  private readonly waiting = { a: new WaitingRoom(), b: new WaitingRoom() }
  private readonly known = { a: new Map<Pair, Tensor>(), b: new Map<Pair, Tensor>() }
  /** Nodes of the main graphs that have run, by position. */
  private readonly passed = { a: -1, b: -1 }
  private readonly iterations = new Map<Pair, number>()
  /** Nodes of `a` that have run, those of bodies counted each time. */
  private time = 0
  private firstPosition = Infinity

  constructor(pairs: readonly Pair[], a: Side, b: Side, closeness: Closeness, room = WAITING_BYTES) {
    this.sides = { a, b }
    this.closeness = closeness
    this.room = room
    this.twins = { a: pairsBy(pairs, 'a'), b: pairsBy(pairs, 'b') }
  }

  /** The pairs that met; of those that are late none. */
  get met(): Met[] {
    return this.late.size === 0 ? this.all : this.all.filter(({ pair }) => !this.late.has(pair))
  }

  /** Values that are known before the runs. */
  know(side: SideName, steps: Iterable<Made>): void {
    for (const step of steps)
      for (const [value, tensor] of tensorsMade(this.sides[side], step))
        for (const pair of this.twins[side].get(value) ?? []) {
          const other = this.known[side === 'a' ? 'b' : 'a'].get(pair)
          if (other) this.hold(pair, side === 'a' ? [tensor, other] : [other, tensor], 0)
          else this.known[side].set(pair, tensor)
        }
  }

  /** @returns the outputs of both runs */
  async run(a: Walk, b: Walk): Promise<[Record<string, Value>, Record<string, Value>]> {
    let outputsA: Record<string, Value> | undefined
    let outputsB: Record<string, Value> | undefined
    try {
      while (outputsA === undefined || outputsB === undefined) {
        // The run that is behind goes on, so that few values wait.
        const isATurn: boolean = outputsB !== undefined || (outputsA === undefined && this.waiting.a.isEmpty)
        const step: IteratorResult<StepEvent, Record<string, Value>> = await (isATurn ? a : b).next()
        if (!step.done) this.take(isATurn ? 'a' : 'b', step.value)
        else {
          if (isATurn) outputsA = step.value
          else outputsB = step.value
          this.pass(isATurn ? 'a' : 'b', Infinity)
        }
      }
    } finally {
      await Promise.all([a.return(undefined as never), b.return(undefined as never)])
    }
    return [outputsA, outputsB]
  }

  private take(side: SideName, step: StepEvent): void {
    if (side === 'a') this.time++
    for (const [value, tensor, at] of tensorsMade(this.sides[side], step))
      for (const pair of this.twins[side].get(value) ?? []) {
        const twin = this.meet(side, pair, tensor)
        if (twin) step.replace(at, twin)
      }
    if (isInMain(step.node)) this.pass(side, this.sides[side].positions.get(step.node) ?? -1)
    this.makeRoom()
  }

  /**
   * @returns the counterpart, where the two differ by ties only: both runs go on with one of them, or all that comes
   *   after would differ
   */
  private meet(side: SideName, pair: Pair, own: Tensor): Tensor | undefined {
    if (this.late.has(pair)) return undefined
    const other = side === 'a' ? 'b' : 'a'
    const known = this.known[other].get(pair)
    const waiting = known ? { tensor: known, time: this.time } : this.waiting[other].take(pair)
    if (waiting) {
      const tensors: [Tensor, Tensor] = side === 'a' ? [own, waiting.tensor] : [waiting.tensor, own]
      const distance = this.hold(pair, tensors, side === 'a' ? this.time : waiting.time)
      if (distance?.ties !== undefined) return inPlaceOf(own, waiting.tensor)
    } else if (!this.isPast(other, pair)) this.waiting[side].add(pair, { tensor: own, time: this.time })
    return undefined
  }

  private isPast(side: SideName, pair: Pair): boolean {
    return (this.sides[side].positions.get(pair[side].node) ?? Infinity) <= this.passed[side]
  }

  /** Notes how far a side has come: values that wait for what it should have made up to there will not be met. */
  private pass(side: SideName, position: number): void {
    this.passed[side] = Math.max(this.passed[side], position)
    const { [side === 'a' ? 'b' : 'a']: others } = this.waiting
    if (others.isEmpty) return
    for (const pair of [...others.pairs]) if (this.isPast(side, pair)) others.remove(pair)
  }

  private makeRoom(): void {
    const { a, b } = this.waiting
    while (a.bytes + b.bytes > this.room) {
      const [, ...rest] = [...a.pairs, ...b.pairs].map(pair => ({ pair, bytes: a.bytesOf(pair) + b.bytesOf(pair) }))
      if (rest.length === 0) return
      const { pair } = rest.reduce((most, one) => (one.bytes > most.bytes ? one : most))
      this.late.add(pair)
      a.remove(pair)
      b.remove(pair)
    }
  }

  private hold(pair: Pair, [a, b]: readonly [Tensor, Tensor], time: number): Distance | undefined {
    const iteration = this.iterations.get(pair) ?? 0
    this.iterations.set(pair, iteration + 1)
    // Values of one name and other numbers of elements are not the same value: a converter has kept the name.
    if (a.size !== b.size) return undefined
    const distance = distanceBetween(
      [pair.a.node, pair.b.node],
      a,
      pair.by === undefined ? b : inLayoutOf(a, b),
      this.closeness
    )
    if (pair.by === 'value' && !distance.equal) return undefined
    this.seen.a.add(pair.a)
    this.seen.b.add(pair.b)
    const position = this.sides.a.positions.get(pair.a.node) ?? 0
    const isFirst = !distance.equal && position <= this.firstPosition
    if (isFirst) this.firstPosition = position
    this.all.push({
      pair,
      distance,
      time,
      ...(pair.a.graphPath !== '' && { iteration }),
      ...(isFirst && { statistics: { a: statisticsOfValue(a), b: statisticsOfValue(b) } })
    })
    return distance
  }
}
