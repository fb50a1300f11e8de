import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor, yieldsOf } from '../harness.ts'

/** Element (y, x) is 10 y + x. */
const map = new Tensor(
  'float32',
  Array.from({ length: 36 }, (_, i) => 10 * Math.floor(i / 6) + (i % 6)),
  [1, 1, 6, 6]
)
const boxes = (...values: number[]): Tensor => new Tensor('float32', values, [values.length / 4, 4])
const images = (...values: number[]): Tensor => new Tensor('int64', values.map(BigInt))

type Attributes = Record<string, string | number | boolean>
const onnx = (rois: Tensor, attributes: Attributes, opset = 16): number[] => [
  ...(runTensor(['onnx', 'RoiAlign', opset], [map, rois, images(...Array(rois.dims[0]).fill(0))], { attributes })
    .data as Float32Array)
]
const openvino = (rois: Tensor, attributes: Attributes): number[] => [
  ...(runTensor(['openvino', 'ROIAlign', 9], [map, rois, images(0)], {
    attributes: { pooled_h: 1, pooled_w: 1, sampling_ratio: 1, spatial_scale: 1, mode: 'avg', ...attributes }
  }).data as Float32Array)
]

describe('RoiAlign', () => {
  test('a sample in the middle of a bin reads between four elements', () => {
    expect(onnx(boxes(1, 2, 3, 4), { coordinate_transformation_mode: 'output_half_pixel', sampling_ratio: 1 })).toEqual(
      [32]
    )
    expect(onnx(boxes(1, 2, 3, 4), { coordinate_transformation_mode: 'half_pixel', sampling_ratio: 1 })).toEqual([26.5])
    expect(onnx(boxes(1, 2, 3, 4), { sampling_ratio: 1 }, 10)).toEqual([32])
  })

  test('a region is cut into bins, each averaged over its samples', () => {
    expect(onnx(boxes(0, 0, 4, 4), { output_height: 2, output_width: 2 }, 10)).toEqual([11, 13, 31, 33])
    expect(
      onnx(boxes(0, 0, 8, 8), { output_height: 2, output_width: 2, spatial_scale: 0.5, sampling_ratio: 3 }, 10).map(
        Math.round
      )
    ).toEqual([11, 13, 31, 33])
  })

  test('a region without size is one element in version 10 and asymmetric mode, and none else', () => {
    expect(onnx(boxes(2, 2, 2, 2), {}, 10)).toEqual([27.5])
    expect(onnx(boxes(2, 2, 2, 2), {}, 16)).toEqual([0])
    expect(openvino(boxes(2, 2, 2, 2), { sampling_ratio: 0 })).toEqual([27.5])
  })

  test('OpenVINO shifts corners by its aligned mode', () => {
    expect(openvino(boxes(1, 2, 3, 4), { aligned_mode: 'asymmetric' })).toEqual([32])
    expect(openvino(boxes(1, 2, 3, 4), { aligned_mode: 'half_pixel_for_nn' })).toEqual([26.5])
    expect(openvino(boxes(1, 2, 3, 4), { aligned_mode: 'half_pixel', spatial_scale: 0.5 })).toEqual([13.25])
  })

  test('mode max takes weighted neighbours in ONNX, samples or 0 in OpenVINO', () => {
    expect(onnx(boxes(1, 2, 3, 4), { mode: 'max', sampling_ratio: 1 }, 10)).toEqual([32])
    expect(onnx(boxes(1, 2, 3, 4), { mode: 'max', sampling_ratio: 1 }, 16)).toEqual([0.25 * 32])
    expect(openvino(boxes(1, 2, 3, 4), { mode: 'max', aligned_mode: 'half_pixel_for_nn' })).toEqual([26.5])
  })

  test('mode max: a neighbour without weight does not count where it is infinite, nor where it is NaN', () => {
    for (const beside of [Infinity, -Infinity, NaN]) {
      const x = new Tensor('float32', [1, 1, 1, 1, 5, beside, 1, 1, 1], [1, 1, 3, 3])
      const attributes = { mode: 'max', sampling_ratio: 1 }
      const y = runTensor(['onnx', 'RoiAlign', 16], [x, boxes(0.5, 0.5, 2.5, 2.5), images(0)], { attributes })
      expect(y.data[0]).toBe(5)
    }
    const x = new Tensor('float32', [1, 1, 1, 1, 5, Infinity, 1, 1, 1], [1, 1, 3, 3])
    const attributes = { mode: 'max', sampling_ratio: 1, coordinate_transformation_mode: 'output_half_pixel' }
    expect(runTensor(['onnx', 'RoiAlign', 16], [x, boxes(0, 1, 3, 2), images(0)], { attributes }).data[0]).toBe(
      Infinity
    )
  })

  test('mode max of several samples', () => {
    const negative = new Tensor('float32', new Float32Array(36).fill(-3), [1, 1, 6, 6])
    const attributes = { pooled_h: 1, pooled_w: 1, sampling_ratio: 2, spatial_scale: 1, mode: 'max' }
    expect([
      ...runTensor(['openvino', 'ROIAlign', 3], [negative, boxes(1, 1, 3, 3), images(0)], { attributes }).data
    ]).toEqual([0])
  })

  test('samples more than one element beyond the map count as zero', () => {
    expect(onnx(boxes(-0.5, 0, 0.5, 1), { sampling_ratio: 1 }, 10)).toEqual([5])
    expect(onnx(boxes(-9, 0, -7, 2), { sampling_ratio: 1 }, 10)).toEqual([0])
  })

  test('huge regions cost no more than the map', () => {
    const huge = boxes(-1e9, -1e9, 1e9, 1e9)
    expect(onnx(huge, {}, 10)[0]).toBeCloseTo(0)
    expect(yieldsOf(['onnx', 'RoiAlign', 10], [map, huge, images(0)])).toBe(0)
    expect(errorOf(() => onnx(boxes(0, 0, 4, 4), { sampling_ratio: 2 ** 30 }, 10)).code).toBe('limit-exceeded')
    expect(onnx(boxes(NaN, 0, 4, 4), {}, 10)).toHaveLength(1)
  })

  test('the image of a region must be there', () => {
    expect(errorOf(() => runTensor(['onnx', 'RoiAlign', 16], [map, boxes(0, 0, 1, 1), images(1)])).code).toBe(
      'index-out-of-range'
    )
  })

  test('its shape is regions by channels by bins', () => {
    expect(
      dimsOf(
        inferOp(
          ['onnx', 'RoiAlign', 16],
          [fact('float32', ['n', 'c', 5, 6]), fact('float32', ['r', 4]), fact('int64', ['?'])],
          { attributes: { output_height: 3, output_width: 2 } }
        )[0]
      )
    ).toEqual(['r', 'c', 3, 2])
    expect(
      errorOf(() =>
        inferOp(
          ['onnx', 'RoiAlign', 16],
          [fact('float32', [1, 2, 5, 6]), fact('float32', ['r', 5]), fact('int64', ['r'])]
        )
      ).code
    ).toBe('dims-mismatch')
    expect(
      errorOf(() =>
        inferOp(['onnx', 'RoiAlign', 16], [fact('float32', [1, 2, 5, 6]), fact('float32', [3, 4]), fact('int64', [2])])
      ).code
    ).toBe('dims-mismatch')
    expect(
      errorOf(() =>
        inferOp(
          ['openvino', 'ROIAlign', 3],
          [fact('float32', [1, 2, 5, 6]), fact('float32', [3, 4]), fact('int64', [3])]
        )
      ).code
    ).toBe('value-out-of-range')
  })
})

