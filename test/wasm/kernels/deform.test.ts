import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

/** Offsets of fractions, and whole ones, which read single elements. */
function moves(dims: readonly number[], seed: number, isWhole: boolean): Tensor<'float32'> {
  const tensor = noise(dims, seed, 3)
  if (isWhole) tensor.data.forEach((value, i) => (tensor.data[i] = i % 3 === 0 ? value : Math.round(value)))
  return tensor
}

interface Sizes {
  readonly batch: number
  readonly groups: number
  readonly offsetGroups: number
  readonly kernel: readonly [number, number]
  readonly size: readonly [number, number]
  readonly stride: number
  readonly dilation: number
  readonly pad: number
}

function callOf({ batch, groups, offsetGroups, kernel, size, stride, dilation, pad }: Sizes, isWhole: boolean) {
  const channels = 2 * groups * offsetGroups
  const counts = size.map((own, i) => Math.floor((own + 2 * pad - dilation * (kernel[i] - 1) - 1) / stride) + 1)
  const locations = offsetGroups * kernel[0] * kernel[1]
  return {
    counts,
    x: noise([batch, channels, ...size], 1),
    w: noise([3 * groups, channels / groups, ...kernel], 2),
    offsets: moves([batch, 2 * locations, ...counts], 3, isWhole),
    mask: noise([batch, locations, ...counts], 4),
    bias: noise([3 * groups], 5)
  }
}

const small = fc.integer({ min: 1, max: 3 })
const sizes = fc.record({
  batch: small,
  groups: small,
  offsetGroups: small,
  kernel: fc.tuple(small, small),
  size: fc.tuple(fc.integer({ min: 7, max: 12 }), fc.integer({ min: 7, max: 12 })),
  stride: fc.integer({ min: 1, max: 2 }),
  dilation: fc.integer({ min: 1, max: 2 }),
  pad: fc.integer({ min: 0, max: 2 })
})

describe.each(['heap', 'array'] as const)('deformable convolutions in WebAssembly, operands in an %s', region => {
  test('equal the reference, with and without masks and biases', () => {
    fc.assert(
      fc.property(sizes, fc.boolean(), fc.boolean(), fc.boolean(), (given, isWhole, hasMask, hasBias) => {
        const { x, w, offsets, mask, bias } = callOf(given, isWhole)
        const attributes = {
          group: given.groups,
          offset_group: given.offsetGroups,
          strides: [given.stride, given.stride],
          dilations: [given.dilation, given.dilation],
          pads: [given.pad, given.pad, given.pad, given.pad]
        }
        const inputs = [x, w, offsets, hasBias ? bias : undefined, hasMask ? mask : undefined]
        expectEqual(['onnx', 'DeformConv', 19], inputs, { region, attributes }, 2e-6)
      }),
      { numRuns: 60 }
    )
  })

  test('equal the reference where locations before the first element read zero', () => {
    for (const isWhole of [false, true]) {
      const given = { batch: 1, groups: 1, offsetGroups: 2, stride: 1, dilation: 1, pad: 1 }
      const { x, w, offsets } = callOf({ ...given, kernel: [3, 3], size: [9, 8] }, isWhole)
      const attributes = {
        strides: '1,1',
        dilations: '1,1',
        pads_begin: '1,1',
        pads_end: '1,1',
        group: '1',
        deformable_group: '2'
      }
      expectEqual(['openvino', 'DeformableConvolution', 8], [x, offsets, w], { region, attributes }, 2e-6)
    }
  })
})

test('elements that no location reads do not matter, be they infinite or no numbers', () => {
  const given = { batch: 1, groups: 1, offsetGroups: 1, stride: 1, dilation: 1, pad: 0 }
  const { x, w, counts } = callOf({ ...given, kernel: [1, 1], size: [8, 8] }, true)
  x.data[9] = Infinity
  x.data[20] = NaN
  const still = new Tensor('float32', new Float32Array(2 * counts[0] * counts[1]), [1, 2, ...counts])
  still.data[40] = NaN
  expectEqual(['onnx', 'DeformConv', 19], [x, w, still], {}, 1e-6)
})

test('long rows of windows, and masks of 0 or infinity, equal the reference', () => {
  const given = { batch: 1, groups: 1, offsetGroups: 1, stride: 1, dilation: 1, pad: 1 }
  const { offsets, mask } = callOf({ ...given, kernel: [3, 3], size: [6, 601] }, true)
  const [x, w] = [noise([1, 5, 6, 601], 1), noise([4, 5, 3, 3], 2)]
  const attributes = { pads: [1, 1, 1, 1] }
  expectEqual(['onnx', 'DeformConv', 19], [x, w, offsets, undefined, mask], { attributes }, 2e-6)
  x.data.set([Infinity, NaN], 700)
  for (const [place, odd] of [0, Infinity, NaN, 0, -Infinity].entries()) mask.data[40 + 997 * place] = odd
  mask.data.fill(0, 690, 710)
  expectEqual(['onnx', 'DeformConv', 19], [x, w, offsets, undefined, mask], { attributes }, 2e-6)
})

test('columns of many rows of windows are computed some at a time', () => {
  const given = { batch: 1, groups: 1, offsetGroups: 1, stride: 1, dilation: 1, pad: 1 }
  const { offsets } = callOf({ ...given, kernel: [3, 3], size: [100, 64] }, false)
  const [x, w] = [noise([1, 48, 100, 64], 1), noise([5, 48, 3, 3], 2)]
  expectEqual(['onnx', 'DeformConv', 19], [x, w, offsets], { attributes: { pads: [1, 1, 1, 1] } }, 2e-6)
})

test('other numbers of axes and other types are left to the reference', () => {
  const line = [noise([1, 4, 50], 1), noise([4, 4, 3], 2), noise([1, 3, 48], 3)]
  expect(() => runAccelerated(['onnx', 'DeformConv', 19], line)).toThrow('no accelerated kernel')
})
