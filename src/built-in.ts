import { createRegistry, type Registry } from './bind/registry.ts'
import type { Op } from './op-kit/define.ts'
import { ALL_OPS } from './ops/all.ts'

let builtIn: Registry | undefined

/** A registry of the built-in operators and of a caller's own, which win over built-in ones of the same type. */
export const registryWith = (ops: readonly Op[] = []): Registry =>
  ops.length === 0 ? (builtIn ??= createRegistry(ALL_OPS)) : createRegistry([...ALL_OPS, ...ops])
