import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther, inOther, modelOfNode } from '../converted.ts'
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

  test('Soft-NMS is refused', () => {
    const model = modelOfNode(
      ['openvino', 'NonMaxSuppression', 9],
      [boxes, scores, ...limits, scalar('float32', 0.5)],
      { outputs: 3, constants: [2, 3, 4, 5] }
    )
    expect(() => inOther(model)).toThrow('Soft-NMS')
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
