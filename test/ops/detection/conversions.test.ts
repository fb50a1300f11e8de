import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther, inOther, modelOfNode } from '../converted.ts'
import { errorOf } from '../harness.ts'
import { picks, randomFloats } from '../random.ts'

const scalar = (type: 'int64' | 'float32', value: number): Tensor =>
  new Tensor(type, [type === 'int64' ? BigInt(value) : value], [])
const sizes = (...values: number[]): Tensor => new Tensor('int64', values.map(BigInt), [values.length])

/** Boxes of many overlaps, and scores of which some are equal. */
const boxes = new Tensor(
  'float32',
  Array.from({ length: 2 * 12 * 4 }, (_, i) => picks(i >> 2, 7) + (i % 4 > 1 ? 3 + picks(i, 4) : 0)),
  [2, 12, 4]
)
const scores = new Tensor(
  'float32',
  Array.from({ length: 2 * 3 * 12 }, (_, i) => picks(i + 99, 9) / 8),
  [2, 3, 12]
)
const limits = [scalar('int64', 4), scalar('float32', 0.4), scalar('float32', 0.25)]

describe('NonMaxSuppression', () => {
  test.each([5, 9])(
    'version %i of IR in ONNX: a score equal to the threshold stays, boxes sorted or not',
    async opset => {
      for (const sort_result_descending of [true, false])
        for (const constants of [[2, 3, 4], []])
          expect(
            await differenceInOther(['openvino', 'NonMaxSuppression', opset], [boxes, scores, ...limits], {
              attributes: { sort_result_descending, box_encoding: 'corner', output_type: 'i32' },
              outputs: 3,
              constants
            })
          ).toBe(0)
    }
  )

  test('of ONNX in IR: a score equal to the threshold is dropped, and without one all stay', async () => {
    for (const inputs of [[...limits], limits.slice(0, 2)])
      for (const center_point_box of [0, 1])
        expect(
          await differenceInOther(['onnx', 'NonMaxSuppression', 11], [boxes, scores, ...inputs], {
            attributes: { center_point_box },
            constants: [2, 3, 4]
          })
        ).toBe(0)
  })

  test.each([5, 9])('Soft-NMS of version %i is a loop', async opset => {
    for (const box_encoding of ['corner', 'center'])
      for (const sort_result_descending of [true, false])
        expect(
          await differenceInOther(
            ['openvino', 'NonMaxSuppression', opset],
            [boxes, scores, ...limits, scalar('float32', 0.5)],
            { attributes: { box_encoding, sort_result_descending }, outputs: 3, constants: [3, 4, 5] }
          )
        ).toBeLessThan(1e-6)
  })
})

describe('suppression by class and image in ONNX', () => {
  const orders = ['classid', 'score', 'none'].flatMap(sort_result_type =>
    [true, false].map(sort_result_across_batch => ({ sort_result_type, sort_result_across_batch }))
  )
  const counts = new Tensor('int32', [5, 0, 7], [3])
  const perClass = [
    new Tensor('float32', boxes.data, [2, 12, 4]),
    new Tensor('float32', scores.data.slice(0, 24), [2, 12]),
    counts
  ]

  test.each(orders)('MulticlassNms %j, boxes shared by classes and not, falling thresholds', async order => {
    for (const given of [
      { nms_eta: 1, nms_top_k: -1, keep_top_k: -1, background_class: -1, normalized: true },
      { nms_eta: 0.8, nms_top_k: 7, keep_top_k: 9, background_class: 0, normalized: false }
    ])
      for (const inputs of [[boxes, scores], perClass])
        expect(
          await differenceInOther(['openvino', 'MulticlassNms', 9], inputs, {
            attributes: { ...order, ...given, iou_threshold: 0.6, score_threshold: 0.25, output_type: 'i32' },
            outputs: 3,
            isDynamic: given.nms_eta < 1
          })
        ).toBe(0)
  })

  test.each(orders)('MatrixNms %j, decays of both kinds', async order => {
    for (const decay_function of ['gaussian', 'linear'])
      expect(
        await differenceInOther(['openvino', 'MatrixNms', 8], [boxes, scores], {
          attributes: {
            ...order,
            decay_function,
            gaussian_sigma: 0.5,
            nms_top_k: 8,
            keep_top_k: 10,
            score_threshold: 0.2,
            post_threshold: 0.1,
            background_class: 1
          },
          outputs: 3
        })
      ).toBeLessThan(1e-6)
  })
})

