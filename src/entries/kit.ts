/** What `nodewise` and `nodewise/core` have in common. */
export * from './graph.ts'
export type { OpListing } from '../bind/registry.ts'
export type { CheckedValue, CheckResult, CheckSummary } from '../check/result.ts'
export type { Propagation } from '../infer/propagate.ts'
export { defineOwnOp as defineOp, params } from '../op-kit/define.ts'
export type {
  DataDependent,
  KernelContext as RunCall,
  Op,
  OpDefinition,
  ShapeContext as ShapeCall
} from '../op-kit/define.ts'
export * as sources from '../op-kit/sources.ts'
export type { StepEvent } from '../runtime/run.ts'
export type { Feed, Feeds } from '../runtime/feeds.ts'
export type { Fetches } from '../runtime/outputs.ts'
export { chromeTrace, profiledStep } from '../runtime/profile.ts'
export type { ProfiledStep } from '../runtime/profile.ts'
export type { OtherPort, PortInfo, TensorPort } from '../runtime/metadata.ts'
export type { RunOptions } from '../runtime/session.ts'
export * as shapes from '../shapes/index.ts'
