import { availableParallelism } from 'node:os'
import { Near } from '../engine/engine.ts'
import { Instance, type StartEngine } from '../engine/instance.ts'
import type { EngineOptions, ModelInfo } from '../engine/messages.ts'
import { Refusal, refusalOf } from '../refusal.ts'
import { arrayOf, type PlainTensor, slotsOf } from '../tensors/datatypes.ts'
import type { ModelConfig } from './config.ts'
import { Queue } from './queue.ts'
import { stampOf, type VersionFile } from './repository.ts'
import type { InferRequest, Outputs } from './request.ts'

/** What holds for all models that do not say otherwise. */
export interface ModelDefaults {
  readonly instances?: number
  readonly threads?: number
  readonly maxMemory?: number
  readonly precision?: 'fast' | 'exact'
  readonly maxQueue: number
  readonly timeout: number
  readonly maxBatch: number
  readonly maxDelay: number
}

/** Weights of which each engine has a copy of its own; heavier models have one engine whose runs use all cores. */
const SMALL_WEIGHTS = 32 * 2 ** 20
/** Weights of models of which the thread of the server may have a copy, for requests that take little time. */
const NEAR_WEIGHTS = 2 ** 20
/** Milliseconds before an engine that has died is replaced, at first; it doubles up to a minute. */
const RESTART = 100
const MAX_RESTART = 60_000

/** How a version of a model is made. */
export interface VersionOptions {
  readonly config: ModelConfig
  readonly defaults: ModelDefaults
  readonly startEngine: StartEngine
  /** Called where an engine is to be made anew, but its files are others than those of the engines beside it. */
  readonly onChange: () => void
}

/** One version of a model: its engines, and the queue before them. */
export class ModelVersion {
  readonly name: string
  readonly version: string
  readonly config: ModelConfig
  readonly queue: Queue
  /** `performance.now()` of its last request. */
  lastUsed = performance.now()
  private readonly file: VersionFile
  /** Of its files as they were before they were loaded. */
  private readonly stamp: string
  private readonly defaults: ModelDefaults
  private readonly startEngine: StartEngine
  private readonly instances = new Set<Instance>()
  private known: ModelInfo | undefined
  private inputNames: ReadonlySet<string> = new Set()
  private outputNames: readonly string[] = []
  /** The model in this thread, once a request has been found to take little time. */
  private near: Near | undefined
  private isClosed = false
  private restart = RESTART
  private readonly onChange: () => void

  constructor(name: string, file: VersionFile, { config, defaults, startEngine, onChange }: VersionOptions) {
    this.name = name
    this.version = file.version
    this.file = file
    this.stamp = stampOf(file)
    this.config = config
    this.defaults = defaults
    this.startEngine = startEngine
    this.onChange = onChange
    this.queue = new Queue({
      maxQueue: config.maxQueue ?? defaults.maxQueue,
      timeout: config.timeout ?? defaults.timeout
    })
  }

  /** @throws Refusal `not-ready` before it is loaded */
  get info(): ModelInfo {
    if (this.known) return this.known
    throw new Refusal('not-ready', `model "${this.name}" is not loaded`)
  }

  /** Engines that run. */
  get size(): number {
    return this.instances.size
  }

  /** Bytes of its weights in all of its engines. */
  get memory(): number {
    return (this.known?.weightBytes ?? 0) * (this.instances.size + Number(this.near !== undefined))
  }

  /**
   * Loads the model into its engines, and runs what is to be run before it counts as ready.
   * @throws Refusal (as a rejection) what loading or a run fails with
   */
  async load(): Promise<void> {
    const cores = availableParallelism()
    const { instances, threads } = { ...this.defaults, ...this.config }
    try {
      const isOne = instances === 1
      const first = await this.engine(threads ?? (isOne ? cores : 1))
      const { weightBytes } = this.info
      const count = instances ?? (weightBytes <= SMALL_WEIGHTS ? cores : 1)
      // A heavy model is alone: its one engine may use all cores.
      if (count === 1 && threads === undefined && !isOne && cores > 1) {
        this.instances.delete(first)
        await first.close()
        await this.engine(cores)
      }
      const missing = Math.max(0, count - this.instances.size)
      await Promise.all(Array.from({ length: missing }, () => this.engine(threads ?? 1)))
      this.configure()
      for (const instance of this.instances) {
        await this.warmUp(instance)
        this.queue.add(instance)
      }
    } catch (error) {
      await this.close()
      throw refusalOf(error)
    }
  }

  /**
   * Answers a request.
   * @throws Refusal (as a rejection)
   */
  infer(request: InferRequest): Promise<Outputs> {
    this.lastUsed = performance.now()
    const { inputs, outputs } = this.info
    const { feeds, fetches } = request
    let given = 0
    for (const name in feeds) {
      if (!this.inputNames.has(name))
        throw new Refusal('unexpected-input', `model "${this.name}" has no input "${name}"${listed(inputs)}`)
      given++
    }
    if (given < inputs.length)
      for (const { name, isOptional } of inputs)
        if (!isOptional && !Object.hasOwn(feeds, name))
          throw new Refusal('missing-input', `input "${name}" of model "${this.name}" is missing`)
    const unknown = fetches?.find(name => !outputs.some(port => port.name === name))
    if (unknown !== undefined)
      throw new Refusal('bad-request', `model "${this.name}" has no output "${unknown}"${listed(outputs)}`)
    return this.queue.submit(request, fetches ?? this.outputNames)
  }