describe('DetectionOutput in ONNX', () => {
  const [images, priors, classes] = [2, 6, 3]
  const fraction = (seed: number, dims: readonly number[]): Tensor =>
    new Tensor(
      'float32',
      Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, i) => picks(seed + i, 1000) / 1000),
      dims
    )
  const corners = (size: number): number[] =>
    Array.from({ length: priors }, (_, i) => {
      const [x, y] = [picks(i, 50) / 100, picks(i + 50, 50) / 100]
      return size === 4 ? [x, y, x + 0.4, y + 0.3] : [0, 100 * x, 80 * y, 100 * x + 40, 80 * y + 30]
    }).flat()
  const proposals = (size: number, hasVariances: boolean): Tensor =>
    new Tensor(
      'float32',
      [...corners(size), ...(hasVariances ? corners(size).map((_, i) => 0.1 + (i % 4) / 20) : [])],
      [1, hasVariances ? 2 : 1, size * priors]
    )
  const shared = {
    num_classes: classes,
    background_label_id: 0,
    top_k: -1,
    keep_top_k: [-1],
    nms_threshold: 0.43,
    confidence_threshold: 0.2,
    share_location: true,
    variance_encoded_in_target: false,
    code_type: 'caffe.PriorBoxParameter.CENTER_SIZE',
    normalized: true
  }

  test.each([
    {},
    { top_k: 4, keep_top_k: [5], clip_before_nms: true },
    { code_type: 'caffe.PriorBoxParameter.CORNER', variance_encoded_in_target: true, clip_after_nms: true },
    { share_location: false, keep_top_k: [3] },
    { normalized: false, input_width: 100, input_height: 80 },
    { decrease_label_id: true, top_k: 4, keep_top_k: [4] }
  ])('%j', async given => {
    const p = { ...shared, ...given }
    const codes = fraction(7, [images, priors * 4 * (p.share_location ? 1 : classes)])
    const inputs = [
      codes,
      fraction(8, [images, priors * classes]),
      proposals(p.normalized ? 4 : 5, !p.variance_encoded_in_target)
    ]
    const first = [fraction(9, [images, 2 * priors]), fraction(10, codes.dims)]
    const attributes = { ...p, objectness_score: 0.3 }
    for (const [all, isDynamic] of [
      [inputs, false],
      [[...inputs, ...first], true]
    ] as const)
      expect(await differenceInOther(['openvino', 'DetectionOutput', 1], all, { attributes, isDynamic })).toBeLessThan(
        1e-5
      )
  })
})

describe('prior boxes in ONNX', () => {
  test.each([
    { min_size: [16, 32], max_size: [40, 50], aspect_ratio: [2, 0.5], flip: true, offset: 0.5, step: 16 },
    { min_size: [0.2, 0.3], scale_all_sizes: false, aspect_ratio: [2], offset: 0.5, step: 0 },
    { min_size: [0.2], scale_all_sizes: false, step: -1, offset: 0.25, variance: [0.1, 0.1, 0.2, 0.2], clip: true },
    { fixed_size: [16], fixed_ratio: [1, 2], density: [2], offset: 0.5, step: 8, flip: false }
  ])('PriorBox %j', async attributes => {
    for (const constants of [[0, 1], [0], []])
      expect(
        await differenceInOther(['openvino', 'PriorBox', 8], [sizes(3, 5), sizes(48, 80)], { attributes, constants })
      ).toBeLessThan(1e-6)
  })

  test.each([{ step: 16 }, { step_w: 8, step_h: 4 }, {}])('PriorBoxClustered %j', async given => {
    const attributes = { width: [10, 20], height: [15, 5], offset: 0.5, clip: false, ...given }
    for (const constants of [[0, 1], []])
      expect(
        await differenceInOther(['openvino', 'PriorBoxClustered', 1], [sizes(3, 5), sizes(48, 80)], {
          attributes,
          constants
        })
      ).toBeLessThan(1e-6)
  })

  test.each([
    { flatten: true },
    { flatten: false, stride_x: 4, stride_y: 8 },
    { flatten: true, h: 2, w: 3 },
    { flatten: false, h: 2, w: 3 }
  ])('ExperimentalDetectronPriorGridGenerator %j', async attributes => {
    const inputs = [randomFloats(1, [3, 4]), randomFloats(2, [1, 2, 4, 5]), randomFloats(3, [1, 3, 32, 48])]
    for (const isDynamic of [false, true])
      expect(
        await differenceInOther(['openvino', 'ExperimentalDetectronPriorGridGenerator', 6], inputs, {
          attributes,
          isDynamic
        })
      ).toBeLessThan(1e-5)
  })
})

