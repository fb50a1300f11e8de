import { bind } from '../bind/bind.ts'
import { isStateful, someCall } from '../bind/call.ts'
import type { Registry } from '../bind/registry.ts'
import { fail } from '../errors.ts'
import type { GraphPort, Model, ValueId } from '../graph/graph.ts'
import { clock, parallelism, yieldToEventLoop } from '../host.ts'
import type { Propagation } from '../infer/propagate.ts'
import { drain, type Paced } from '../kernels/core/pace.ts'
import type { SelectKernel } from '../op-kit/define.ts'
import type { Plan } from '../plan/plan.ts'
import { droppedArrays } from '../tensor/dropped-arrays.ts'
import type { DType } from '../tensor/dtype.ts'
import { requireTensor } from '../tensor/given.ts'
import { allocate, requireDims, type Tensor, type Value } from '../tensor/tensor.ts'
import { type Precision, selectorOf } from '../wasm/select.ts'
import { enterRun, leaveRun } from '../wasm/threads.ts'
import { absentAmong, branchInputs } from './absent.ts'
import { argumentsOf, NO_OPTIONS } from './arguments.ts'
import { Blocks } from './blocks.ts'
import { deadlineOf, drive, failureOf, locatedIn, type Patience, signalOf, StepCounter, TURN } from './drive.ts'
import { executePlan } from './execute.ts'
import { acceptFeeds, type Feed, type Feeds, positionsOf } from './feeds.ts'
import { LentViews, owners } from './lent-views.ts'
import { MemoryLimit } from './memory-limit.ts'
import { Budget, liesOnHeap, onHeap } from './memory.ts'
import { describePort, type PortInfo } from './metadata.ts'
import { checkSessionOptions, type EngineOptions, type EngineRunOptions } from './options.ts'
import { deliver, type Fetches, holds, namesOf, targetsOf, writableOf } from './outputs.ts'
import { randomSource } from './random.ts'
import { RepeatedBodies } from './repeated-bodies.ts'
import type { Asked, Request } from './request.ts'
import { Requests, specialFor } from './requests.ts'
import type { Run, StepEvent } from './run.ts'
import type { Course } from './settled.ts'
import type { Slots } from './slots.ts'
import { Spares } from './spares.ts'
import { RunState, Variables } from './state.ts'
import { Turns } from './turns.ts'
import { Weights } from './weights.ts'

export interface SessionOptions extends EngineOptions {
  /**
   * Bytes that the tensors of one run and the constants that have been read may take; when left out, what the machine
   * has free when more than 32 MiB are first needed. A larger table is read by the row where only rows of it are looked
   * up.
   */
  readonly maxMemory?: number
  /** Threads that a run may use, its own included; as many as the process has cores when left out. */
  readonly threads?: number
  /** The name that `onnxruntime-common` gives {@link threads}; 0: as many as the process has cores. */
  readonly intraOpNumThreads?: number
  /**
   * - `fast`, the default: float32 is computed in float32, by SIMD instructions where the engine has them. Sums are
   *   rounded in another order than on other machines, exp and the like by up to 2e-7.
   * - `exact`: sums are in double precision and rounded once, the same on every machine, and several times slower.
   */
  readonly precision?: Precision
  /** Seed of random operators that have none of their own. */
  readonly seed?: number
}

/** Options of one run. */
export interface RunOptions extends EngineRunOptions {
  /**
   * Stops the run; it rejects with `aborted`, whose `cause` is the signal's reason. A caller's own synchronous operator
   * cannot be interrupted.
   */
  readonly signal?: AbortSignal
  /** Milliseconds that the run may take; it rejects with `aborted` when they have passed. For models without end. */
  readonly timeout?: number
  /** Called after every node, with its values. Such a run fuses no nodes, so it may take more memory. */
  readonly onStep?: (event: StepEvent) => void
  /** For every gather: report indices out of range, or read zeros; by default what the operator's version says. */
  readonly outOfRange?: 'error' | 'zero'
  /**
   * Outputs may be views of the session's own memory, which spares a copy. They are valid until the session's next run
   * with this option begins, or the session is disposed of.
   */
  readonly views?: boolean
}

