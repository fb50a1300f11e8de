import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runOp, runTensor } from '../harness.ts'

const floats = (values: number[], dims: number[]): Tensor => new Tensor('float32', values, dims)
const rows = (tensor: Tensor, width: number): number[][] =>
  Array.from({ length: tensor.data.length / width }, (_, i) =>
    Array.from(tensor.data.slice(i * width, (i + 1) * width) as Float32Array, value => Math.round(value * 1000) / 1000)
  )

describe('OpenVINO DetectionOutput', () => {
  /** Two priors that overlap, one apart; variances 0.1. */
  const corners = [0, 0, 0.4, 0.4, 0.1, 0, 0.5, 0.4, 0.5, 0.5, 1, 1]
  const priors = floats([...corners, ...Array(12).fill(0.1)], [1, 2, 12])
  const none = allocate('float32', [1, 12])
  const scores = floats([0.1, 0.9, 0, 0.2, 0.8, 0, 0.3, 0, 0.7], [1, 9])
  const of = (inputs: (Tensor | undefined)[], attributes: Record<string, string | number | boolean>): number[][] =>
    rows(
      runTensor(['openvino', 'DetectionOutput', 8], inputs, {
        attributes: { keep_top_k: 3, nms_threshold: 0.45, normalized: true, confidence_threshold: 0.05, ...attributes }
      }),
      7
    )

  test('keeps the best boxes of each class and marks the end', () => {
    expect(of([none, scores, priors], {})).toEqual([
      [0, 1, 0.9, 0, 0, 0.4, 0.4],
      [0, 2, 0.7, 0.5, 0.5, 1, 1],
      [-1, 0, 0, 0, 0, 0, 0]
    ])
    expect(of([none, scores, priors], { nms_threshold: 0.9 })).toHaveLength(3)
    expect(of([none, scores, priors], { nms_threshold: 0.9 })[1]).toEqual([0, 1, 0.8, 0.1, 0, 0.5, 0.4])
    expect(of([none, scores, priors], { keep_top_k: 1 })).toEqual([[0, 1, 0.9, 0, 0, 0.4, 0.4]])
  })

  test('boxes are coded by corners or by centre and size, times the variance', () => {
    const moves = floats([1, 0, 1, 0, ...Array(8).fill(0)], [1, 12])
    expect(of([moves, scores, priors], {})[0].slice(3)).toEqual([0.1, 0, 0.5, 0.4])
    expect(of([moves, scores, floats(corners, [1, 1, 12])], { variance_encoded_in_target: true })[0].slice(3)).toEqual([
      1, 0, 1.4, 0.4
    ])
    expect(of([moves, scores, priors], { code_type: 'caffe.PriorBoxParameter.CENTER_SIZE' })[0].slice(3)).toEqual([
      expect.closeTo(0.019, 3),
      0,
      expect.closeTo(0.461, 3),
      0.4
    ])
    expect(
      of([floats([-1, 0, 0, 0, ...Array(8).fill(0)], [1, 12]), scores, priors], { clip_after_nms: true })[0].slice(3)
    ).toEqual([0, 0, 0.4, 0.4])
  })

  test('with decrease_label_id a prior counts for its best class, labels one less', () => {
    expect(of([none, scores, priors], { decrease_label_id: true }).map(row => row[1])).toEqual([0, 1, 0])
  })

  test('priors in pixels are divided by the size of the image', () => {
    const pixels = [0, 1, 2].flatMap(i => [
      9,
      ...corners.slice(4 * i, 4 * i + 4).map((value, k) => value * (k % 2 === 0 ? 20 : 30))
    ])
    const unnormalized = floats([...pixels, ...Array(15).fill(0.1)], [1, 2, 15])
    expect(of([none, scores, unnormalized], { normalized: false, input_width: 20, input_height: 30 })).toEqual(
      of([none, scores, priors], {})
    )
  })

  test('a first stage moves priors and empties those below its score', () => {
    const objects = floats([0.9, 0.1, 0.5, 0.5, 0.5, 0.5], [1, 6])
    expect(of([none, scores, priors, objects, none], { objectness_score: 0.3 })[0].slice(1, 3)).toEqual([1, 0.8])
    const moves = floats([...Array(8).fill(0), 0, 0, -1, -1], [1, 12])
    expect(of([moves, scores, priors, objects, moves], { objectness_score: 0 })[1].slice(3)).toEqual([
      0.5, 0.5, 0.8, 0.8
    ])
  })

  test('its rows come from keep_top_k, top_k, or all priors and classes', () => {
    const infer = (attributes: Record<string, string | number | boolean>): unknown =>
      dimsOf(
        inferOp(
          ['openvino', 'DetectionOutput', 8],
          [fact('float32', ['n', 12]), fact('float32', ['n', 9]), fact('float32', [1, 2, 12])],
          { attributes: { nms_threshold: 0.4, normalized: true, ...attributes } }
        )[0]
      )
    expect(infer({ keep_top_k: 5 })).toEqual([1, 1, '5*n', 7])
    expect(infer({ keep_top_k: -1, top_k: 4 })).toEqual([1, 1, '12*n', 7])
    expect(infer({ keep_top_k: -1 })).toEqual([1, 1, '9*n', 7])
    expect(errorOf(() => infer({ keep_top_k: 5, share_location: false })).code).toBe('dims-mismatch')
    expect(errorOf(() => infer({ keep_top_k: 5, variance_encoded_in_target: true })).code).toBe('dims-mismatch')
  })
})

