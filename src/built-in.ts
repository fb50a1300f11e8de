import { registries } from './bind/registry.ts'
import { opLibrary } from './ops/library.ts'

/** A registry of the built-in operators and of a caller's own, which win over built-in ones of the same type. */
export const registryWith = /* @__PURE__ */ registries(opLibrary)
