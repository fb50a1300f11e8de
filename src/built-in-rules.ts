import { createRegistry, type Registry } from './bind/registry.ts'
import type { Op } from './op-kit/define.ts'
import * as rules from './ops/rules.ts'

const ALL_RULES: readonly Op[] = Object.values<Op | readonly Op[]>(rules).flat()

let builtIn: Registry | undefined

/**
 * A registry for what never runs a model: the built-in operators, without the kernels that decide no shapes, and a
 * caller's own, which win over built-in ones of the same type.
 */
export const rulesWith = (ops: readonly Op[] = []): Registry =>
  ops.length === 0 ? (builtIn ??= createRegistry(ALL_RULES)) : createRegistry([...ALL_RULES, ...ops])
