import { type BoundGraph, type Call, someCall } from '../bind/call.ts'
import { fail } from '../errors.ts'
import type { Model, ValueId } from '../graph/graph.ts'
import { propagating, type Propagation } from '../infer/propagate.ts'
import { isBuiltIn, type SelectKernel } from '../op-kit/define.ts'
import { planGraph } from '../plan/plan.ts'
import { didYouMean } from '../suggest.ts'
import type { Value } from '../tensor/tensor.ts'
import { factsOfAbsent } from './absent.ts'
import type { Blocks } from './blocks.ts'
import { Forecast } from './forecast.ts'
import type { MemoryLimit } from './memory-limit.ts'
import { type Asked, asksFor, type Request, type SpecialRequests } from './request.ts'
import { Settled } from './settled.ts'
import { ByDims, ByValues, decidingInputs, type GivenFacts, hasBranches } from './special.ts'
import type { Weights } from './weights.ts'

/** What the plans of a session share. */
export interface Surroundings {
  readonly limit: MemoryLimit
  readonly isExact: boolean
  readonly select?: SelectKernel
  readonly weights: Weights
  readonly blocks: Blocks
}

/** Plans that are kept: programs that ask for each value of a model by itself ask for thousands. */
const MAX_REQUESTS = 64

/** The plans of a session, and what inference knows, each made once. */
export class Requests {
  private readonly model: Model
  private readonly bound: BoundGraph
  private readonly surroundings: Surroundings
  /** The last asked for last. */
  private readonly made = new Map<string, Request>()
  /** The last request: most calls ask for the same as the one before. */
  private last: Request | undefined
  private readonly results = new Map<string, Propagation>()

  constructor(model: Model, bound: BoundGraph, surroundings: Surroundings) {
    this.model = model
    this.bound = bound
    this.surroundings = surroundings
  }

  /** The request of the last run, where it serves one that asks for this. */
  lastFor(asked: Asked): Request | undefined {
    return this.last && asksFor(this.last, asked) ? this.last : undefined
  }

  /** The plan of a run, made once for all runs that ask for the same. */
  *requestFor(asked: Asked): Generator<void, Request> {
    for (const name of asked.names as readonly unknown[])
      if (typeof name !== 'string') fail('bad-usage', `names of values are to be fetched, not ${typeof name}`)
    const key = JSON.stringify([asked.names, asked.outOfRange, asked.isObserved, asked.replaced, asked.absent])
    const made = this.made.get(key) ?? (yield* this.planned(asked))
    // Another run may have planned the same meanwhile: the session would hold what is kept for either.
    const request = this.made.get(key) ?? made
    if (request !== made) drop(made)
    this.made.delete(key)
    this.made.set(key, request)
    for (const [oldest, gone] of this.made) {
      if (this.made.size <= MAX_REQUESTS) break
      this.made.delete(oldest)
      drop(gone)
    }
    return (this.last = request)
  }

  /**
   * What inference knows without values for the inputs.
   * @param replaced as in {@link Asked}; also undefined: any may be
   */
  *propagated(
    overrides: Request['overrides'],
    replaced?: Asked['replaced'],
    absent?: Asked['absent']
  ): Generator<void, Propagation> {
    const key = JSON.stringify([overrides, replaced, absent])
    const inputs = factsOfAbsent(absent ?? [], this.model)
    const result = this.results.get(key) ?? (yield* propagating(this.bound, { overrides, inputs, replaced }))
    this.results.set(key, result)
    return result
  }

  clear(): void {
    this.made.clear()
    this.last = undefined
    this.results.clear()
  }

  private *planned({ names, outOfRange, isObserved, replaced, absent }: Asked): Generator<void, Request> {
    const wanted = names.map(name => this.valueOf(name))
    const overrides = outOfRange === undefined ? {} : { outOfRange }
    const asked = { names: [...names], outOfRange, isObserved, replaced, absent, overrides }
    const request = this.requestOf(asked, wanted, yield* this.propagated(overrides, replaced, absent))
    if (isObserved || !hasBranches(request.plan) || someCall(this.bound, isOwn)) return request
    return withSpecial(request, facts => this.specialRequest(asked, wanted, facts))
  }

