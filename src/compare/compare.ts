import { bind } from '../bind/bind.ts'
import type { Call } from '../bind/call.ts'
import type { Registry } from '../bind/registry.ts'
import { fail } from '../errors.ts'
import type { Model } from '../graph/graph.ts'
import { requireModel } from '../graph/require-model.ts'
import { requireFeeds } from '../runtime/arguments.ts'
import type { Feeds } from '../runtime/feeds.ts'
import { Session } from '../runtime/session.ts'
import { refuseUnknownOptions, requireSignal } from '../suggest.ts'
import type { Value } from '../tensor/tensor.ts'
import { explain } from './explain.ts'
import { extendPairs } from './extend.ts'
import { pairByValue } from './fingerprint.ts'
import { isolate, RunSupply } from './isolate.ts'
import type { Closeness } from './measure.ts'
import { foldedSteps, Meeting, type Met, type Runner } from './meeting.ts'
import { inOrderOf } from './order.ts'
import { areFew, type Pair, pairsOf, requireNames } from './pairs.ts'
import { compareOutputs, feedsOf } from './ports.ts'
import { compareRecorded, compareRecordings, type Recording } from './recorded.ts'
import { type ComparedPair, type Comparison, describe, type FirstDifference } from './result.ts'
import { type MadeValue, reordered, type Side, sideOf } from './side.ts'

/** How two models are compared. */
export interface CompareOptions extends Partial<Closeness> {
  /** Names of inputs of `a` with the names that they have in `b`, where neither name nor position tells. */
  readonly inputs?: ReadonlyMap<string, string>
  /** Names of values of `a` with the names that they have in `b`, where names do not tell. */
  readonly values?: ReadonlyMap<string, string>
  /** Also run `b` with the values of `a` fed to every node, and tell how far each node is off by itself. */
  readonly isolate?: boolean
  /** Stops the comparison; it rejects with `aborted`. */
  readonly signal?: AbortSignal
}

const KNOWN: ReadonlySet<string> = new Set<keyof CompareOptions>([
  'rtol',
  'atol',
  'sqnr',
  'inputs',
  'values',
  'isolate',
  'signal'
])

const DEFAULT_RTOL = 1e-3

/** What is compared: a model, or values that were recorded. */
export type Comparand = Model | Recording

const isModel = (item: Comparand): item is Model => {
  if (typeof item !== 'object' || item === null || item instanceof Promise) requireModel(item)
  return 'graph' in item
}

/**
 * Runs two models on the same inputs, or one of them against recorded values, and tells where their values part.
 * @param feeds inputs by the names that they have in `a`; `b` gets them by name, else by position. Where `a` was
 *   recorded, by the names that they have in `b`
 * @throws NodewiseError (as a rejection) what a run and reading a recording throw; `unexpected-input` where an input of
 *   `b` gets nothing, and where nothing has the name of a recorded value
 */
export async function compareValues(
  [a, b]: readonly [Comparand, Comparand],
  registry: Registry,
  feeds: Feeds,
  options: CompareOptions = {}
): Promise<Comparison> {
  refuseUnknownOptions(options, KNOWN)
  requireNames('inputs', options.inputs)
  requireNames('values', options.values)
  requireTolerances(options)
  requireSignal(options.signal)
  const closeness = { ...options, rtol: options.rtol ?? DEFAULT_RTOL }
  const values = options.values ?? new Map<string, string>()
  const settings = { closeness, values, isolate: options.isolate === true }
  if (!isModel(a) && !isModel(b)) return compareRecordings(a, b, settings)
  requireFeeds(feeds)
  if (isModel(a) && isModel(b)) return compareModels([a, b], registry, feeds, options, closeness)
  const [model, recording] = isModel(a) ? [a, b as Recording] : [b as Model, a]
  const runner = runnerOf(sideOf(model, bind(model, registry)), registry, feeds, options)
  try {
    return await compareRecorded(runner, recording, model === a, settings)
  } finally {
    runner.end()
  }
}

/**
 * NaN is neither more nor less than anything: elements that are far apart would count as equal.
 * @throws NodewiseError `bad-usage`
 */
function requireTolerances({ rtol, atol, sqnr }: CompareOptions): void {
  for (const [name, given, least] of [
    ['rtol', rtol, 0],
    ['atol', atol, 0],
    ['sqnr', sqnr, -Infinity]
  ] as const)
    if (given !== undefined && !(typeof given === 'number' && given >= least))
      fail('bad-usage', `${name} is ${String(given)}; expected a number${least === 0 ? ' of at least 0' : ''}`)
}

