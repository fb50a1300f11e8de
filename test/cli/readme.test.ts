import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { encode } from 'fast-png'
import { beforeAll, describe, expect, test } from 'vitest'
import { WaveFile } from 'wavefile'
import { convert } from '../../src/index.ts'
import { load } from '../../src/load.ts'
import { node, onnxBytes, port } from '../fixtures/onnx.ts'
import { command, MODELS, nodewiseProcess, shellIn, temporaryFolder } from './command.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const readme = read('README.md')
const { files } = JSON.parse(read('package.json')) as { files: string[] }

const folder = temporaryFolder()

/** What the commands of the page need besides the models of the package. */
function makeFiles(): void {
  mkdirSync(join(folder, 'bin'))
  symlinkSync(command(), join(folder, 'bin/nodewise.js'))
  cpSync(MODELS, join(folder, 'models'), { recursive: true })
  for (const name of ['model', 'quantized']) cpSync(join(MODELS, 'palette.onnx'), join(folder, `${name}.onnx`))
  const model = (name: string, parts: Parameters<typeof onnxBytes>[0]): void =>
    writeFileSync(join(folder, `${name}.onnx`), onnxBytes(parts))
  const outputs = [port('scores', 'float')]
  model('photo', {
    inputs: [port('image', 'float', [1, 3, 224, 224])],
    outputs,
    nodes: [node('GlobalAveragePool', ['image'], ['scores'])]
  })
  model('tiles', {
    inputs: [port('image', 'float', ['n', 'h', 'w', 3])],
    outputs,
    nodes: [node('ReduceMax', ['image'], ['scores'], { axes: [1, 2], keepdims: 0 })]
  })
  model('speech', {
    inputs: [port('samples', 'float', [1, 'n'])],
    outputs,
    nodes: [node('Relu', ['samples'], ['scores'])]
  })
  const picture = encode({ width: 2, height: 2, data: new Uint8Array(12).fill(99), channels: 3, depth: 8 })
  for (const name of ['cat.png', 'cat.jpg']) writeFileSync(join(folder, name), picture)
  writeFileSync(join(folder, 'labels.txt'), 'red\ngreen\nblue\n')
  const wave = new WaveFile()
  wave.fromScratch(1, 8000, '16', [0, 1, 2, 3])
  writeFileSync(join(folder, 'speech.wav'), wave.toBuffer())
  writeFileSync(
    join(folder, 'operators.mjs'),
    "export default { name: 'Own', operands: {}, onnx: [{ since: 1, bind: {} }], shape() {}, run() {} }"
  )
  for (const each of ['cases', 'trained']) {
    const place = `path/to/${each}/gather`
    nodewiseProcess(['run', 'model.onnx', '-i', 'ids=[1]', '--save-case', place], { cwd: folder })
  }
}

beforeAll(makeFiles)

/** Lines of shell in the page, with what it shows of their output. */
const commands = [
  ...readme.matchAll(/^ {4}(\$ )?((?:echo \S+ \| )?node bin\/nodewise\.js .*)\n((?: {4}[^$\n].*\n)*)/gm)
]
  .flatMap(([, prompt, line, rest]) =>
    prompt
      ? [{ line, shown: rest.replace(/^ {4}/gm, '') }]
      : [line, ...rest.split('\n')].map(each => ({ line: each.trim(), shown: '' }))
  )
  .filter(({ line }) => line.includes('node bin/nodewise.js'))

const statusOf = (line: string): number =>
  line.includes('ids=[1,9]') ? 2 : /check models(?:\/wrong-dim\.xml)?(?: |$)/.test(line) ? 1 : 0

// Later lines of the page use what earlier ones wrote.
describe('README', { shuffle: false }, () => {
  test('has commands', () => expect(commands.length).toBeGreaterThan(25))

  const flag = '--disallow-code-generation-from-strings'
  const run = shellIn({ cwd: folder, execArgv: [flag] }, 'node bin/nodewise.js', line =>
    spawnSync('bash', ['-c', line.replaceAll('node bin', `${process.execPath} ${flag} bin`)], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, NODE_PATH: join(root, 'node_modules') }
    })
  )

  test.each(commands)('runs, and makes no code from text: $line', async ({ line, shown }) => {
    if (line.includes('npm ci')) return
    // Measured for a moment here.
    const { status, stdout, stderr } = await run(line.replace('--time 2s', '--time 100ms'))
    expect(status, stderr).toBe(statusOf(line))
    for (const each of shown.split('\n').filter(text => text !== '' && text !== '…'))
      expect(stdout + stderr).toContain(each)
  })

  test('and docs link to files that the package has', () => {
    const pages = ['README.md', 'CONTRIBUTING.md', ...readdirSync(join(root, 'docs')).map(name => `docs/${name}`)]
    for (const page of pages)
      for (const [, target] of read(page).matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)) {
        const path = relative(root, join(root, dirname(page), target))
        expect(existsSync(join(root, path)), `${page}: ${target}`).toBe(true)
        expect(
          files.some(each => path === each || path.startsWith(`${each}/`)),
          `${page}: ${target}`
        ).toBe(true)
      }
  })

  test('shows what a converted model says of itself', async () => {
    const palette = await load(join(MODELS, 'palette.xml'), { whole: true })
    const { model } = convert(palette, { dialect: 'onnx', opset: 17, simplify: true })
    expect(readme).toContain(`// < ir_version: ${model.irVersion}, opset_import: ["" : 17], … > …`)
  })

  test('is right that npm runs nothing when the package is installed', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    expect(Object.keys(scripts)).toEqual(expect.not.arrayContaining(['preinstall', 'install', 'postinstall']))
    const lock = JSON.parse(read('package-lock.json')) as {
      packages: Record<string, { hasInstallScript?: boolean; dev?: boolean }>
    }
    const scripted = Object.keys(lock.packages).filter(name => {
      const { hasInstallScript = false, dev = false } = lock.packages[name]
      // A package of the workspace nodewise-serve, which the library does not have.
      return hasInstallScript && !dev && !name.startsWith('node_modules/@grpc/')
    })
    expect(scripted).toEqual([])
  })

  test('is right that the command connects to nothing by itself', () => {
    const parts = ['program.js', 'openvino.js', 'networks.js', 'rest.js']
    const texts = parts.map(name => readFileSync(join(dirname(command()), name), 'latin1'))
    const program = texts.join('\n')
    const found = (pattern: RegExp): string[] => [...program.matchAll(pattern)].map(([text]) => text)
    expect(found(/require\("(?:node:)?(?:https|dns|dgram)"\)/g)).toEqual([])
    // Of the addresses that the caller names: one of a page, and one of what only a page has.
    expect(found(/\bawait fetch\(url\b/g)).toHaveLength(2)
    expect(found(/(?<!\.|async |await )\bfetch\(/g)).toEqual([])
    expect(found(/\beval\(|\bnew Function\(/g)).toEqual([])
  })
})
