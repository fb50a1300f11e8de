import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import Ajv from 'ajv-draft-04'
import addFormats from 'ajv-formats'
import type { Log, Result } from 'sarif'
import { describe, expect, test } from 'vitest'
import { CODES } from '../../../src/check/codes.ts'
import { type Outcome, Tally } from '../../../src/cli/check/report.ts'
import { sarifReport } from '../../../src/cli/check/sarif.ts'
import { NodewiseError } from '../../../src/errors.ts'
import type { Finding, FindingCode, Model } from '../../../src/graph/graph.ts'
import { node, onnxBytes, port } from '../../fixtures/onnx.ts'
import { MODELS, nodewise, temporaryFolder } from '../command.ts'

const schemaFile = join(
  createRequire(import.meta.url).resolve('@microsoft/jest-sarif/package.json'),
  '../lib/schemas/sarif-2.1.0-rtm.5.json'
)
const ajv = new Ajv.default({ strict: false, allErrors: true, unicodeRegExp: false })
addFormats.default(ajv)
const validate = ajv.compile(JSON.parse(readFileSync(schemaFile, 'utf8')) as object)

/** The one run of a log that is valid. */
function validRun(log: Log): Log['runs'][number] {
  expect(validate(log), JSON.stringify(validate.errors)).toBe(true)
  expect(log.runs).toHaveLength(1)
  return log.runs[0]
}

const folder = temporaryFolder()
const summary = { errors: 0, warnings: 0, nodes: 0, values: 0, unknownShapes: 0, unverified: 0 }
/** The log of outcomes; of a model only its name is looked at. */
function logOf(outcomes: readonly Outcome[]): Log {
  const report = sarifReport({ version: '1.2.3', folder: '/home/me/repository' })
  for (const outcome of outcomes) report.add(outcome)
  return JSON.parse(report.end(new Tally().totals)) as Log
}
const sarif = (findings: readonly Finding[], file = 'models/m.xml'): Log =>
  logOf([
    {
      file,
      model: { file } as Model,
      result: { findings, values: [], summary },
      ignored: 0,
      gone: 0,
      fingerprints: findings.map((_, i) => `0123456789abcdef:${i}`),
      source: undefined
    }
  ])
const finding = (place: Finding['place'], message = 'wrong'): Finding => ({
  code: 'dims-mismatch',
  severity: 'error',
  message,
  place
})
const firstResult = (log: Log): Result => validRun(log).results?.[0] ?? expect.fail('no result')
const uriOf = (file: string): unknown =>
  firstResult(sarif([finding({})], file)).locations?.[0].physicalLocation?.artifactLocation