/** A model that is ready to run. Runs of one session are independent; where the model keeps state they queue. */
export class Session {
  readonly model: Model
  private readonly options: SessionOptions
  /** Memory of the heap that outlives a run. */
  private readonly blocks = new Blocks(this)
  private readonly weights = new Weights(this.blocks)
  private readonly spares = new Spares(this.weights)
  private readonly repeatedBodies = new RepeatedBodies(this.weights, this.blocks)
  private readonly views = new LentViews(this, this.blocks)
  private readonly threads: number
  private readonly select: SelectKernel
  private readonly limit: MemoryLimit
  private readonly variables = new Variables(this.blocks)
  private readonly positions: ReadonlyMap<string, number>
  private readonly outputs: readonly string[]
  /** Inputs with initializers, by position. */
  private readonly defaults: ReadonlyMap<number, ValueId>
  private readonly ofBranches: readonly GraphPort[]
  private readonly requests: Requests
  private readonly turns = new Turns()
  private disposed = false
  private readonly isStateful: boolean

  /**
   * @param registry the operators that the model may use
   * @param bound the model with these operators, where it has been bound already; its items may be in any order with
   *   producers first
   */
  constructor(model: Model, registry: Registry, options: SessionOptions = {}, bound = bind(model, registry)) {
    this.model = model
    this.options = options
    checkSessionOptions(options)
    this.threads = options.threads ?? (options.intraOpNumThreads || parallelism())
    this.select = selectorOf(options.precision ?? 'fast')
    this.limit = new MemoryLimit(options.maxMemory)
    this.requests = new Requests(model, bound, {
      limit: this.limit,
      isExact: options.precision === 'exact',
      select: this.select,
      weights: this.weights,
      blocks: this.blocks
    })
    this.ofBranches = branchInputs(bound)
    this.positions = positionsOf(model.graph.inputs)
    this.defaults = new Map(
      bound.graph.inputs.flatMap(({ value }, at) => (bound.constants.has(value) ? [[at, value] as const] : []))
    )
    this.outputs = this.outputNames.map(asKey)
    this.isStateful = someCall(bound, isStateful)
  }

  /** Names of the inputs that a run needs or takes, in the model's order. */
  get inputNames(): string[] {
    return this.model.graph.inputs.map(input => input.name)
  }

  get outputNames(): string[] {
    return this.model.graph.outputs.map(output => output.name)
  }

  get inputMetadata(): PortInfo[] {
    return this.model.graph.inputs.map(port => describePort(this.model, port, 'input'))
  }

  get outputMetadata(): PortInfo[] {
    return this.model.graph.outputs.map(port => describePort(this.model, port, 'output'))
  }

  /**
   * Runs the model and returns all outputs.
   * @param feeds a value for every input that has no default
   * @throws NodewiseError (as a rejection) `missing-input`, `unexpected-input`, `type-mismatch`, `shape-mismatch`,
   *   `unsupported-op`, `aborted`, and whatever a node fails with, with its place
   */
  run<Outputs extends object = Record<string, Tensor>>(feeds: Feeds, options?: RunOptions): Promise<Outputs>
  /**
   * Runs the model.
   * @param feeds a value for every input that has no default
   * @param fetches names of values to return: outputs, or any other value of the main graph; all outputs when left out.
   *   Or by name a tensor of the right type and dims to write into (null: a fresh one); if the run fails, such a tensor
   *   may hold anything
   * @throws NodewiseError (as a rejection) `missing-input`, `unexpected-input`, `type-mismatch`, `shape-mismatch`,
   *   `unsupported-op`, `aborted`, and whatever a node fails with, with its place
   */
  run<const Name extends string, V extends Value = Tensor>(
    feeds: Feeds,
    fetches: readonly Name[] | Readonly<Record<Name, Feed | null>>,
    options?: RunOptions
  ): Promise<Record<Name, V>>
  /** The same for names that are not known when the program is compiled. */
  run(feeds: Feeds, fetches?: Fetches, options?: RunOptions): Promise<Record<string, Value>>
  run(feeds: Feeds, second?: Fetches | RunOptions, third: RunOptions = NO_OPTIONS): Promise<Record<string, Value>> {
    let fetches: Fetches | undefined
    let options: RunOptions
    try {
      ;[fetches, options] = argumentsOf(feeds, second, third)
    } catch (error) {
      return new Promise(() => {
        throw locatedIn(this.model, error)
      })
    }
    const steps = this.start(feeds, fetches, options)
    return this.isStateful ? this.driveInTurn(steps, options) : drive(this.model, steps, options)
  }

