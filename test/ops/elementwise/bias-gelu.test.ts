import { expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { iota } from '../values.ts'

const BIAS: Kind = ['onnx', 'BiasGelu', 1, 'com.microsoft']
const FAST: Kind = ['onnx', 'FastGelu', 1, 'com.microsoft']
const x = new Tensor('float32', [-2, -0.5, 0, 1, 3])
const bias = new Tensor('float32', [1, 0, -1, 0.5, 2])

// The numbers are those of ONNX Runtime 1.32.
test('BiasGelu adds a list along the last axis and applies Gelu by erf', () => {
  const once = [-0.15865526, -0.15426877, -0.15865526, 1.39978921, 4.99999857]
  expectNear(runTensor(BIAS, [x, bias]), once)
  const rows = new Tensor('float32', [...x.data, ...x.data] as number[], [2, 1, 5])
  expectNear(runTensor(BIAS, [rows, bias]), [...once, ...once])
})

test('FastGelu is by tanh, and its bias may be left out', () => {
  expectNear(runTensor(FAST, [x, bias]), [-0.15880796, -0.1542863, -0.15880796, 1.39957154, 4.99999952])
  expectNear(runTensor(FAST, [x]), [-0.04540235, -0.1542863, 0, 0.84119201, 2.99636263])
  expectNear(runTensor(FAST, [new Tensor('float32', [1], [])]), [0.84119201])
})

test('16-bit floats are rounded once, float64 is exact', () => {
  for (const type of ['float16', 'bfloat16', 'float64'] as const) {
    const wide = [x, bias].map(tensor => convert(tensor, 'float64'))
    const narrow = runTensor(
      BIAS,
      wide.map(tensor => convert(tensor, type))
    )
    expect([...narrow.data]).toEqual([...convert(runTensor(BIAS, wide), type).data])
  }
})

test('the bias is a list as long as the last axis', () => {
  for (const kind of [BIAS, FAST]) {
    expect(errorOf(() => runTensor(kind, [iota([2, 5]), iota([4])])).code).toBe('dims-mismatch')
    expect(errorOf(() => runTensor(kind, [iota([2, 5]), iota([1])])).code).toBe('dims-mismatch')
    expect(errorOf(() => runTensor(kind, [iota([2, 5]), iota([1, 5])])).code).toBe('rank-mismatch')
    expect(errorOf(() => runTensor(kind, [iota([]), iota([1])])).code).toBe('rank-mismatch')
    expect(dimsOf(inferOp(kind, [fact('float32', ['n', '?']), fact('float32', [8])])[0])).toEqual(['n', 8])
    expect(runTensor(kind, [iota([0, 5]), iota([5])]).dims).toEqual([0, 5])
  }
  for (const inputs of [[x], [x, undefined]])
    expect(errorOf(() => runTensor(BIAS, inputs)).code).toBe('wrong-input-count')
})
