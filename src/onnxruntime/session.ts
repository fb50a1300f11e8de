import {
  chromeTrace,
  InferenceSession,
  load,
  type Model,
  NodewiseError,
  profiledStep,
  type ProfiledStep,
  type RunOptions,
  type SessionOptions,
  type Tensor,
  type Value
} from 'nodewise'
import type { Backend, InferenceSession as Common, InferenceSessionHandler, SessionHandler } from 'onnxruntime-common'
import { fs } from '../host.ts'
import { loosened, needLoose } from './loose.ts'
import { metadataOf, outputMetadataOf } from './metadata.ts'
import { checkRunOptions, ownOptions, withDims, withoutNull } from './options.ts'
import { toCommon, toOwn, writable } from './tensors.ts'

/** What `onnxruntime-common` asks of an engine, answered by a session of Nodewise. */
class Handler implements InferenceSessionHandler {
  readonly #model: Model
  readonly #options: SessionOptions
  readonly #session: InferenceSession
  /** For inputs that onnxruntime takes, though the model declares others; made when such are given. */
  #loose: InferenceSession | undefined
  /** Names of the inputs that have elements in the file. */
  readonly #defaults: readonly string[]
  readonly #prefix: string
  /** The runs that a profile holds; undefined while nobody profiles. */
  #profile: ProfiledStep[][] | undefined
  readonly inputNames: readonly string[]
  readonly outputNames: readonly string[]
  readonly inputMetadata: readonly Common.ValueMetadata[]
  #outputMetadata: readonly Common.ValueMetadata[] | undefined

  constructor(model: Model, options: SessionOptions, { enableProfiling, profileFilePrefix }: Common.SessionOptions) {
    const { inputs, initializers } = model.graph
    this.#model = model
    this.#options = options
    this.#session = new InferenceSession(model, options)
    this.#prefix = profileFilePrefix ?? 'onnxruntime_profile_'
    if (enableProfiling) this.startProfiling()
    // Inputs that have elements in the file are none for onnxruntime: nobody has to give them.
    const isNeeded = (_: unknown, i: number): boolean => !initializers.has(inputs[i].value)
    this.inputNames = this.#session.inputNames.filter(isNeeded)
    this.#defaults = this.#session.inputNames.filter((_, i) => !isNeeded(_, i))
    this.outputNames = this.#session.outputNames
    this.inputMetadata = metadataOf(this.#session.inputMetadata.filter(isNeeded))
  }

  /** Worked out when somebody asks: most do not, and what the file leaves out takes time. */
  get outputMetadata(): readonly Common.ValueMetadata[] {
    return (this.#outputMetadata ??= outputMetadataOf(this.#model, this.#options, this.#session.outputMetadata))
  }

  async run(
    feeds: SessionHandler.FeedsType,
    fetches: SessionHandler.FetchesType,
    options: Common.RunOptions
  ): Promise<SessionHandler.ReturnType> {
    checkRunOptions(options)
    if (options.terminate) throw new NodewiseError('aborted', 'the run was to be terminated')
    const wanted = Object.fromEntries(
      Object.entries(fetches).map(([name, value]) => [name, value === null ? null : writable(name, value)])
    )
    const values = await this.#compute(this.#given(feeds), wanted)
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, fetches[name] ?? toCommon(name, value)])
    )
  }

  /** As in onnxruntime-node, what is given for inputs that the model does not have changes nothing. */
  #given(feeds: SessionHandler.FeedsType): Record<string, Tensor> {
    const others = this.#defaults.filter(name => Object.hasOwn(feeds, name) && feeds[name] !== undefined)
    return Object.fromEntries([...this.inputNames, ...others].map(name => [name, toOwn(name, feeds[name])]))
  }

  async #compute(given: Record<string, Tensor>, wanted: Record<string, Tensor | null>): Promise<Record<string, Value>> {
    const observed = this.#observed()
    try {
      return await this.#session.run(given, wanted, observed)
    } catch (error) {
      const isOfDims = error instanceof NodewiseError && ['rank-mismatch', 'shape-mismatch'].includes(error.code)
      if (!isOfDims || !needLoose(this.#model, given)) throw error
      this.#loose ??= new InferenceSession(loosened(this.#model), this.#options)
      return this.#loose.run(given, wanted, observed)
    }
  }

  /** What a profile sees of a run. */
  #observed(): RunOptions {
    if (!this.#profile) return {}
    const steps: ProfiledStep[] = []
    this.#profile.push(steps)
    return { onStep: event => void steps.push(profiledStep(event)) }
  }

  startProfiling(): void {
    this.#profile ??= []
  }

  /** Writes the profile in Node, as onnxruntime-node does; prints it in a page, as onnxruntime-web does. */
  endProfiling(): void {
    if (!this.#profile) return
    const text = chromeTrace(this.#profile, 'nodewise')
    this.#profile = undefined
    if (fs) fs.writeFileSync(`${this.#prefix}${new Date().toISOString().replace(/[:.]/g, '-')}.json`, text)
    else console.log(text)
  }

  async dispose(): Promise<void> {
    this.#session.dispose()
    this.#loose?.dispose()
  }
}

/** Nodewise as an engine of `onnxruntime-common`. */
export const backend: Backend = {
  async init() {},
  async createInferenceSessionHandler(source, given = {}) {
    const options = withoutNull(given)
    const own = ownOptions(options)
    const model = withDims(await load(source, own.load), options.freeDimensionOverrides)
    return new Handler(model, own.session, options)
  }
}
