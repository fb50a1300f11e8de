import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp } from '../harness.ts'

const tensor = (dims: number[], ...values: number[]): Tensor => new Tensor('float32', values, dims)
const zeros = (...dims: number[]): Tensor => tensor(dims, ...Array<number>(dims.reduce((a, b) => a * b, 1)).fill(0))
type Attributes = Record<string, string | number | boolean>
const run = (kind: Kind, inputs: Tensor[], attributes: Attributes): number[][] =>
  runOp(kind, inputs, { attributes, outputs: 3 })
    .filter(value => value !== undefined)
    .map(value => Array.from((value as Tensor).data as ArrayLike<number>, Number))

describe('ExperimentalDetectronDetectionOutput', () => {
  const kind: Kind = ['openvino', 'ExperimentalDetectronDetectionOutput', 6]
  const attributes = {
    score_threshold: 0.1,
    nms_threshold: 0.5,
    num_classes: 3,
    post_nms_count: -1,
    max_detections_per_image: 4,
    max_delta_log_wh: 4,
    deltas_weights: '1,1,1,1'
  }
  const rois = tensor([3, 4], 0, 0, 9, 9, 0, 0, 9, 8, 20, 20, 29, 29)
  const scores = tensor([3, 3], 0.9, 0.3, 0.2, 0.9, 0.6, 0.05, 0.9, 0.4, 0.7)
  const image = tensor([1, 3], 100, 100, 1)
  const call = (changed: Attributes = {}, regions = rois): number[][] =>
    run(kind, [regions, zeros(3, 12), scores, image], { ...attributes, ...changed })

  test('the best of boxes of a class that overlap stays; class 0 is the background; left rows are zero', () => {
    const [boxes, classes, kept] = call()
    expect(classes).toEqual([1, 1, 2, 2])
    expect(kept.map(score => score.toFixed(2))).toEqual(['0.60', '0.40', '0.70', '0.20'])
    expect(boxes.slice(0, 8)).toEqual([0, 0, 9, 8, 20, 20, 29, 29])
    expect(call({ max_detections_per_image: 5 })[1]).toEqual([1, 1, 2, 2, 0])
  })

  test('where there are more than rows, the best of all classes are given, by score', () => {
    expect(call({ max_detections_per_image: 2 })[1]).toEqual([2, 1])
    expect(call({ post_nms_count: 1 })[1]).toEqual([1, 2, 0, 0])
  })

  test('a region without area is no detection', () => {
    expect(call({}, tensor([3, 4], 0, 0, 9, 9, 0, 0, 0, 8, 20, 20, 29, 29))[2].map(s => s.toFixed(1))).toEqual([
      '0.4',
      '0.3',
      '0.7',
      '0.2'
    ])
  })

  test('a shift is in sides of the box, divided by its weight, and a scale is limited', () => {
    const deltas = tensor([3, 12], 0, 0, 0, 0, 1, 0, 50, 0, ...Array<number>(28).fill(0))
    const rest = { deltas_weights: '2,1,1,1', max_delta_log_wh: 0, max_detections_per_image: 9, nms_threshold: 1 }
    const [boxes] = run(kind, [rois, deltas, scores, image], { ...attributes, ...rest })
    const first = boxes.slice(8, 12)
    expect(first).toEqual([5, 0, 14, 9])
  })

  test('what does not fit is refused', () => {
    expect(errorOf(() => call({ deltas_weights: '1,1' })).code).toBe('value-out-of-range')
    expect(errorOf(() => call({ num_classes: 4 })).code).toBe('dims-mismatch')
    const facts = [fact('float32', ['n', 4]), fact('float32', ['n', 12]), fact('float32', ['m', 3]), fact('float32')]
    expect(inferOp(kind, facts, { attributes, outputs: 3 }).map(dimsOf)).toEqual([[4, 4], [4], [4]])
  })
})

