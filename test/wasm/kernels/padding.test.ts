import fc from 'fast-check'
import { describe, test } from 'vitest'
import type { DType } from '../../../src/tensor/dtype.ts'
import { product, Tensor, withDims } from '../../../src/tensor/tensor.ts'
import { MAX_LINE_BYTES } from '../../../src/wasm/kernels/transpose.ts'
import { bits, expectEqual } from '../compare.ts'

const PAD = ['onnx', 'Pad', 21] as const
const list = (...values: number[]): Tensor => new Tensor('int64', values.map(BigInt), [values.length])
const TYPES: DType[] = ['bool', 'uint8', 'float16', 'float32', 'int64', 'complex64']
const fillOf = (type: DType): Tensor => withDims(bits(type, [1], 7), [])

describe.each(['heap', 'array'] as const)('Pad by one value in WebAssembly, data in an %s', region => {
  test.each([
    [
      [3, 12, 11],
      [0, 1, 1, 0, 1, 1]
    ],
    [
      [8, 5, 40],
      [0, 2, 0, 1, 0, 0]
    ],
    [
      [1, 600],
      [0, 7, 0, 9]
    ],
    [
      [4, 6, 5, 7],
      [1, 0, 2, 0, 0, 3, 0, 1]
    ],
    [
      [9, 30],
      [-2, 3, 1, -5]
    ],
    [
      [9, 30],
      [2, -40, 1, 60]
    ],
    [[200], [-3, 1]]
  ])('%j by %j', (dims, pads) => {
    for (const type of TYPES) {
      expectEqual(PAD, [bits(type, dims), list(...pads), fillOf(type)], { region }, 0)
      expectEqual(PAD, [bits(type, dims), list(...pads)], { region }, 0)
    }
  })

  test('any dims and pads, of some axes or of all', () => {
    const axis = fc.record({
      size: fc.integer({ min: 1, max: 9 }),
      begin: fc.oneof(fc.constant(0), fc.integer({ min: -4, max: 5 })),
      end: fc.oneof(fc.constant(0), fc.integer({ min: -4, max: 5 }))
    })
    fc.assert(
      fc.property(
        fc.array(axis, { minLength: 1, maxLength: 5 }),
        fc.constantFrom(...TYPES),
        fc.boolean(),
        (axes, type, isFilled) => {
          const dims = axes.map(({ size, begin, end }) => size + begin + end)
          const elements = dims.reduce((a, b) => a * b)
          fc.pre(dims.every(size => size >= 0) && elements >= 128)
          const pads = list(...axes.map(({ begin }) => begin), ...axes.map(({ end }) => end))
          const data = bits(
            type,
            axes.map(({ size }) => size)
          )
          // Longer lines, which all that is padded may be, are left to the reference.
          const { byteLength } = data.data as Uint8Array
          fc.pre((elements * byteLength) / product(data.dims) <= MAX_LINE_BYTES)
          expectEqual(PAD, [data, pads, ...(isFilled ? [fillOf(type)] : [])], { region }, 0)
        }
      ),
      { numRuns: 100 }
    )
  })
})

test('Pad of OpenVINO by a value that the file gives', () => {
  const inputs = [bits('float32', [6, 50]), list(0, 2), list(3, 1), fillOf('float32')]
  expectEqual(['openvino', 'Pad', 12], inputs, { attributes: { pad_mode: 'constant' } }, 0)
})
