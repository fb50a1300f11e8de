import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Registry } from '../../bind/registry.ts'
import { check } from '../../check/check.ts'
import { NodewiseError } from '../../errors.ts'
import type { DeclaredType, GraphPort, Model } from '../../graph/graph.ts'
import { clock } from '../../host.ts'
import { compareValues, type Tolerance } from '../../io/compare.ts'
import { numberedFiles } from '../../io/inputs.ts'
import { printable } from '../../io/print.ts'
import { readTensorFile } from '../../io/read.ts'
import { load } from '../../load.ts'
import { Session } from '../../runtime/session.ts'
import { dtypeFromName } from '../../tensor/dtype.ts'
import type { Value } from '../../tensor/tensor.ts'
import { failureIn, failureOf, failureText } from '../failure.ts'
import { fillInputs } from '../inputs/fill.ts'
import { callerType, readByPosition } from '../inputs/inputs.ts'
import { type OpsFlags, registryOf } from '../own-ops.ts'
import { type Case, type CaseSettings, DATA_SET, readJson, settingsOf } from './cases.ts'
import { compareTypeAndDims, compareWithDigest, isDigest } from './digest.ts'
import { type LargestError, LargestErrors } from './largest-error.ts'

export type Status = 'pass' | 'fail' | 'error' | 'skip'

export interface CaseResult {
  readonly name: string
  readonly status: Status
  /** What went wrong; empty for a pass. */
  readonly message: string
  readonly milliseconds: number
  /** What a case that passes is off by, where it was asked for. */
  readonly largest?: LargestError
}

/** What the caller asks for; a tolerance that is given holds whatever an `index.json` says. */
export interface Asked extends Partial<Tolerance>, OpsFlags {
  /** Whether to measure what passes. */
  readonly verbose?: boolean
  /** Makes the model that is run of that of the case, with the same inputs and outputs by position. */
  readonly convert?: (model: Model) => Model
}

/** Tolerances where neither the caller nor an `index.json` names one. */
const DEFAULTS: Tolerance = { rtol: 1e-3, atol: 1e-5 }

/** A case that ran and differs from what is expected; everything else that is thrown is an error. */
class Mismatch extends Error {}

/** Runs one case. Never throws: whatever happens is its result. */
export async function runCase(one: Case, asked: Asked = {}): Promise<CaseResult> {
  const start = clock()
  const errors = asked.verbose ? new LargestErrors() : undefined
  const result = (status: Status, message = ''): CaseResult => ({
    name: one.name,
    status,
    message,
    milliseconds: clock() - start
  })
  try {
    await judge(one, { asked, settings: settingsOf(one), errors })
    return { ...result('pass'), ...(errors?.largest && { largest: errors.largest }) }
  } catch (error) {
    if (error instanceof Mismatch) return result('fail', printable(error.message))
    return result('error', failureText(failureOf(error)))
  }
}

/** What outputs are held against. */
interface Measure {
  readonly asked: Asked
  readonly settings: CaseSettings
  readonly errors: LargestErrors | undefined
}

const toleranceOf = ({ asked, settings }: Measure): Tolerance => ({
  rtol: asked.rtol ?? settings.rtol ?? DEFAULTS.rtol,
  atol: asked.atol ?? settings.atol ?? DEFAULTS.atol,
  atolScale: asked.atolScale ?? settings.atol_scale ?? 0
})

async function judge(one: Case, measure: Measure): Promise<void> {
  const expected = readJson(join(one.folder, 'expect.json'))
  if (expected !== undefined) return judgeFailure(one, expected, registryOf(measure.asked))
  const loaded = await load(one.model)
  const model = measure.asked.convert?.(loaded) ?? loaded
  try {
    await judgeOutputs(one, model, measure)
  } catch (error) {
    throw error instanceof Mismatch ? error : failureIn(model, error)
  }
}

/** The data sets of a case in the order of their numbers. */
const dataSets = ({ folder }: Case): string[] =>
  readdirSync(folder)
    .filter(name => DATA_SET.test(name))
    .sort((a, b) => numberOf(a) - numberOf(b))
    .map(name => join(folder, name))

const numberOf = (name: string): number => Number(DATA_SET.exec(name)?.[1])

async function judgeOutputs(one: Case, model: Model, measure: Measure): Promise<void> {
  const session = new Session(model, registryOf(measure.asked))
  const isStateful = existsSync(join(one.folder, 'stateful.txt'))
  for (const set of dataSets(one)) {
    if (!isStateful) session.resetState()
    const files = numberedFiles(set, 'output')
    if (files.size === 0) throw new NodewiseError('missing-file', 'there are no outputs to compare with', { file: set })
    const outputs = await session.run(Object.fromEntries(await readSet(model, set, measure.settings)))
    for (const [index, path] of files) await judgeOutput(model, index, path, outputs, measure)
  }
}

