import { afterEach, describe, expect, test } from 'vitest'
import type { Tensor } from '../../src/tensor/tensor.ts'
import { type DotKind, dotKind } from '../../src/wasm/dots.ts'
import { type Compute, wasm } from '../../src/wasm/wasm.ts'
import { type Byte, BYTE_PAIRS, codes, one } from './bytes.ts'
import { expectEqual } from './compare.ts'

// The module that computes is said to have a dot product of one kind or the other; so this file has a process of its
// own. Whatever this engine makes of the eighth bit, it is not set in second factors here; so every engine with relaxed
// SIMD is exact, and both kinds can be held against the reference. Without relaxed SIMD products are computed as ever.
const loaded: { exports: Compute } = wasm()!.compute()
const own = loaded.exports

afterEach(() => {
  loaded.exports = own
})

/** Has the module that computes say that it is of a kind, where it has relaxed SIMD. */
function pretend(kind: DotKind): void {
  const isSigned = kind === 'signed'
  const bytes = (word: number, signed: boolean): number[] => {
    const { buffer } = Int32Array.of(word)
    return [...(signed ? new Int8Array(buffer) : new Uint8Array(buffer))]
  }
  const hasDots = own.dot(1, 1, 0) === 1
  const dot: Compute['dot'] = (a, b, sum) => {
    const second = bytes(b, isSigned)
    return hasDots ? bytes(a, true).reduce((total, byte, i) => total + byte * second[i], sum) | 0 : 0
  }
  loaded.exports = { ...own, dot }
  expect(dotKind()).toBe(hasDots ? kind : 'none')
}

/** Codes that are turned into 0 to 127 of the type as which the second factor is taken. */
function sevenBits(type: Byte, dims: readonly number[], kind: DotKind): Tensor {
  const isTurned = (type === 'int8') !== (kind === 'signed')
  const tensor = codes(type, dims, 1) as Tensor<Byte>
  const turned = isTurned ? 128 : 0
  for (let i = 0; i < tensor.data.length; i++) tensor.data[i] = (tensor.data[i] & 127) | turned
  return tensor
}

describe.each(['unsigned', 'signed'] as const)('dot products that take the second factor as %s', kind => {
  test.each(BYTE_PAIRS)('give the sums of the reference, of %s and %s', (left, right) => {
    pretend(kind)
    for (const [m, n, k] of [
      [1, 64, 200],
      [2, 9, 7],
      [7, 29, 513],
      [128, 40, 768],
      [3, 9, 4099],
      [140, 16, 33]
    ]) {
      const factors = [sevenBits(left, [m, k], kind), codes(right, [k, n], 2)]
      for (const zeros of [
        [],
        [one(left, 77), codes(right, [n], 7)],
        [one(left, left === 'int8' ? -128 : 255), one(right, 3)]
      ])
        expectEqual(['onnx', 'MatMulInteger', 10], [...factors, ...zeros], { region: 'heap', constants: { b: 1 } }, 0)
    }
  })

  test.each(BYTE_PAIRS)('give the sums of the reference, of convolutions of %s by %s', (data, weights) => {
    pretend(kind)
    for (const [x, w, attributes] of CONVOLUTIONS) {
      const padding = one(data, (data === 'int8') === (kind === 'signed') ? 77 : data === 'int8' ? -51 : 205)
      const inputs = [sevenBits(data, x, kind), codes(weights, w, 2), padding]
      const zero = weights === 'int8' ? undefined : one(weights, 128)
      const constants = { w: 1, ...(zero && { wZero: 3 }) }
      expectEqual(['onnx', 'ConvInteger', 10], [...inputs, zero], { region: 'heap', attributes, constants }, 0)
    }
  })
})

const CONVOLUTIONS = [
  [[1, 40, 7, 9], [13, 40, 1, 1], {}],
  [[2, 17, 8, 8], [6, 17, 1, 1], { strides: [2, 2] }],
  [[2, 5, 9, 11], [7, 5, 3, 3], { pads: [1, 1, 1, 1] }],
  [[2, 17, 14, 14], [18, 17, 3, 3], { pads: [1, 1, 1, 1] }],
  [[1, 18, 7, 7], [131, 18, 1, 1], {}],
  [[1, 8, 7, 7], [134, 4, 2, 2], { group: 2 }],
  [[1, 3, 40, 50], [5, 3, 2, 2], {}],
  [[2, 12, 10, 13], [9, 4, 3, 3], { pads: [1, 1, 1, 1], group: 3, strides: [2, 1] }]
] as const