  /** Ends its engines; what they run is refused. */
  async close(): Promise<void> {
    this.isClosed = true
    this.queue.refuseAll(new Refusal('not-ready', `model "${this.name}" was unloaded`))
    await Promise.all([...this.instances].map(instance => instance.close()))
    this.instances.clear()
    await this.near?.close()
    this.near = undefined
  }

  private async engine(threads: number): Promise<Instance> {
    if (this.isClosed) throw new Refusal('not-ready', `model "${this.name}" was unloaded`)
    const options = this.engineOptions(threads)
    const instance = new Instance(this.startEngine, () => this.replace(instance, threads))
    this.instances.add(instance)
    try {
      this.known = await instance.start(options)
      if (this.hasChanged) throw this.changed()
    } catch (error) {
      this.instances.delete(instance)
      await instance.close()
      throw error
    }
    this.inputNames = new Set(this.known.inputs.map(({ name }) => name))
    this.outputNames = this.known.outputs.map(({ name }) => name)
    return instance
  }

  private engineOptions(threads: number): EngineOptions {
    const { maxMemory, precision } = { ...this.defaults, ...this.config }
    return {
      path: this.file.path,
      threads,
      ...(maxMemory !== undefined && { maxMemory }),
      ...(precision && { precision })
    }
  }

  /** The model in this thread, where its files are still those that its engines have loaded. */
  private async nearby(): Promise<Near> {
    const near = await Near.load(this.engineOptions(1))
    if (this.isClosed || this.hasChanged) {
      await near.close()
      throw this.changed()
    }
    this.near = near
    return near
  }

  /** Whether its files are others than those that its engines have loaded. */
  private get hasChanged(): boolean {
    return stampOf(this.file) !== this.stamp
  }

  private changed(): Refusal {
    return new Refusal('files-changed', `the files of model "${this.name}" have changed`)
  }

  /** An engine that died, of memory or a kernel's fault, is made anew. */
  private replace(dead: Instance, threads: number): void {
    if (!this.instances.delete(dead) || this.isClosed) return
    this.queue.remove(dead)
    this.startLater(threads)
  }

  /** Starts an engine; later each time that this does not help. */
  private startLater(threads: number): void {
    setTimeout(() => void this.startAgain(threads), this.restart).unref()
    this.restart = Math.min(MAX_RESTART, this.restart * 2)
  }

  private async startAgain(threads: number): Promise<void> {
    if (this.isClosed) return
    try {
      if (this.hasChanged) throw this.changed()
      this.queue.add(await this.engine(threads))
      this.restart = RESTART
    } catch (error) {
      if (this.isClosed) return
      const { code, message } = refusalOf(error)
      if (this.instances.size === 0)
        this.queue.halt(new Refusal('not-ready', `model "${this.name}" has no engine: ${message}`, { retryAfter: 1 }))
      if (code === 'files-changed') this.onChange()
      else this.startLater(threads)
    }
  }

  private configure(): void {
    const { maxSize = this.defaults.maxBatch, maxDelay = this.defaults.maxDelay, force } = this.config.batching ?? {}
    const isAllowed = force === true || this.info.notBatched === undefined
    // The proof takes inputs that have a default to be that: of others it says nothing.
    const alone = this.info.inputs.flatMap(({ name, isOptional }) => (isOptional ? [name] : []))
    this.queue.join(isAllowed ? maxSize : 1, maxDelay, alone)
    // Where rows are proven to be independent, no node's work depends on what the elements are, but on how many.
    if (this.info.notBatched === undefined && this.info.weightBytes <= NEAR_WEIGHTS && this.config.nearby !== false)
      this.queue.runNear(() => this.nearby())
  }

  private async warmUp(instance: Instance): Promise<void> {
    for (const shapes of this.config.warmUp ?? []) {
      const feeds = Object.fromEntries(
        this.info.inputs.flatMap(({ name, type, shape, isOptional }) => {
          // One that has a default keeps it: zeros may be no step, no size and no divisor.
          const own = isOptional ? undefined : shape?.map(dim => (dim < 0 ? 1 : dim))
          const dims = Object.hasOwn(shapes, name) ? shapes[name] : own
          return type === undefined || dims === undefined ? [] : [[name, zeros(type, dims)]]
        })
      )
      const fetches = this.info.outputs.map(({ name }) => name)
      const { results } = await instance.run([{ feeds, fetches }], false).done
      const [result] = results
      if ('refusal' in result) throw new Refusal(result.refusal.code, `warm-up: ${result.refusal.message}`)
    }
  }
}

const listed = (ports: readonly { readonly name: string }[]): string =>
  `; there are ${ports
    .slice(0, 20)
    .map(({ name }) => `"${name}"`)
    .join(', ')}`

function zeros(type: PlainTensor['type'], dims: readonly number[]): PlainTensor {
  const array = arrayOf(type)
  const count = dims.reduce((product, dim) => product * dim, 1)
  const data = array === undefined ? new Array<string>(count).fill('') : new array(count * slotsOf(type))
  return { type, dims, data: data }
}
