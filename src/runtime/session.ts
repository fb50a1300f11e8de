import { bind } from '../bind/bind.ts'
import { allItems, type BoundGraph, isCall } from '../bind/call.ts'
import { propagate, type Propagation } from '../bind/propagate.ts'
import { createRegistry } from '../bind/registry.ts'
import { fail, NodewiseError } from '../errors.ts'
import type { DeclaredType, GraphPort, Model, ValueId } from '../graph/graph.ts'
import type { Op } from '../ops/define.ts'
import { ALL_OPS } from '../ops/index.ts'
import type { DType } from '../tensor/dtype.ts'
import { isTensor, Tensor, type Value } from '../tensor/tensor.ts'
import { acceptInput, declaredOf, presentOutput } from './border.ts'
import { executePlan, type Run, type StepEvent } from './execute.ts'
import { Budget, defaultMemory, tensorsIn } from './memory.ts'
import { type Plan, planGraph } from './plan.ts'
import { randomSource } from './random.ts'
import { Weights } from './weights.ts'

export interface SessionOptions {
  /** Operators of the caller's own; they win over built-in ones of the same type. */
  readonly ops?: readonly Op[]
  /**
   * Bytes that the tensors of one run and the constants that have been read may take; what the machine has free when left out. A larger
   * table is read by the row where rows are all that is asked of it.
   */
  readonly maxMemory?: number
  /** Seed of random operators that have none of their own. */
  readonly seed?: number
}

export interface RunOptions {
  /** Stops the run; it rejects with `aborted`. A caller's own synchronous operator cannot be interrupted. */
  readonly signal?: AbortSignal
  /** Called after every node. */
  readonly onStep?: (event: StepEvent) => void
  /** For every gather: report indices out of range, or read zeros; by default what the operator's version says. */
  readonly outOfRange?: 'error' | 'zero'
}

/** A tensor, or anything of its form such as a tensor of `onnxruntime-common`. */
export type Feed = Value | { readonly type: DType; readonly dims: readonly number[]; readonly data: ArrayLike<unknown> }
export type Feeds = Readonly<Record<string, Feed>>

/** What an input or output is declared to be. */
export interface PortInfo {
  readonly name: string
  readonly declared?: DeclaredType
}

/** How long the event loop may have to wait, in milliseconds. */
const TURN = 20

/** A model that is ready to run. Runs of one session do not meet, unless the model keeps state: then they queue. */
export class Session {
  readonly model: Model
  private readonly bound: BoundGraph
  private readonly options: SessionOptions
  private readonly weights = new Weights()
  private readonly state = new Map<string, Value>()
  private readonly plans = new Map<string, Plan>()
  private readonly results = new Map<string, Propagation>()
  private queue: Promise<unknown> = Promise.resolve()
  private disposed = false
  private readonly isStateful: boolean

  constructor(model: Model, options: SessionOptions = {}) {
    this.model = model
    this.options = options
    this.bound = bind(model, createRegistry([...ALL_OPS, ...options.ops ?? []]))
    this.isStateful = [...allItems(this.bound)].some(item => isCall(item) && item.op.impure === 'state')
  }

  /** Names of the inputs that a run needs or takes, in the model's order. */
  get inputNames(): string[] {
    return this.model.graph.inputs.map(input => input.name)
  }

  get outputNames(): string[] {
    return this.model.graph.outputs.map(output => output.name)
  }

  get inputMetadata(): PortInfo[] {
    return this.model.graph.inputs.map(port => this.describe(port))
  }

  get outputMetadata(): PortInfo[] {
    return this.model.graph.outputs.map(port => this.describe(port))
  }

  private describe(port: GraphPort): PortInfo {
    const declared = declaredOf(this.model, port)
    return { name: port.name, ...(declared && { declared }) }
  }

