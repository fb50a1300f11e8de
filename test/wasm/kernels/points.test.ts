import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { roiAlign } from '../../../src/ops/detection/roi-align.ts'
import { gridSample } from '../../../src/ops/image/grid-sample.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { bits, expectEqual, noise, runAccelerated } from '../compare.ts'

const padding = ['zeros', 'border', 'reflection'] as const
const batches = (...list: number[]): Tensor => new Tensor('int64', BigInt64Array.from(list, BigInt), [list.length])

/** Noise with elements that spoil every sum that they are in. */
function spoiled(dims: readonly number[]): Tensor {
  const data = Float32Array.from(noise(dims, 3).data)
  data.set([NaN, Infinity], 0)
  data[Math.floor(data.length / 2)] = -Infinity
  data[data.length - 1] = NaN
  return new Tensor('float32', data, dims)
}

/** Regions `[x1, y1, x2, y2]` within, across and beyond a map. */
const regions = new Tensor(
  'float32',
  Float32Array.from([2, 3, 9, 8, -4, -2, 5, 6, 10, 9, 30, 31, 3, 3, 3.2, 3.1, 40, 40, 50, 50, 0, 0, 15, 13]),
  [6, 4]
)

afterEach(() => void vi.restoreAllMocks())

describe.each(['heap', 'array'] as const)('sums of points in WebAssembly, operands in an %s', region => {
  // 40 planes are transposed, 3 are not.
  test.each([3, 40])('GridSample of %d planes', channels => {
    for (const mode of ['linear', 'cubic'])
      for (const padding_mode of padding)
        for (const align_corners of [0, 1]) {
          const options = { region, attributes: { mode, padding_mode, align_corners } }
          for (const x of [noise([2, channels, 9, 11], 1), spoiled([2, channels, 9, 11])])
            expectEqual(['onnx', 'GridSample', 20], [x, noise([2, 7, 9, 2], 2, 1.3)], options)
          const deep = [noise([2, channels, 5, 6, 7], 1), noise([2, 3, 5, 7, 3], 2, 1.2)]
          if (mode === 'linear') expectEqual(['onnx', 'GridSample', 20], deep, options)
        }
    const attributes = { mode: 'bicubic', padding_mode: 'border' }
    const inputs = [noise([1, channels, 9, 11], 1), noise([1, 70, 60, 2], 2, 1.2)]
    expectEqual(['openvino', 'GridSample', 9], inputs, { region, attributes })
  })

  test('bilinear GridSample of any dims equals the reference, also at points far beyond the edges', () => {
    const calls = fc.record({
      seed: fc.integer({ min: 1, max: 1000 }),
      height: fc.integer({ min: 1, max: 9 }),
      width: fc.integer({ min: 1, max: 9 }),
      channels: fc.integer({ min: 1, max: 4 }),
      points: fc.oneof(fc.integer({ min: 32, max: 70 }), fc.constant(2100)),
      reach: fc.constantFrom(1, 2, 50),
      padding_mode: fc.constantFrom(...padding),
      align_corners: fc.constantFrom(0, 1)
    })
    fc.assert(
      fc.property(calls, ({ seed, height, width, channels, points, reach, ...attributes }) => {
        const grid = noise([2, 1, points, 2], seed, reach)
        // Whole coordinates, whose second neighbour has no weight.
        for (let i = 0; i < points; i += 3) grid.data[i] = Math.round(grid.data[i])
        for (const x of [noise([2, channels, height, width], 1), spoiled([2, channels, height, width])]) {
          expectEqual(['onnx', 'GridSample', 20], [x, grid], { region, attributes: { ...attributes, mode: 'linear' } })
          const own = { ...attributes, align_corners: attributes.align_corners === 1, mode: 'bilinear' }
          if (attributes.padding_mode !== 'reflection')
            expectEqual(['openvino', 'GridSample', 9], [x, grid], { region, attributes: own })
        }
      }),
      { numRuns: 60, seed: 3 }
    )
  })

  test.each(['cubic', 'nearest'])('GridSample of mode %s and any dims equals the reference', mode => {
    const calls = fc.record({
      seed: fc.integer({ min: 1, max: 1000 }),
      height: fc.integer({ min: 1, max: 9 }),
      width: fc.integer({ min: mode === 'cubic' ? 4 : 1, max: 9 }),
      channels: fc.integer({ min: 1, max: 4 }),
      points: fc.oneof(fc.integer({ min: 32, max: 70 }), fc.integer({ min: 1030, max: 1100 })),
      reach: fc.constantFrom(1, 2, 50),
      padding_mode: fc.constantFrom(...padding),
      align_corners: fc.constantFrom(0, 1)
    })
    const own = mode === 'cubic' ? 'bicubic' : mode
    const error = mode === 'cubic' ? 1e-6 : 0
    fc.assert(
      fc.property(calls, ({ seed, height, width, channels, points, reach, ...attributes }) => {
        const grid = noise([2, 1, points, 2], seed, reach)
        // The edges and the middle, and with them whole coordinates and ties.
        for (let i = 0; i < points; i += 3) grid.data[i] = Math.round(grid.data[i])
        const given = { region, attributes: { ...attributes, mode } }
        const isAligned = attributes.align_corners === 1
        const moving = { region, attributes: { ...attributes, align_corners: isAligned, mode: own } }
        for (const x of [noise([2, channels, height, width], 1), spoiled([2, channels, height, width])]) {
          expectEqual(['onnx', 'GridSample', 20], [x, grid], given, error)
          expectEqual(['openvino', 'GridSample', 9], [x, grid], moving, error)
        }
      }),
      { numRuns: 100, seed: 4 }
    )
  })

  test.each(['linear', 'nearest'])('GridSample (%s) of any volumes equals the reference', mode => {
    const calls = fc.record({
      seed: fc.integer({ min: 1, max: 1000 }),
      sizes: fc.tuple(...Array.from({ length: 3 }, () => fc.integer({ min: 1, max: 6 }))),
      channels: fc.integer({ min: 1, max: 4 }),
      points: fc.oneof(fc.integer({ min: 32, max: 70 }), fc.integer({ min: 510, max: 1100 })),
      reach: fc.constantFrom(1, 2, 50),
      padding_mode: fc.constantFrom(...padding),
      align_corners: fc.constantFrom(0, 1)
    })
    const error = mode === 'linear' ? 1e-6 : 0
    fc.assert(
      fc.property(calls, ({ seed, sizes, channels, points, reach, ...own }) => {
        const grid = noise([2, 1, 1, points, 3], seed, reach)
        for (let i = 0; i < points; i += 3) grid.data[i] = Math.round(grid.data[i])
        const dims = [2, channels, ...sizes]
        for (const x of [noise(dims, 1), ...(channels * sizes[0] > 1 ? [spoiled(dims)] : [])])
          expectEqual(['onnx', 'GridSample', 20], [x, grid], { region, attributes: { ...own, mode } }, error)
      }),
      { numRuns: 60, seed: 6 }
    )
  })

  test('GridSample of volumes and RoiAlign of maxima are computed by their own kernels', () => {
    const runs = [vi.spyOn(gridSample, 'run'), vi.spyOn(roiAlign, 'run')]
    for (const mode of ['linear', 'nearest'])
      runAccelerated(['onnx', 'GridSample', 20], [noise([2, 3, 5, 6, 7], 1), noise([2, 3, 5, 7, 3], 2)], {
        region,
        attributes: { mode }
      })
    const inputs = [noise([2, 3, 14, 16], 1), regions, batches(0, 1, 1, 0, 1, 0)]
    const attributes = { mode: 'max', output_height: 5, output_width: 7, sampling_ratio: 2 }
    runAccelerated(['onnx', 'RoiAlign', 16], inputs, { region, attributes })
    const pooled = { mode: 'max', pooled_h: 5, pooled_w: 7, sampling_ratio: 2, spatial_scale: 1 }
    runAccelerated(['openvino', 'ROIAlign', 3], inputs, { region, attributes: pooled })
    for (const run of runs) expect(run).not.toHaveBeenCalled()
  })

  test('GridSample of mode cubic reads infinities twice at an edge as the reference does', () => {
    const x = new Tensor('float32', new Float32Array(36).fill(Infinity), [1, 1, 6, 6])
    for (const padding_mode of padding)
      for (const align_corners of [0, 1]) {
        const attributes = { mode: 'cubic', padding_mode, align_corners }
        expectEqual(['onnx', 'GridSample', 20], [x, noise([1, 8, 9, 2], 2, 1.5)], { region, attributes })
      }
  })

  test.each(['linear', 'cubic', 'nearest'])('GridSample (%s) leaves what is no coordinate to the reference', mode => {
    const grid = noise([1, 6, 7, 2], 2)
    for (const odd of [NaN, Infinity, -3e38]) {
      grid.data[11] = odd
      for (const padding_mode of padding) {
        const attributes = { padding_mode, mode }
        expectEqual(['onnx', 'GridSample', 20], [noise([1, 9, 5, 6], 1), grid], { region, attributes })
      }
    }
  })

  test.each([5, 64])('RoiAlign of %d channels', channels => {
    for (const sampling_ratio of [0, 2])
      for (const mode of ['avg', 'max']) {
        const attributes = { sampling_ratio, mode, output_height: 5, output_width: 7 }
        for (const x of [noise([2, channels, 14, 16], 1), spoiled([2, channels, 14, 16])])
          expectEqual(['onnx', 'RoiAlign', 16], [x, regions, batches(0, 1, 1, 0, 1, 0)], { region, attributes })
      }
  })

  test('RoiAlign of any regions, alignments and numbers of samples equals the reference', () => {
    const calls = fc.record({
      seed: fc.integer({ min: 1, max: 1000 }),
      height: fc.integer({ min: 1, max: 20 }),
      width: fc.integer({ min: 1, max: 40 }),
      channels: fc.integer({ min: 1, max: 5 }),
      pooled_h: fc.integer({ min: 1, max: 8 }),
      pooled_w: fc.integer({ min: 1, max: 8 }),
      sampling_ratio: fc.integer({ min: 0, max: 5 }),
      spatial_scale: fc.constantFrom(1, 0.5, 0.0625),
      aligned_mode: fc.constantFrom('asymmetric', 'half_pixel_for_nn', 'half_pixel'),
      isWhole: fc.boolean()
    })
    fc.assert(
      fc.property(calls, ({ seed, height, width, channels, isWhole, ...attributes }) => {
        fc.pre(5 * channels * attributes.pooled_h * attributes.pooled_w >= 32)
        const { spatial_scale } = attributes
        // From beside the map to beyond it; corners may be in either order.
        const corners = noise([5, 4], seed, 30).data.map((at, i) => {
          const corner = (at + (i % 2 === 0 ? width : height) / 2) / spatial_scale
          // Whole coordinates, whose second neighbour has no weight.
          return isWhole ? Math.round(corner) : corner
        })
        const rois = new Tensor('float32', corners, [5, 4])
        const x = noise([2, channels, height, width], seed + 1)
        const inputs = [x, rois, batches(1, 0, 0, 1, 0)]
        for (const mode of ['avg', 'max'])
          expectEqual(['openvino', 'ROIAlign', 9], inputs, { region, attributes: { ...attributes, mode } })
        const { pooled_h, pooled_w, sampling_ratio, aligned_mode } = attributes
        const own = {
          ...{ mode: 'max', output_height: pooled_h, output_width: pooled_w, sampling_ratio, spatial_scale },
          coordinate_transformation_mode: aligned_mode === 'asymmetric' ? 'output_half_pixel' : 'half_pixel'
        }
        // A weight of 0 makes an infinite neighbour 0, and no number one.
        const odd = x.data.map((value, i) => [NaN, Infinity, -Infinity][(i * 7 + seed) % 41] ?? value)
        for (const given of [x, new Tensor('float32', odd, x.dims)])
          expectEqual(['onnx', 'RoiAlign', 16], [given, ...inputs.slice(1)], { region, attributes: own })
      }),
      { numRuns: 100, seed: 5 }
    )
  })

  test('RoiAlign leaves regions of infinite numbers, and of very many samples, to the reference', () => {
    const x = noise([1, 3, 14, 16], 1)
    const attributes = { output_height: 3, output_width: 4, sampling_ratio: 2 }
    for (const odd of [NaN, Infinity, -Infinity, 3e38, -3e38]) {
      const rois = new Tensor('float32', Float32Array.from([1, 2, 9, 8, odd, 2, 9, 8, 1, 2, 9, odd]), [3, 4])
      expectEqual(['onnx', 'RoiAlign', 16], [x, rois, batches(0, 0, 0)], { region, attributes })
    }
    const wide = new Tensor('float32', Float32Array.from([1, 0, 11000, 1]), [1, 4])
    const long = { output_height: 1, output_width: 1000, sampling_ratio: 9 }
    expectEqual(['onnx', 'RoiAlign', 16], [noise([1, 1, 1, 12000], 1), wide, batches(0)], { region, attributes: long })
    const rois = new Tensor('float32', Float32Array.from([1, 2, 9, 8]), [1, 4])
    const many = { ...attributes, sampling_ratio: 1025 }
    expect(() => runAccelerated(['onnx', 'RoiAlign', 16], [x, rois, batches(0)], { region, attributes: many })).toThrow(
      '1050625 samples'
    )
  })

  test('ROIAlignRotated', () => {
    const boxes = new Tensor('float32', Float32Array.from([7, 7, 9, 5, 0.7, 2, 3, 30, 4, -1.2]), [2, 5])
    const attributes = { pooled_h: 3, pooled_w: 4, sampling_ratio: 2, spatial_scale: 0.9, clockwise_mode: 'true' }
    for (const channels of [20, 64]) {
      const inputs = [noise([2, channels, 14, 16], 1), boxes, batches(1, 0)]
      expectEqual(['openvino', 'ROIAlignRotated', 15], inputs, { region, attributes })
    }
  })

  test('regions of which no sample lies on the map are zeros', () => {
    const boxes = new Tensor('float32', Float32Array.from([100, 90, 9, 5, 0.7]), [1, 5])
    const attributes = { pooled_h: 6, pooled_w: 7, sampling_ratio: 2, spatial_scale: 0.9, clockwise_mode: 'true' }
    for (const channels of [20, 64]) {
      const x = noise([1, channels, 14, 16], 1)
      const [out] = runAccelerated(['openvino', 'ROIAlignRotated', 15], [x, boxes, batches(0)], { region, attributes })
      expect(new Set((out as Tensor<'float32'>).data)).toEqual(new Set([0]))
    }
  })

  test('float16', () => {
    const codes = Uint16Array.from(bits('float16', [1, 16, 9, 11]).data as Uint16Array, code => code & 0x3fff)
    const inputs = [new Tensor('float16', codes, [1, 16, 9, 11]), noise([1, 7, 9, 2], 2)]
    expectEqual(['onnx', 'GridSample', 20], inputs, { region, attributes: { mode: 'linear' } }, 1e-3)
  })

  test('shared by two threads', () => {
    const inputs = [noise([1, 64, 40, 50], 1), noise([1, 60, 70, 2], 2)]
    expectEqual(['onnx', 'GridSample', 20], inputs, { region, threads: 2 })
  })
})

test('an index that is out of range has the error of the reference', () => {
  const attributes = { output_height: 5, output_width: 7, sampling_ratio: 2 }
  const inputs = [noise([2, 5, 14, 16], 1), regions, batches(0, 1, 1, 0, 2, 0)]
  expect(() => runAccelerated(['onnx', 'RoiAlign', 16], inputs, { attributes })).toThrow(/index/)
})

test('other types and few elements are left to the reference', () => {
  const grid = noise([1, 4, 7, 2], 2)
  for (const x of [bits('float64', [1, 16, 9, 11]), noise([1, 1, 9, 11], 1)])
    expect(() => runAccelerated(['onnx', 'GridSample', 20], [x, grid])).toThrow('no accelerated kernel')
})
