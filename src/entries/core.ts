/** `nodewise/core`: what `nodewise` does, with the operators that the caller names and no others. */
import { bind } from '../bind/bind.ts'
import { createRegistry } from '../bind/registry.ts'
import { check as checkModel, type CheckOptions as OptionsOfCheck } from '../check/check.ts'
import type { CheckResult } from '../check/result.ts'
import type { Model } from '../graph/graph.ts'
import {
  checkPropagateOptions,
  type PropagateOptions as OptionsOfPropagate,
  propagate as propagateModel,
  type Propagation
} from '../infer/propagate.ts'
import { loadModel, type LoadOptions, type ModelSource } from '../load.ts'
import type { Op } from '../op-kit/define.ts'
import { type SessionOptions as OptionsOfSession, Session } from '../runtime/session.ts'

export * from './kit.ts'

/** The operators that a model may use. */
export interface NamedOps {
  /** Operators of `nodewise/ops` and of the caller's own; where two are of the same type, the later wins. */
  readonly ops: readonly Op[]
}

/** What a session is created with. */
export type SessionOptions = OptionsOfSession & NamedOps
/** What is checked, and how strictly. */
export type CheckOptions = OptionsOfCheck & NamedOps
/** What is known before facts are worked out. */
export type PropagateOptions = OptionsOfPropagate & NamedOps

/** A model that is ready to run with named operators. Runs of one session are independent of each other. */
export class InferenceSession extends Session {
  /** Makes a loaded model ready to run. */
  constructor(model: Model, { ops, ...options }: SessionOptions) {
    super(model, createRegistry(ops), options)
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

/**
 * Checks a model as `check` of `nodewise` does. Nodes without a named operator are reported as unsupported.
 * @throws NodewiseError `unexpected-input` when `inputShapes` names no input, `limit-exceeded` when function calls
 *   expand beyond the limits
 */
export const check = (model: Model, { ops, ...options }: CheckOptions): CheckResult =>
  checkModel(model, createRegistry(ops), options)

/**
 * Works out facts as `propagate` of `nodewise` does. Values of nodes without a named operator have their declared
 * types.
 * @throws NodewiseError `limit-exceeded` when function calls expand beyond the limits
 */
export const propagate = (model: Model, { ops, ...options }: PropagateOptions): Propagation => {
  checkPropagateOptions(options)
  return propagateModel(bind(model, createRegistry(ops)), options)
}
