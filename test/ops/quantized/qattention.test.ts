import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { type CallOptions, dimsOf, errorOf, fact, inferOp, type Kind, runOp } from '../harness.ts'
import { expectNear } from '../near.ts'
import { scalar } from '../values.ts'

const KIND: Kind = ['onnx', 'QAttention', 1, 'com.microsoft']
const floats = (values: readonly number[], dims: readonly number[] = [values.length]): Tensor =>
  new Tensor('float32', [...values], dims)
const X = new Tensor('uint8', [0, 50, 100, 150, 200, 250], [1, 3, 2])
const WEIGHTS = new Tensor(
  'int8',
  Array.from({ length: 12 }, (_, k) => ((53 * k) % 256) - 128),
  [2, 6]
)
const BIAS = floats([0, 0.1, 0.2, 0.3, 0.4, 0.5])
const scale = scalar(0.02, 'float32')
const run = (inputs: readonly (Tensor | undefined)[], attributes: CallOptions['attributes'], outputs = 1): Tensor[] =>
  runOp(KIND, inputs, { attributes: { num_heads: 2, ...attributes }, outputs }) as Tensor[]

// Results are those of ONNX Runtime 1.32.

describe('QAttention', () => {
  test('projects 8-bit data, then attends as Attention does', () => {
    const mask = new Tensor('int32', [2])
    const zeros = [scalar(128, 'uint8'), scalar(3, 'int8')]
    const [out] = run([X, WEIGHTS, BIAS, scale, scalar(0.01, 'float32'), mask, ...zeros], {})
    expect(out).toMatchObject({ type: 'float32', dims: [1, 3, 2] })
    expectNear(out, [-0.386513, 0.9334722, -0.2472973, 1.8277729, -0.1015253, 4.4341531], 1e-5)
  })

  test('columns may have scales and zero points; keys and values follow those of the past', () => {
    const scales = floats([0.01, 0.02, 0.01, 0.02, 0.01, 0.005])
    const zeros = [scalar(128, 'uint8'), new Tensor('int8', [0, 1, 2, 3, 4, 5])]
    const past = floats([0, 0.25, 0.5, 0.75], [2, 1, 2, 1, 1])
    const [out, present] = run([X, WEIGHTS, BIAS, scale, scales, undefined, ...zeros, past], { unidirectional: 1 }, 2)
    expectNear(out, [0.2331567, 0.75, -0.0111891, 0.7484133, 0.2227567, 2.57078], 1e-5)
    expect(present.dims).toEqual([2, 1, 2, 4, 1])
    const keys = [0, 0.2216, 0.5016, 0.7816, 0.25, -3.9416001, 0.7784, 5.4984002]
    expectNear(present, [...keys, 0.5, 0.1304, -0.5496, -1.2296, 0.75, 2.5708001, 0.7108, -1.1492], 1e-5)
  })

  test('refuses what does not fit', () => {
    const call = (changes: Partial<Record<number, Tensor>>, attributes = {}): unknown =>
      run(
        [X, WEIGHTS, BIAS, scale, scale].map((input, i) => changes[i] ?? input),
        attributes
      )
    expect(errorOf(() => call({ 3: floats([1, 2]) })).code).toBe('dims-mismatch')
    expect(errorOf(() => call({ 4: floats([1, 2]) })).code).toBe('dims-mismatch')
    expect(errorOf(() => call({ 2: floats([1, 2]) })).code).toBe('dims-mismatch')
    expect(errorOf(() => call({ 0: new Tensor('uint8', [1, 2], [1, 2]) })).code).toBe('rank-mismatch')
    expect(errorOf(() => call({}, { num_heads: 3 })).code).toBe('shape-mismatch')
  })

  test('keeps symbols', () => {
    const [out] = inferOp(KIND, [fact('uint8', ['n', 's', 2]), WEIGHTS, BIAS, scale, scale], {
      attributes: { num_heads: 2 }
    })
    expect(out).toMatchObject({ type: 'float32' })
    expect(dimsOf(out)).toEqual(['n', 's', 2])
  })
})