  /** @param inputs what is known of inputs of some runs */
  private *specialRequest(
    asked: Pick<Request, keyof Asked | 'overrides'>,
    wanted: readonly ValueId[],
    inputs: GivenFacts
  ): Generator<void, Request> {
    const { overrides, replaced, absent = [] } = asked
    const known = new Map([...factsOfAbsent(absent, this.model), ...inputs])
    const result = yield* propagating(this.bound, { overrides, inputs: known, replaced })
    return this.requestOf(asked, wanted, result)
  }

  private requestOf(
    asked: Pick<Request, keyof Asked | 'overrides'>,
    wanted: readonly ValueId[],
    result: Propagation
  ): Request {
    const { isExact, select, limit, weights, blocks } = this.surroundings
    const { isObserved, replaced, absent } = asked
    const plan = planGraph(result, wanted, { isObserved, isExact, replaced, select })
    const settled = isObserved ? undefined : new Settled(plan, weights, blocks)
    const { names, outOfRange, overrides } = asked
    const forecast = new Forecast(plan, limit)
    return byOthers(
      { names, outOfRange, isObserved, replaced, absent, overrides, plan, forecast, settled },
      undefined,
      undefined
    )
  }

  private valueOf(name: string): ValueId {
    const { outputs, values } = this.model.graph
    const output = outputs.find(port => port.name === name) ?? outputs.find(port => port.aliases.includes(name))
    if (output) return output.value
    for (const value of values.values()) if (value.name === name || value.names.includes(name)) return value.id
    const names = [...values.values()].flatMap(value => [value.name, ...value.names])
    return fail('unexpected-input', `the model has no value "${name}" to fetch${didYouMean(name, names)}`)
  }
}

/** Lets go of what is held for runs of a request, and of those that are an alternative to it. */
function drop({ settled, byValues, byDims }: Request): void {
  settled?.drop()
  for (const special of [byValues, byDims]) special?.all().forEach(drop)
}

/** Whether an operator is the caller's: it runs in each run, also where inference knows what it reads. */
const isOwn = ({ op }: Call): boolean => !isBuiltIn(op)

/** A request that also has plans for values and for dims of inputs by which branches are known. */
function withSpecial(request: Request, make: (facts: GivenFacts) => Generator<void, Request>): Request {
  const deciding = decidingInputs(request.plan)
  if (deciding.length === 0) return byOthers(request, undefined, new ByDims(request.plan, make))
  const byValues = new ByValues(request.plan, deciding, function* (values) {
    const special = yield* make(values)
    const makeWith = (dims: GivenFacts): Generator<void, Request> => make(new Map([...dims, ...values]))
    return hasBranches(special.plan) ? byOthers(special, undefined, new ByDims(special.plan, makeWith)) : special
  })
  return byOthers(request, byValues, undefined)
}

/** A request that has others for inputs of which more is known: of the form of all requests, which every run reads. */
function byOthers(
  {
    names,
    outOfRange,
    isObserved,
    replaced,
    absent,
    overrides,
    plan,
    forecast,
    settled
  }: Omit<Request, 'byValues' | 'byDims'>,
  byValues: SpecialRequests | undefined,
  byDims: SpecialRequests | undefined
): Request {
  return { names, outOfRange, isObserved, replaced, absent, overrides, plan, forecast, settled, byValues, byDims }
}

/**
 * The request that serves a run best.
 * @param given values of the inputs, by position
 */
export function* specialFor(request: Request, given: readonly (Value | undefined)[]): Generator<void, Request> {
  let best = request
  for (const by of ['byValues', 'byDims'] as const) {
    const { [by]: special, settled } = best
    if (special && settled) best = (yield* special.requestFor(given, settled)) ?? best
  }
  return best
}