describe('regions in ONNX', () => {
  test.each([
    { do_softmax: true, coords: 4, classes: 3, num: 2, mask: [], axis: 1, end_axis: 3 },
    { do_softmax: false, coords: 4, classes: 3, num: 5, mask: [0, 2], axis: 1, end_axis: 3 }
  ])('RegionYolo %j', async attributes => {
    for (const isDynamic of [false, true])
      expect(
        await differenceInOther(['openvino', 'RegionYolo', 1], [randomFloats(1, [2, 16, 3, 4])], {
          attributes,
          isDynamic
        })
      ).toBeLessThan(1e-6)
  })

  test('ReorgYolo, and channels that its stride does not divide are refused', async () => {
    const kind = ['openvino', 'ReorgYolo', 2] as const
    const attributes = { stride: [2] }
    for (const isDynamic of [false, true])
      expect(await differenceInOther(kind, [randomFloats(1, [2, 8, 4, 6])], { attributes, isDynamic })).toBe(0)
    const model = modelOfNode(kind, [randomFloats(1, [1, 6, 4, 6])], { attributes })
    expect(() => inOther(model)).toThrow('6 channels, which 4 does not divide')
  })

  test.each([2, 9])('the best %i regions, rows of zeros where there are fewer', async max_rois => {
    for (const isDynamic of [false, true])
      expect(
        await differenceInOther(
          ['openvino', 'ExperimentalDetectronTopKROIs', 6],
          [randomFloats(1, [5, 4]), randomFloats(2, [5])],
          { attributes: { max_rois }, isDynamic }
        )
      ).toBe(0)
  })
})

/** Regions `[image, x1, y1, x2, y2]` on two maps of 6 x 8 elements, one of them in part outside. */
const rois = new Tensor('float32', [0, 1, 1, 5, 4, 1, 0, 2, 9, 5, 1, 3.4, 0.5, 3.6, 0.7], [3, 5])
const normalized = new Tensor('float32', [0, 0.1, 0.2, 0.7, 0.9, 1, 0, 0, 1, 1, 1, -0.3, 0.5, 0.6, 1.2], [3, 5])
const corners = new Tensor('float32', [1, 1, 5, 4, 0, 2, 9, 5, 3.4, 0.5, 3.6, 0.7], [3, 4])
const images = new Tensor('int64', [0n, 1n, 1n], [3])

