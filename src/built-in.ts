import { registries } from './bind/registry.ts'
import { ALL_OPS } from './ops/all.ts'

/** A registry of the built-in operators and of a caller's own, which win over built-in ones of the same type. */
export const registryWith = /* @__PURE__ */ registries(ALL_OPS)
