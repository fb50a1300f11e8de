import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { libraryFolder } from '../bundles.ts'
import { nodewise, nodewiseJson, nodewiseProcess, temporaryFolder } from './command.ts'

const folder = temporaryFolder()
const file = (name: string, content: string): string => {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const page = readFileSync(join(import.meta.dirname, '../../docs/own-operators.md'), 'utf8')
const blocks = [...page.matchAll(/^```(\w*)\n([^]*?)^```$/gm)].map(([, language, text]) => ({ language, text }))
const module = blocks.find(({ language }) => language === 'js')!.text
const model = file('scale.onnxtxt', blocks.find(({ language }) => language === '')!.text)
const esm = file('scale.mjs', module)
const run = ['run', model, '-i', 'x=[1,2]']
const THREE = 'y: float32 [2]\n[3. 6.]\n'

beforeAll(() => {
  // A copy of the package beside the file, which is none of the command's own.
  const library = join(folder, 'node_modules/nodewise')
  cpSync(libraryFolder(), library, { recursive: true })
  writeFileSync(
    join(library, 'package.json'),
    '{"name": "nodewise", "type": "commonjs", "exports": {".": "./index.mjs", "./ops": "./ops.mjs"}}'
  )
})

describe('--ops', () => {
  test('loads operators as the page about them shows', () => {
    const commands = [...page.matchAll(/^ {4}\$ npx nodewise (.*)\n((?: {4}[^$\n].*\n)*)/gm)]
    expect(commands.length).toBeGreaterThan(2)
    for (const [, args, output] of commands)
      expect(nodewiseProcess(args.split(' '), { cwd: folder }), args).toEqual({
        status: 0,
        stdout: output.replace(/^ {4}/gm, ''),
        stderr: ''
      })
  })

  test('serves every command that looks at nodes', async () => {
    expect(await nodewise(run)).toMatchObject({ status: 2, stderr: expect.stringContaining('no operator') as string })
    const plain = await nodewise(['inspect', model])
    expect(plain.stdout).toMatch(/Scale.*not supported|cannot be run/i)
    expect((await nodewise(['inspect', model, '--ops', esm])).stdout).toContain('Every operator can be run.')
    const parts = await nodewise(['inspect', model, '--ops', esm, '--plan', '--nodes', '--node', 'y'])
    expect(parts.stdout).toMatch(/0 {2}Scale {2}#0 {2}float32\[n\][^]*-> y: float32 \[n\][^]*factor = 3/)
    const compare = ['compare', model, model, '-i', 'x=[1]']
    expect((await nodewise(compare)).status).toBe(2)
    expect((await nodewise([...compare, '--ops', esm])).stdout).toMatch(/equal\n$/)
    const half = join(folder, 'half.onnx')
    const written = await nodewise(['convert', model, half, '--ops', esm, '--infer-shapes', '--input-shape', 'x=[4]'])
    expect(written.status).toBe(0)
    expect((await nodewise(['run', half, '--ops', esm, '--fill', 'ones'])).stdout).toBe(
      'y: float32 [4]\n[3. 3. 3. 3.]\n'
    )
  })

  test('serves test cases, which other threads run, and a case keeps the text of its model', async () => {
    const cases = join(folder, 'cases')
    expect((await nodewise([...run, '--ops', esm, '--save-case', join(cases, 'one')])).status).toBe(0)
    expect((await nodewise(['test', cases, '--jobs', '1'])).status).toBe(1)
    expect(await nodewise(['test', cases, '--jobs', '1', '--ops', esm])).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/1 passed, 0 failed/) as string
    })
    file('cases/zero/model.onnxtxt', readFileSync(model, 'utf8').replace('3.0', '0.0'))
    file('cases/zero/expect.json', '{"error": "value-out-of-range"}')
    expect((await nodewise(['test', cases, '--jobs', '1', '--ops', esm])).stdout).toContain('2 passed')
  })

  test('takes ES modules and CommonJS, one operator, several and lists, and several files', async () => {
    const required = module.replace(/^import (.*) from 'nodewise'/m, "const $1 = require('nodewise')")
    for (const [name, text] of Object.entries({
      'one.cjs': required.replace('export const scale =', 'module.exports ='),
      'several.cjs': `${required.replace('export const scale', 'const scale')}\nmodule.exports = { scale, version: 1 }`,
      'default.mjs': module.replace('export const scale =', 'export default'),
      'list.mjs': `${module.replace('export const', 'const')}\nexport const all = [scale]; export const unit = 'mm'`,
      'plain.js': module
    }))
      expect(await nodewise([...run, '--ops', file(name, text)]), name).toEqual({
        status: 0,
        stdout: THREE,
        stderr: ''
      })
    const other = file('other.mjs', module.replaceAll("'Scale'", "'Other'"))
    expect((await nodewise([...run, '--ops', other])).status).toBe(2)
    expect((await nodewise([...run, '--ops', other, '--ops', esm])).stdout).toBe(THREE)
    // The last file wins.
    const twice = file('twice.mjs', module.replace('value * factor', 'value * factor * 2'))
    expect((await nodewise([...run, '--ops', esm, '--ops', twice])).stdout).toContain('[ 6. 12.]')
  })

  test('prints a failure of an operator with its node, whichever copy of the package it throws with', async () => {
    const zero = file('zero.onnxtxt', readFileSync(model, 'utf8').replace('3.0', '0.0'))
    const place = `${zero}:3:3: Scale (my.domain 1)`
    expect((await nodewise(['run', zero, '-i', 'x=[1]', '--ops', esm])).stderr).toBe(`${place}: the factor is 0\n`)
    expect((await nodewise(['check', zero, '--ops', esm])).stdout).toContain(
      `${place}: the factor is 0 [error: value-out-of-range]`
    )
  })

  test.each([
    ['is not there', undefined, 'missing-file', 'there is no such file of operators (--ops)'],
    ['throws', "throw new Error('no licence\\nat all')", 'invalid-file', 'it cannot be loaded: Error: no licence'],
    ['is no JavaScript', 'export const = 1', 'invalid-file', /^it cannot be loaded: SyntaxError: /],
    ['imports what is not there', "import 'no-such-package'", 'invalid-file', /Cannot find package 'no-such-package'/],
    ['awaits', 'await 1\nexport const a = 1', 'invalid-file', /awaits at its top level/],
    ['exports nothing', '', 'invalid-file', /^it exports no operator; what defineOp/],
    ['exports something else', 'export const a = 1, b = () => a', 'invalid-file', /no operator, only "a", "b"; /],
    [
      'exports half of an operator',
      "export const scale = { name: 'Scale', operands: {}, onnx: [{ since: 1, bind: {} }], shape() {} }",
      'invalid-file',
      'its export "scale" is no operator: it has no function "run"'
    ],
    [
      'exports an operator without versions',
      "export default [{ name: 'Scale', operands: {}, shape() {}, run() {} }]",
      'invalid-file',
      'its export "default[0]" is no operator: it has no versions, neither "onnx" nor "openvino"'
    ]
  ])('names a file that %s', async (what, text, code, message) => {
    const path = text === undefined ? join(folder, 'none.mjs') : file(`bad/${what.replaceAll(' ', '-')}.mjs`, text)
    const { status, json } = await nodewiseJson([...run, '--ops', path, '--json'])
    expect([status, json.error]).toMatchObject([2, { code, place: { file: path } }])
    const { message: said } = json.error as { message: string }
    if (typeof message === 'string') expect(said).toBe(message)
    else expect(said).toMatch(message)
  })

  test('says what to install where the package is not beside the file', () => {
    const outside = join(temporaryFolder(), 'scale.mjs')
    writeFileSync(outside, module)
    const { status, stderr } = nodewiseProcess([...run, '--ops', outside])
    expect([status, stderr]).toEqual([
      2,
      `${outside}: it imports nodewise, which is not installed where the file is: npm install nodewise\n`
    ])
  })
})
