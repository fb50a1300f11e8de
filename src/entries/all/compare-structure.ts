import { rulesWith } from '../../built-in-rules.ts'
import { compareStructure as compareStructures, type StructureComparison } from '../../compare/structure.ts'
import type { Model } from '../../graph/graph.ts'
import { requireOptions } from '../../suggest.ts'
import type { CompareOptions } from './compare.ts'

/**
 * Compares what two models say, without running them: nodes, attributes, weights, declared types and dims.
 * @param options `values`: names of values of `a` with names of values of `b`, where names do not tell
 */
export const compareStructure = (
  a: Model,
  b: Model,
  options: Pick<CompareOptions, 'ops' | 'values'> = {}
): StructureComparison => {
  requireOptions(options)
  return compareStructures([a, b], rulesWith(options.ops), options.values)
}