  private async driveInTurn<T>(steps: Paced<T>, patience: Patience): Promise<T> {
    const end = await this.takeTurn(patience)
    try {
      return await drive(this.model, steps, patience)
    } finally {
      end()
    }
  }

  /**
   * Runs the model one node at a time: yields each node that has run with its inputs and outputs, and goes on when the
   * next is asked for. Returns the outputs.
   */
  walk(feeds: Feeds, fetches?: Fetches, options?: RunOptions): AsyncGenerator<StepEvent, Record<string, Value>>
  walk(feeds: Feeds, options: RunOptions): AsyncGenerator<StepEvent, Record<string, Value>>
  async *walk(
    feeds: Feeds,
    second?: Fetches | RunOptions,
    third: RunOptions = NO_OPTIONS
  ): AsyncGenerator<StepEvent, Record<string, Value>> {
    const [fetches, options] = argumentsOf(feeds, second, third)
    const deadline = deadlineOf(options)
    const seen: StepEvent[] = []
    const onStep = (event: StepEvent): void => {
      options.onStep?.(event)
      seen.push(event)
    }
    const steps = this.start(feeds, fetches, { ...options, onStep })
    const end = await this.takeTurn(options)
    let failure: Awaited<ReturnType<typeof failureOf>>
    let last = clock()
    try {
      for (;;) {
        deadline?.()
        const step = failure ? steps.throw(failure.error) : steps.next()
        failure = undefined
        while (seen.length > 0) yield seen.shift()!
        if (step.done) return step.value
        if (step.value) failure = await failureOf(step.value)
        else if (clock() - last < TURN) continue
        else await yieldToEventLoop()
        last = clock()
      }
    } catch (error) {
      throw locatedIn(this.model, error)
    } finally {
      steps.return(undefined as never)
      end()
    }
  }

  /** What is known of every value before a run: worked out once, for the runs too. */
  propagation(): Propagation {
    return drain(this.requests.propagated({}))
  }

  /**
   * A zeroed tensor in the session's own memory, where kernels are fastest: as an input, or to be written into. Valid
   * until it is given to {@link free}, or the session is disposed of. Where there is no such memory it is an ordinary
   * tensor.
   */
  allocate<T extends DType>(type: T, dims: readonly number[]): Tensor<T> {
    requireDims(dims)
    const placed = this.disposed ? undefined : onHeap(type, dims, true)
    const tensor = (placed ?? allocate(type, dims)) as Tensor<T>
    if (liesOnHeap(tensor.data)) {
      this.blocks.keep(tensor.data)
      owners.set(tensor.data, this)
    }
    return tensor
  }

  /**
   * Gives back what {@link allocate} gave, or an output; do not use it any more. The array of an output of 64 KiB and
   * more, and every view of its memory, is then empty, and the memory is that of a later output of as many bytes. While
   * a run is under way an output is left as it is.
   */
  free(tensor: Tensor): void {
    requireTensor(tensor)
    if (liesOnHeap(tensor.data)) {
      this.views.forget(tensor.data)
      this.blocks.giveUp(tensor.data)
    } else if (!this.disposed && this.blocks.isIdle) this.spares.takeBack(tensor)
  }

  /** Forgets plans and constants. Runs under way end well; later ones are refused. Safe to call twice. */
  dispose(): void {
    this.disposed = true
    this.requests.clear()
    this.weights.clear()
    this.variables.clear()
    this.blocks.giveUpAll()
  }

  /** The name that `onnxruntime-common` gives {@link dispose}. */
  async release(): Promise<void> {
    this.dispose()
  }

  /** Forgets the state of ReadValue and Assign: the next run begins anew. Runs that have been asked for end as ever. */
  resetState(): void {
    this.turns.afterAll(() => this.variables.clear())
  }

