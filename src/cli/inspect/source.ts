import { readableIr } from '../../convert/readable.ts'
import type { Model } from '../../graph/graph.ts'
import { printModel } from '../../onnx/syntax/print.ts'

/** Tensors of more elements are printed as `...`. */
const MAX_ELEMENTS = 16

/** A model in the text format of ONNX, without large weights; an IR in the same form. */
export const modelText = (model: Model): string =>
  [...printModel(model.dialect === 'onnx' ? model : readableIr(model), { maxElements: MAX_ELEMENTS })].join('\n')