describe('GenerateProposals and its form for a single image', () => {
  const single: Kind = ['openvino', 'ExperimentalDetectronGenerateProposalsSingleImage', 6]
  const batch: Kind = ['openvino', 'GenerateProposals', 9]
  const attributes = { min_size: 3, nms_threshold: 0.5, pre_nms_count: 10, post_nms_count: 3 }
  /** Three anchors of one cell: the second overlaps the first, the third is small. */
  const anchors = [0, 0, 9, 9, 0, 0, 9, 8, 50, 50, 51, 51]
  const scores = [0.5, 0.6, 0.9]

  test('a box that is too small gets score 0 in the former, and is dropped in the latter', () => {
    const inputs = [tensor([3], 100, 100, 1), tensor([3, 4], ...anchors), zeros(12, 1, 1), tensor([3, 1, 1], ...scores)]
    const [boxes, kept] = run(single, inputs, attributes)
    expect(boxes).toEqual([0, 0, 9, 8, 50, 50, 51, 51, 0, 0, 0, 0])
    expect(kept.map(score => score.toFixed(1))).toEqual(['0.6', '0.0', '0.0'])
    const many = [
      tensor([1, 3], 100, 100, 1),
      tensor([1, 1, 3, 4], ...anchors),
      zeros(1, 12, 1, 1),
      tensor([1, 3, 1, 1], ...scores)
    ]
    const [regions, values, counts] = run(batch, many, attributes)
    expect(regions).toEqual([0, 0, 9, 8])
    expect(values).toHaveLength(1)
    expect(counts).toEqual([1])
    expect(run(batch, many, { ...attributes, pre_nms_count: 1 })[2]).toEqual([0])
  })

  test('each image of a batch has its own size, scale of the minimum, and count', () => {
    const maps = [tensor([1, 1, 3, 4], ...anchors), zeros(2, 12, 1, 1), tensor([2, 3, 1, 1], ...scores, ...scores)]
    const [boxes, , counts] = run(batch, [tensor([2, 4], 100, 100, 0.1, 0.1, 6, 40, 1, 1), ...maps], {
      ...attributes,
      normalized: false,
      nms_threshold: 1,
      roi_num_type: 'i32'
    })
    expect(counts).toEqual([3, 2])
    expect(boxes.slice(-4)).toEqual([0, 0, 9, 5])
  })

  test('nms_eta lowers the threshold with every box that is kept', () => {
    /** Overlaps with the first box: 0.6 and 0; of the third with the second: none. */
    const inputs = [
      tensor([1, 3], 100, 100, 1),
      tensor([1, 1, 2, 4], 0, 0, 10, 10, 0, 0, 10, 6),
      zeros(1, 8, 1, 1),
      tensor([1, 2, 1, 1], 0.9, 0.8)
    ]
    expect(run(batch, inputs, { ...attributes, nms_threshold: 0.7 })[2]).toEqual([2])
    expect(run(batch, inputs, { ...attributes, nms_threshold: 0.7, nms_eta: 0.8 })[2]).toEqual([1])
  })

  test('shapes follow attributes and the batch, and what does not fit is refused', () => {
    const facts = [
      fact('float32', ['n', 3]),
      fact('float32', ['h', 'w', 3, 4]),
      fact('float32', ['n', 12, 'h', 'w']),
      fact('float32', ['n', 3, 'h', 'w'])
    ]
    const inferred = inferOp(batch, facts, { attributes, outputs: 3 }).map(dimsOf)
    expect(inferred[0]?.[1]).toBe(4)
    expect(inferred[2]).toEqual(['n'])
    const none = inferOp(batch, facts, { attributes: { ...attributes, post_nms_count: 0 }, outputs: 3 }).map(dimsOf)
    expect(none).toEqual([[0, 4], [0], ['n']])
    const wrong = [...facts.slice(0, 2), fact('float32', ['n', 11, 'h', 'w']), facts[3]]
    expect(errorOf(() => inferOp(batch, wrong, { attributes, outputs: 3 })).code).toBe('dims-mismatch')
    expect(errorOf(() => inferOp(batch, facts, { attributes: { ...attributes, nms_eta: 2 } })).code).toBe(
      'value-out-of-range'
    )
    expect(errorOf(() => inferOp(batch, facts, { attributes: { ...attributes, post_nms_count: -1 } })).code).toBe(
      'value-out-of-range'
    )
  })

  test('maps that are empty though one dim is huge give nothing at once', () => {
    const huge = 2 ** 40
    const inputs = [tensor([1, 3], 9, 9, 1), zeros(0, huge, 1, 4), zeros(1, 4, 0, huge), zeros(1, 1, 0, huge)]
    expect(run(batch, inputs, attributes)[2]).toEqual([0])
  })
})

describe('ExperimentalDetectronROIFeatureExtractor', () => {
  const kind: Kind = ['openvino', 'ExperimentalDetectronROIFeatureExtractor', 6]
  const attributes = { output_size: 1, sampling_ratio: 1, pyramid_scales: '4,8' }
  const level = (size: number, value: number): Tensor =>
    tensor([1, 1, size, size], ...Array<number>(size * size).fill(value))

  test('a large region reads from a coarse map, a small one from a fine one, and one without area gives zeros', () => {
    const rois = tensor([4, 4], 0, 0, 8, 8, 0, 0, 112, 112, 0, 0, 111, 111, 5, 5, 5, 9)
    const [features, regions] = run(kind, [rois, level(64, 1), level(32, 2)], attributes)
    expect(features).toEqual([1, 2, 1, 0])
    expect(regions).toEqual(Array.from(rois.data as Float32Array))
  })

  test('aligned shifts corners by half an element', () => {
    const ramp = tensor([1, 1, 4, 4], ...Array.from({ length: 16 }, (_, i) => i % 4))
    const rois = tensor([1, 4], 4, 0, 12, 8)
    expect(run(kind, [rois, ramp], attributes)[0]).toEqual([2])
    expect(run(kind, [rois, ramp], { ...attributes, aligned: true })[0]).toEqual([1.5])
  })

  test('shapes follow the regions and the channels, and what does not fit is refused', () => {
    const map = fact('float32', [1, 'c', '?', '?'])
    expect(inferOp(kind, [fact('float32', ['n', 4]), map], { attributes, outputs: 2 }).map(dimsOf)).toEqual([
      ['n', 'c', 1, 1],
      ['n', 4]
    ])
    const rois = zeros(1, 4)
    expect(errorOf(() => run(kind, [rois, level(2, 0), level(2, 0), level(2, 0)], attributes)).code).toBe(
      'dims-mismatch'
    )
    expect(errorOf(() => run(kind, [rois, zeros(2, 1, 2, 2)], attributes)).code).toBe('dims-mismatch')
    expect(errorOf(() => run(kind, [rois, zeros(1, 1, 2, 2), zeros(1, 2, 2, 2)], attributes)).code).toBe(
      'dims-mismatch'
    )
    expect(errorOf(() => run(kind, [rois, level(2, 0)], { ...attributes, pyramid_scales: '0' })).code).toBe(
      'value-out-of-range'
    )
  })
})
