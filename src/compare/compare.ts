import { bind } from '../bind/bind.ts'
import type { Call } from '../bind/call.ts'
import type { Registry } from '../bind/registry.ts'
import { fail } from '../errors.ts'
import type { GraphPort, Model, Node } from '../graph/graph.ts'
import { propagate } from '../infer/propagate.ts'
import type { StepEvent } from '../runtime/execute.ts'
import type { Feed, Feeds } from '../runtime/feeds.ts'
import { Session } from '../runtime/session.ts'
import { knownValue } from '../shapes/fact.ts'
import { refuseUnknownOptions } from '../suggest.ts'
import { isTensor, type Tensor, type Value } from '../tensor/tensor.ts'
import { explain } from './explain.ts'
import { type Closeness, type Distance, measure } from './measure.ts'
import { type Pair, pairsOf } from './pairs.ts'
import { type MadeValue, type Side, sideOf } from './side.ts'

/** How two models are compared. */
export interface CompareOptions extends Partial<Closeness> {
  /** Names of inputs of `a` with the names that they have in `b`, where neither name nor position tells. */
  readonly inputs?: ReadonlyMap<string, string>
  /** Names of values of `a` with the names that they have in `b`, where names do not tell. */
  readonly values?: ReadonlyMap<string, string>
  /** Stops the comparison; it rejects with `aborted`. */
  readonly signal?: AbortSignal
}

const KNOWN: ReadonlySet<string> = new Set<keyof CompareOptions>(['rtol', 'atol', 'sqnr', 'inputs', 'values', 'signal'])

/** A value on one side, and the node that makes it. */
export interface ComparedValue {
  readonly node: string
  readonly nodeIndex?: number
  readonly layer?: string
  readonly type: string
  readonly value: string
  readonly graphPath?: string
}

/** Two values that are the same in both models, and how far they are apart. */
export interface ComparedPair {
  readonly a: ComparedValue
  readonly b: ComparedValue
  readonly distance: Distance
  /** What the files say otherwise of the two nodes: parameters, constants. */
  readonly why: readonly string[]
}

/** An output of both models. */
export interface ComparedOutput {
  readonly a: string
  readonly b: string
  readonly distance?: Distance
  /** Why there is no distance. */
  readonly problem?: string
}

/** What a comparison found. */
export interface Comparison {
  readonly equal: boolean
  /** The earliest pair, in the order in which `a` runs, whose values differ; what feeds it agrees. */
  readonly first: ComparedPair | undefined
  /** Every pair that was compared, in the order in which `a` runs. */
  readonly pairs: readonly ComparedPair[]
  readonly outputs: readonly ComparedOutput[]
  /** Values that nodes make and that have no counterpart. */
  readonly unpaired: { readonly a: number; readonly b: number }
}

const DEFAULT_RTOL = 1e-3

/**
 * Runs two models on the same inputs, node by node and in step, and tells where their values part.
 * @param feeds inputs by the names that they have in `a`; `b` gets them by name, else by position
 * @throws NodewiseError (as a rejection) what a run throws; `unexpected-input` where an input of `b` gets nothing
 */
export async function compareModels(
  [a, b]: readonly [Model, Model],
  registry: Registry,
  feeds: Feeds,
  options: CompareOptions = {}
): Promise<Comparison> {
  refuseUnknownOptions(options, KNOWN)
  const [left, right] = [a, b].map(model => sideOf(model, bind(model, registry)))
  const pairs = pairsOf(left, right, options.values ?? new Map())
  const signal = options.signal === undefined ? {} : { signal: options.signal }
  const [runA, runB] = [
    new Session(a, registry).walk(feeds, signal),
    new Session(b, registry).walk(feedsOf(a, b, feeds, options.inputs), signal)
  ]
  const closeness = { ...options, rtol: options.rtol ?? DEFAULT_RTOL }
  const meeting = new Meeting(pairs, closeness, left)
  for (const [side, of] of [
    ['a', left],
    ['b', right]
  ] as const)
    for (const event of foldedSteps(of)) meeting.take(side, event, of.made)
  const [outputsA, outputsB] = await meeting.run(runA, runB, left, right)
  const compared = meeting.compared()
  const outputs = compareOutputs(left, right, outputsA, outputsB, closeness)
  const first = compared.find(({ distance }) => !distance.equal)
  const explained = first && {
    ...shown(first),
    why: explain(left, callOf(left, first.a), right, callOf(right, first.b))
  }
  return {
    equal: first === undefined && outputs.every(({ distance }) => distance?.equal === true),
    first: explained,
    pairs: compared.map(pair => ({ ...shown(pair), why: [] })),
    outputs,
    unpaired: { a: countOf(left) - meeting.seen.a.size, b: countOf(right) - meeting.seen.b.size }
  }
}