describe('pooled regions in ONNX', () => {
  const differences = async (
    kind: readonly ['openvino', string, number],
    inputs: readonly Tensor[],
    attributes: Readonly<Record<string, number | string | boolean | readonly number[]>>,
    outputs = 1
  ): Promise<number> => {
    const found: number[] = []
    for (const isDynamic of [false, true])
      found.push(await differenceInOther(kind, inputs, { attributes, isDynamic, outputs }))
    return Math.max(...found)
  }
  const map = randomFloats(1, [2, 8, 6, 8])

  test('ROIPooling: the largest elements, and samples', async () => {
    const sizes = { pooled_h: 2, pooled_w: 3, spatial_scale: 1 }
    const kind = ['openvino', 'ROIPooling', 2] as const
    expect(await differences(kind, [map, rois], { ...sizes, method: 'max' })).toBe(0)
    expect(await differences(kind, [map, normalized], { ...sizes, method: 'bilinear' })).toBeLessThan(1e-5)
    const one = { ...sizes, pooled_h: 1, method: 'bilinear' }
    expect(await differences(kind, [map, normalized], one)).toBeLessThan(1e-5)
  })

  test.each(['asymmetric', 'half_pixel_for_nn', 'half_pixel'])(
    'ROIAlign %s, averages and largest',
    async aligned_mode => {
      for (const mode of ['avg', 'max'])
        expect(
          await differences(['openvino', 'ROIAlign', 9], [map, corners, images], {
            pooled_h: 2,
            pooled_w: 3,
            sampling_ratio: 2,
            spatial_scale: 0.5,
            mode,
            aligned_mode
          })
        ).toBeLessThan(1e-5)
    }
  )

  test('ROIAlign of shifted samples is that of opset 15, which has no attribute for it', async () => {
    const attributes = { pooled_h: 2, pooled_w: 3, sampling_ratio: 2, spatial_scale: 0.5, mode: 'max' }
    const options = { attributes, writtenOpset: 15 }
    const inputs = [map, corners, images]
    expect(await differenceInOther(['openvino', 'ROIAlign', 9], inputs, options)).toBeLessThan(1e-5)
    const halfPixel = { attributes: { ...attributes, aligned_mode: 'half_pixel' } }
    expect(() => inOther(modelOfNode(['openvino', 'ROIAlign', 9], inputs, halfPixel), 15)).toThrow(
      'coordinate_transformation_mode'
    )
  })

  test.each([16, 20])('points are sampled by the linear mode of opset %i', async opset => {
    const turned = new Tensor('float32', [3, 3, 4, 2, 0.5], [1, 5])
    const attributes = { pooled_h: 2, pooled_w: 3, sampling_ratio: 2, spatial_scale: 1 }
    const inputs = [map, turned, new Tensor('int32', [0], [1])]
    expect(
      await differenceInOther(['openvino', 'ROIAlignRotated', 15], inputs, { attributes, writtenOpset: opset })
    ).toBeLessThan(1e-5)
  })

  test('ROIAlign: the largest of as many samples as a bin has elements is refused', () => {
    const attributes = { pooled_h: 2, pooled_w: 2, sampling_ratio: 0, spatial_scale: 1, mode: 'max' }
    const model = modelOfNode(['openvino', 'ROIAlign', 3], [map, corners, images], { attributes })
    expect(() => inOther(model)).toThrow('as many as a bin has elements')
  })

  test.each([true, false])('ROIAlignRotated, clockwise: %s', async clockwise_mode => {
    const turned = new Tensor('float32', [3, 3, 4, 2, 0.5, 6, 2, 5, 5, -1, 0, 0, 1, 1, 3], [3, 5])
    const attributes = { pooled_h: 2, pooled_w: 3, sampling_ratio: 2, spatial_scale: 1, clockwise_mode }
    expect(await differences(['openvino', 'ROIAlignRotated', 15], [map, turned, images], attributes)).toBeLessThan(1e-5)
  })

  test.each([true, false])('ExperimentalDetectronROIFeatureExtractor, aligned: %s', async aligned => {
    const boxes = new Tensor('float32', [0, 0, 30, 30, 10, 5, 200, 190, 0, 0, 500, 600, 7, 7, 7, 9], [4, 4])
    const maps = [16, 8, 4].map((size, i) => randomFloats(i, [1, 2, size, size]))
    expect(
      await differences(
        ['openvino', 'ExperimentalDetectronROIFeatureExtractor', 6],
        [boxes, ...maps],
        { output_size: 2, sampling_ratio: 2, pyramid_scales: [4, 8, 16], aligned },
        2
      )
    ).toBeLessThan(1e-5)
  })

  test('PSROIPooling: averages, and samples of parts', async () => {
    const kind = ['openvino', 'PSROIPooling', 1] as const
    const shared = { output_dim: 2, group_size: 2 }
    const average = { ...shared, spatial_scale: 0.7, mode: 'average', spatial_bins_x: 1, spatial_bins_y: 1 }
    expect(await differences(kind, [map, rois], average)).toBeLessThan(1e-5)
    const parts = { ...shared, group_size: 3, spatial_scale: 1, mode: 'bilinear', spatial_bins_x: 4, spatial_bins_y: 1 }
    expect(await differences(kind, [map, normalized], parts)).toBeLessThan(1e-5)
  })

  test('DeformablePSROIPooling with offsets and without', async () => {
    const attributes = {
      output_dim: 2,
      group_size: 2,
      part_size: 3,
      spatial_scale: 0.5,
      spatial_bins_x: 3,
      spatial_bins_y: 2,
      trans_std: 0.3,
      mode: 'bilinear_deformable'
    }
    for (const inputs of [[], [randomFloats(5, [3, 4, 3, 3])]])
      expect(
        await differenceInOther(['openvino', 'DeformablePSROIPooling', 1], [map, rois, ...inputs], { attributes })
      ).toBeLessThan(1e-5)
  })
})

test('ROIPooling of more bins than a constant can list is refused', () => {
  const inputs = [new Tensor('float32', [], [0, 1, 2, 2]), new Tensor('float32', [], [0, 5])]
  const attributes = { pooled_h: 2 ** 33, pooled_w: 1, spatial_scale: 1, method: 'bilinear' }
  const error = errorOf(() => inOther(modelOfNode(['openvino', 'ROIPooling', 2], inputs, { attributes })))
  expect(error).toMatchObject({ code: 'unsupported-op' })
  expect(error.message).toContain('a list of 8589934592 numbers')
})

test('PSROIPooling of so many bins that their identity matrix does not fit into memory is refused', () => {
  const of = (mode: string, group_size: number, bins: number) => () => {
    const each = mode === 'average' ? group_size * group_size : bins
    const inputs = [new Tensor('float32', [], [0, each, 2, 2]), new Tensor('float32', [], [0, 5])]
    const attributes = { output_dim: 1, group_size, spatial_scale: 1, mode, spatial_bins_x: bins, spatial_bins_y: 1 }
    return inOther(modelOfNode(['openvino', 'PSROIPooling', 1], inputs, { attributes }))
  }
  expect(of('average', 300, 1)).toThrow('90000 bins')
  expect(of('bilinear', 2, 2 ** 20)).toThrow('1048576 bins')
  expect(of('bilinear', 2, 4)).not.toThrow()
})
