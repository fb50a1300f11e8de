import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp } from '../harness.ts'
import { expectNear } from '../near.ts'

const KIND: Kind = ['onnx', 'DynamicQuantizeLSTM', 1, 'com.microsoft']
const floats = (values: readonly number[], dims: readonly number[] = [values.length]): Tensor =>
  new Tensor('float32', [...values], dims)
const u8 = (values: readonly number[], dims: readonly number[] = [values.length]): Tensor =>
  new Tensor('uint8', [...values], dims)
const i8 = (values: readonly number[], dims: readonly number[] = [values.length]): Tensor =>
  new Tensor('int8', [...values], dims)
/** Three time steps of two sequences of two numbers. */
const X = floats(
  Array.from({ length: 12 }, (_, k) => ((-1) ** k * (k + 1)) / 4),
  [3, 2, 2]
)
const inputCodes = Array.from({ length: 8 }, (_, k) => (37 * k) % 256)
const hiddenCodes = Array.from({ length: 4 }, (_, k) => (91 * k + 5) % 256)
const W = u8(inputCodes, [1, 2, 4])
const R = u8(hiddenCodes, [1, 1, 4])
const NONE = undefined
const run = (inputs: readonly (Tensor | undefined)[], attributes = {}): Tensor[] =>
  runOp(KIND, inputs, { attributes: { hidden_size: 1, ...attributes }, outputs: 3 }) as Tensor[]

// Results are those of ONNX Runtime 1.32.

describe('DynamicQuantizeLSTM', () => {
  const quantization = [floats([0.01]), u8([128]), floats([0.02]), u8([100])]

  test('quantizes the input as a whole, and the hidden state at each step', () => {
    const biases = floats(
      Array.from({ length: 8 }, (_, k) => k / 10),
      [1, 8]
    )
    const [y, h, c] = run([X, W, R, biases, NONE, NONE, NONE, NONE, ...quantization])
    expect(y.dims).toEqual([3, 1, 2, 1])
    expectNear(y, [0.2228703, 0.1039829, 0.0495651, 0.0125503, 0.0031936, 0.0007003])
    expectNear(h, [0.0031936, 0.0007003])
    expectNear(c, [0.0603058, 0.0266918])
  })

  test('outputs of gates may have scales of their own; lengths, states and peepholes are those of LSTM', () => {
    const scales = floats([0.01, 0.02, 0.005, 0.01], [1, 4])
    const zeros = u8([128, 128, 128, 128], [1, 4])
    const states = [floats([0.5, -0.5], [1, 2, 1]), floats([0.1, 0.2], [1, 2, 1]), floats([0.1, 0.2, 0.3], [1, 3])]
    const lengths = new Tensor('int32', [1, 3])
    const [y, h, c] = run([X, W, R, NONE, lengths, ...states, scales, zeros, floats([0.02]), u8([100])])
    expectNear(y, [0.006248, 0.0381777, 0, 0.0007177, 0, 0.0000077])
    expectNear(h, [0.006248, 0.0000077])
    expectNear(c, [0.0241425, 0.0347985])
  })

  test('runs in both directions on weights of int8', () => {
    const both = (codes: readonly number[]): number[] => [...codes, ...codes].map(code => code - 128)
    const weights = [i8(both(inputCodes), [2, 2, 4]), i8(both(hiddenCodes), [2, 1, 4])]
    const parts = [floats([0.01, 0.005]), i8([0, 3]), floats([0.02, 0.01]), i8([-28, 1])]
    const [y, , c] = run([X, ...weights, NONE, NONE, NONE, NONE, NONE, ...parts], { direction: 'bidirectional' })
    const expected = [0.0766687, 0.0428159, 0.0829261, 0.0791735, 0.0156287, 0.0042588, 0.0589388, 0.0373778]
    expectNear(y, [...expected, 0.0010517, 0.0002442, 0.0204254, 0.0114086])
    expectNear(c, [0.0352007, 0.0167482, 0.1939489, 0.231896])
  })

  test('refuses what does not fit', () => {
    const call = (changes: Partial<Record<number, Tensor>>): unknown =>
      run([X, W, R, NONE, NONE, NONE, NONE, NONE, ...quantization].map((input, i) => changes[i] ?? input))
    expect(errorOf(() => call({ 1: u8(inputCodes, [2, 4]) })).code).toBe('rank-mismatch')
    expect(errorOf(() => call({ 1: u8(inputCodes, [1, 4, 2]) })).code).toBe('dims-mismatch')
    expect(errorOf(() => call({ 2: u8([...hiddenCodes, ...hiddenCodes], [1, 2, 4]) })).code).toBe('dims-mismatch')
    expect(errorOf(() => call({ 8: floats([1, 2]) })).code).toBe('dims-mismatch')
    expect(errorOf(() => call({ 9: u8([1, 2, 3], [1, 3]) })).code).toBe('dims-mismatch')
    expect(errorOf(() => call({ 10: floats([1], []) })).code).toBe('rank-mismatch')
    expect(errorOf(() => call({ 4: new Tensor('int32', [1, 4]) })).code).toBe('value-out-of-range')
  })

  test('keeps symbols', () => {
    const facts = [fact('float32', ['t', 'n', 2]), W, R, NONE, NONE, NONE, NONE, NONE, ...quantization]
    const results = inferOp(KIND, facts, { attributes: { hidden_size: 1 }, outputs: 2 })
    expect(results.map(dimsOf)).toEqual([
      ['t', 1, 'n', 1],
      [1, 'n', 1]
    ])
  })
})
