import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { COMPANIONS } from '../../../src/cli/companion.ts'
import { EXAMPLES } from '../../../src/cli/help/examples.ts'
import { writeNpy } from '../../../src/io/npy.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { command, MODELS, nodewise, nodewiseProcess, shellIn, temporaryFolder } from '../command.ts'

const folder = temporaryFolder()
const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined

const shell = shellIn({ cwd: folder }, 'nodewise ', line =>
  spawnSync('bash', ['-c', `set -o pipefail; ${line}`], {
    cwd: folder,
    encoding: 'utf8',
    env: {
      ...process.env,
      PATH: `${join(folder, 'path')}${delimiter}${process.env.PATH}`,
      HOME: folder,
      PROFILE: join(folder, 'profile.ps1')
    }
  })
)

beforeAll(() => {
  for (const each of [
    'path',
    'models',
    '.zfunc',
    '.config/fish/completions',
    '.local/share/bash-completion/completions'
  ])
    mkdirSync(join(folder, each), { recursive: true })
  symlinkSync(command(), join(folder, 'path/nodewise'))
  for (const suffix of ['onnx', 'xml', 'bin'])
    cpSync(join(MODELS, `palette.${suffix}`), join(folder, `model.${suffix}`))
  cpSync(join(MODELS, 'palette.onnx'), join(folder, 'models/palette.onnx'))
  cpSync(join(MODELS, 'iris.onnx'), join(folder, 'classifier.onnx'))
  writeFileSync(join(folder, 'ids.npy'), writeNpy(new Tensor('int64', [1n, 5n])))
  const saved = nodewiseProcess(['run', 'model.onnx', '-i', 'ids=[1,5]', '--save-case', 'cases/gather'], {
    cwd: folder
  })
  expect(saved.status).toBe(0)
})

describe('the help of a command', () => {
  test('ends with its examples, for every command that there is', async () => {
    const { stdout } = await nodewise(['--help'])
    const commands = [...stdout.split('Commands:\n')[1].matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name)
    const names = commands.filter(name => name !== 'help' && Number.isNaN(Number(name)))
    expect(names).toEqual(Object.keys(EXAMPLES).sort((a, b) => names.indexOf(a) - names.indexOf(b)))
    for (const name of names)
      expect((await nodewise([name, '--help'])).stdout).toContain(`\nExamples:\n  ${EXAMPLES[name].join('\n  ')}\n`)
  })

  test.each(Object.entries(EXAMPLES).flatMap(([name, lines]) => (name in COMPANIONS ? [] : lines)))(
    // The others are run by the tests of their packages.
    'has an example that works: %s',
    async line => {
      if (line.includes('| man') && !has('man')) return
      const { status, stdout, stderr } = await shell(line)
      expect([status, stderr], stdout).toEqual([0, expect.not.stringMatching(/error/i) as string])
    }
  )
})

describe('the manual', () => {
  const page = (): string => readFileSync(join(dirname(command()), 'nodewise.1'), 'utf8')

  test('is written beside the command, and says what the help says', async () => {
    expect(page()).toBe((await nodewise(['man'])).stdout)
    const help = (await nodewise(['test', '--help'])).stdout
    const plain = page().replaceAll(String.raw`\-`, '-')
    expect(plain).toContain('.SS "nodewise test [options] <folders...>"\nrun test cases and compare their outputs\n')
    for (const option of help.matchAll(/^ {2}(-.*?) {2}/gm)) expect(plain).toContain(`.TP\n\\fB${option[1]}\\fR\n`)
    for (const line of EXAMPLES.test) expect(plain).toContain(line)
  })

  test.skipIf(!has('groff'))('is sound to groff', () => {
    const { status, stderr, stdout } = spawnSync('groff', ['-man', '-Tutf8', '-ww'], {
      input: page(),
      encoding: 'utf8'
    })
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/nodewise completion bash/)
  })

  test.skipIf(!has('mandoc'))('is sound to mandoc', () => {
    const { stdout } = spawnSync('mandoc', ['-T', 'lint', '-W', 'warning'], { input: page(), encoding: 'utf8' })
    // Pages say no date, so that building twice gives the same.
    expect(stdout.split('\n').filter(line => line !== '' && !line.includes('missing date'))).toEqual([])
  })
})
