import { fail } from '../errors.ts'
import { exactInts, type NodeFacts, optional, texts } from './sources.ts'

/** The labels of a classifier of ai.onnx.ml, at least one. */
export type Labels =
  | { readonly type: 'int64'; readonly values: readonly bigint[] }
  | { readonly type: 'string'; readonly values: readonly string[] }

/**
 * Reads the labels from `classlabels_strings` or the attribute of integers, whichever has some.
 * @param integers its name, which differs by operator
 * @throws NodewiseError `unknown-attribute-value` where both have some, `missing-attribute` where neither has
 */
export function labelsOf(node: NodeFacts, integers: string): Labels {
  const strings = 'classlabels_strings'
  const numbers = node.get(optional(exactInts(integers))) ?? []
  const names = node.get(optional(texts(strings))) ?? []
  if (numbers.length > 0 && names.length > 0)
    fail('unknown-attribute-value', `labels are given in "${integers}" and in "${strings}"; expected one of them`)
  if (names.length > 0) return { type: 'string', values: names }
  if (numbers.length > 0) return { type: 'int64', values: numbers }
  return fail('missing-attribute', `one of the attributes "${integers}" and "${strings}" is missing`)
}

/**
 * What a score is judged by where there is one for two classes: the two labels. A single label stands for nothing, and
 * the labels are 0 and 1, as in ONNX Runtime.
 */
export function twoLabels(labels: Labels): Labels {
  if (labels.values.length !== 1) return labels
  return labels.type === 'string' ? { type: 'string', values: ['0', '1'] } : { type: 'int64', values: [0n, 1n] }
}
