import { registries } from './bind/registry.ts'
import type { Op } from './op-kit/define.ts'
import * as rules from './ops/rules.ts'

/**
 * A registry for what never runs a model: the built-in operators, without the kernels that decide no shapes, and a
 * caller's own, which win over built-in ones of the same type.
 */
export const rulesWith = /* @__PURE__ */ registries(Object.values<Op | readonly Op[]>(rules).flat())