  private *start(feeds: Feeds, fetches: Fetches | undefined, options: RunOptions): Paced<Record<string, Value>> {
    const { onStep, outOfRange, views: asViews = false } = options
    if (this.disposed) fail('invalid-graph', 'the session has been disposed')
    const names = fetches === undefined ? this.outputs : namesOf(fetches)
    const targets = targetsOf(fetches, names)
    const isObserved = onStep !== undefined
    const absent = absentAmong(this.ofBranches, this.model, feeds)
    const asked: Asked = { names, outOfRange, isObserved, replaced: this.replacedBy(feeds), absent }
    const general = this.requests.lastFor(asked) ?? (yield* this.requests.requestFor(asked))
    const given = acceptFeeds(this.model, this.positions, general.plan, feeds, absent)
    const isSpecial = general.byValues !== undefined || general.byDims !== undefined
    const request = isSpecial ? yield* specialFor(general, given) : general
    const { overrides, settled } = request
    const course: Course = settled?.courseFor(given, overrides) ?? { plan: request.plan, watch: undefined }
    const { plan, watch, kept, growing } = course
    request.forecast.refuse(given, () => [...this.variables.values, ...targets.flatMap(target => target?.tensor ?? [])])
    const slots: Slots = plan.initial.slice()
    for (let i = 0; i < given.length; i++) if (given[i] !== undefined) slots[plan.inputs[i]] = given[i]
    const budget = new Budget(this.limit, this.weights, undefined, this.spares)
    const state = new RunState(this.variables, budget)
    const run = this.runFor(budget, state, overrides, options)
    let views: Value[] = []
    this.blocks.enter()
    if (this.threads > 1) enterRun()
    droppedArrays.find()
    try {
      // Views of the run before are void from here on.
      const former = asViews ? this.views.takeBack(targets) : NOTHING_LENT
      const lent = isObserved ? NOTHING_LENT : former
      const writable = writableOf(targets, plan, given, data => lent.has(data))
      const mayExtend = (data: unknown): boolean =>
        lent.has(data) || budget.mayGive(data, true) || holds(this.variables.values, data)
      const isUsual = kept === undefined || asViews || targets.length > 0
      const take = (of: Plan): Paced<Value[]> => executePlan(of, slots, run, { writable, asViews, watch, mayExtend })
      const begun = isUsual ? undefined : settled!.repeated(kept, given, run, slots, take)
      const repeated = begun && 'next' in begun ? yield* begun : begun
      const values =
        repeated?.values ?? (yield* growing ? growing.take(run, slots, take) : take(repeated?.rest ?? plan))
      if (watch) settled?.keep(watch, budget)
      // What has been lent goes with the session.
      const mayLend = asViews && !this.disposed
      const outputs = deliver(
        this.model,
        names,
        targets,
        values,
        data =>
          (repeated?.values !== undefined || (mayLend && lent.has(data)) || budget.mayGive(data, mayLend)) &&
          !state.holds(data)
      )
      // Not before: the caller's tensors may not fit.
      state.settle()
      if (mayLend) this.views.lend((views = names.flatMap((name, i) => (targets[i] ? [] : outputs[name]))))
      else if (!isObserved) this.spares.lend(names, targets, outputs)
      return outputs
    } finally {
      budget.close(this.variables.isEmpty ? views : [...views, ...this.variables.values])
      this.blocks.leave()
      if (this.threads > 1) leaveRun()
      droppedArrays.leave()
      // A run that was under way then may have read constants anew, and assigned variables.
      if (this.disposed && this.blocks.isIdle) this.dispose()
    }
  }

  /** As {@link Asked.replaced}. */
  private replacedBy(feeds: Feeds): Asked['replaced'] {
    if (this.defaults.size === 0) return undefined
    const given = Object.keys(feeds).map(name => this.positions.get(name) ?? -1)
    return [...new Set(given)].sort((a, b) => a - b).flatMap(at => this.defaults.get(at) ?? [])
  }

  private runFor(budget: Budget, state: RunState, overrides: Request['overrides'], options: RunOptions): Run {
    return {
      budget,
      state,
      random: randomSource(this.options.seed ?? 0),
      overrides,
      threads: this.threads,
      select: this.select,
      weights: this.weights,
      repeatedBodies: options.onStep ? undefined : this.repeatedBodies,
      onStep: options.onStep,
      signal: signalOf(options),
      started: options.onStep ? clock() : 0,
      steps: new StepCounter()
    }
  }

  /** Waits until earlier runs of a model with state have ended. @returns ends the turn of this run */
  private async takeTurn(patience: Patience): Promise<() => void> {
    if (!this.isStateful) return () => undefined
    try {
      return await this.turns.take(patience)
    } catch (error) {
      throw locatedIn(this.model, error)
    }
  }
}

/**
 * The same name as engines hold it in keys of objects. A name that has been decoded is another string to them, and to
 * store a property by it takes 0.4 microseconds once a name of the caller's has been stored in the same place.
 */
const asKey = (name: string): string => Object.keys({ [name]: undefined })[0]

const NOTHING_LENT: ReadonlySet<unknown> = new Set()