const countOf = ({ made }: Side): number =>
  [...made.values()].reduce((sum, values) => sum + values.filter(value => value !== undefined).length, 0)

const callOf = ({ calls }: Side, { node }: MadeValue): Call => calls.find(call => call.node === node)!

const portNamed = (ports: readonly GraphPort[], names: ReadonlySet<string>): GraphPort | undefined =>
  ports.find(({ name, aliases }) => names.has(name) || aliases.some(alias => names.has(alias)))

/** The inputs of `b`: named by the caller, of the same name as in `a`, or at the same position. */
function feedsOf(a: Model, b: Model, feeds: Feeds, named: ReadonlyMap<string, string> = new Map()): Feeds {
  const [from, to] = [a, b].map(({ graph }) => graph.inputs.filter(({ value }) => !graph.initializers.has(value)))
  const given = new Map<string, Feed>()
  const rest: Feed[] = []
  for (const [name, feed] of Object.entries(feeds)) {
    const port = from.find(({ name: own, aliases }) => own === name || aliases.includes(name))
    const names = new Set([
      named.get(name) ?? name,
      ...(named.has(name) ? [] : [port?.name ?? name, ...(port?.aliases ?? [])])
    ])
    const twin = portNamed(to, names)
    if (twin) given.set(twin.name, feed)
    else rest.push(feed)
  }
  for (const { name } of to) {
    if (given.has(name)) continue
    const feed = rest.shift()
    if (feed !== undefined) given.set(name, feed)
  }
  if (rest.length > 0) fail('unexpected-input', `${rest.length} inputs of the first model have no place in the second`)
  return Object.fromEntries(given)
}

/** What plans fold: the values of nodes that are known before a run. Runs have no steps for these nodes. */
function* foldedSteps({ bound, made }: Side): Generator<Pick<StepEvent, 'node' | 'outputs'>> {
  const { facts } = propagate(bound)
  for (const node of made.keys()) {
    const outputs = node.outputs.map(id => {
      const fact = id === undefined ? undefined : facts.get(id)
      return fact?.kind === 'tensor' ? knownValue(fact) : undefined
    })
    if (outputs.some(value => value !== undefined)) yield { node, outputs }
  }
}

interface Met extends Pair {
  readonly distance: Distance
}

const describe = ({ node, name, graphPath }: MadeValue): ComparedValue => ({
  node: node.name,
  ...(node.layer === undefined ? { nodeIndex: node.index } : { layer: node.layer }),
  type: node.type,
  value: name,
  ...(graphPath !== '' && { graphPath })
})

const shown = ({ a, b, distance }: Met): Omit<ComparedPair, 'why'> => ({
  a: describe(a),
  b: describe(b),
  distance
})

type Walk = AsyncGenerator<StepEvent, Record<string, Value>>

/** Two runs in step. A value waits until the other run has made its counterpart. */
class Meeting {
  /** Values that have been compared. */
  readonly seen = { a: new Set<MadeValue>(), b: new Set<MadeValue>() }
  private readonly met: Met[] = []
  private readonly closeness: Closeness
  private readonly twins: { readonly a: Map<MadeValue, Pair[]>; readonly b: Map<MadeValue, Pair[]> }
  /** Values of one side for which the other has not come yet, in the order of the iterations of a body. */
  private readonly waiting = { a: new Map<Pair, Tensor[]>(), b: new Map<Pair, Tensor[]>() }
  private readonly order: ReadonlyMap<Node, number>

