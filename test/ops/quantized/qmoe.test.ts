import { describe, expect, test } from 'vitest'
import { decodeFloat } from '../../../src/tensor/floats.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceOf, noise } from '../../wasm/compare.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const kind: Kind = ['onnx', 'QMoE', 1, 'com.microsoft']
const [HIDDEN, INNER, EXPERTS, TOKENS] = [16, 32, 3, 5]
const bytes = (dims: readonly number[], seed: number): Tensor<'uint8'> =>
  new Tensor(
    'uint8',
    Uint8Array.from(noise(dims, seed, 128).data, value => Math.floor(value + 128)),
    dims
  )
/** 0.5 to 1.5. */
const scaleOf = (dims: readonly number[], seed: number): Tensor =>
  new Tensor(
    'float32',
    noise(dims, seed, 0.5).data.map(value => (value + 1) / 16),
    dims
  )
const codeAt = ({ data }: Tensor<'uint8'>, row: number, rowBytes: number, i: number, bits: number): number =>
  (data[row * rowBytes + Math.floor((i * bits) / 8)] >> ((i * bits) % 8)) % 2 ** bits

interface Layer {
  readonly weights: Tensor<'uint8'>
  readonly scales: Tensor
  readonly zeros?: Tensor<'uint8'>
}

const x = noise([TOKENS, HIDDEN], 1)
const scores = noise([TOKENS, EXPERTS], 2, 3)
const biases = [noise([EXPERTS, INNER], 3), noise([EXPERTS, HIDDEN], 4)]

function layerOf(rows: number, columns: number, bits: number, block: number, hasZeros: boolean, seed: number): Layer {
  const blocks = block === 0 ? 1 : Math.ceil(columns / block)
  const packed = (count: number): number => Math.ceil((count * bits) / 8)
  return {
    weights: bytes([EXPERTS, rows, (columns * bits) / 8], seed),
    scales: scaleOf(block === 0 ? [EXPERTS, rows] : [EXPERTS, rows, blocks], seed + 1),
    ...(hasZeros && {
      zeros: bytes(block === 0 ? [EXPERTS, packed(rows)] : [EXPERTS, rows, packed(blocks)], seed + 2)
    })
  }
}

/** The weights as MoE takes them. */
function decoded({ weights, scales, zeros }: Layer, bits: number, block: number): Tensor {
  const [experts, rows, rowBytes] = weights.dims
  const columns = (rowBytes * 8) / bits
  const blocks = scales.dims[2] ?? 1
  const zeroAt = (expert: number, row: number, at: number): number =>
    zeros === undefined
      ? 2 ** (bits - 1)
      : block === 0
        ? codeAt(zeros, expert, zeros.dims[1], row, bits)
        : codeAt(zeros, expert * rows + row, zeros.dims[2], at, bits)
  const numbers: number[] = []
  for (let row = 0; row < experts * rows; row++)
    for (let i = 0; i < columns; i++) {
      const at = block === 0 ? 0 : Math.floor(i / block)
      const zero = zeroAt(Math.floor(row / rows), row % rows, at)
      numbers.push((codeAt(weights, row, rowBytes, i, bits) - zero) * Number(scales.data[row * blocks + at]))
    }
  return new Tensor('float32', numbers, [experts, rows, columns])
}

const inputsOf = (first: Layer, second: Layer, third?: Layer): (Tensor | undefined)[] => [
  x,
  scores,
  first.weights,
  first.scales,
  biases[0],
  second.weights,
  second.scales,
  biases[1],
  third?.weights,
  third?.scales,
  undefined,
  first.zeros,
  second.zeros,
  third?.zeros
]