describe('a SARIF log', () => {
  test('is valid for every code and severity, each with a rule of its own', () => {
    const severities = ['error', 'warning', 'note'] as const
    const { results, tool } = validRun(
      sarif(
        (Object.keys(CODES) as FindingCode[]).map((code, i): Finding => ({
          code,
          severity: severities[i % 3],
          message: CODES[code][0],
          place: { line: i + 1, column: 1, offset: 0, layer: '1' }
        }))
      )
    )
    expect(tool.driver.rules).toHaveLength(Object.keys(CODES).length)
    for (const { ruleId, ruleIndex } of results ?? []) expect(tool.driver.rules?.[ruleIndex ?? -1].id).toBe(ruleId)
    expect(new Set(results?.map(({ level }) => level))).toEqual(new Set(severities))
  })

  test('explains each rule, and gives each result a fingerprint', () => {
    const { results, tool } = validRun(sarif([finding({})]))
    const uri = 'https://github.com/nodewise/nodewise/blob/main/docs/checking.md#dims-mismatch'
    expect(tool.driver.rules).toMatchObject([
      { id: 'dims-mismatch', fullDescription: { text: CODES['dims-mismatch'][0] }, helpUri: uri }
    ])
    expect(results?.[0].partialFingerprints).toEqual({
      primaryLocationLineHash: '0123456789abcdef:0',
      'nodewise/v1': '0123456789abcdef:0'
    })
  })

  test('tells of files that cannot be read, and is valid', () => {
    const error = new NodewiseError('invalid-file', 'this is {no} model', { file: 'a.onnx', offset: 3 })
    const { invocations, results, tool } = validRun(logOf([{ file: 'a.onnx', error }]))
    expect(invocations).toMatchObject([
      {
        executionSuccessful: false,
        toolExecutionNotifications: [
          { descriptor: { id: 'invalid-file' }, level: 'error', message: { text: 'this is {{no}} model' } }
        ]
      }
    ])
    expect(tool.driver.notifications).toMatchObject([{ id: 'invalid-file' }])
    expect(results).toEqual([])
    expect(validRun(sarif([])).invocations).toEqual([{ executionSuccessful: true }])
  })

  test('is valid without findings', () => {
    expect(validRun(sarif([])).results).toEqual([])
  })

  test('gives files relative to the folder, as URIs', () => {
    expect(uriOf('models/a b#ü.xml')).toEqual({ uri: 'models/a%20b%23%C3%BC.xml', uriBaseId: '%SRCROOT%' })
    expect(uriOf('/home/me/repository/m.onnx')).toEqual({ uri: 'm.onnx', uriBaseId: '%SRCROOT%' })
    expect(uriOf('../other/m.onnx')).toEqual({ uri: '../other/m.onnx' })
    expect(uriOf('https://example.com/m.onnx')).toEqual({ uri: 'https://example.com/m.onnx' })
  })

  test('has no placeholders or links in messages', () => {
    expect(firstResult(sarif([finding({}, '{0} [4](x) [2, 3]')])).message.text).toBe('{{0}} [4\\](x) [2, 3]')
  })

  test('names a place in a body by the way into it', () => {
    expect(
      firstResult(sarif([finding({ graphPath: '12:then_branch', nodeIndex: 3, node: 'Gather_5', value: 'y' })]))
        .locations?.[0].logicalLocations
    ).toEqual([{ name: 'y', fullyQualifiedName: '12:then_branch/3/Gather_5/y', kind: 'value' }])
  })
})

describe('check --format sarif', () => {
  const logFrom = async (...models: string[]): Promise<Log> =>
    JSON.parse((await nodewise(['check', ...models, '--format', 'sarif'])).stdout) as Log

  test('puts a finding of an IR at its line and column', async () => {
    const model = join(MODELS, 'wrong-dim.xml')
    const run = validRun(await logFrom(model))
    expect(run.columnKind).toBe('utf16CodeUnits')
    expect(run.results).toMatchObject([
      {
        ruleId: 'dims-mismatch',
        level: 'error',
        properties: { declared: '[6, 15, 4, 12]', inferred: '[6, 15, 4, 10]' },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: relative(process.cwd(), model) },
              region: { startLine: 47, startColumn: 6 }
            }
          }
        ]
      }
    ])
  })

  test('puts a finding of an ONNX file at its node and value, and says no with exit code 1', async () => {
    const model = join(folder, 'm.onnx')
    writeFileSync(
      model,
      onnxBytes({
        inputs: [port('x', 'float', [6])],
        outputs: [port('y', 'float', [5])],
        nodes: [node('Relu', ['x'], ['y'])]
      })
    )
    expect((await nodewise(['check', model, '--format', 'sarif'])).status).toBe(1)
    const { results } = validRun(await logFrom(model))
    expect(results?.[0].locations?.[0].physicalLocation).not.toHaveProperty('region')
    expect(results?.[0].locations?.[0].logicalLocations?.[0].fullyQualifiedName).toMatch(/y$/)
  })

  test('is one valid log of many files, those that cannot be read too', async () => {
    const models = [join(MODELS, 'wrong-dim.xml'), join(folder, 'nowhere.onnx'), join(MODELS, 'palette.onnx')]
    const { artifacts, invocations, results } = validRun(await logFrom(...models))
    expect(artifacts).toHaveLength(3)
    expect(results).toHaveLength(1)
    expect(invocations?.[0]).toMatchObject({
      executionSuccessful: false,
      toolExecutionNotifications: [{ descriptor: { id: 'missing-file' } }]
    })
    expect((await nodewise(['check', ...models, '--format', 'sarif'])).status).toBe(2)
  })

  test('is valid where the only file cannot be read', async () => {
    const { invocations, results } = validRun(await logFrom(join(folder, 'nowhere.onnx')))
    expect(invocations?.[0].executionSuccessful).toBe(false)
    expect(results).toEqual([])
  })
})