describe('OpenVINO ROIAlignRotated', () => {
  const of = (box: number[], attributes: Attributes): number[] => [
    ...(runTensor(['openvino', 'ROIAlignRotated', 15], [map, new Tensor('float32', box, [1, 5]), images(0)], {
      attributes: {
        pooled_h: 1,
        pooled_w: 2,
        sampling_ratio: 1,
        spatial_scale: 1,
        clockwise_mode: false,
        ...attributes
      }
    }).data as Float32Array)
  ]

  test('turns bins around the centre, half an element up and left', () => {
    expect(of([3, 3, 2, 2, 0], {})).toEqual([27, 28])
    const quarter = Math.PI / 2
    expect(of([3, 3, 2, 2, quarter], {}).map(value => Math.round(value * 10) / 10)).toEqual([32.5, 22.5])
    expect(of([3, 3, 2, 2, quarter], { clockwise_mode: true }).map(value => Math.round(value * 10) / 10)).toEqual([
      22.5, 32.5
    ])
    expect(errorOf(() => of([3, 3, 1e9, 1e9, 1], { sampling_ratio: 0 })).code).toBe('limit-exceeded')
    for (const box of [
      [3, 3, 0, 1e38, 1],
      [3, 3, -1, Infinity, 0]
    ])
      expect(of(box, { sampling_ratio: 0 })).toEqual([0, 0])
  })
})

