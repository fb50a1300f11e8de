import { registryWith } from '../../built-in.ts'
import { type Comparand, compareValues, type CompareOptions as OptionsOfCompare } from '../../compare/compare.ts'
import type { Comparison } from '../../compare/result.ts'
import type { Feeds } from '../../runtime/feeds.ts'
import { withoutOps } from '../../suggest.ts'
import type { OwnOps } from './own-ops.ts'

/** How two models are compared. */
export type CompareOptions = OptionsOfCompare & OwnOps

/**
 * Runs two models of either dialect on the same inputs, node by node and in step, and tells where their values part. In
 * place of either there may be values that were recorded, from any runtime.
 * @param feeds inputs by the names that they have in `a`; `b` gets them by name, else by position. Where `a` was
 *   recorded, by the names that they have in `b`
 * @throws NodewiseError (as a rejection) what a run and reading a recording throw; `unexpected-input` where an input
 *   has no place in `b`, and where nothing has the name of a recorded value
 */
export async function compare(
  a: Comparand,
  b: Comparand,
  feeds: Feeds,
  options: CompareOptions = {}
): Promise<Comparison> {
  const [ops, rest] = withoutOps(options)
  return compareValues([a, b], registryWith(ops), feeds, rest)
}