async function compareModels(
  [a, b]: readonly [Model, Model],
  registry: Registry,
  feeds: Feeds,
  options: CompareOptions,
  closeness: Closeness
): Promise<Comparison> {
  const [left, own] = [a, b].map(model => sideOf(model, bind(model, registry)))
  const values = options.values ?? new Map<string, string>()
  const named = pairsOf(left, own, values, options.inputs)
  const right = reordered(own, inOrderOf(left, own, named))
  const runners = [
    runnerOf(left, registry, feeds, options),
    runnerOf(right, registry, feedsOf(a, b, feeds, options.inputs), options)
  ] as const
  try {
    const pairs = areFew(left, right, named, values)
      ? await pairFurther(runners, named, options.inputs, closeness)
      : named
    const { met, seen, outputs } = await meetAll(pairs, runners, closeness)
    const isolated = options.isolate === true ? await isolatedFrom(pairs, runners, closeness) : undefined
    const compared = inOrder(met, left)
    const first = compared.find(({ distance }) => !distance.equal)
    const comparedOutputs = compareOutputs(a, b, outputs, closeness)
    return {
      equal: first === undefined && comparedOutputs.every(({ distance }) => distance?.equal === true),
      first: first && firstOf(first, left, right),
      pairs: compared.map(shown),
      outputs: comparedOutputs,
      unpaired: { a: countOf(left) - seen.a.size, b: countOf(right) - seen.b.size },
      ...(isolated && { isolated: isolated.map(shown) })
    }
  } finally {
    for (const runner of runners) runner.end()
  }
}

function runnerOf(side: Side, registry: Registry, feeds: Feeds, { signal }: CompareOptions): Runner {
  const session = new Session(side.model, registry, {}, side.bound)
  return {
    side,
    walk() {
      session.resetState()
      return session.walk(feeds, signal === undefined ? {} : { signal })
    },
    get folded() {
      return foldedSteps(side, session.propagation())
    },
    end: () => session.dispose()
  }
}

/** Where next to nothing has a counterpart, runs both models to see which values are alike, and goes on from there. */
async function pairFurther(
  runners: readonly [Runner, Runner],
  known: readonly Pair[],
  inputs: ReadonlyMap<string, string> | undefined,
  closeness: Closeness
): Promise<Pair[]> {
  const alike = await pairByValue(runners, known)
  if (alike.length === 0) return [...known]
  // What only seemed to be alike must not lead to further pairs.
  const { seen } = await meetAll(alike, runners, closeness)
  const pairs = [...known, ...alike.filter(({ a }) => seen.a.has(a))]
  return [...pairs, ...extendPairs(runners[0].side, runners[1].side, pairs, inputs)]
}

interface AllMet {
  readonly met: readonly Met[]
  readonly seen: Meeting['seen']
  readonly outputs: readonly [Record<string, Value>, Record<string, Value>]
}

/** Runs both models until every pair has met: once, but where more values wait for each other than there is room. */
async function meetAll(
  pairs: readonly Pair[],
  [a, b]: readonly [Runner, Runner],
  closeness: Closeness
): Promise<AllMet> {
  let met: readonly Met[] = []
  const seen = { a: new Set<MadeValue>(), b: new Set<MadeValue>() }
  for (let open = pairs; ;) {
    const meeting = new Meeting(open, a.side, b.side, closeness)
    meeting.know('a', a.folded)
    meeting.know('b', b.folded)
    const outputs = await meeting.run(a.walk(), b.walk())
    // Loops make more of them than a call may have arguments.
    met = met.concat(meeting.met)
    for (const value of meeting.seen.a) seen.a.add(value)
    for (const value of meeting.seen.b) seen.b.add(value)
    if (meeting.late.size === 0) return { met, seen, outputs }
    open = [...meeting.late]
  }
}

const isolatedFrom = (
  pairs: readonly Pair[],
  [a, b]: readonly [Runner, Runner],
  closeness: Closeness
): ReturnType<typeof isolate> => isolate(pairs, b, new RunSupply(pairs, a, b.side), closeness)

/** Pairs in the order in which `a` makes their values. */
function inOrder(met: readonly Met[], { positions }: Side): Met[] {
  const positionIn = ({ pair }: Met): number => positions.get(pair.a.node) ?? 0
  return [...met].sort((x, y) => positionIn(x) - positionIn(y) || x.time - y.time)
}

const countOf = ({ made }: Side): number =>
  [...made.values()].reduce((sum, values) => sum + values.filter(value => value !== undefined).length, 0)

const callOf = ({ calls }: Side, { node }: MadeValue): Call => calls.find(call => call.node === node)!

function firstOf(met: Met, left: Side, right: Side): FirstDifference {
  const { a, b } = met.pair
  return {
    ...shown(met),
    why: explain(left, callOf(left, a), right, callOf(right, b)),
    statistics: met.statistics!
  }
}

const shown = ({
  pair: { a, b },
  distance,
  iteration
}: Pick<Met, 'pair' | 'distance' | 'iteration'>): ComparedPair => ({
  a: describe(a),
  b: describe(b),
  distance,
  ...(iteration !== undefined && { iteration })
})