  constructor(pairs: readonly Pair[], closeness: Closeness, left: Side) {
    this.closeness = closeness
    this.order = new Map(left.calls.map(({ node }, i) => [node, i]))
    this.twins = { a: group(pairs, 'a'), b: group(pairs, 'b') }
  }

  /** @returns the outputs of both runs */
  async run(a: Walk, b: Walk, left: Side, right: Side): Promise<[Record<string, Value>, Record<string, Value>]> {
    let outputsA: Record<string, Value> | undefined
    let outputsB: Record<string, Value> | undefined
    try {
      while (outputsA === undefined || outputsB === undefined) {
        // The run that is behind goes on, so that few values wait.
        const isATurn: boolean = outputsB !== undefined || (outputsA === undefined && this.waiting.a.size === 0)
        const step: IteratorResult<StepEvent, Record<string, Value>> = await (isATurn ? a : b).next()
        if (step.done) {
          if (isATurn) outputsA = step.value
          else outputsB = step.value
        } else this.take(isATurn ? 'a' : 'b', step.value, (isATurn ? left : right).made)
      }
    } finally {
      await Promise.all([a.return(undefined as never), b.return(undefined as never)])
    }
    return [outputsA, outputsB]
  }

  /** Pairs that met, in the order in which `a` made them. */
  compared(): Met[] {
    const orderOf = ({ a }: Met): number => this.order.get(a.node) ?? 0
    return this.met.sort((x, y) => orderOf(x) - orderOf(y))
  }

  /** What a node made. Of a value that was known before a run, the run has no second one. */
  take(side: 'a' | 'b', { node, outputs }: Pick<StepEvent, 'node' | 'outputs'>, made: Side['made']): void {
    made.get(node)?.forEach((value, i) => {
      const tensor = outputs[i]
      if (value === undefined || tensor === undefined || !isTensor(tensor)) return
      for (const pair of this.twins[side].get(value) ?? []) this.meet(side, pair, tensor)
    })
  }

  private meet(side: 'a' | 'b', pair: Pair, own: Tensor): void {
    const [mine, theirs] = side === 'a' ? [this.waiting.a, this.waiting.b] : [this.waiting.b, this.waiting.a]
    const other = theirs.get(pair)?.shift()
    if (other === undefined) {
      mine.set(pair, [...(mine.get(pair) ?? []), own])
      return
    }
    if (theirs.get(pair)?.length === 0) theirs.delete(pair)
    const [a, b] = side === 'a' ? [own, other] : [other, own]
    this.seen.a.add(pair.a)
    this.seen.b.add(pair.b)
    // Values of one name and other numbers of elements are not the same value: a converter has kept the name.
    if (a.size !== b.size) return
    this.met.push({ ...pair, distance: measure(a, b, this.closeness) })
  }
}

function group(pairs: readonly Pair[], side: 'a' | 'b'): Map<MadeValue, Pair[]> {
  const groups = new Map<MadeValue, Pair[]>()
  for (const pair of pairs) groups.set(pair[side], [...(groups.get(pair[side]) ?? []), pair])
  return groups
}

function compareOutputs(
  { model: a }: Side,
  { model: b }: Side,
  valuesA: Record<string, Value>,
  valuesB: Record<string, Value>,
  closeness: Closeness
): ComparedOutput[] {
  return a.graph.outputs.map(({ name, aliases }, i) => {
    const names = new Set([name, ...aliases])
    const port = portNamed(b.graph.outputs, names) ?? b.graph.outputs[i]
    if (port === undefined) return { a: name, b: '', problem: 'the second model has no such output' }
    const [x, y] = [valuesA[name], valuesB[port.name]]
    if (!isTensor(x) || !isTensor(y)) return { a: name, b: port.name, problem: `a ${x.type} and a ${y.type}` }
    if (x.size !== y.size)
      return { a: name, b: port.name, problem: `dims [${x.dims.join(', ')}] and [${y.dims.join(', ')}]` }
    return { a: name, b: port.name, distance: measure(x, y, closeness) }
  })
}
