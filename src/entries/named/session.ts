import { namedRegistry } from '../../bind/registry.ts'
import type { Model } from '../../graph/graph.ts'
import { loadModel, type LoadOptions, type ModelSource } from '../../load.ts'
import { type SessionOptions as OptionsOfSession, Session } from '../../runtime/session.ts'
import { withoutOps } from '../../suggest.ts'
import type { NamedOps } from './named-ops.ts'

/** What a session is created with. */
export type SessionOptions = OptionsOfSession & NamedOps

/** A model that is ready to run with named operators. Runs of one session are independent of each other. */
export class InferenceSession extends Session {
  /** Makes a loaded model ready to run. */
  constructor(model: Model, options: SessionOptions) {
    const [ops, rest] = withoutOps(options)
    super(model, namedRegistry(ops), rest)
  }

  /**
   * Loads a model and makes it ready to run.
   * @param source a path, a URL, bytes, or `{ xml, bin }`
   * @throws NodewiseError (as a rejection) what `load` throws
   */
  static async create(source: ModelSource, options: SessionOptions & LoadOptions): Promise<InferenceSession> {
    return new InferenceSession(await loadModel(source, options), options)
  }
}
