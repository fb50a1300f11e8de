import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { XMLParser } from 'fast-xml-parser'
import { beforeAll, describe, expect, test } from 'vitest'
import { writeNpy } from '../../../src/io/npy.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { node, onnxBytes, port } from '../../fixtures/onnx.ts'
import { layer, net } from '../../openvino/ir.ts'
import { nodewise, nodewiseJson, nodewiseProcess, temporaryFolder } from '../command.ts'

const root = temporaryFolder()
const floats = (...values: number[]): Uint8Array => writeNpy(new Tensor('float32', new Float32Array(values)))
const int64s = (...values: number[]): Uint8Array => writeNpy(new Tensor('int64', BigInt64Array.from(values, BigInt)))
const gather = onnxBytes({
  inputs: [port('table', 'float', ['rows']), port('ids', 'int64', ['n'])],
  outputs: [port('y', 'float', ['n'])],
  nodes: [node('Gather', ['table', 'ids'], ['y'])]
})

/** Writes files below the folder of all cases; names are paths. */
function write(files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), content)
  }
}

const set = (
  name: string,
  k: number,
  ids: readonly number[],
  expected: readonly number[]
): Record<string, Uint8Array> => ({
  [`${name}/test_data_set_${k}/input_0.npy`]: floats(1, 2, 4),
  [`${name}/test_data_set_${k}/input_1.npy`]: int64s(...ids),
  [`${name}/test_data_set_${k}/output_0.npy`]: floats(...expected)
})

interface Listed {
  name: string
  status: string
  message: string
}
const results = async (
  folder: string,
  ...args: string[]
): Promise<{ status: number | null; cases: Listed[]; counts: unknown[] }> => {
  const { status, json } = await nodewiseJson(['test', join(root, folder), '--json', ...args])
  return { status, cases: json.cases as Listed[], counts: [json.passed, json.failed, json.skipped] }
}

/** Cases that several tests run. */
function writeCases(): void {
  write({ 'good/a/model.onnx': gather, ...set('good/a', 0, [0, 2], [1, 4]), ...set('good/a', 10, [1], [2]) })
  write({ 'bad/values/model.onnx': gather, ...set('bad/values', 0, [0, 2], [1, 5]) })
  write({ 'bad/dims/model.onnx': gather, ...set('bad/dims', 0, [0, 2], [1]) })
  write({
    'bad/types/model.onnx': gather,
    ...set('bad/types', 0, [0], [1]),
    'bad/types/test_data_set_0/output_0.npy': int64s(1)
  })
  write({
    'errors/unsupported/model.onnx': onnxBytes({
      inputs: [port('x', 'float', [1])],
      outputs: [port('y', 'float')],
      nodes: [node('NoSuchOp', ['x'], ['y'])]
    }),
    'errors/unsupported/test_data_set_0/input_0.npy': floats(1),
    'errors/unsupported/test_data_set_0/output_0.npy': floats(1),
    'errors/broken/model.onnx': 'no model',
    'errors/broken/test_data_set_0/output_0.npy': floats(1),
    'errors/fine/model.onnx': gather,
    ...set('errors/fine', 0, [0], [1])
  })
  const identity = layer(0, 'Parameter', {
    name: 'x',
    data: 'shape="2" element_type="bf16"',
    out: ['0:BF16[2]'],
    names: 'x'
  })
  const bits = writeNpy(new Tensor('uint16', new Uint16Array([0x3f80, 0x4000])))
  write({
    'index/index.json': JSON.stringify([
      { name: 'loose', rtol: 0.5, atol: 0 },
      { name: 'random', compare: 'type-dims' },
      { name: 'bits', raw_bits: { input_0: 'bf16', output_0: 'bf16' } }
    ]),
    'index/loose/model.onnx': gather,
    ...set('index/loose', 0, [2], [3]),
    'index/strict/model.onnx': gather,
    ...set('index/strict', 0, [2], [3]),
    'index/random/model.onnx': gather,
    ...set('index/random', 0, [2], [99]),
    'index/bits/model.xml': net([identity, layer(1, 'Result', { in: ['0:BF16[2]'] })], ['0:0>1:0']),
    'index/bits/test_data_set_0/input_0.npy': bits,
    'index/bits/test_data_set_0/output_0.npy': bits
  })
  write({
    'scaled/a/model.onnx': gather,
    ...set('scaled/a', 0, [0, 1], [1000, 0]),
    'scaled/a/test_data_set_0/input_0.npy': floats(1000, 0.004)
  })
}

