import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { EXAMPLES } from '../../../src/cli/help/examples.ts'
import { main } from '../../../src/cli/main.ts'
import * as scoring from '../src/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'nodewise-score-'))
const before = process.cwd()
/** By this name the package that is installed in the folder finds the sources, which Node could not import itself. */
const SOURCES = Symbol.for('nodewise-score.sources')

beforeAll(() => {
  const installed = join(folder, 'node_modules/nodewise-score')
  mkdirSync(installed, { recursive: true })
  writeFileSync(join(installed, 'package.json'), '{"exports": "./index.cjs"}')
  writeFileSync(join(installed, 'index.cjs'), `module.exports = globalThis[Symbol.for('${SOURCES.description}')]`)
  Object.assign(globalThis, { [SOURCES]: scoring })
  copyFileSync(join(import.meta.dirname, '../../../models/iris.onnx'), join(folder, 'classifier.onnx'))
  writeFileSync(join(folder, 'flowers.csv'), 'a,b,c,d\n5.1,3.5,1.4,0.2\n7.7,3.8,6.7,2.2\n')
  process.chdir(folder)
})
afterAll(() => {
  process.chdir(before)
  Reflect.deleteProperty(globalThis, SOURCES)
  rmSync(folder, { recursive: true, force: true })
})

/** What a command line prints. */
async function nodewise(args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const code = await main(args, { stdout, stderr, env: {}, cwd: folder, program: pathToFileURL('nodewise.js') })
  const text = (stream: PassThrough): string => String((stream.read() as Buffer | null) ?? '')
  return { code, stdout: text(stdout), stderr: text(stderr) }
}

describe('nodewise score', () => {
  test.each(EXAMPLES.score.filter(line => !line.includes('<')))('does what its help shows: %s', async line => {
    const { code, stdout, stderr } = await nodewise(line.split(' ').slice(1))
    expect([code, stdout, stderr]).toEqual([0, '', expect.stringMatching(/: 2 rows; .* rows a second\n/)])
  })

  test('writes CSV to stdout where it comes from there', async () => {
    const { stdout } = await nodewise(['score', 'classifier.onnx', 'flowers.csv', '--map', 'X=a,b,c,d', '--keep', 'a'])
    expect(stdout).toMatch(/^a,output_label,output_probability\n5\.1,setosa,.*\n7\.7,virginica,/)
  })

  test('tells what it did as JSON', async () => {
    const args = ['--map', 'X=a,b,c,d', '--outputs', 'output_label', '--as', 'output_label=kind']
    const { stdout } = await nodewise(['score', 'classifier.onnx', 'flowers.csv', ...args, '-o', 'o.ndjson', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ rows: 2, failed: 0, columns: ['a', 'b', 'c', 'd', 'kind'] })
    expect(readFileSync('o.ndjson', 'utf8')).toContain('"kind":"setosa"')
  })

  test.each([
    [['score', 'classifier.onnx', 'flowers.csv', '-o', 'o.csv'], /--map X=a,b,c/],
    [['score', 'classifier.onnx', 'none.csv', '-o', 'o.csv'], /none\.csv/],
    [['score', 'classifier.onnx', 'flowers.csv', '-o', 'o.txt'], /\.parquet, \.arrow/],
    [['score', 'classifier.onnx', 'flowers.csv', '-o', 'flowers.csv'], /cannot take the place/],
    [['score', 'classifier.onnx', 'flowers.csv', '--json'], /both write to stdout/]
  ])('says what is wrong: %j', async (args, message) => {
    const { code, stdout, stderr } = await nodewise(args)
    expect([code, stdout + stderr]).toEqual([2, expect.stringMatching(message)])
  })
})
