import type { CheckedValue, CheckResult } from '../check/result.ts'
import { fileSource } from '../files/byte-source.ts'
import type { Model } from '../graph/graph.ts'
import { type Json, stringifyExact } from '../io/json-text.ts'
import { checkText } from './check-text.ts'
import { EXIT, failureIn } from './failure.ts'
import { inputShapes } from './input-shapes.ts'
import { openModel } from './model.ts'
import { shortened } from './shorten.ts'
import { print, styleOf, type Terminal } from './terminal.ts'

/** Put in when the program is bundled: that of package.json. */
declare const NODEWISE_VERSION: string

export interface CheckFlags {
  readonly inputShape?: readonly string[]
  readonly format?: 'text' | 'json' | 'sarif' | 'html'
  readonly values?: boolean
  readonly strict?: boolean
  readonly dataRoot?: string
  readonly limit?: readonly string[]
  readonly json?: boolean
}

/** `nodewise check <model>` */
export async function check(path: string, flags: CheckFlags, terminal: Terminal): Promise<number> {
  const model = await openModel(path, flags)
  try {
    const [{ check: checkModel }, { registryWith }] = await Promise.all([
      import('../check/check.ts'),
      import('../built-in.ts')
    ])
    const options = { inputShapes: inputShapes(model, flags.inputShape ?? []), strict: flags.strict === true }
    const result = shortened(checkModel(model, registryWith(), options))
    print(terminal, await report(path, model, result, flags, terminal))
    const { errors, warnings } = result.summary
    return errors > 0 || (flags.strict && warnings > 0) ? EXIT.no : EXIT.yes
  } catch (error) {
    throw failureIn(model, error)
  }
}

async function report(
  path: string,
  model: Model,
  result: CheckResult,
  { format, json, values = false }: CheckFlags,
  terminal: Terminal
): Promise<string> {
  if (json || format === 'json') return stringifyExact(resultJson(model, result, values), 2)
  if (format === 'sarif') {
    const { checkSarif } = await import('./check-sarif.ts')
    return JSON.stringify(
      checkSarif(result, { file: model.file, version: NODEWISE_VERSION, folder: terminal.cwd }),
      null,
      2
    )
  }
  const look = { source: model.dialect === 'openvino' ? fileSource(path) : undefined, withValues: values }
  return format === 'html'
    ? (await import('./check-page.ts')).checkPage(model, result, look)
    : checkText(model, result, look, styleOf(terminal))
}

function resultJson({ file }: Model, { findings, summary, values }: CheckResult, withValues: boolean): Json {
  return {
    model: file,
    findings: findings.map(({ code, severity, message, declared, inferred, place }) => ({
      code,
      severity,
      message,
      declared: declared ?? null,
      inferred: inferred ?? null,
      place: place as Json
    })),
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
