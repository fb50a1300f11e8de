import { describe, expect, test } from 'vitest'
import { toNumbers } from '../../../src/tensor/elements.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther } from '../converted.ts'
import { picks, randomFloats } from '../random.ts'

describe('proposals in ONNX', () => {
  const [anchors, height, width] = [3, 4, 5]
  const perImage = anchors * height * width
  const positive = (seed: number, dims: readonly number[]): Tensor =>
    new Tensor(
      'float32',
      Array.from({ length: dims.reduce((a, b) => a * b, 1) }, (_, i) => picks(seed + i, 997) / 997),
      dims
    )
  const grid = new Tensor(
    'float32',
    Array.from({ length: perImage }, (_, i) => {
      const [x, y] = [8 * (Math.floor(i / anchors) % width), 8 * Math.floor(i / anchors / width)]
      return [x - 6, y - 4 - (i % anchors), x + 9, y + 7]
    }).flat(),
    [height, width, anchors, 4]
  )
  const deltas = (images: number): Tensor => randomFloats(11, [images, 4 * anchors, height, width])

  test.each([
    { pre_nms_topn: 30, post_nms_topn: 5, min_size: 3, nms_thresh: 0.43, framework: '' },
    { pre_nms_topn: 60, post_nms_topn: 50, min_size: 9, nms_thresh: 0.63, framework: 'tensorflow', normalize: true },
    { pre_nms_topn: 60, post_nms_topn: 90, min_size: 1, nms_thresh: 0.23, clip_after_nms: true, clip_before_nms: false }
  ])('Proposal %j', async given => {
    const attributes = {
      base_size: 8,
      feat_stride: 8,
      ratio: [0.5, 1, 2],
      scale: [1.5],
      box_size_scale: 2,
      box_coordinate_scale: 4,
      ...given
    }
    for (const size of [
      [32, 40, 1.5],
      [32, 40, 1.5, 0.5]
    ]) {
      const inputs = [
        positive(3, [2, 2 * anchors, height, width]),
        deltas(2),
        new Tensor('float32', size, [size.length])
      ]
      for (const [constants, isDynamic] of [
        [[2], false],
        [[], true]
      ] as const)
        expect(
          await differenceInOther(['openvino', 'Proposal', 4], inputs, { attributes, outputs: 2, constants, isDynamic })
        ).toBeLessThan(1e-4)
    }
  })

  test.each([true, false])('GenerateProposals, normalized: %s', async normalized => {
    const attributes = {
      min_size: 5,
      nms_threshold: 0.43,
      pre_nms_count: 40,
      post_nms_count: 7,
      normalized,
      nms_eta: normalized ? 1 : 0.8
    }
    const images = new Tensor('float32', [32, 40, 1, 1.2, 30, 36, 0.9, 1], [2, 4])
    const inputs = [images, grid, deltas(2), positive(5, [2, anchors, height, width])]
    for (const isDynamic of [false, true])
      expect(
        await differenceInOther(['openvino', 'GenerateProposals', 9], inputs, { attributes, outputs: 3, isDynamic })
      ).toBeLessThan(1e-4)
  })

  test.each([7, 100])('ExperimentalDetectronGenerateProposalsSingleImage, %i rows', async post_nms_count => {
    const attributes = { min_size: 6, nms_threshold: 0.43, pre_nms_count: 50, post_nms_count }
    const inputs = [
      new Tensor('float32', [32, 40, 1], [3]),
      new Tensor('float32', grid.data, [perImage, 4]),
      new Tensor('float32', Float32Array.from(toNumbers(deltas(1))), [4 * anchors, height, width]),
      positive(5, [anchors, height, width])
    ]
    for (const isDynamic of [false, true])
      expect(
        await differenceInOther(['openvino', 'ExperimentalDetectronGenerateProposalsSingleImage', 6], inputs, {
          attributes,
          outputs: 2,
          isDynamic
        })
      ).toBeLessThan(1e-4)
  })

  test.each([4, 30])('ExperimentalDetectronDetectionOutput, %i rows', async max_detections_per_image => {
    const regions = new Tensor('float32', [...grid.data.slice(0, 36), 5, 5, 5, 9], [10, 4])
    const attributes = {
      score_threshold: 0.3,
      nms_threshold: 0.43,
      num_classes: 3,
      post_nms_count: 5,
      max_detections_per_image,
      max_delta_log_wh: 0.5,
      deltas_weights: [10, 10, 5, 5]
    }
    const inputs = [
      regions,
      randomFloats(1, [10, 12]),
      positive(6, [10, 3]),
      new Tensor('float32', [32, 40, 1], [1, 3])
    ]
    for (const isDynamic of [false, true])
      expect(
        await differenceInOther(['openvino', 'ExperimentalDetectronDetectionOutput', 6], inputs, {
          attributes,
          outputs: 3,
          isDynamic
        })
      ).toBeLessThan(1e-4)
  })
})
