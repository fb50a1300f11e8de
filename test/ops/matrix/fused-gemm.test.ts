import { expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { iota } from '../values.ts'

const kind: Kind = ['onnx', 'FusedGemm', 1, 'com.microsoft']
const a = new Tensor('float32', [-1, 0, 1, 2], [4, 1])
const b = new Tensor('float32', [1], [1, 1])
const run = (attributes: Record<string, number | string>, ...inputs: Tensor[]): number[] => [
  ...(runTensor(kind, inputs.length > 0 ? inputs : [a, b], { attributes }).data as Float32Array)
]

test.each([
  ['Relu', {}, [0, 0, 1, 2]],
  ['Sigmoid', {}, [0.26894, 0.5, 0.73106, 0.8808]],
  ['Tanh', {}, [-0.76159, 0, 0.76159, 0.96403]],
  ['LeakyRelu', { activation_alpha: 0.5 }, [-0.5, 0, 1, 2]],
  ['HardSigmoid', { activation_alpha: 0.25, activation_beta: 0.5 }, [0.25, 0.5, 0.75, 1]],
  ['Elu', { activation_alpha: 2 }, [-1.26424, 0, 1, 2]],
  ['Selu', { activation_alpha: 2, activation_gamma: 3 }, [-3.79272, 0, 3, 6]],
  ['Softplus', {}, [0.31326, 0.69315, 1.31326, 2.12693]],
  ['Softsign', {}, [-0.5, 0, 0.5, 0.66667]],
  ['ThresholdedRelu', { activation_alpha: 1 }, [0, 0, 0, 2]],
  ['', {}, [-1, 0, 1, 2]]
])('FusedGemm ends with %s', (activation, attributes, expected) => {
  expectNear(runTensor(kind, [a, b], { attributes: { activation, ...attributes } }), expected, 1e-5)
})

test('FusedGemm scales, transposes and adds before the activation', () => {
  const attributes = { activation: 'Relu', alpha: 0.5, beta: 2, transA: 1, transB: 1 }
  const c = new Tensor('float32', [-8], [1])
  expect(run(attributes, iota([3, 2]), iota([2, 3]), c)).toEqual([0, 0, 0, 4])
  expect(run({ alpha: 0.5 }, iota([2, 2]), iota([2, 2]))).toEqual([1, 1.5, 3, 5.5])
})

test('FusedGemm of float16 is rounded once', () => {
  const inputs = [iota([1, 3]), iota([3, 1])].map(tensor => convert(tensor, 'float16'))
  const attributes = { activation: 'LeakyRelu', activation_alpha: 1, alpha: 1 / 3 }
  expect(convert(runTensor(kind, inputs, { attributes }), 'float32').data[0]).toBe(1.6669921875)
})

test('FusedGemm of integers knows Relu alone', () => {
  const matrix = (...data: number[]): Tensor => new Tensor('int64', data.map(BigInt), [2, 2])
  const result = runTensor(kind, [matrix(1, 0, 0, 1), matrix(-5, 3, 2, -1)], { attributes: { activation: 'Relu' } })
  expect([...result.data]).toEqual([0n, 3n, 2n, 0n])
  for (const activation of ['Tanh', 'Softplus'])
    expect(errorOf(() => inferOp(kind, [fact('int32'), fact('int32')], { attributes: { activation } })).code).toBe(
      'type-not-allowed'
    )
})

test('FusedGemm infers what Gemm infers, and names an activation that it lacks', () => {
  expect(dimsOf(inferOp(kind, [fact('float32', ['m', 'k']), fact('float32', ['k', 3])])[0])).toEqual(['m', 3])
  expect(errorOf(() => run({ activation: 'Nothing' })).code).toBe('unknown-attribute-value')
  expect(errorOf(() => run({ activation: 'LeakyRelu' })).code).toBe('missing-attribute')
  expect(errorOf(() => run({}, a, a)).code).toBe('shape-mismatch')
})
