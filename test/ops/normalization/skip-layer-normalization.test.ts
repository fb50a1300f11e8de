import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import type { DType } from '../../../src/tensor/dtype.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { iota } from '../values.ts'

const SKIP: Kind = ['onnx', 'SkipLayerNormalization', 1, 'com.microsoft']
const SIMPLIFIED: Kind = ['onnx', 'SkipSimplifiedLayerNormalization', 1, 'com.microsoft']

const x = new Tensor('float32', [1, -2, 4, 0, 3, -1, 2, 2, 1, -3, 0, 5], [2, 2, 3])
const skip = new Tensor('float32', [0.5, 1, -1, 2, 0, 1], [1, 2, 3])
const gamma = new Tensor('float32', [1, 2, -1])
const beta = new Tensor('float32', [0.5, 0, 1])
const bias = new Tensor('float32', [1, -1, 0.25])
/** x + skip + bias */
const sum = [2.5, -2, 3.25, 3, 2, 0.25, 3.5, 2, 0.25, 0, -1, 6.25]
/** What ONNX Runtime 1.32 gives with epsilon 0.01. */
const normalized = [
  1.03866303, -2.8010478, 0.13813913, 1.5956204, 0.43824816, 2.31474447, 1.68880081, 0.12513682, 2.25136948,
  -0.04523569, -1.71359801, -0.40203476
]
const simplified = [
  0.94847465, -1.51755941, -1.23301709, 1.4360534, 1.91473782, -0.11967111, 1.49957931, 1.71380496, -0.10711281, 0,
  -0.54709035, -1.70965731
]
const attributes = { epsilon: 0.01 }

describe('SkipLayerNormalization', () => {
  test('normalizes the sum of input, skip connection and bias, and gives statistics and sum', () => {
    const inputs = [x, skip, gamma, beta, bias]
    const [y, mean, inverse, total] = runOp(SKIP, inputs, { attributes, outputs: 4 }) as Tensor[]
    expectNear(y, normalized)
    expect([mean.type, mean.dims, inverse.dims]).toEqual(['float32', [2, 2, 1], [2, 2, 1]])
    expectNear(mean, [1.25, 1.75, 23 / 12, 1.75])
    expectNear(inverse, [0.43093044, 0.87649632, 0.75082165, 0.31156328])
    expect([...total.data]).toEqual(sum)
  })

  test('lacks shift and bias where they are left out; the epsilon is 1e-12', () => {
    const rows = new Tensor('float32', [1, 3, 2, 2], [2, 2])
    const zeros = new Tensor('float32', [0, 0, 0, 0], [2, 2])
    const ones = new Tensor('float32', [1, 1])
    expectNear(runTensor(SKIP, [rows, zeros, ones]), [-1, 1, 0, 0])
    expectNear(runTensor(SKIP, [rows, zeros, ones, undefined, ones]), [-1, 1, 0, 0])
    const tiny = new Tensor('float32', [0, 2e-6], [1, 2])
    expectNear(runTensor(SKIP, [tiny, new Tensor('float32', [0, 0], [1, 2]), ones]), [-Math.SQRT1_2, Math.SQRT1_2])
  })

  test('the skip connection may lack the batch', () => {
    const flat = new Tensor('float32', skip.data, [2, 3])
    expectNear(runTensor(SKIP, [x, flat, gamma, beta, bias], { attributes }), normalized)
  })

  test.each<DType>(['float16', 'bfloat16'])('%s is computed in double precision and rounded once', type => {
    const inputs = [x, skip, gamma, beta, bias]
    const exact = convert(runTensor(SKIP, inputs, { attributes }), type)
    const [y, , , total] = runOp(
      SKIP,
      inputs.map(input => convert(input, type)),
      { attributes, outputs: 4 }
    ) as Tensor[]
    expect(y.type).toBe(type)
    expectNear(y, [...convert(exact, 'float32').data] as number[], 0.01)
    expectNear(total, sum)
  })

  test('its operands are not written over', () => {
    const inputs = [x, skip, gamma, beta, bias].map(input => convert(input, 'float32'))
    runTensor(SKIP, inputs)
    expect(inputs.map(input => [...input.data])).toEqual([x, skip, gamma, beta, bias].map(input => [...input.data]))
  })
})

describe('SkipSimplifiedLayerNormalization', () => {
  test('divides by the root mean square; its fourth operand is the bias, its means are 0', () => {
    const [y, mean, inverse, total] = runOp(SIMPLIFIED, [x, skip, gamma, bias], { attributes, outputs: 4 }) as Tensor[]
    expectNear(y, simplified)
    expect([...mean.data]).toEqual([0, 0, 0, 0])
    expectNear(inverse, [0.37938985, 0.47868446, 0.42845124, 0.27354518])
    expect([...total.data]).toEqual(sum)
  })
})

test.each([SKIP, SIMPLIFIED])('%s %s keeps symbols, and takes an empty batch', (...kind: Kind) => {
  const inputs = [fact('float16', ['n', '?', 8]), fact('float16', [1, 's', '?']), fact('float16', ['?'])]
  const facts = inferOp(kind, inputs, { outputs: 4 })
  expect(facts.map(dimsOf)).toEqual([
    ['n', 's', 8],
    ['n', 's', 1],
    ['n', 's', 1],
    ['n', 's', 8]
  ])
  expect(facts.map(each => each.kind === 'tensor' && each.type)).toEqual(['float16', 'float32', 'float32', 'float16'])
  const none = new Tensor('float32', [], [0, 2, 3])
  expect(runTensor(kind, [none, skip, gamma]).dims).toEqual([0, 2, 3])
})

test.each([
  ['rank 1', [iota([3]), iota([3]), gamma], 'rank-mismatch'],
  ['rank 4', [iota([1, 1, 2, 3]), iota([2, 3]), gamma], 'rank-mismatch'],
  ['a skip connection of a higher rank', [iota([2, 3]), iota([1, 2, 3]), gamma], 'rank-mismatch'],
  ['another batch', [iota([3, 2, 3]), iota([2, 2, 3]), gamma], 'dims-mismatch'],
  ['a batch that only the skip connection has', [iota([1, 2, 3]), iota([2, 2, 3]), gamma], 'dims-mismatch'],
  ['other positions', [iota([2, 2, 3]), iota([2, 1, 3]), gamma], 'dims-mismatch'],
  ['a scale of rank 2', [iota([2, 3]), iota([2, 3]), iota([1, 3])], 'rank-mismatch'],
  ['a scale of other size', [iota([2, 3]), iota([2, 3]), iota([2])], 'dims-mismatch'],
  ['a shift of other size', [iota([2, 3]), iota([2, 3]), gamma, iota([1])], 'dims-mismatch'],
  ['two types', [iota([2, 3]), iota([2, 3], 'float16'), gamma], 'type-mismatch'],
  ['float64', [iota([2, 3], 'float64'), iota([2, 3], 'float64'), iota([3], 'float64')], 'type-not-allowed']
])('%s is refused', (_, inputs, code) => {
  expect(errorOf(() => runTensor(SKIP, inputs)).code).toBe(code)
  expect(errorOf(() => runTensor(SIMPLIFIED, inputs)).code).toBe(code)
})
