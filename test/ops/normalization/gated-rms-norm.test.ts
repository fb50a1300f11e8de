import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor, withDims } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { iota } from '../values.ts'

const GATED: Kind = ['onnx', 'GatedRMSNorm', 1, 'com.microsoft']
const BRANCHES: Kind = ['onnx', 'BranchwiseRMSNorm', 1, 'com.microsoft']

const floats = (dims: number[], ...values: number[]): Tensor => new Tensor('float32', values, dims)
const x = floats([2, 4], 1, 2, -3, 4, 0.5, 0, 1, -1)
const gate = floats([2, 4], 0.5, 0, 1, -1, 1, 2, -3, 4)

// The numbers are those of ONNX Runtime 1.32.
describe('GatedRMSNorm', () => {
  test('normalizes groups as long as the scale, and gates them', () => {
    const scale = floats([2], 1, 2)
    const silu = [0.19683853, 0, -0.62032354, -0.60854477, 1.0338316, 0, -0.14227688, -7.8560709]
    expectNear(runTensor(GATED, [x, scale, gate]), silu)
    expectNear(runTensor(GATED, [x, scale, gate], { attributes: { activation: 'swish' } }), silu)
    expectNear(
      runTensor(GATED, [x, scale, gate], { attributes: { activation: 'sigmoid' } }),
      [0.39367706, 1.26490855, -0.62032354, 0.60854477, 1.0338316, 0, 0.04742563, -1.96401775]
    )
  })

  test('half precision is rounded once, and an empty tensor stays empty', () => {
    const half = [x, floats([2], 1, 2), gate].map(tensor => convert(tensor, 'float16'))
    const y = runTensor(GATED, half)
    expect(y.type).toBe('float16')
    expectNear(y, [0.19683853, 0, -0.62032354, -0.60854477, 1.0338316, 0, -0.14227688, -7.8560709], 1e-3)
    expect(runTensor(GATED, [iota([0, 4]), iota([2]), iota([0, 4])]).dims).toEqual([0, 4])
  })

  test('refuses what does not fit, and keeps symbols', () => {
    const code = (...inputs: Tensor[]): string => errorOf(() => runTensor(GATED, inputs)).code
    expect(code(x, iota([3]), gate)).toBe('dims-mismatch')
    expect(code(x, iota([0]), gate)).toBe('dims-mismatch')
    expect(code(x, iota([1, 4]), gate)).toBe('rank-mismatch')
    expect(code(x, iota([4]), iota([4, 2]))).toBe('dims-mismatch')
    expect(code(x, iota([4]), iota([1, 2, 4]))).toBe('rank-mismatch')
    const unknown = errorOf(() => runTensor(GATED, [x, iota([4]), gate], { attributes: { activation: 'relu' } }))
    expect(unknown.code).toBe('unknown-attribute-value')
    const facts = [fact('float32', ['n', 8]), fact('float32', ['?']), fact('float32')]
    expect(dimsOf(inferOp(GATED, facts)[0])).toEqual(['n', 8])
  })
})

describe('BranchwiseRMSNorm', () => {
  const all = [0.63245428, 2.5298171, -2.54558324, 4.5254817, 1.41415691, 0, 2.99998498, -3.99997997]
  const shared = [0.63245428, 2.5298171, -0.84852779, 2.26274085, 1.41415691, 0, 0.99999499, -1.99998999]
  const grouped = withDims(x, [2, 2, 2])

  test('branches are the axis before the last, or parts of the last', () => {
    const flat = { attributes: { num_branches: 2 } }
    expectNear(runTensor(BRANCHES, [x, floats([4], 1, 2, 3, 4)], flat), all)
    expectNear(runTensor(BRANCHES, [x, floats([2, 2], 1, 2, 3, 4)], flat), all)
    expectNear(runTensor(BRANCHES, [grouped, floats([4], 1, 2, 3, 4)]), all)
    expectNear(runTensor(BRANCHES, [x, floats([2], 1, 2)], flat), shared)
    expectNear(runTensor(BRANCHES, [grouped, floats([2], 1, 2)]), shared)
    const ones = runTensor(BRANCHES, [grouped, floats([2], 1, 1)])
    expect([...runTensor(BRANCHES, [grouped]).data]).toEqual([...ones.data])
  })

  test('the scale may have another type', () => {
    const half = convert(grouped, 'float16')
    const y = runTensor(BRANCHES, [half, floats([2], 1, 2)])
    expect(y.type).toBe('float16')
    expectNear(y, shared, 1e-3)
  })

  test('refuses what does not fit, and keeps symbols', () => {
    const code = (inputs: Tensor[], branches = 0): string =>
      errorOf(() => runTensor(BRANCHES, inputs, { attributes: { num_branches: branches } })).code
    expect(code([x], 3)).toBe('dims-mismatch')
    expect(code([x], -1)).toBe('unknown-attribute-value')
    expect(code([iota([4])])).toBe('rank-mismatch')
    expect(code([iota([])], 1)).toBe('rank-mismatch')
    expect(code([grouped, iota([3])])).toBe('dims-mismatch')
    expect(code([grouped, iota([1, 2])])).toBe('dims-mismatch')
    expect(code([grouped, iota([1, 2, 2])])).toBe('rank-mismatch')
    const facts = [fact('float32', ['n', '?', 8]), fact('float32', ['m'])]
    expect(dimsOf(inferOp(BRANCHES, facts)[0])?.[0]).toBe('n')
    expect(runTensor(BRANCHES, [iota([0, 3, 2]), iota([3, 2])]).dims).toEqual([0, 3, 2])
  })
})
