import type { Registry } from '../bind/registry.ts'
import { fail } from '../errors.ts'
import type { Dialect, Model } from '../graph/graph.ts'
import { requireModel } from '../graph/require-model.ts'
import type { Conversions } from '../op-kit/conversion.ts'
import { refuseUnknownOptions } from '../suggest.ts'
import { inDialect } from './dialect.ts'
import { type Edited, editModel, type EditOptions } from './edits/edit.ts'

/** How a model is converted. */
export interface ConvertOptions extends EditOptions {
  /** The dialect of the result; that of the model where it is left out. */
  readonly dialect?: Dialect
}

const KNOWN: ReadonlySet<string> = new Set<keyof ConvertOptions>([
  'dialect',
  'from',
  'to',
  'inputShapes',
  'opset',
  'simplify',
  'half',
  'inferShapes'
])

/**
 * Says a model in a dialect, and edits it: the part is cut out of the source, so that what lies outside may be what the
 * other dialect cannot say, and what is declared or stored is that of the result.
 * @throws NodewiseError `unsupported-op` where the dialect, or its operator set, cannot say nodes that outputs need;
 *   `bad-usage` for an option, or a dialect, that does not exist; what {@link editModel} throws
 */
export function convertModel(
  model: Model,
  registry: Registry,
  conversions: Conversions,
  options: ConvertOptions = {}
): Edited {
  requireModel(model)
  refuseUnknownOptions(options, KNOWN)
  const { dialect = model.dialect, from = [], to = [], inputShapes, opset, simplify = false, ...last } = options
  if (dialect !== 'onnx' && dialect !== 'openvino')
    fail('bad-usage', `the dialect is "onnx" or "openvino", not ${JSON.stringify(String(dialect))}`)
  for (const [name, names] of Object.entries({ from, to }))
    if (!Array.isArray(names) || !names.every(one => typeof one === 'string'))
      fail('bad-usage', `\`${name}\` is a list of names of values`)
  if (opset !== undefined && !(Number.isSafeInteger(opset) && opset >= 1))
    fail('bad-usage', `opset is ${String(opset)}; expected a whole number of at least 1`)
  const cut = editModel(model, registry, { from, to, simplify, ...(inputShapes && { inputShapes }) })
  const said = inDialect(cut.model, dialect, registry, conversions, opset)
  const isSaid = dialect !== model.dialect
  // What stands for a node of the other dialect is often known already.
  const rest = isSaid ? { ...last, simplify } : { ...last, ...(opset !== undefined && { opset }) }
  const done = editModel(said, registry, rest, conversions)
  return { model: done.model, changed: [...cut.changed, ...done.changed] }
}