describe('QMoE', () => {
  test.each([
    [2, 0, false],
    [2, 16, true],
    [4, 0, true],
    [4, 16, false],
    [4, 16, true],
    [8, 0, true],
    [8, 32, false],
    [8, 16, true]
  ])('is MoE of the decoded weights: %i bits, blocks of %i, zero points %s', (bits, block, hasZeros) => {
    const first = layerOf(INNER, HIDDEN, bits, block, hasZeros, 10)
    const second = layerOf(HIDDEN, INNER, bits, block, hasZeros, 20)
    const third = layerOf(INNER, HIDDEN, bits, block, hasZeros, 30)
    const common = { k: 2, activation_type: 'swiglu' }
    const attributes = { ...common, expert_weight_bits: bits, ...(block > 0 && { block_size: block }) }
    const [a, b, c] = [first, second, third].map(layer => decoded(layer, bits, block))
    const expected = runTensor(['onnx', 'MoE', 1, 'com.microsoft'], [x, scores, a, biases[0], b, biases[1], c], {
      attributes: { ...common, normalize_routing_weights: 1 }
    })
    const result = runTensor(kind, inputsOf(first, second, third), { attributes })
    expect(differenceOf(result, expected)).toBeLessThan(1e-6)
  })

  const [first, second] = [layerOf(INNER, HIDDEN, 4, 0, false, 10), layerOf(HIDDEN, INNER, 8, 0, false, 20)]
  const mixed = { fc2_expert_weight_bits: 8 }
  const result = runTensor(kind, inputsOf(first, second), { attributes: mixed })

  test('layers may have bits of their own', () => {
    const expected = runTensor(
      ['onnx', 'MoE', 1, 'com.microsoft'],
      [x, scores, decoded(first, 4, 0), biases[0], decoded(second, 8, 0), biases[1]],
      { attributes: { normalize_routing_weights: 1 } }
    )
    expect(differenceOf(result, expected)).toBeLessThan(1e-6)
  })

  test('weights of the chosen experts may be given, as they are or divided by their sum', () => {
    const given = new Tensor('float32', new Array<number>(TOKENS * EXPERTS).fill(3), [TOKENS, EXPERTS])
    const inputs = [...inputsOf(first, second), given]
    const tripled = new Tensor(
      'float32',
      (result.data as Float32Array).map(value => 3 * value),
      result.dims
    )
    expect(differenceOf(runTensor(kind, inputs, { attributes: mixed }), tripled)).toBeLessThan(1e-6)
    const attributes = { ...mixed, normalize_routing_weights: 1 }
    expect(differenceOf(runTensor(kind, inputs, { attributes }), result)).toBeLessThan(1e-6)
  })

  test('weights may be 8-bit floats, scaled by a number for each expert', () => {
    const floatsOf = (rows: number, columns: number, seed: number): Tensor =>
      new Tensor(
        'float8e4m3fn',
        bytes([EXPERTS, rows, columns], seed).data.map(code => code % 64),
        [EXPERTS, rows, columns]
      )
    const numbersOf = ({ data, dims }: Tensor, global: readonly number[]): Tensor =>
      new Tensor(
        'float32',
        Array.from(
          data as Uint8Array,
          (code, i) => decodeFloat('float8e4m3fn', code) * global[Math.floor(i / (dims[1] * dims[2]))]
        ),
        dims
      )
    const [a, b] = [floatsOf(INNER, HIDDEN, 1), floatsOf(HIDDEN, INNER, 2)]
    const global = [2, 3, 5]
    const expected = runTensor(
      ['onnx', 'MoE', 1, 'com.microsoft'],
      [x, scores, numbersOf(a, global), undefined, numbersOf(b, [1, 1, 1])],
      { attributes: { normalize_routing_weights: 1 } }
    )
    const inputs: (Tensor | undefined)[] = new Array<undefined>(16).fill(undefined)
    Object.assign(inputs, { 0: x, 1: scores, 2: a, 5: b, 15: new Tensor('float32', global, [EXPERTS]) })
    const attributes = { quant_type: 'fp8', expert_weight_bits: 8 }
    expect(differenceOf(runTensor(kind, inputs, { attributes }), expected)).toBeLessThan(1e-6)
    expect(errorOf(() => runTensor(kind, inputs)).code).toBe('type-mismatch')
    expect(errorOf(() => runTensor(kind, inputs.with(3, scaleOf([EXPERTS, INNER], 1)), { attributes })).code).toBe(
      'wrong-input-count'
    )
  })

  test('has the dims of the tokens', () => {
    const facts = [
      fact('float32', ['b', 's', HIDDEN]),
      fact('float32', ['t', EXPERTS]),
      ...inputsOf(first, second).slice(2)
    ]
    expect(dimsOf(inferOp(kind, facts, { attributes: mixed })[0])).toEqual(['b', 's', HIDDEN])
  })

  test.each([
    [{}, {}, 'dims-mismatch'],
    [{ ...mixed, fc1_expert_weight_bits: 3 }, {}, 'unknown-attribute-value'],
    [{ ...mixed, weights_prepacked: 1 }, {}, 'unknown-attribute-value'],
    [{ ...mixed, quant_type: 'fp4' }, {}, 'unknown-attribute-value'],
    [{ ...mixed, block_size: -2 }, {}, 'value-out-of-range'],
    [mixed, { 3: undefined }, 'missing-input'],
    [mixed, { 3: scaleOf([EXPERTS, INNER + 1], 1) }, 'dims-mismatch'],
    [mixed, { 3: scaleOf([EXPERTS, INNER, 2], 1) }, 'dims-mismatch'],
    [mixed, { 11: bytes([EXPERTS, INNER], 1) }, 'dims-mismatch'],
    [mixed, { 14: noise([TOKENS, 2], 1) }, 'dims-mismatch'],
    [mixed, { 15: new Tensor('float32', [1, 1, 1], [3]) }, 'wrong-input-count'],
    [mixed, { 17: new Tensor('float32', [1], [1]) }, 'wrong-input-count']
  ])('checks what does not fit together, case %#', (attributes, changed, code) => {
    const inputs: (Tensor | undefined)[] = Array.from({ length: 18 }, (_, i) => inputsOf(first, second)[i])
    expect(errorOf(() => runTensor(kind, Object.assign(inputs, changed), { attributes })).code).toBe(code)
  })
})
