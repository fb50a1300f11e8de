/** The public API. */
import { bind } from './bind/bind.ts'
import { type OpListing, registryWith } from './bind/registry.ts'
import type { Model } from './graph/graph.ts'
import { propagate as propagateGraph, type PropagateOptions, type Propagation } from './infer/propagate.ts'
import { load, type LoadOptions, type ModelSource } from './load.ts'
import type { Op } from './op-kit/define.ts'
import { Session, type SessionOptions } from './runtime/session.ts'

export { NodewiseError } from './errors.ts'
export type { ErrorCode, Place } from './errors.ts'
export { Tensor, isTensor } from './tensor/tensor.ts'
export type { Optional, Sequence, Value } from './tensor/tensor.ts'
export type { DType } from './tensor/dtype.ts'
export type {
  Attribute,
  Constant,
  DeclaredDim,
  DeclaredType,
  Dialect,
  Finding,
  Graph,
  GraphPort,
  GraphValue,
  Model,
  ModelFunction,
  Node,
  ValueId
} from './graph/graph.ts'
export { load } from './load.ts'
export type { Limits } from './graph/limits.ts'
export type { LoadOptions, ModelSource } from './load.ts'
export { check } from './check/check.ts'
export type { CheckOptions } from './check/check.ts'
export type { CheckedValue, CheckResult, CheckSummary } from './check/result.ts'
export { defineOp, params } from './op-kit/define.ts'
export type {
  DataDependent as Late,
  Op,
  OpDefinition,
  KernelContext as RunCall,
  ShapeContext as ShapeCall
} from './op-kit/define.ts'
export * as sources from './op-kit/sources.ts'
export * as shapes from './shapes/index.ts'
export type { Feed, Feeds } from './runtime/feeds.ts'
export type { Fetches } from './runtime/outputs.ts'
export type { PortInfo, RunOptions, SessionOptions } from './runtime/session.ts'
export type { StepEvent } from './runtime/execute.ts'
export type { Propagation, PropagateOptions } from './infer/propagate.ts'
export type { OpListing } from './bind/registry.ts'
export { Session }

/** Opens a model for running, as `onnxruntime-common` does. */
export const InferenceSession = {
  /**
   * @param source a path, a URL, bytes, or `{ xml, bin }`
   * @throws NodewiseError (as a rejection) what {@link load} throws
   */
  async create(source: ModelSource, options: SessionOptions & LoadOptions = {}): Promise<Session> {
    return new Session(await load(source, options), options)
  }
}
export type InferenceSession = Session

/**
 * Works out a fact for every value of a model: type, symbolic shape and, where it can be known, the value itself.
 * @throws NodewiseError `limit-exceeded` when function calls expand beyond the limits; what is wrong with nodes is in
 *   `failures`
 */
export const propagate = (
  model: Model,
  { ops = [], ...options }: PropagateOptions & { readonly ops?: readonly Op[] } = {}
): Propagation => propagateGraph(bind(model, registryWith(ops)), options)

/** Every operator that is built in, a row for each change of meaning. */
export const supportedOps = (): OpListing[] => registryWith().list()
