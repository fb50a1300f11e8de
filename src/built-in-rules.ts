import { registries } from './bind/registry.ts'
import { ruleLibrary } from './ops/rule-library.ts'

/**
 * A registry for what never runs a model: the built-in operators, without the kernels that decide no shapes, and a
 * caller's own, which win over built-in ones of the same type.
 */
export const rulesWith = /* @__PURE__ */ registries(ruleLibrary)
