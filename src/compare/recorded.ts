import { fail } from '../errors.ts'
import type { GraphPort } from '../graph/graph.ts'
import type { DType } from '../tensor/dtype.ts'
import { isTensor, type Tensor, type Value } from '../tensor/tensor.ts'
import { isolate, type Supply } from './isolate.ts'
import { type Closeness, type Distance, measure } from './measure.ts'
import { type Made, type Runner, tensorsMade } from './meeting.ts'
import type { Pair } from './pairs.ts'
import { outputDistance } from './ports.ts'
import {
  type ComparedOutput,
  type ComparedPair,
  type ComparedValue,
  type Comparison,
  describe,
  type FirstDifference,
  statisticsOfValue
} from './result.ts'
import { type MadeValue, recordedName, type Side, valuesOf } from './side.ts'
import { distanceBetween, inPlaceOf } from './ties.ts'

/** Values that any runtime has recorded, by name. */
export interface Recording {
  /**
   * The names of the values. One that a body made has the path of the body before it and the iteration after it, as in
   * `12:body/state[0]`.
   */
  readonly names: Iterable<string>
  /**
   * The value of one of the names. It is asked for when the model has made its counterpart, and not kept: that of an
   * output, and all of them where nodes are isolated, are asked for again.
   * @param type that of the counterpart: what the elements are where only their codes were recorded
   */
  read(name: string, type?: DType): Tensor | Promise<Tensor>
}

/** How a recorded value is told to a caller. */
const recorded = (value: string): ComparedValue => ({ node: '', type: '', value })

/** A pair that differs; next to nothing is known of what made a recorded value. */
const differenceOf = (pair: ComparedPair, a: Tensor, b: Tensor): FirstDifference => ({
  ...pair,
  why: [],
  statistics: { a: statisticsOfValue(a), b: statisticsOfValue(b) }
})

interface Options {
  readonly closeness: Closeness
  /** Names of values of the first with names of the second. */
  readonly values: ReadonlyMap<string, string>
  readonly isolate: boolean
}

/**
 * Runs a model and holds what its nodes make against what was recorded under their names.
 * @param isFirst the model is the first of the two
 * @throws NodewiseError (as a rejection) `unexpected-input` where no name is that of a value of the model
 */
export async function compareRecorded(
  runner: Runner,
  recording: Recording,
  isFirst: boolean,
  options: Options
): Promise<Comparison> {
  if (options.isolate && isFirst)
    fail('unexpected-input', 'to isolate nodes the second must be a model, which is run with the values of the first')
  const names = new Set(recording.names)
  const pick = picker(names, options.values, isFirst)
  const comparing = new Comparing(runner.side, recording, pick, isFirst, options.closeness)
  for (const step of runner.folded) await comparing.take(step, () => undefined)
  const run = runner.walk()
  let step = await run.next()
  try {
    for (; !step.done; step = await run.next()) {
      const event = step.value
      await comparing.take(event, (at, value) => event.replace(at, value))
    }
  } finally {
    await run.return(undefined as never)
  }
  const outputs = await recordedOutputs(runner.side, step.value, recording, pick, isFirst, options.closeness)
  const { pairs, first, seen, used } = comparing
  if (pairs.length === 0 && outputs.length === 0)
    fail('unexpected-input', 'none of the recorded values has the name of a value that the model makes')
  const isolated = options.isolate ? await isolatedFrom(runner, recording, pick, options.closeness) : undefined
  const made = valuesOf(runner.side).length - seen.size
  const ports = [...runner.side.model.graph.inputs, ...runner.side.model.graph.outputs]
  for (const { name, aliases } of ports) for (const known of [name, ...aliases]) used.add(known)
  const rest = [...names].filter(name => !used.has(name)).length
  return {
    equal: first === undefined && outputs.every(({ distance }) => distance?.equal === true),
    first,
    pairs,
    outputs,
    unpaired: isFirst ? { a: made, b: rest } : { a: rest, b: made },
    ...(isolated && { isolated })
  }
}

/** The recorded name of a value, by its own names or by the one that the caller gives. */
type Picker = (value: Named, iteration: number) => string | undefined
type Named = Pick<MadeValue, 'name' | 'names' | 'graphPath'>

function picker(names: ReadonlySet<string>, given: ReadonlyMap<string, string>, isFirst: boolean): Picker {
  const mapped = isFirst ? given : new Map([...given].map(([a, b]) => [b, a]))
  return (value, iteration) => {
    const candidates = [value.name, ...value.names]
    const own = candidates.map(name => mapped.get(name)).find(name => name !== undefined && names.has(name))
    return own ?? candidates.map(name => recordedName({ ...value, name }, iteration)).find(name => names.has(name))
  }
}

class Comparing {
  readonly pairs: ComparedPair[] = []
  first: FirstDifference | undefined
  readonly seen = new Set<MadeValue>()
  readonly used = new Set<string>()
  private readonly iterations = new Map<MadeValue, number>()
  private readonly side: Side
  private readonly recording: Recording
  private readonly pick: Picker
  private readonly isFirst: boolean
  private readonly closeness: Closeness

