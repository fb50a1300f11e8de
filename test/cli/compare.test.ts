import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { floats, node, onnxBytes, port } from '../fixtures/onnx.ts'
import { nodewise, nodewiseJson, temporaryFolder } from './command.ts'

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
  expect(stdout).toContain('  a  node 1 Mul "Mul_m"\n  b  node 1 Mul "Mul_m"')
  expect(stdout).toContain('value m: 1 of 2 elements differ')
  expect(stdout).toContain('worst at [1]: 4 and 6')
  expect(stdout).toContain('output y: up to 2.00e+0 apart')
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

test('tolerances are the caller’s', async () => {
  const [status] = await Promise.all(
    [
      ['--rtol', '1'],
      ['--atol', '9'],
      ['--sqnr', '1']
    ].map(async flags => (await nodewise(['compare', one, two, '-i', 'x=[1,-2]', ...flags])).status)
  )
  expect(status).toBe(0)
})
