import type { CheckedValue, CheckResult } from '../check/result.ts'
import type { DeclaredDim, Finding, Model } from '../graph/graph.ts'
import { type Json, stringifyExact } from '../io/json-text.ts'
import { printable } from '../io/print.ts'
import { badUsage, EXIT, failureIn, placeText } from './failure.ts'
import { inputNames } from './inputs.ts'
import { openModel } from './model.ts'
import { openDims, splitNamed } from './options.ts'
import { counted, green, print, red, table, yellow } from './terminal.ts'

export interface CheckFlags {
  readonly inputShape?: readonly string[]
  readonly format?: 'text' | 'json' | 'sarif' | 'html'
  readonly values?: boolean
  readonly strict?: boolean
  readonly dataRoot?: string
  readonly json?: boolean
}

/** `nodewise check <model>` */
export async function check(path: string, flags: CheckFlags): Promise<number> {
  if (flags.format === 'sarif' || flags.format === 'html') badUsage(`--format ${flags.format} is not available yet; text and json are`)
  const model = await openModel(path, flags)
  try {
    const { check: checkModel } = await import('../check/check.ts')
    const result = checkModel(model, { inputShapes: inputShapes(model, flags.inputShape ?? []) })
    if (flags.json || flags.format === 'json') print(stringifyExact(resultJson(model, result, flags.values === true), 2))
    else print(resultText(result, flags.values === true))
    const { errors, warnings } = result.summary
    return errors > 0 || (flags.strict && warnings > 0) ? EXIT.no : EXIT.yes
  } catch (error) {
    throw failureIn(model, error)
  }
}

function inputShapes(model: Model, texts: readonly string[]): Map<string, readonly DeclaredDim[]> {
  const shapes = new Map<string, readonly DeclaredDim[]>()
  for (const text of texts) {
    const { name, value } = splitNamed('--input-shape', text, inputNames(model))
    if (shapes.has(name)) badUsage(`--input-shape gives "${name}" twice`)
    shapes.set(name, openDims(`--input-shape ${name}`, value))
  }
  return shapes
}

function resultJson({ file }: Model, { findings, summary, values }: CheckResult, withValues: boolean): Json {
  return {
    model: file,
    findings: findings.map(({ code, severity, message, declared, inferred, place }) =>
      ({ code, severity, message, declared: declared ?? null, inferred: inferred ?? null, place: place as Json })),
    summary: { ...summary },
    ...(withValues && { values: values.map(valueJson) })
  }
}

const valueJson = ({ name, type, dims, declaredDims, node, note }: CheckedValue): Json => ({
  name,
  type: type ?? null,
  dims: dims === undefined ? null : [...dims],
  declaredDims: declaredDims === undefined ? null : [...declaredDims],
  node: node ?? null,
  ...(note !== undefined && { note })
})

function resultText({ findings, summary, values }: CheckResult, withValues: boolean): string {
  const { errors, warnings, nodes, unknownShapes } = summary
  return [
    ...(withValues ? [...valueLines(values), ''] : []),
    ...findings.map(findingLine),
    ...(findings.length > 0 ? [''] : []),
    (errors > 0 ? red : warnings > 0 ? yellow : green)(`${counted(errors, 'error')}, ${counted(warnings, 'warning')}`)
      + ` (${counted(nodes, 'node')}, ${counted(summary.values, 'value')}, ${counted(unknownShapes, 'value')} of unknown rank)`
  ].join('\n')
}

const TINT = { error: red, warning: yellow, note: (text: string): string => text } as const

function findingLine({ severity, code, message, place }: Finding): string {
  return `${printable(`${placeText(place)}: ${message}`)} ${TINT[severity](`[${severity}: ${code}]`)}`
}

function valueLines(values: readonly CheckedValue[]): string[] {
  const dimsText = (dims: CheckedValue['dims']): string => dims === undefined ? '[...]' : `[${dims.join(', ')}]`
  return table(values.map(({ name, type, dims, declaredDims, note }) => {
    const declared = declaredDims !== undefined && dimsText(declaredDims) !== dimsText(dims) ? `declared ${dimsText(declaredDims)}` : ''
    return [name, type ?? '?', dimsText(dims), [declared, note ?? ''].filter(text => text !== '').join('; ')].map(printable)
  }))
}