  /**
   * Runs the model.
   * @param feeds a value for every input that has no default
   * @param fetches names of values to return: outputs, or any other value of the main graph; all outputs when left out
   * @throws NodewiseError (as a rejection) `missing-input`, `unexpected-input`, `type-mismatch`, `shape-mismatch`, `unsupported-op`,
   *   `aborted`, and whatever a node fails with, with its place
   */
  async run(feeds: Feeds, fetches?: readonly string[], options: RunOptions = {}): Promise<Record<string, Value>> {
    const events = this.start(feeds, fetches, options)
    return this.inTurn(() => drive(events, options.signal))
  }

  /**
   * Runs the model one node at a time: the loop's body runs between two nodes, with the inputs and outputs of the first in hand.
   * The generator returns the outputs.
   */
  async *walk(feeds: Feeds, fetches?: readonly string[], options: RunOptions = {}): AsyncGenerator<StepEvent, Record<string, Value>> {
    const seen: StepEvent[] = []
    const steps = this.start(feeds, fetches, { ...options, onStep: event => seen.push(event) })
    for (;;) {
      if (options.signal?.aborted) throw new NodewiseError('aborted', 'the run was aborted')
      const step = steps.next()
      while (seen.length > 0) yield seen.shift()!
      if (step.done) return step.value
      await turn()
    }
  }

  /** Forgets plans and constants. Runs under way end well; later ones are refused. Safe to call twice. */
  dispose(): void {
    this.disposed = true
    this.plans.clear()
    this.results.clear()
    this.weights.clear()
    this.state.clear()
  }

  /** The name that `onnxruntime-common` gives {@link dispose}. */
  async release(): Promise<void> {
    this.dispose()
  }

  /** Forgets the state of ReadValue and Assign: the next run begins anew. */
  resetState(): void {
    this.state.clear()
  }

  private *start(feeds: Feeds, fetches: readonly string[] | undefined, options: RunOptions): Generator<void, Record<string, Value>> {
    if (this.disposed) fail('invalid-graph', 'the session has been disposed')
    const wanted = (fetches ?? this.outputNames).map(name => ({ name, value: this.valueOf(name) }))
    const overrides = options.outOfRange === undefined ? {} : { outOfRange: options.outOfRange }
    const plan = this.planFor(wanted.map(({ value }) => value), overrides)
    const given = this.accept(feeds, plan)
    const assigned = new Map<string, Value>()
    const run: Run = {
      budget: new Budget(this.options.maxMemory ?? defaultMemory() + this.weights.bytes, this.weights),
      state: { read: id => this.state.get(id), write: (id, value) => assigned.set(id, value) },
      random: randomSource(this.options.seed ?? 0),
      overrides,
      threads: 1,
      weights: this.weights,
      shared: new Set(),
      started: performance.now(),
      ...(options.onStep && { onStep: options.onStep })
    }
    const values = yield* executePlan(plan, given, run)
    const callers = dataOf(given.values())
    for (const [id, value] of assigned) this.state.set(id, apartFrom(value, callers))
    const foreign = new Set([...callers, ...run.shared, ...dataOf(this.state.values())])
    return collect(wanted.map(({ name }) => name), values.map(value => presentOutput(this.model, value)), foreign)
  }

  private valueOf(name: string): ValueId {
    const { outputs, values } = this.model.graph
    const output = outputs.find(port => port.name === name) ?? outputs.find(port => port.aliases.includes(name))
    if (output) return output.value
    for (const value of values.values()) if (value.name === name || value.names.includes(name)) return value.id
    return fail('unexpected-input', `the model has no value "${name}" to fetch`)
  }

  private planFor(wanted: readonly ValueId[], overrides: Readonly<Record<string, unknown>>): Plan {
    const key = JSON.stringify([wanted, overrides])
    let plan = this.plans.get(key)
    if (!plan) {
      const result = this.propagated(overrides)
      plan = planGraph(result, wanted)
      const planned = new Set(plan.steps.map(step => step.call.node))
      const failure = result.failures.find(({ node }) => planned.has(node))
      if (failure) throw failure.error
      this.plans.set(key, plan)
    }
    return plan
  }

