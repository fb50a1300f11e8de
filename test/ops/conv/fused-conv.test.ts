import { expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'

const kind: Kind = ['onnx', 'FusedConv', 1, 'com.microsoft']
const x = new Tensor('float32', [-4, -2, 0, 2, 4], [1, 1, 5])
const w = new Tensor('float32', [1], [1, 1, 1])
const bias = new Tensor('float32', [1], [1])
const run = (
  attributes: Record<string, string | number | readonly number[]>,
  inputs: (Tensor | undefined)[] = [x, w]
): number[] => [...(runTensor(kind, inputs, { attributes }).data as Float32Array)]

test.each([
  ['Relu', [], [0, 0, 0, 2, 4]],
  ['Sigmoid', [], [0.01799, 0.1192, 0.5, 0.8808, 0.98201]],
  ['Tanh', [], [-0.99933, -0.96403, 0, 0.96403, 0.99933]],
  ['LeakyRelu', [0.25], [-1, -0.5, 0, 2, 4]],
  ['HardSigmoid', [0.125, 0.5], [0, 0.25, 0.5, 0.75, 1]],
  ['Clip', [-3, 1], [-3, -2, 0, 1, 1]],
  ['HardSwish', [0.125, 0.5], [-0, -0.5, 0, 1.5, 4]]
])('FusedConv ends with %s', (activation, activation_params, expected) => {
  expectNear(
    runTensor(kind, [x, w], { attributes: { activation, ...(activation_params.length > 0 && { activation_params }) } }),
    expected,
    1e-5
  )
})

test('FusedConv adds a bias and a tensor before the activation, each where it is given', () => {
  const z = new Tensor('float32', [10, -10, 10, -10, 10], [1, 1, 5])
  expect(run({ activation: 'Relu' }, [x, w, bias, z])).toEqual([7, 0, 11, 0, 15])
  expect(run({}, [x, w, undefined, z])).toEqual([6, -12, 10, -8, 14])
  expect(run({}, [x, w, bias])).toEqual([-3, -1, 1, 3, 5])
})

test('FusedConv of float16 is rounded once', () => {
  const [data, weights, z] = [[1], [1], [2 ** -11]].map(list =>
    convert(new Tensor('float32', list, [1, 1, 1]), 'float16')
  )
  const attributes = { activation: 'LeakyRelu', activation_params: [1] }
  const small = convert(new Tensor('float32', [2 ** -12], [1]), 'float16')
  expect(convert(runTensor(kind, [data, weights, small, z], { attributes }), 'float32').data[0]).toBe(1 + 2 ** -10)
})

test('FusedConv infers what Conv infers; what is added has the same dims', () => {
  const facts = [fact('float32', ['n', 3, 8]), fact('float32', [2, 3, 3]), undefined, fact('float32', ['n', 2, 6])]
  expect(dimsOf(inferOp(kind, facts)[0])).toEqual(['n', 2, 6])
  expect(errorOf(() => inferOp(kind, facts.with(3, fact('float32', ['n', 2, 5])))).code).toBe('shape-mismatch')
})

test('FusedConv names an activation that it lacks, and parameters that are missing', () => {
  expect(errorOf(() => run({ activation: 'Nothing' })).code).toBe('unknown-attribute-value')
  expect(errorOf(() => run({ activation: 'HardSwish', activation_params: [1] })).code).toBe('dims-mismatch')
})
