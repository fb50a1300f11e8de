import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Ajv from 'ajv'
import { describe, expect, test } from 'vitest'
import { CONFIG_SCHEMA } from '../../../src/cli/project/config-schema.ts'
import { findConfig, problemIn } from '../../../src/cli/project/config.ts'
import { node, onnxBytes, port } from '../../fixtures/onnx.ts'
import { nodewiseProcess, temporaryFolder, writeIn } from '../command.ts'

const ROOT = join(import.meta.dirname, '../../..')
const folder = temporaryFolder()
const file = (name: string, content: string | Uint8Array): string => writeIn(folder, name, content)
const config = (name: string, content: unknown): string => file(name, JSON.stringify(content))

const model = (value: string): Uint8Array =>
  onnxBytes({
    inputs: [port('x', 'float', ['n'])],
    values: [port(value, 'float', [5])],
    outputs: [port('y', 'float')],
    nodes: [node('Relu', ['x'], [value]), node('Relu', [value], ['y'])]
  })
file('project/models/one.onnx', model('a'))
file('project/models/two.onnx', model('b'))
file('project/models/old/three.onnx', model('c'))
mkdirSync(join(folder, 'project/src'), { recursive: true })

const whole = {
  $schema: './nodewise.config.schema.json',
  files: ['models'],
  exclude: ['models/old/**'],
  limits: { graphDepth: 8, structureBytes: '1GB' },
  check: {
    strict: true,
    ignore: ['dead-layer'],
    inputShapes: { x: [6], other: ['n', '1..4'] },
    overrides: [{ files: ['models/one.*'], ignore: ['dims-mismatch:a'], inputShapes: {} }]
  }
}

describe('the configuration', () => {
  test('is found upwards, names the files, and its paths start from its folder', () => {
    config('project/nodewise.config.json', whole)
    const { status, stdout } = nodewiseProcess(['check'], { cwd: join(folder, 'project/src') })
    expect(stdout).toMatch(/^..\/models\/two.onnx: node 0 Relu "Relu_b"[^]*\n1 error, 0 warnings, 1 ignored in 2 files/)
    expect(status).toBe(1)
  })

  test('may begin with a mark of the byte order', () => {
    const path = file('marked.json', '\ufeff{"files": ["m"]}')
    expect(findConfig(path, folder).config).toEqual({ files: ['m'] })
  })

  test('yields to what the command says', () => {
    config('project/nodewise.config.json', whole)
    const cwd = join(folder, 'project')
    expect(nodewiseProcess(['check', 'models/old'], { cwd }).stderr).toContain('the folder has no .onnx')
    expect(nodewiseProcess(['check', 'models/old', '--no-config'], { cwd }).status).toBe(0)
    const one = ['check', 'models/two.onnx', '--input-shape', 'x=5']
    expect(nodewiseProcess(one, { cwd }).status).toBe(0)
  })

  test.each([
    [{ chek: {} }, 'the configuration has no setting "chek"; did you mean "check"?'],
    [{ ignore: [] }, 'the configuration has no setting "ignore"; it has files, exclude, dataRoot, limits, check'],
    [{ check: { strict: 'yes' } }, 'check.strict is to be true or false'],
    [{ files: ['a', 3] }, 'files[1] is to be a text'],
    [{ check: { overrides: [{}] } }, 'check.overrides[0] lacks "files"'],
    [{ check: { inputShapes: { x: [true] } } }, 'check.inputShapes.x[0] is to be a number or a text'],
    [[], 'the configuration is to be an object']
  ])('%j is refused', (content, what) => {
    const path = config('wrong.json', content)
    expect(() => findConfig(path, folder)).toThrow(what)
  })

  test('that is no JSON, or is not there, is refused with its name', () => {
    const path = file('broken.json', '{"files": [}')
    expect(() => findConfig(path, folder)).toThrow(path)
    expect(() => findConfig(join(folder, 'none.json'), folder)).toThrow('does not exist')
  })
})

describe('the schema of the configuration', () => {
  test('is what the package has for editors', () => {
    expect(JSON.parse(readFileSync(join(ROOT, 'nodewise.config.schema.json'), 'utf8'))).toEqual(CONFIG_SCHEMA)
    const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { files: string[] }
    expect(files).toContain('nodewise.config.schema.json')
  })

  test('is read by this program as by others', () => {
    const validate = new Ajv.default({ strict: true, allowUnionTypes: true }).compile(CONFIG_SCHEMA)
    const contents = [whole, {}, { check: { strict: 1 } }, { unknown: 1 }, { files: 'a' }, { limits: { a: [] } }]
    for (const content of contents)
      expect(validate(content), JSON.stringify(content)).toBe(problemIn(content, CONFIG_SCHEMA, '') === undefined)
  })
})