  constructor(side: Side, recording: Recording, pick: Picker, isFirst: boolean, closeness: Closeness) {
    this.side = side
    this.recording = recording
    this.pick = pick
    this.isFirst = isFirst
    this.closeness = closeness
  }

  /** @param replace takes a recorded value that differs by ties only: the run goes on with it */
  async take(step: Made, replace: (at: number, value: Tensor) => void): Promise<void> {
    for (const [value, own, at] of tensorsMade(this.side, step)) {
      const iteration = this.iterations.get(value) ?? 0
      this.iterations.set(value, iteration + 1)
      const name = this.pick(value, iteration)
      if (name === undefined) continue
      const other = await this.recording.read(name, own.type)
      if (other.size !== own.size) continue
      this.seen.add(value)
      this.used.add(name)
      const { ties } = this.hold(value, own, name, other, iteration)
      const twin = ties === undefined ? undefined : inPlaceOf(own, other)
      if (twin) replace(at, twin)
    }
  }

  private hold(value: MadeValue, own: Tensor, name: string, other: Tensor, iteration: number): Distance {
    const [a, b] = this.isFirst ? [own, other] : [other, own]
    const told = [describe(value), recorded(name)]
    const pair: ComparedPair = {
      a: told[this.isFirst ? 0 : 1],
      b: told[this.isFirst ? 1 : 0],
      distance: distanceBetween([value.node], a, b, this.closeness),
      ...(value.graphPath !== '' && { iteration })
    }
    this.pairs.push(pair)
    if (!pair.distance.equal) this.first ??= differenceOf(pair, a, b)
    return pair.distance
  }
}

/** The outputs that were recorded. */
async function recordedOutputs(
  { model, made }: Side,
  values: Record<string, Value>,
  recording: Recording,
  pick: Picker,
  isFirst: boolean,
  closeness: Closeness
): Promise<ComparedOutput[]> {
  const outputs: ComparedOutput[] = []
  for (const port of model.graph.outputs) {
    const name = pick(namedAs(port, made), 0)
    const own = values[port.name]
    if (name === undefined || !isTensor(own)) continue
    const other = await recording.read(name, own.type)
    const [x, y] = isFirst ? [own, other] : [other, own]
    const [a, b] = isFirst ? [port.name, name] : [name, port.name]
    outputs.push({ a, b, ...outputDistance(x, y, closeness) })
  }
  return outputs
}

/** An output by all of its names. */
function namedAs({ name, aliases, value }: GraphPort, made: Side['made']): Named {
  const all = [...made.values()].flat()
  const own = all.find(item => item?.graphPath === '' && item.node.outputs[item.output] === value)
  return { name, names: new Set([name, ...aliases, ...(own?.names ?? [])]), graphPath: '' }
}

async function isolatedFrom(
  runner: Runner,
  recording: Recording,
  pick: Picker,
  closeness: Closeness
): Promise<ComparedPair[]> {
  const pairs = valuesOf(runner.side).map((b): Pair => ({ a: b, b }))
  const iterations = new Map<Pair, number>()
  const supply: Supply = {
    async next(pair, type) {
      const iteration = iterations.get(pair) ?? 0
      iterations.set(pair, iteration + 1)
      const name = pick(pair.b, iteration)
      return name === undefined ? undefined : recording.read(name, type)
    },
    passed: () => undefined,
    end: async () => undefined
  }
  const isolated = await isolate(pairs, runner, supply, closeness)
  return isolated.map(({ pair: { b }, distance }) => ({
    a: recorded(pick(b, 0) ?? b.name),
    b: describe(b),
    distance
  }))
}

/**
 * Two recordings: values of one name, in the order of the first. Those of other numbers of elements are told as
 * outputs.
 * @throws NodewiseError (as a rejection) `unexpected-input` where they have no name in common, and for `isolate`
 */
export async function compareRecordings(a: Recording, b: Recording, options: Options): Promise<Comparison> {
  if (options.isolate) fail('unexpected-input', 'to isolate nodes the second must be a model, not recorded values')
  const [namesA, namesB] = [new Set(a.names), new Set(b.names)]
  const pairs: ComparedPair[] = []
  const outputs: ComparedOutput[] = []
  let first: FirstDifference | undefined
  let shared = 0
  for (const name of namesA) {
    const twin = options.values.get(name) ?? name
    if (!namesB.has(twin)) continue
    shared++
    const x = await a.read(name)
    const y = await b.read(twin, x.type)
    if (x.size !== y.size) {
      // There are no nodes that could say that these are two values: a name is all that is known.
      outputs.push({ a: name, b: twin, ...outputDistance(x, y, options.closeness) })
      continue
    }
    const pair = { a: recorded(name), b: recorded(twin), distance: measure(x, y, options.closeness) }
    pairs.push(pair)
    if (!pair.distance.equal) first ??= differenceOf(pair, x, y)
  }
  if (shared === 0) fail('unexpected-input', 'the two recordings have no name in common')
  const unpaired = { a: namesA.size - shared, b: namesB.size - shared }
  return { equal: first === undefined && outputs.length === 0, first, pairs, outputs, unpaired }
}
