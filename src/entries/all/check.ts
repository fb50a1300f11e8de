import { rulesWith } from '../../built-in-rules.ts'
import { check as checkModel, type CheckOptions as OptionsOfCheck } from '../../check/check.ts'
import type { CheckResult } from '../../check/result.ts'
import type { Model } from '../../graph/graph.ts'
import { withoutOps } from '../../suggest.ts'
import type { OwnOps } from './own-ops.ts'

/** What is checked, and how strictly. */
export type CheckOptions = OptionsOfCheck & OwnOps

/**
 * Holds what a model declares against what follows from its inputs, constants and attributes.
 * @throws NodewiseError `unexpected-input` when `inputShapes` names no input, `limit-exceeded` when function calls
 *   expand beyond the limits
 */
export const check = (model: Model, options: CheckOptions = {}): CheckResult => {
  const [ops, rest] = withoutOps(options)
  return checkModel(model, rulesWith(ops), rest)
}
