import { fail } from '../../errors.ts'
import { bytesSource } from '../../files/byte-source.ts'
import type { Model } from '../../graph/graph.ts'
import { requireModel } from '../../graph/require-model.ts'
import { loadOnnxText } from '../../onnx/syntax/load.ts'
import type { PrintOptions } from '../../onnx/syntax/print-values.ts'
import { printModel as printLines } from '../../onnx/syntax/print.ts'
import { encodeText } from '../../onnx/text.ts'
import { refuseUnknownOptions } from '../../suggest.ts'
import { requireText } from '../../tensor/given.ts'

const KNOWN: ReadonlySet<string> = new Set<keyof PrintOptions>(['maxElements'])

/**
 * An ONNX model in the text format of ONNX (`.onnxtxt`), which `onnx.parser` reads.
 * @throws NodewiseError what reading the constants throws; `bad-usage` for an option that does not exist
 */
export function printModel(model: Model, options: PrintOptions = {}): string {
  requireModel(model)
  refuseUnknownOptions(options, KNOWN)
  const { maxElements } = options
  if (maxElements !== undefined && !(typeof maxElements === 'number' && maxElements >= 0))
    fail('bad-usage', `maxElements is ${String(maxElements)}; expected a number`)
  return [...printLines(model, options)].join('\n')
}

/**
 * Reads a model in the text format of ONNX.
 * @param name of the file, for messages
 * @throws NodewiseError `invalid-file` with line and column; `bad-usage` for what is no text
 */
export function parseModel(text: string, name = 'model.onnxtxt'): Model {
  requireText(text)
  requireText(name)
  return loadOnnxText(bytesSource(name, encodeText(text)), { file: name })
}
