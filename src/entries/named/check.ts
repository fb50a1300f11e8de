import { namedRegistry } from '../../bind/registry.ts'
import { check as checkModel, type CheckOptions as OptionsOfCheck } from '../../check/check.ts'
import type { CheckResult } from '../../check/result.ts'
import type { Model } from '../../graph/graph.ts'
import { withoutOps } from '../../suggest.ts'
import type { NamedOps } from './named-ops.ts'

/** What is checked, and how strictly. */
export type CheckOptions = OptionsOfCheck & NamedOps

/**
 * Checks a model as `check` of `nodewise` does. Nodes without a named operator are reported as unsupported.
 * @throws NodewiseError `unexpected-input` when `inputShapes` names no input, `limit-exceeded` when function calls
 *   expand beyond the limits
 */
export const check = (model: Model, options: CheckOptions): CheckResult => {
  const [ops, rest] = withoutOps(options)
  return checkModel(model, namedRegistry(ops), rest)
}
