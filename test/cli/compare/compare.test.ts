import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { compareText } from '../../../src/cli/compare/text.ts'
import { PLAIN } from '../../../src/cli/terminal.ts'
import type { ComparedPair } from '../../../src/compare/result.ts'
import { readNpz } from '../../../src/io/npz.ts'
import { floats, node, onnxBytes, port } from '../../fixtures/onnx.ts'
import { nodewise, nodewiseJson, temporaryFolder } from '../command.ts'

const folder = temporaryFolder()
const model = (name: string, weight: number): string => {
  const path = join(folder, `${name}.onnx`)
  const parts = {
    inputs: [port('x', 'float', [2])],
    initializers: [floats('w', [2], [1, weight])],
    outputs: [port('y', 'float', [2])],
    nodes: [node('Abs', ['x'], ['a']), node('Mul', ['a', 'w'], ['m']), node('Neg', ['m'], ['y'])]
  }
  writeFileSync(path, onnxBytes(parts))
  return path
}
const [one, two] = [model('one', 2), model('two', 3)]

test('two models that compute the same are equal, exit code 0', async () => {
  const { status, stdout } = await nodewise(['compare', one, one, '-i', 'x=[1,-2]'])
  expect(status).toBe(0)
  expect(stdout).toContain('3 pairs of values compared')
  expect(stdout.trimEnd().endsWith('\nequal')).toBe(true)
})

test('the first node whose values part is named, exit code 1', async () => {
  const { status, stdout } = await nodewise(['compare', one, two, '-i', 'x=[1,-2]'])
  expect(status).toBe(1)
  expect(stdout).toContain('  a  node 1 Mul "Mul_m"\n     float32 [2], 1 to 4, mean 2.5\n  b  node 1 Mul "Mul_m"')
  expect(stdout).toContain('value m: 1 of 2 elements differ')
  expect(stdout).toContain('worst at [1]: 4 and 6')
  expect(stdout).toContain('output y: up to 2.00e+0 apart')
})

test('a signal-to-noise ratio that is too low is the reason where no element is beyond the tolerance', async () => {
  const near = model('near', 2 + 2 ** -10)
  const { status, stdout } = await nodewise(['compare', one, near, '-i', 'x=[1,-2]', '--sqnr', '100'])
  expect(status).toBe(1)
  expect(stdout).toContain('no element differs beyond the tolerance, but the signal-to-noise ratio is too low')
  expect(stdout).toContain('worst at [1]: 4 and 4.0019531;')
})

test('--json is one document, with every pair where --all asks for it', async () => {
  const { status, json } = await nodewiseJson(['compare', one, two, '-i', 'x=[1,-2]', '--json', '--all'])
  expect(status).toBe(1)
  expect(json).toMatchObject({
    equal: false,
    first: {
      a: { node: 'Mul_m', nodeIndex: 1, type: 'Mul', value: 'm' },
      value: { maxAbsolute: 2, differing: 1, elements: 2, position: [1] },
      inputsEqual: true
    },
    outputs: [{ a: 'y', b: 'y', equal: false, maxAbsolute: 2 }],
    pairs: 3,
    unpaired: { a: 0, b: 0 },
    all: [{ value: { sqnr: 'Infinity' } }, {}, {}]
  })
})

test('--isolate ranks the nodes of the second by their own error', async () => {
  const three = model('three', 2.5)
  const { json } = await nodewiseJson(['compare', one, three, '-i', 'x=[1,-2]', '--json', '--isolate'])
  expect(json.isolated).toMatchObject([
    { a: { value: 'm' }, b: { value: 'm', type: 'Mul' }, maxAbsolute: 1, position: [1], differing: 1 },
    { b: { value: 'a' }, sqnr: 'Infinity' },
    { b: { value: 'y' }, sqnr: 'Infinity' }
  ])
  const { stdout } = await nodewise(['compare', one, three, '-i', 'x=[1,-2]', '--isolate'])
  expect(stdout).toContain(
    '1 of 3 values of b differ where their nodes read the values of a\n!  Mul m  Mul  up to 1.00e+0'
  )
})

test.each([
  ['--rtol', '1'],
  ['--atol', '9'],
  ['--sqnr', '1']
])('tolerances are the caller’s: %s %s', async (...flags) => {
  expect((await nodewise(['compare', one, two, '-i', 'x=[1,-2]', ...flags])).status).toBe(0)
})