  private propagated(overrides: Readonly<Record<string, unknown>>): Propagation {
    const key = JSON.stringify(overrides)
    const result = this.results.get(key) ?? propagate(this.bound, { overrides })
    this.results.set(key, result)
    return result
  }

  private accept(feeds: Feeds, plan: Plan): Map<number, Value> {
    const { inputs } = this.model.graph
    const given = new Map<number, Value>()
    const names = new Map<string, { size: number; input: string }>()
    for (const [name, feed] of Object.entries(feeds)) {
      const at = indexOfPort(inputs, name)
      if (at < 0) fail('unexpected-input', `the model has no input "${name}"; it has ${inputs.map(input => `"${input.name}"`).join(', ') || 'none'}`)
      if (given.has(plan.inputs[at])) fail('unexpected-input', `input "${inputs[at].name}" is given twice`)
      given.set(plan.inputs[at], acceptInput(this.model, inputs[at], valueFrom(feed), names))
    }
    inputs.forEach((input, i) => {
      if (given.has(plan.inputs[i]) || this.bound.constants.has(input.value) || !isRead(plan, i)) return
      fail('missing-input', `input "${input.name}" is not given`)
    })
    return given
  }

  /** Sessions with state queue their runs. */
  private inTurn<T>(start: () => Promise<T>): Promise<T> {
    if (!this.isStateful) return start()
    const result = this.queue.then(start, start)
    this.queue = result.catch(() => undefined)
    return result
  }
}

const isRead = (plan: Plan, input: number): boolean => {
  const slot = plan.inputs[input]
  return plan.outputs.includes(slot) || plan.steps.some(step =>
    step.inputs.includes(slot) || [...step.bodies.values()].some(body => body.captures.some(({ from }) => from === slot)))
}

function indexOfPort(ports: readonly GraphPort[], name: string): number {
  const exact = ports.findIndex(port => port.name === name)
  return exact >= 0 ? exact : ports.findIndex(port => port.aliases.includes(name))
}

function valueFrom(feed: Feed): Value {
  if (feed instanceof Tensor || feed.type === 'sequence' || feed.type === 'optional') return feed
  const { type, data, dims } = feed as { type: DType; data: never; dims: readonly number[] }
  return new Tensor(type, data, dims)
}

/** Outputs by name. What shares memory with an input, a constant, the state or another output is copied: it belongs to the caller. */
function collect(names: readonly string[], values: readonly Value[], foreign: Set<unknown>): Record<string, Value> {
  const result = Object.create(null) as Record<string, Value>
  values.forEach((value, i) => {
    result[names[i]] = apartFrom(value, foreign)
    for (const data of dataOf([result[names[i]]])) foreign.add(data)
  })
  return result
}

/** The storage of every tensor in some values. */
const dataOf = (values: Iterable<Value>): Set<unknown> =>
  new Set([...values].flatMap(value => tensorsIn(value).map(tensor => tensor.data)))

/** The value with copies of the tensors that share storage with others. */
function apartFrom(value: Value, others: ReadonlySet<unknown>): Value {
  if (isTensor(value)) return others.has(value.data) ? new Tensor(value.type, value.data.slice() as never, value.dims) : value
  if (value.type === 'sequence') return { type: 'sequence', values: value.values.map(item => apartFrom(item, others)) }
  return { type: 'optional', value: value.value && apartFrom(value.value, others) }
}

/** Gives the event loop a turn. */
const turn = (): Promise<void> => new Promise(resolve => {
  if (typeof setImmediate === 'function') setImmediate(resolve)
  else setTimeout(resolve, 0)
})

async function drive<T>(steps: Generator<void, T>, signal: AbortSignal | undefined): Promise<T> {
  let last = performance.now()
  for (;;) {
    if (signal?.aborted) throw new NodewiseError('aborted', 'the run was aborted')
    const step = steps.next()
    if (step.done) return step.value
    if (performance.now() - last < TURN) continue
    await turn()
    last = performance.now()
  }
}
