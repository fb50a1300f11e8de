import { registryWith } from '../../built-in.ts'
import { convertModel, type ConvertOptions as OptionsOfConvert } from '../../convert/convert.ts'
import type { Edited } from '../../convert/edits/edit.ts'
import type { Model } from '../../graph/graph.ts'
import { ALL_CONVERSIONS } from '../../ops/conversions.ts'
import { withoutOps } from '../../suggest.ts'
import type { OwnOps } from './own-ops.ts'

/** How a model is converted and edited. */
export type ConvertOptions = OptionsOfConvert & OwnOps

/**
 * Says a model in the other dialect or in another operator set, and edits it, as `nodewise convert` does. What is not
 * changed stays what it is in the file; `modelFiles` gives the files of the result.
 * @throws NodewiseError `unsupported-op` where nodes that outputs need cannot be said; `details.nodes` has the reasons.
 *   `bad-usage` for names that are no values
 */
export const convert = (model: Model, options: ConvertOptions = {}): Edited => {
  const [ops, rest] = withoutOps(options)
  return convertModel(model, registryWith(ops), ALL_CONVERSIONS, rest)
}