describe('test', () => {
  beforeAll(writeCases)

  test('passes a case whose data sets all agree, and prints its path', async () => {
    expect(await nodewise(['test', join(root, 'good')])).toEqual({
      status: 0,
      stdout: `pass  ${root}/good/a\n1 passed, 0 failed, 0 skipped\n`,
      stderr: ''
    })
    expect(nodewiseProcess(['test', 'good/', 'good/a/'], { cwd: root }).stdout).toBe(
      'pass  good/a\n1 passed, 0 failed, 0 skipped\n'
    )
  })

  test('fails a case whose values, dims or types differ, and says where', async () => {
    const { status, cases, counts } = await results('bad')
    expect([status, ...counts]).toEqual([1, 0, 3, 0])
    expect(cases.map(({ name, status: each }) => `${name.slice(root.length)} ${each}`)).toEqual([
      '/bad/dims fail',
      '/bad/types fail',
      '/bad/values fail'
    ])
    expect(cases[2].message).toMatch(
      /test_data_set_0\/output_0\.npy.*"y".*1 of 2 elements differ.*\[1\]: 4, expected 5/
    )
  })

  test('calls it an error when a case cannot be run, and goes on', async () => {
    const { status, cases, counts } = await results('errors')
    expect([status, ...counts]).toEqual([1, 1, 2, 0])
    expect(cases.map(each => each.status)).toEqual(['error', 'pass', 'error'])
    expect(cases[2].message).toContain('NoSuchOp')
  })

  test('passes a case that fails as expect.json says, at load, at run or at check, with its details', async () => {
    const outOfRange = (expected: object): Record<string, string | Uint8Array> => ({
      'model.onnx': gather,
      ...set('.', 0, [0, 7], []),
      'expect.json': JSON.stringify(expected)
    })
    const put = (name: string, files: Record<string, string | Uint8Array>): void =>
      write(Object.fromEntries(Object.entries(files).map(([path, content]) => [join(name, path), content])))
    put('expected/run', outOfRange({ error: 'index-out-of-range', index: '7', position: [1], axis: 0, size: 3 }))
    put('expected/load', { 'model.onnx': 'no model', 'expect.json': '{"error": "invalid-file"}' })
    put('expected/zeros', {
      'model.onnx': onnxBytes({
        inputs: [port('x', 'float', ['n']), port('i', 'int64', [])],
        outputs: [port('y', 'float')],
        nodes: [node('Gather', ['x', 'i'], ['y'], { axis: 3 })]
      }),
      'expect.json': '{"error": "axis-out-of-range"}'
    })
    put('expected/any', outOfRange({ error: ['rank-mismatch', 'index-out-of-range'], what: 'an index of 7' }))
    put('unexpected/any', outOfRange({ error: ['rank-mismatch', 'dims-mismatch'] }))
    put('unexpected/details', outOfRange({ error: 'index-out-of-range', index: '8' }))
    put('unexpected/code', outOfRange({ error: 'axis-out-of-range' }))
    put('unexpected/nothing', { 'model.onnx': gather, 'expect.json': '{"error": "rank-mismatch"}' })
    expect(await results('expected')).toMatchObject({ status: 0, counts: [4, 0, 0] })
    const { cases } = await results('unexpected')
    expect(cases.map(each => each.status)).toEqual(['fail', 'fail', 'fail', 'fail'])
    expect(cases[2].message).toMatch(/expected index-out-of-range .*"8".*index 7/)
  })

  test('takes tolerances, bit patterns and looser comparison from the index.json beside the case', async () => {
    expect(
      (await results('index')).cases.map(({ name, status }) => `${name.slice(name.lastIndexOf('/') + 1)} ${status}`)
    ).toEqual(['bits pass', 'loose pass', 'random pass', 'strict fail'])
    expect((await results('index', '--rtol', '0.5')).counts).toEqual([4, 0, 0])
  })

  test('lets a tolerance that is asked for win over the index.json', async () => {
    const { cases } = await results('index', '--rtol', '0.001', '--filter', 'loose')
    expect(cases.map(({ status }) => status)).toEqual(['fail'])
  })

  test('takes the only model of a folder with data, whatever its name is', async () => {
    write({ 'named/a/tiny.onnx': gather, 'named/a/notes.txt': '', ...set('named/a', 0, [0], [1]) })
    write({ 'named/b/model.onnx': gather, 'named/b/other.onnx': 'no model', ...set('named/b', 0, [0], [1]) })
    const { status, cases } = await results('named')
    expect(status).toBe(0)
    expect(cases.map(({ name }) => name.slice(root.length))).toEqual(['/named/a', '/named/b'])
  })

  test('with --atol-scale allows a part of the largest magnitude, also next to 0', async () => {
    expect((await results('scaled')).counts).toEqual([0, 1, 0])
    expect((await results('scaled', '--atol-scale', '1e-5')).counts).toEqual([1, 0, 0])
    expect((await results('scaled', '--atol-scale', '1e-6')).counts).toEqual([0, 1, 0])
  })

  test('with --verbose shows how much what passes is off', async () => {
    const args = ['test', join(root, 'scaled'), '--atol-scale', '1e-5', '--verbose']
    expect((await nodewise(args)).stdout).toContain(
      `scaled/a: up to 4.00e-3 off in "y", 4.00e-6 of its largest magnitude\n`
    )
    const { json } = await nodewiseJson([...args, '--json'])
    expect((json.cases as { largest: { output: string; scaled: number } }[])[0].largest.scaled).toBeCloseTo(4e-6, 9)
    expect((await nodewise(['test', join(root, 'good'), '--verbose'])).stdout).toContain('good/a: the same\n')
    const pairs = (imaginary: number): Uint8Array =>
      writeNpy(new Tensor('complex64', Float32Array.of(3, imaginary), [1]))
    write({
      'complex/a/model.onnxtxt':
        '<ir_version: 9, opset_import: ["" : 21]> g (complex64[1] x) => (complex64[1] y) { y = Identity (x) }',
      'complex/a/test_data_set_0/input_0.npy': pairs(4),
      'complex/a/test_data_set_0/output_0.npy': pairs(4.5)
    })
    expect((await nodewise(['test', join(root, 'complex'), '--verbose', '--atol', '1'])).stdout).toContain(
      'complex/a: up to 5.00e-1 off in "y", 1.11e-1 of its largest magnitude\n'
    )
  })

  test('holds an output against dims, SHA-256 and samples where it is too big to store', async () => {
    const bytes = new Uint8Array(new Float32Array([4, 1]).buffer)
    const digest = {
      type: 'f32',
      dims: [2],
      sha256: createHash('sha256').update(bytes).digest('hex'),
      samples: [
        [[0], 4],
        [[1], 1]
      ]
    }
    const make = (name: string, change: object): void => {
      const { [`${name}/test_data_set_0/output_0.npy`]: _, ...files } = set(name, 0, [2, 0], [])
      write({
        [`${name}/model.onnx`]: gather,
        ...files,
        [`${name}/test_data_set_0/output_0.json`]: JSON.stringify({ ...digest, ...change })
      })
    }
    make('digest/a', {})
    make('digest/b', { dims: [1, 2] })
    make('digest/c', { samples: [[[1], 2]] })
    make('digest/d', { sha256: '00' })
    make('digest/e', { type: 'i32' })
    expect(
      (await results('digest')).cases.map(({ status, message }) => `${status} ${/"y": (.*)/.exec(message)?.[1] ?? ''}`)
    ).toEqual([
      'pass ',
      'fail dims [2], expected [1, 2]',
      'fail at [1]: 1, expected 2',
      'fail the SHA-256 of the elements differs',
      'fail type float32, expected i32'
    ])
  })

  test('keeps the state from one data set to the next only with stateful.txt', async () => {
    const data = 'variable_id="v" variable_shape="1" variable_type="f32"'
    const model = net(
      [
        layer(0, 'Parameter', { name: 'x', data: 'shape="1" element_type="f32"', out: ['0:FP32[1]'], names: 'x' }),
        layer(1, 'ReadValue', { version: 'opset6', data, in: ['0:FP32[1]'], out: ['1:FP32[1]'] }),
        layer(2, 'Assign', { version: 'opset6', data: 'variable_id="v"', in: ['0:FP32[1]'], out: ['1:FP32[1]'] }),
        layer(3, 'Result', { in: ['0:FP32[1]'] })
      ],
      ['0:0>1:0', '0:0>2:0', '1:1>3:0']
    )
    const sets = (name: string): Record<string, Uint8Array> =>
      Object.fromEntries(
        [
          [5, 5],
          [6, 5]
        ].flatMap(([input, output], k) => [
          [`${name}/test_data_set_${k}/input_0.npy`, floats(input)],
          [`${name}/test_data_set_${k}/output_0.npy`, floats(output)]
        ])
      )
    write({
      'state/with/model.xml': model,
      'state/with/stateful.txt': '',
      ...sets('state/with'),
      'state/without/model.xml': model,
      ...sets('state/without')
    })
    expect(
      (await results('state')).cases.map(
        ({ status, message }) => `${status} ${/differ.*/.exec(message)?.[0] ?? message}`
      )
    ).toEqual(['pass ', 'fail differ, the worst at [0]: 6, expected 5'])
  })

  test('takes no folder for a case that has a model and nothing to hold it against', async () => {
    write({ 'lonely/only/model.onnx': gather, 'lonely/case/model.onnx': gather, ...set('lonely/case', 0, [0], [1]) })
    expect((await results('lonely')).cases.map(({ name }) => name)).toEqual([`${root}/lonely/case`])
  })

  test('runs only what --filter finds, on as many threads as --jobs says', async () => {
    cpSync(join(root, 'good/a'), join(root, 'many/a1'), { recursive: true })
    cpSync(join(root, 'good/a'), join(root, 'many/a2'), { recursive: true })
    cpSync(join(root, 'good/a'), join(root, 'many/b'), { recursive: true })
    expect(
      (await results('many', '--filter', '/a\\d$', '--jobs', '3')).cases.map(({ name }) => name.slice(-2))
    ).toEqual(['a1', 'a2'])
  })

  test.skipIf(process.platform === 'win32')('shows no sign of a name that a terminal would obey', async () => {
    cpSync(join(root, 'good/a'), join(root, 'signs/\u001b[2J'), { recursive: true })
    expect((await nodewise(['test', join(root, 'signs')])).stdout).toMatch(/^pass {2}.*signs\/\\u001b\[2J\n/)
  })

  test('writes JUnit XML', async () => {
    const out = join(root, 'junit.xml')
    expect((await nodewise(['test', join(root, 'errors'), join(root, 'bad'), '--junit', out])).status).toBe(1)
    const { testsuites } = new XMLParser({ ignoreAttributes: false }).parse(readFileSync(out)) as {
      testsuites: Record<string, unknown> & { testsuite: { testcase: object[] } }
    }
    expect(testsuites).toMatchObject({ '@_tests': '6', '@_failures': '3', '@_errors': '2' })
    expect(testsuites.testsuite.testcase).toHaveLength(6)
    expect(testsuites.testsuite.testcase.filter(each => 'error' in each)).toHaveLength(2)
  })

  test.each([
    ['a folder that is not there', [join(root, 'nowhere')], 'missing-file'],
    ['folders without cases', [join(root, 'lonely/only')], 'missing-file'],
    ['a filter that is no regular expression', [root, '--filter', '('], 'bad-usage'],
    ['no threads', [root, '--jobs', '0'], 'bad-usage'],
    ['a tolerance that is no number', [root, '--rtol', 'small'], 'bad-usage']
  ])('refuses %s with exit code 2', async (_, args, code) => {
    const { status, json } = await nodewiseJson(['test', ...args, '--json'])
    expect([status, (json.error as { code: string }).code]).toEqual([2, code])
  })
})