describe('OpenVINO Proposal', () => {
  const run = (
    scores: number[],
    deltas: number[],
    attributes: Record<string, string | number | boolean>,
    outputs = 2
  ): number[][] => {
    const count = scores.length
    const given = {
      base_size: 8,
      pre_nms_topn: 10,
      post_nms_topn: 3,
      nms_thresh: 0.5,
      feat_stride: 16,
      min_size: 1,
      ratio: '1',
      scale: '1',
      ...attributes
    }
    const results = runOp(
      ['openvino', 'Proposal', 4],
      [
        floats([...Array(count).fill(0), ...scores], [1, 2, 1, count]),
        floats(deltas, [1, 4, 1, count]),
        floats([32, 48, 1], [3])
      ],
      { attributes: given, outputs }
    ) as Tensor[]
    return [
      ...rows(results[0], 5),
      ...(outputs > 1 ? [Array.from(results[1].data as Float32Array, value => Math.round(value * 1000) / 1000)] : [])
    ]
  }

  test('anchors stand on every cell, the best first, the rest marked', () => {
    expect(run([0.25, 0.75], Array(8).fill(0), {})).toEqual([
      [0, 16, 0, 24, 8],
      [0, 0, 0, 8, 8],
      [-1, 0, 0, 0, 0],
      [0.75, 0.25, 0]
    ])
  })

  test('deltas move and stretch, clipping keeps boxes in the image', () => {
    const [box] = run([0.5], [10, 0, 0, 0], { framework: 'tensorflow', base_size: 8 }, 1)
    expect(box.slice(1, 3)).toEqual([32, 0])
  })

  test('boxes below the least size have score 0', () => {
    expect(run([0.25, 0.75], Array(8).fill(0), { min_size: 20 })[3]).toEqual([0, 0, 0])
  })

  test('its shape is batch by post_nms_topn', () => {
    const attributes = {
      base_size: 8,
      pre_nms_topn: 10,
      post_nms_topn: 3,
      nms_thresh: 0.5,
      feat_stride: 16,
      min_size: 1,
      ratio: '1,2',
      scale: '1'
    }
    expect(
      inferOp(
        ['openvino', 'Proposal', 4],
        [fact('float32', ['n', 4, 5, 6]), fact('float32', ['n', 8, 5, 6]), fact('float32', [3])],
        { attributes, outputs: 2 }
      ).map(dimsOf)
    ).toEqual([['3*n', 5], ['3*n']])
    expect(
      errorOf(() =>
        inferOp(
          ['openvino', 'Proposal', 1],
          [fact('float32', [1, 6, 5, 6]), fact('float32', [1, 8, 5, 6]), fact('float32', [3])],
          { attributes }
        )
      ).code
    ).toBe('dims-mismatch')
  })
})

describe('OpenVINO RegionYolo', () => {
  const logistic = (x: number): number => 1 / (1 + Math.exp(-x))
  const x = floats([1, 2, 3, 4, 5, 6, 7], [1, 7, 1, 1])
  const of = (attributes: Record<string, string | number | boolean>): Tensor =>
    runTensor(['openvino', 'RegionYolo', 1], [x], {
      attributes: { axis: 1, end_axis: 3, coords: 4, classes: 2, num: 1, anchors: '1,2', ...attributes }
    })

  test('x, y and objectness go through the logistic function, classes through softmax or it', () => {
    const soft = of({ do_softmax: true, mask: '' })
    expect(soft.dims).toEqual([1, 7])
    expect([...soft.data]).toEqual(
      [1, 2, 3, 4, 5, 0, 0].map((value, i) =>
        i === 2 || i === 3
          ? value
          : i < 5
            ? expect.closeTo(logistic(value))
            : expect.closeTo(i === 5 ? logistic(-1) : logistic(1))
      )
    )
    const each = of({ do_softmax: false, mask: '0' })
    expect(each.dims).toEqual([1, 7, 1, 1])
    expect(each.data[6]).toBeCloseTo(logistic(7))
  })

  test('channels must be enough for the regions', () => {
    expect(errorOf(() => of({ do_softmax: true, num: 2, mask: '' })).code).toBe('dims-mismatch')
    expect(errorOf(() => of({ do_softmax: false, mask: '0,1' })).code).toBe('dims-mismatch')
    expect(
      dimsOf(
        inferOp(['openvino', 'RegionYolo', 1], [fact('float32', ['n', 14, 'h', 2])], {
          attributes: { axis: 1, end_axis: 2, coords: 4, classes: 2, num: 2, do_softmax: true, mask: '' }
        })[0]
      )
    ).toEqual(['n', '14*h', 2])
  })
})
