import { describe, expect, test } from 'vitest'
import type { Tensor } from '../../../src/tensor/tensor.ts'
import type { Kind } from '../../ops/harness.ts'
import { type Byte, codes, one } from '../bytes.ts'
import { expectEqual, runAccelerated } from '../compare.ts'

const KIND: Kind = ['onnx', 'QLinearConcat', 1, 'com.microsoft']

/** A result's quantization, then parts, of which the second has that of the result. */
function inputsOf(type: Byte, dims: readonly (readonly number[])[]): Tensor[] {
  const shift = type === 'int8' ? -128 : 0
  const parts = dims.flatMap((own, i) => [
    codes(type, own, i + 1),
    one('float32', i === 1 ? 0.05 : 0.02 * (i + 1)),
    one(type, (i === 1 ? 100 : 7 * i) + shift)
  ])
  return [one('float32', 0.05), one(type, 100 + shift), ...parts]
}

describe.each(['uint8', 'int8'] as const)(
  'concatenation of codes of %s in WebAssembly has those of the reference',
  type => {
    test.each([
      [
        'channels',
        [
          [2, 5, 9, 7],
          [2, 3, 9, 7],
          [2, 11, 9, 7]
        ],
        1
      ],
      [
        'the last axis',
        [
          [30, 17],
          [30, 1],
          [30, 40]
        ],
        -1
      ],
      [
        'the first axis, an empty part',
        [
          [3, 200],
          [0, 200],
          [9, 200]
        ],
        0
      ],
      ['one part', [[70, 33]], 1]
    ] as const)('%s', (_, dims, axis) => {
      for (const region of ['heap', 'array'] as const)
        expectEqual(KIND, inputsOf(type, dims), { region, attributes: { axis } }, 0)
    })
  }
)

test('several threads concatenate as one does', () => {
  const inputs = inputsOf('uint8', [
    [4, 64, 60, 60],
    [4, 32, 60, 60]
  ])
  const [first, second] = [1, 2].map(
    threads => runAccelerated(KIND, inputs, { threads, attributes: { axis: 1 } })[0] as Tensor
  )
  expect(Buffer.compare(first.data as Uint8Array, second.data as Uint8Array)).toBe(0)
})
