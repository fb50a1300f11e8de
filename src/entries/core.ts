/**
 * `nodewise/core`: what `nodewise` does, with the operators that the caller names and no others. Like `nodewise` it
 * only names what is in other modules.
 */
export * from './kit.ts'
export { check } from './named/check.ts'
export type { CheckOptions } from './named/check.ts'
export type { NamedOps } from './named/named-ops.ts'
export { propagate } from './named/propagate.ts'
export type { PropagateOptions } from './named/propagate.ts'
export { InferenceSession } from './named/session.ts'
export type { SessionOptions } from './named/session.ts'