describe('run --record', () => {
  const record = (file: string, ...flags: string[]): ReturnType<typeof nodewise> =>
    nodewise(['run', one, '-i', 'x=[1,-2]', '--record', join(folder, file), ...flags])

  test('writes all values of a run, with the inputs, so that a model can be held against them', async () => {
    expect((await record('all.npz')).status).toBe(0)
    expect([...readNpz(readFileSync(join(folder, 'all.npz'))).keys()]).toEqual(['x', 'a', 'm', 'y'])
    const { status, json } = await nodewiseJson(['compare', two, join(folder, 'all.npz'), '--json'])
    expect(status).toBe(1)
    expect(json.first).toMatchObject({
      a: { node: 'Mul_m', nodeIndex: 1 },
      b: { value: 'm' },
      value: { maxAbsolute: 2 }
    })
    const { stdout } = await nodewise(['compare', join(folder, 'all.npz'), one])
    expect(stdout).toContain('3 pairs of values compared; 0 of a, 0 of b have no counterpart')
  })

  test('takes the values and nodes that a pattern names', async () => {
    await record('some.npz', '--record-match', 'Mul*', '--record-match', 'y')
    expect([...readNpz(readFileSync(join(folder, 'some.npz'))).keys()]).toEqual(['m', 'y'])
  })

  test('refuses what it cannot do, and leaves no file then', async () => {
    expect((await record('none.npz', '--record-match', 'z')).stderr).toContain('no value that the run made')
    expect((await record('none.npy')).stderr).toContain('values are recorded in an .npz')
    expect((await record('none.npz', '--repeat', '2')).stderr).toContain('--record takes one run')
    expect((await nodewise(['run', one, '-i', 'x=[1,2]', '--record-match', 'z'])).status).toBe(2)
    expect(readdirSync(folder).filter(name => name.startsWith('none') || name.endsWith('.tmp'))).toEqual([])
  })
})

test('a folder that run has written, with safe names, stands for the run', async () => {
  const path = join(folder, 'paths.onnx')
  const parts = {
    inputs: [port('x', 'float', [2])],
    outputs: [port('/m/out:0', 'float', [2])],
    nodes: [node('Abs', ['x'], ['/m/a:0']), node('Neg', ['/m/a:0'], ['/m/out:0'])]
  }
  writeFileSync(path, onnxBytes(parts))
  await nodewise(['run', path, '-i', 'x=[1,-2]', '--fetch', '*', '-o', join(folder, 'values')])
  const { status, stdout } = await nodewise(['compare', path, join(folder, 'values'), '-i', 'x=[1,-3]'])
  expect(status).toBe(1)
  expect(stdout).toMatch(/ {2}a {2}node 0 Abs "Abs_\/m\/a:0"\n.*\n {2}b {2}recorded "\/m\/a:0"/)
})

test('--structure runs nothing, and tells differences as diff does', async () => {
  const { status, stdout } = await nodewise(['compare', one, two, '--structure'])
  expect(status).toBe(1)
  expect(stdout).toContain('@@ node 1 Mul "Mul_m" @@\n! constant b differs in 1 of 2 elements, by up to 1 ')
  expect((await nodewise(['compare', one, one, '--structure'])).stdout).toContain('no difference')
  const { json } = await nodewiseJson(['compare', one, two, '--structure', '--json'])
  expect(json).toMatchObject({
    equal: false,
    nodes: { a: 3, b: 3, pairs: 3 },
    differences: [{ a: { node: 'Mul_m' }, b: { nodeIndex: 1 } }]
  })
})

test('--structure takes no option of a comparison that runs the models', async () => {
  const { status, stderr } = await nodewise(['compare', one, two, '--structure', '--rtol', '1e-2', '--fill', 'zeros'])
  expect(status).toBe(2)
  expect(stderr).toContain('--structure runs nothing: no --fill, no --rtol')
})

test('two recordings take no option that says what a model gets', async () => {
  const values = join(folder, 'recorded.npz')
  await nodewise(['run', one, '--fill', 'zeros', '--record', values])
  expect((await nodewise(['compare', values, values])).status).toBe(0)
  const { status, stderr } = await nodewise(['compare', values, values, '--fill', 'zeros', '--map-input', 'x=x'])
  expect([status, stderr]).toEqual([
    2,
    expect.stringContaining('recorded values are not run: no --fill, no --map-input')
  ])
})

test('all pairs are listed, however many a loop makes', () => {
  const value = { node: 'n', type: 'Neg', value: 'v' }
  const distance = { equal: true, maxAbsolute: 0, maxRelative: 0, sqnr: Infinity, differing: 0, elements: 1 }
  const pairs = new Array(150_000).fill({ a: value, b: value, distance }) as ComparedPair[]
  const result = { equal: true, first: undefined, pairs, outputs: [], unpaired: { a: 0, b: 0 }, isolated: pairs }
  const lines = compareText(result, { a: 'a', b: 'b', all: true }, PLAIN).split('\n')
  expect(lines.filter(line => line.includes('Neg v')).length).toBe(300_000)
})