describe('RoiPooling', () => {
  const rois = (...values: number[]): Tensor => new Tensor('float32', values, [values.length / 5, 5])

  test('takes the largest element, corners rounded and inside', () => {
    expect([
      ...runTensor(['onnx', 'MaxRoiPool', 1], [map, rois(0, 0, 0, 3, 3)], { attributes: { pooled_shape: [2, 2] } }).data
    ]).toEqual([11, 13, 31, 33])
    expect([
      ...runTensor(['openvino', 'ROIPooling', 2], [map, rois(0, 0.6, 1, 1.2, 9)], {
        attributes: { pooled_h: 1, pooled_w: 1, spatial_scale: 1 }
      }).data
    ]).toEqual([51])
  })

  test('a bin beyond the map is zero', () => {
    expect([
      ...runTensor(['onnx', 'MaxRoiPool', 1], [map, rois(0, 5, 5, 8, 8)], { attributes: { pooled_shape: [1, 2] } }).data
    ]).toEqual([55, 0])
  })

  test('bilinear reads one sample a bin from the corners inwards', () => {
    const of = (box: number[], width: number): unknown[] => [
      ...runTensor(['openvino', 'ROIPooling', 2], [map, rois(0, ...box)], {
        attributes: { pooled_h: 1, pooled_w: width, spatial_scale: 1, method: 'bilinear' }
      }).data
    ]
    expect(of([0, 0, 1, 0], 3)).toEqual([0, 2.5, 5])
    expect(of([0, 0, 1, 1], 1)).toEqual([27.5])
    expect(of([0, 0, 1.2, 0], 2)).toEqual([0, 0])
  })

  test('the image of a region must be there', () => {
    expect(
      errorOf(() =>
        runTensor(['onnx', 'MaxRoiPool', 1], [map, rois(1, 0, 0, 1, 1)], { attributes: { pooled_shape: [1, 1] } })
      ).code
    ).toBe('index-out-of-range')
    expect(
      dimsOf(
        inferOp(['onnx', 'MaxRoiPool', 1], [fact('float32', ['n', 'c', 5, 6]), fact('float32', ['r', 5])], {
          attributes: { pooled_shape: [2, 3] }
        })[0]
      )
    ).toEqual(['r', 'c', 2, 3])
  })
})

describe('position-sensitive pooling', () => {
  /** Channel c holds c everywhere. */
  const channels = (count: number): Tensor =>
    new Tensor(
      'float32',
      Array.from({ length: count * 16 }, (_, i) => Math.floor(i / 16)),
      [1, count, 4, 4]
    )
  const roi = (...values: number[]): Tensor => new Tensor('float32', values, [1, 5])
  const ps = (x: Tensor, box: Tensor, attributes: Attributes): unknown[] => [
    ...runTensor(['openvino', 'PSROIPooling', 1], [x, box], { attributes: { spatial_scale: 1, ...attributes } }).data
  ]

  test('every bin has a channel of its own', () => {
    expect(ps(channels(8), roi(0, 0, 0, 3, 3), { output_dim: 2, group_size: 2, mode: 'average' })).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7
    ])
    expect(
      ps(channels(8), roi(0, 0, 0, 1, 1), {
        output_dim: 2,
        group_size: 1,
        mode: 'bilinear',
        spatial_bins_x: 2,
        spatial_bins_y: 2
      })
    ).toEqual([3, 4])
    expect(
      errorOf(() => ps(channels(6), roi(0, 0, 0, 3, 3), { output_dim: 2, group_size: 2, mode: 'average' })).code
    ).toBe('dims-mismatch')
  })

  test('deformable bins move by the offsets of their class', () => {
    const line = new Tensor(
      'float32',
      Array.from({ length: 16 }, (_, i) => i % 4),
      [1, 1, 4, 4]
    )
    const of = (offsets: Tensor | undefined): unknown[] => [
      ...runTensor(['openvino', 'DeformablePSROIPooling', 1], [line, roi(0, 1, 1, 1, 1), offsets], {
        attributes: { output_dim: 1, spatial_scale: 1, group_size: 1, trans_std: 0.5, part_size: 1 }
      }).data
    ]
    expect(of(undefined)).toEqual([0.5])
    expect(of(new Tensor('float32', [2, 0], [1, 2, 1, 1]))).toEqual([1.5])
    expect(of(new Tensor('float32', [0, 20], [1, 2, 1, 1]))).toEqual([0])
    expect(errorOf(() => of(allocate('float32', [1, 3, 1, 1]))).code).toBe('dims-mismatch')
  })
})
