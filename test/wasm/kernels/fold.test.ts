import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

const KIND = ['onnx', 'Col2Im', 18] as const
const list = (values: readonly number[]): Tensor => new Tensor('int64', values.map(BigInt), [values.length])

interface Case {
  readonly x: readonly number[]
  readonly image: readonly number[]
  readonly block: readonly number[]
  readonly attributes?: Readonly<Record<string, readonly number[]>>
}
const cases: readonly (readonly [name: string, Case])[] = [
  ['neighbours', { x: [2, 27, 90], image: [11, 12], block: [3, 3] }],
  [
    'some apart',
    { x: [1, 48, 25], image: [10, 11], block: [4, 4], attributes: { strides: [2, 2], pads: [1, 1, 1, 1] } }
  ],
  ['with gaps', { x: [1, 12, 40], image: [9, 14], block: [2, 3], attributes: { dilations: [4, 3] } }],
  ['apart by more than a block', { x: [3, 4, 30], image: [17, 20], block: [2, 2], attributes: { strides: [3, 4] } }],
  ['along one axis', { x: [2, 15, 37], image: [39], block: [3] }],
  ['along three', { x: [1, 16, 30], image: [3, 4, 6], block: [2, 2, 2] }]
]

describe.each(['heap', 'array'] as const)('blocks are added to images in WebAssembly, from an %s', region => {
  test.each(cases)('%s', (_, { x, image, block, attributes = {} }) => {
    expectEqual(KIND, [noise(x, 3), list(image), list(block)], { region, attributes }, 0)
  })
})

test('elements that are no numbers, and sums of any size, as the reference adds them', () => {
  const x = noise([1, 27, 90], 5)
  const values = [NaN, Infinity, -Infinity, -0, 3e38, -3e38]
  for (let i = 0; i < x.data.length; i += 7) x.data[i] = values[i % values.length]
  expectEqual(KIND, [x, list([11, 12]), list([3, 3])], {}, 0)
})

test('planes are shared by two threads', () => {
  expectEqual(KIND, [noise([1, 9 * 64, 900], 2), list([32, 32]), list([3, 3])], { threads: 2 }, 0)
})

test('few elements are left to the reference', () => {
  const ask = (): unknown => runAccelerated(KIND, [noise([1, 4, 4], 1), list([3, 3]), list([2, 2])])
  expect(ask).toThrow('no accelerated kernel is selected')
})
