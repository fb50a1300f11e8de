import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { load, type NodewiseError } from 'nodewise'
import { afterAll, describe, expect, test } from 'vitest'
import { factsOf, type ShownFinding } from '../src/worker/facts.ts'
import { flatten } from '../src/worker/flatten.ts'
import { readReport, type ShownReport } from '../src/worker/report.ts'
import { printedBy } from './command.ts'

const folder = mkdtempSync(join(tmpdir(), 'nodewise-report-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const WRONG = join(import.meta.dirname, '../../../models/wrong-dim.xml')
/** Declares false dims in the main graph and in a body; the names have slashes, and braces as SARIF escapes them. */
const BODIES = join(folder, 'bodies.onnxtxt')
writeFileSync(
  BODIES,
  `<ir_version: 8, opset_import: ["" : 17]>
main (float[2, 4] x, bool c) => (float[3, 4] y)
<float[2, 4] a>
{
  ["block/0/neg{1}"] a = Neg (x)
  ["block/0"] y = If (c) <
    then_branch = then () => (float[2, 4] t) <float[5, 4] s> { ["block/0/0"] s = Abs (a)  ["1"] t = Neg (s) },
    else_branch = else () => (float[2, 4] e) { e = Identity (a) }
  >
}`
)

async function reportOn(file: string, format: 'json' | 'sarif', ...others: string[]): Promise<ShownReport> {
  const model = await load(file)
  const text = await printedBy('check', '--format', format, file, ...others)
  return readReport(new TextEncoder().encode(text), `report.${format}`, model, flatten(model))
}

const saidOf = ({ code, severity, message, declared, inferred, meaning, record }: ShownFinding): object => ({
  code,
  severity,
  message,
  declared,
  inferred,
  meaning,
  record
})

describe('a report', () => {
  test.each([
    [WRONG, 'json'],
    [WRONG, 'sarif'],
    [BODIES, 'json'],
    [BODIES, 'sarif']
  ] as const)('on %s as %s has the findings of the page, at the same nodes', async (file, format) => {
    const model = await load(file)
    const own = factsOf(model, flatten(model)).findings
    expect(own.length).toBeGreaterThan(file === BODIES ? 1 : 0)
    const { findings } = await reportOn(file, format)
    expect(findings.map(saidOf)).toEqual(own.map(saidOf))
    expect(findings.map(({ place }) => place.line)).toEqual(own.map(({ place }) => place.line))
  })

  test('as JSON has the lines of the file', async () => {
    const [{ excerpt }] = (await reportOn(WRONG, 'json')).findings
    expect(excerpt?.find(({ isMarked }) => isMarked)?.text).toBe('    <dim>12</dim>')
  })

  test.each(['json', 'sarif'] as const)('on many files tells of the open one, as %s', async format => {
    const { findings } = await reportOn(WRONG, format, BODIES)
    expect(findings.map(({ declared }) => declared)).toEqual(['[6, 15, 4, 12]'])
  })

  test('that is none, or on other models, is refused', async () => {
    const model = await load(WRONG)
    const codeOf = (text: string): string => {
      try {
        readReport(new TextEncoder().encode(text), 'r.json', model, flatten(model))
        return ''
      } catch (error) {
        return (error as NodewiseError).code
      }
    }
    expect(['{', '[]', '{"model_type":"bert"}', 'null'].map(codeOf)).toEqual(new Array(4).fill('invalid-file'))
    expect(codeOf('{"files":[{"model":"a.onnx"},{"model":"b.onnx"}]}')).toBe('missing-file')
    expect(codeOf('{"model":"renamed.xml","findings":[{"code":"of-a-later-version","place":7}]}')).toBe('')
  })
})
