import {
  chromeTrace,
  InferenceSession,
  load,
  NodewiseError,
  profiledStep,
  type ProfiledStep,
  type RunOptions
} from 'nodewise'
import type { Backend, InferenceSession as Common, InferenceSessionHandler, SessionHandler } from 'onnxruntime-common'
import { fs } from '../host.ts'
import { checkRunOptions, metadataOf, ownOptions, withDims } from './options.ts'
import { toCommon, toOwn, writable } from './tensors.ts'

/** What `onnxruntime-common` asks of an engine, answered by a session of Nodewise. */
class Handler implements InferenceSessionHandler {
  readonly #session: InferenceSession
  readonly #prefix: string
  /** The runs that a profile holds; undefined while nobody profiles. */
  #profile: ProfiledStep[][] | undefined
  readonly inputNames: readonly string[]
  readonly outputNames: readonly string[]
  readonly inputMetadata: readonly Common.ValueMetadata[]
  readonly outputMetadata: readonly Common.ValueMetadata[]

  constructor(session: InferenceSession, { enableProfiling, profileFilePrefix }: Common.SessionOptions) {
    this.#session = session
    this.#prefix = profileFilePrefix ?? 'onnxruntime_profile_'
    if (enableProfiling) this.startProfiling()
    this.inputNames = session.inputNames
    this.outputNames = session.outputNames
    this.inputMetadata = metadataOf(session.inputMetadata)
    this.outputMetadata = metadataOf(session.outputMetadata)
  }

  async run(
    feeds: SessionHandler.FeedsType,
    fetches: SessionHandler.FetchesType,
    options: Common.RunOptions
  ): Promise<SessionHandler.ReturnType> {
    checkRunOptions(options)
    if (options.terminate) throw new NodewiseError('aborted', 'the run was to be terminated')
    const given = Object.fromEntries(Object.entries(feeds).map(([name, value]) => [name, toOwn(name, value)]))
    const wanted = Object.fromEntries(
      Object.entries(fetches).map(([name, value]) => [name, value === null ? null : writable(name, value)])
    )
    const values = await this.#session.run(given, wanted, this.#observed())
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, fetches[name] ?? toCommon(name, value)])
    )
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
  }
}

/** Nodewise as an engine of `onnxruntime-common`. */
export const backend: Backend = {
  async init() {},
  async createInferenceSessionHandler(source, options = {}) {
    const own = ownOptions(options)
    const model = withDims(await load(source, own.load), options.freeDimensionOverrides)
    return new Handler(new InferenceSession(model, own.session), options)
  }
}