const readSet = (model: Model, set: string, settings: CaseSettings): Promise<Map<string, Value>> =>
  readByPosition(model, numberedFiles(set, 'input'), index => bitsType(settings, `input_${index}`))

/** The type that an index says a file's bit patterns are of. */
function bitsType({ raw_bits: types }: CaseSettings, file: string): DeclaredType | undefined {
  const type = types?.[file] === undefined ? undefined : dtypeFromName(types[file])
  return type && { kind: 'tensor', type }
}

async function judgeOutput(
  model: Model,
  index: number,
  path: string,
  outputs: Readonly<Record<string, Value>>,
  measure: Measure
): Promise<void> {
  const port: GraphPort | undefined = model.graph.outputs[index]
  if (port === undefined)
    throw new Mismatch(`${path}: the model has ${model.graph.outputs.length} outputs; none belongs to this file`)
  const actual = outputs[port.name]
  const json = path.endsWith('.json') ? readJson(path) : undefined
  const declared = bitsType(measure.settings, `output_${index}`) ?? callerType(model, 'output', port)
  const difference = isDigest(json)
    ? compareWithDigest(actual, json, path)
    : await compareWithFile(port.name, actual, { path, declared }, measure)
  if (difference !== undefined) throw new Mismatch(`${path}: output "${port.name}": ${difference}`)
}

async function compareWithFile(
  name: string,
  actual: Value,
  { path, declared }: { path: string; declared: DeclaredType | undefined },
  measure: Measure
): Promise<string | undefined> {
  const expected = await readTensorFile(path, declared)
  if (measure.settings.compare === 'type-dims') return compareTypeAndDims(actual, expected)
  const difference = compareValues(actual, expected, toleranceOf(measure))
  if (difference === undefined) measure.errors?.add(name, actual, expected)
  return difference
}

/** What `expect.json` says: the codes of which any will do, and details that the failure must have. */
interface ExpectedFailure {
  readonly codes: readonly string[]
  readonly details: Readonly<Record<string, unknown>>
}

/** `error` is a code or a list of codes; `what` is the fault in words, for readers. */
function expectedFailure(one: Case, expected: unknown): ExpectedFailure {
  const {
    error,
    what: _,
    ...details
  } = (typeof expected === 'object' && expected !== null ? expected : {}) as Record<string, unknown>
  const codes: unknown[] = Array.isArray(error) ? error : [error]
  if (codes.length === 0 || codes.some(code => typeof code !== 'string'))
    throw new NodewiseError('invalid-file', '{"error": code, …} or {"error": [codes], …} is needed', {
      file: join(one.folder, 'expect.json')
    })
  return { codes: codes as string[], details }
}

/** Fails unless the case fails as `expect.json` says: at load, at run, or as a finding of the check. */
async function judgeFailure(one: Case, expected: unknown, registry: Registry): Promise<void> {
  const { codes, details } = expectedFailure(one, expected)
  const seen: string[] = []
  for (const failure of await failuresOf(one, registry)) {
    const found = asJson(failure.details)
    const isExpected = codes.includes(failure.code)
    if (isExpected && Object.entries(details).every(([key, value]) => isDeepStrictEqual(found[key], value))) return
    seen.push(`${failureText(failure)} [${failure.code}]`)
  }
  // Findings carry no details, so the checker cannot answer for them.
  if (Object.keys(details).length === 0 && (await isFound(one, codes, registry))) return
  const found = seen.length === 0 ? 'nothing failed' : `found ${seen.join(' and ')}`
  throw new Mismatch(`expected ${codes.join(' or ')} ${JSON.stringify(details)}; ${found}`)
}

/** Details as they stand in a JSON document. */
const asJson = (details: NodewiseError['details']): Record<string, unknown> =>
  JSON.parse(JSON.stringify(details, (_, item: unknown) => (typeof item === 'bigint' ? String(item) : item))) as Record<
    string,
    unknown
  >

/** Loads and runs the case, with zeros where it has no data: what it fails with, if it does. */
async function failuresOf(one: Case, registry: Registry): Promise<NodewiseError[]> {
  let model: Model | undefined
  try {
    model = await load(one.model)
    const session = new Session(model, registry)
    const sets = dataSets(one)
    for (const set of sets) await session.run(Object.fromEntries(await readSet(model, set, settingsOf(one))))
    if (sets.length === 0)
      await session.run(
        Object.fromEntries(fillInputs(model, new Map(), { fill: { how: 'zeros', seed: 0 }, guess: true }))
      )
    return []
  } catch (error) {
    return [model ? failureIn(model, error) : failureOf(error)]
  }
}

async function isFound(one: Case, codes: readonly string[], registry: Registry): Promise<boolean> {
  try {
    const { findings } = check(await load(one.model), registry)
    return findings.some(finding => finding.severity === 'error' && codes.includes(finding.code))
  } catch (error) {
    return codes.includes(failureOf(error).code)
  }
}
