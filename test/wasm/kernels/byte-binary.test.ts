import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import type { Kind } from '../../ops/harness.ts'
import { type Byte, codes, one } from '../bytes.ts'
import { expectEqual, runAccelerated } from '../compare.ts'

const SHAPES = [
  [[3, 5, 37], []],
  [[], [7, 40]],
  [[70], [70]],
  [
    [2, 1, 50],
    [3, 1]
  ],
  [
    [2, 16, 9, 9],
    [2, 16, 1, 1]
  ],
  [[4, 1, 33], [33]],
  [
    [5, 1, 6, 1, 7],
    [1, 4, 1, 3, 7]
  ]
] as const

/** Scales that make ordinary codes, few of them, and quotients that lie on ties or next to them. */
const SCALES = [
  [0.021, 0.017, 0.043],
  [0.25, 0.5, 0.5],
  [0.5, 0.25, 0.0078125],
  [1e-3, 1e-3, 10],
  [300, 1e-4, 0.3],
  [-0.02, 0.03, 0.05],
  [3, 2, 1e-4],
  [30, 20, 1e-3],
  [0.3, 0.3, 0.6]
] as const

const ZEROS = { uint8: [128, 3, 255], int8: [0, -128, 5] } as const

const kindOf = (name: string): Kind => ['onnx', name, 1, 'com.microsoft']

/** Every pair of codes. */
function allPairs(type: Byte): readonly [Tensor, Tensor] {
  const lowest = type === 'int8' ? -128 : 0
  const all = Array.from({ length: 256 }, (_, i) => lowest + i)
  return [new Tensor(type, all, [256, 1]), new Tensor(type, all, [256])]
}

/** The same, side by side. */
function allPairsInLines(type: Byte): readonly [Tensor, Tensor] {
  const [a, b] = allPairs(type).map(({ data }) => data as Uint8Array)
  const indices = Array.from({ length: 256 * 256 }, (_, i) => i)
  return [
    new Tensor(
      type,
      indices.map(i => a[i >> 8]),
      [indices.length]
    ),
    new Tensor(
      type,
      indices.map(i => b[i & 255]),
      [indices.length]
    )
  ]
}

describe.each(['QLinearAdd', 'QLinearMul'])('%s in WebAssembly', name => {
  describe.each(['uint8', 'int8'] as const)('of %s', type => {
    const inputsOf = (a: Tensor, b: Tensor, [s, t, u]: readonly number[], zeros: readonly number[]): Tensor[] => {
      const [p, q, r] = zeros.map(zero => one(type, zero))
      return [a, one('float32', s), p, b, one('float32', t), q, one('float32', u), r]
    }

    test.each(SCALES.map((scales, turn) => [scales, ZEROS[type].map((_, i) => ZEROS[type][(i + turn) % 3])] as const))(
      'has the codes of the reference for every pair of codes, scales %j and zero points %j',
      (scales, zeros) => {
        expectEqual(kindOf(name), inputsOf(...allPairs(type), scales, zeros), {}, 0)
        expectEqual(kindOf(name), inputsOf(...allPairsInLines(type), scales, zeros), {}, 0)
      }
    )

    test.each(SHAPES)('broadcasts %j against %j', (aDims, bDims) => {
      const [a, b] = [codes(type, aDims, 1), codes(type, bDims, 2)]
      for (const region of ['heap', 'array'] as const)
        expectEqual(kindOf(name), inputsOf(a, b, SCALES[0], ZEROS[type]), { region }, 0)
    })
  })

  test('takes zero points of 0 where they are left out', () => {
    const [a, b] = [codes('uint8', [300], 1), codes('uint8', [300], 2)]
    const scale = one('float32', 0.02)
    expectEqual(kindOf(name), [a, scale, undefined, b, scale, undefined, one('float32', 0.03)], {}, 0)
  })

  test('leaves scales that float32 cannot divide to the reference', () => {
    const [a, b] = [codes('uint8', [300], 1), codes('uint8', [300], 2)]
    const zero = one('uint8', 0)
    const inputs = [a, one('float32', 1e20), zero, b, one('float32', 1e18), zero, one('float32', 1e-20), zero]
    expectEqual(kindOf(name), inputs, {}, 0)
  })

  test('is computed by several threads as by one', () => {
    const [a, b] = [codes('uint8', [1 << 20], 1), codes('uint8', [1 << 20], 2)]
    const [scale, zero] = [one('float32', 0.02), one('uint8', 9)]
    const inputs = [a, scale, zero, b, scale, zero, one('float32', 0.05), zero]
    const [first, second] = [1, 2].map(threads => runAccelerated(kindOf(name), inputs, { threads })[0] as Tensor)
    // A million elements are compared as bytes: `toEqual` takes seconds.
    expect(Buffer.compare(first.data as Uint8Array, second.data as Uint8Array)).toBe(0)
  })
})
