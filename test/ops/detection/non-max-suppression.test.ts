import { describe, expect, test } from 'vitest'
import { rotatedOverlap } from '../../../src/kernels/detection/rotated-boxes.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runOp, runTensor } from '../harness.ts'

const scalar = (type: 'int64' | 'float32', value: number): Tensor =>
  new Tensor(type, [type === 'int64' ? BigInt(value) : value], [])
/** Two boxes that overlap by 0.6, one apart. */
const boxes = new Tensor('float32', [0, 0, 1, 1, 0, 0.25, 1, 1.25, 0, 5, 1, 6], [1, 3, 4])
const scores = (...values: number[]): Tensor => new Tensor('float32', values, [1, values.length / 3, 3])
const rows = (tensor: Tensor): number[][] =>
  Array.from({ length: tensor.dims[0] }, (_, i) =>
    Array.from(tensor.data.slice(i * tensor.dims[1], (i + 1) * tensor.dims[1]) as Float32Array, Number)
  )

describe('ONNX NonMaxSuppression', () => {
  const of = (s: Tensor, most: number | undefined, iou: number, least?: number, b = boxes, center = 0): number[][] =>
    rows(
      runTensor(
        ['onnx', 'NonMaxSuppression', 11],
        [
          b,
          s,
          most === undefined ? undefined : scalar('int64', most),
          scalar('float32', iou),
          least === undefined ? undefined : scalar('float32', least)
        ],
        { attributes: { center_point_box: center } }
      )
    )

  test('drops what overlaps a better box by more than the threshold', () => {
    expect(of(scores(0.9, 0.8, 0.7), 3, 0.5)).toEqual([
      [0, 0, 0],
      [0, 0, 2]
    ])
    expect(of(scores(0.9, 0.8, 0.7), 3, 0.65)).toEqual([
      [0, 0, 0],
      [0, 0, 1],
      [0, 0, 2]
    ])
    expect(of(scores(0.8, 0.9, 0.7), 1, 0.5)).toEqual([[0, 0, 1]])
  })

  test('an overlap equal to the threshold is kept', () => {
    const halves = new Tensor('float32', [0, 0, 1, 3, 0, 1, 1, 4, 9, 9, 9.5, 9.5], [1, 3, 4])
    expect(of(scores(0.9, 0.8, 0.7), 3, 0.5, undefined, halves)).toHaveLength(3)
  })

  test('without a number nothing is kept; scores must exceed their threshold', () => {
    expect(of(scores(0.9, 0.8, 0.7), undefined, 0.5)).toEqual([])
    expect(of(scores(0.9, 0.8, 0.7), -1, 0.5)).toEqual([])
    expect(of(scores(0.5, 0.4, 0.75), 3, 0.5, 0.5)).toEqual([[0, 0, 2]])
  })

  test('equal scores go in the order of the boxes, classes each by itself', () => {
    expect(of(scores(0.5, 0.5, 0.5, 0.1, 0.2, 0.3), 3, 0.5)).toEqual([
      [0, 0, 0],
      [0, 0, 2],
      [0, 1, 2],
      [0, 1, 1]
    ])
  })

  test('corners may come in any order; boxes may be given by centre and size', () => {
    const flipped = new Tensor('float32', [1, 1, 0, 0, 0, 1.25, 1, 0.25, 0, 5, 1, 6], [1, 3, 4])
    expect(of(scores(0.9, 0.8, 0.7), 3, 0.5, undefined, flipped)).toEqual([
      [0, 0, 0],
      [0, 0, 2]
    ])
    const centered = new Tensor('float32', [0.5, 0.5, 1, 1, 0.75, 0.5, 1, 1, 5.5, 0.5, 1, 1], [1, 3, 4])
    expect(of(scores(0.9, 0.8, 0.7), 3, 0.5, undefined, centered, 1)).toEqual([
      [0, 0, 0],
      [0, 0, 2]
    ])
  })

  test('its shape has an upper bound', () => {
    const infer = (most: Tensor | undefined): unknown =>
      dimsOf(
        inferOp(['onnx', 'NonMaxSuppression', 11], [fact('float32', [2, 10, 4]), fact('float32', [2, 3, 10]), most])[0]
      )
    expect(infer(scalar('int64', 5))).toEqual(['0..30', 3])
    expect(infer(undefined)).toEqual([0, 3])
    expect(
      errorOf(() =>
        inferOp(['onnx', 'NonMaxSuppression', 11], [fact('float32', [1, 10, 4]), fact('float32', [1, 3, 9])])
      ).code
    ).toBe('dims-mismatch')
    expect(
      errorOf(() =>
        inferOp(['onnx', 'NonMaxSuppression', 11], [fact('float32', [1, 10, 5]), fact('float32', [1, 3, 10])])
      ).code
    ).toBe('dims-mismatch')
  })
})

describe('OpenVINO NonMaxSuppression', () => {
  const of = (opset: number, s: Tensor, options: { sigma?: number; sorted?: boolean; least?: number } = {}): Tensor[] =>
    runOp(
      ['openvino', 'NonMaxSuppression', opset],
      [
        boxes,
        s,
        scalar('int64', 3),
        scalar('float32', 0.5),
        scalar('float32', options.least ?? 0),
        ...(opset >= 5 ? [scalar('float32', options.sigma ?? 0)] : [])
      ],
      {
        attributes: { sort_result_descending: options.sorted ?? true, output_type: 'i32' },
        outputs: opset >= 5 ? 3 : 1
      }
    ) as Tensor[]

  test('sorts over all classes, or leaves them one after the other', () => {
    const two = scores(0.3, 0.2, 0.1, 0.9, 0.8, 0.7)
    expect(rows(of(9, two)[0])).toEqual([
      [0, 1, 0],
      [0, 1, 2],
      [0, 0, 0],
      [0, 0, 2]
    ])
    expect(rows(of(9, two, { sorted: false })[0])).toEqual([
      [0, 0, 0],
      [0, 0, 2],
      [0, 1, 0],
      [0, 1, 2]
    ])
  })

  test('version 5 and later give scores and their number', () => {
    const [indices, values, count] = of(5, scores(0.75, 0.5, 0.25))
    expect(indices.type).toBe('int32')
    expect(rows(values)).toEqual([
      [0, 0, 0.75],
      [0, 0, 0.25]
    ])
    expect([...count.data]).toEqual([2])
    expect(of(3, scores(0.75, 0.5, 0.25))[0].type).toBe('int32')
    expect(of(1, scores(0.75, 0.5, 0.25))[0].type).toBe('int64')
  })

  test('a score equal to the threshold is enough', () => {
    expect(rows(of(9, scores(0.5, 0.25, 0.75), { least: 0.5 })[0])).toEqual([
      [0, 0, 2],
      [0, 0, 0]
    ])
  })

  test('soft suppression lowers scores; version 5 drops what overlaps too much, too', () => {
    const soft = rows(of(9, scores(0.9, 0.8, 0.7), { sigma: 0.5 })[1])
    expect(soft.map(row => row[2])).toEqual([
      expect.closeTo(0.9),
      expect.closeTo(0.7),
      expect.closeTo(0.8 * Math.exp(-0.36))
    ])
    expect(rows(of(5, scores(0.9, 0.8, 0.7), { sigma: 0.5 })[0])).toEqual([
      [0, 0, 0],
      [0, 0, 2]
    ])
  })
})

describe('OpenVINO NMSRotated', () => {
  test('the overlap of turned boxes is that of their areas', () => {
    const box = { x: 0, y: 0, width: 2, height: 2, angle: 0 }
    expect(rotatedOverlap(box, { ...box, angle: Math.PI / 2 })).toBeCloseTo(1)
    expect(rotatedOverlap(box, { ...box, x: 1 })).toBeCloseTo(1 / 3)
    const octagon = 8 * (Math.SQRT2 - 1)
    expect(rotatedOverlap(box, { ...box, angle: Math.PI / 4 })).toBeCloseTo(octagon / (8 - octagon))
    expect(rotatedOverlap(box, { ...box, x: 9 })).toBe(0)
    expect(rotatedOverlap(box, { ...box, width: -2 })).toBe(0)
    expect(rotatedOverlap({ ...box, x: 1e6 }, { ...box, x: 1e6 + 1 })).toBeCloseTo(1 / 3)
  })

  test('the direction of the angle decides what overlaps', () => {
    const turned = new Tensor('float32', [0, 0, 4, 1, Math.PI / 4, 1, 1, 4, 1, Math.PI / 4], [1, 2, 5])
    const of = (clockwise: boolean): number =>
      (
        runOp(
          ['openvino', 'NMSRotated', 13],
          [
            turned,
            new Tensor('float32', [0.9, 0.8], [1, 1, 2]),
            scalar('int64', 2),
            scalar('float32', 0.3),
            scalar('float32', 0)
          ],
          { attributes: { clockwise }, outputs: 3 }
        )[0] as Tensor
      ).dims[0]
    expect(of(true)).toBe(1)
    expect(of(false)).toBe(2)
  })
})

describe('OpenVINO MulticlassNms and MatrixNms', () => {
  const three = new Tensor('float32', [0, 0, 1, 1, 0.25, 0, 1.25, 1, 5, 0, 6, 1], [1, 3, 4])
  const multi = (s: Tensor, attributes: Record<string, string | number | boolean>): Tensor[] =>
    runOp(['openvino', 'MulticlassNms', 9], [three, s], {
      attributes: { iou_threshold: 0.5, ...attributes },
      outputs: 3
    }) as Tensor[]

  test('results are class, score and corners, with positions among all boxes', () => {
    const [out, indices, counts] = multi(scores(0.5, 0.75, 0.25), { output_type: 'i32' })
    expect(rows(out)).toEqual([
      [0, 0.75, 0.25, 0, 1.25, 1],
      [0, 0.25, 5, 0, 6, 1]
    ])
    expect(rows(indices)).toEqual([[1], [2]])
    expect([...counts.data]).toEqual([2])
  })

  test('orders by score or class, keeps the best of an image, leaves the background out', () => {
    const two = scores(0.5, 0.1, 0.3, 0.9, 0.1, 0.2)
    const kinds = (attributes: Record<string, string | number>): number[] =>
      rows(multi(two, attributes)[0]).map(row => row[0])
    expect(kinds({ sort_result_type: 'score' })).toEqual([1, 0, 0, 1])
    expect(kinds({ sort_result_type: 'classid' })).toEqual([0, 0, 1, 1])
    expect(kinds({ sort_result_type: 'classid', keep_top_k: 2 })).toEqual([0, 1])
    expect(kinds({ background_class: 0 })).toEqual([1, 1])
    expect(kinds({ nms_top_k: 1 })).toEqual([1, 0])
  })

  test('nms_eta lowers the threshold after each kept box', () => {
    const count = (eta: number): number =>
      multi(scores(0.9, 0.8, 0.7), { iou_threshold: 0.65, nms_eta: eta })[0].dims[0]
    expect([count(1), count(0.8)]).toEqual([3, 2])
  })

  test('boxes of each class come with the number of boxes of each image', () => {
    const own = new Tensor('float32', [0, 0, 1, 1, 5, 0, 6, 1, 0, 0, 1, 1], [1, 3, 4])
    const counts = new Tensor('int32', [2, 1])
    const [, indices, kept] = runOp(
      ['openvino', 'MulticlassNms', 9],
      [own, new Tensor('float32', [0.5, 0.75, 0.25], [1, 3]), counts],
      { outputs: 3 }
    ) as Tensor[]
    expect(rows(indices)).toEqual([[1], [0], [2]])
    expect([...kept.data]).toEqual([2n, 1n])
    expect(
      errorOf(() =>
        runOp(
          ['openvino', 'MulticlassNms', 9],
          [own, new Tensor('float32', [0, 0, 0], [1, 3]), new Tensor('int32', [4])],
          { outputs: 3 }
        )
      ).code
    ).toBe('value-out-of-range')
    expect(
      errorOf(() =>
        runOp(['openvino', 'MulticlassNms', 8], [own, new Tensor('float32', [0, 0, 0], [1, 3]), counts], { outputs: 3 })
      ).code
    ).toBe('wrong-input-count')
  })

  test('boxes in pixels overlap where less than a pixel is between them', () => {
    const count = (gap: number, iou_threshold: number): unknown => {
      const boxes = new Tensor('float32', [0, 0, 1, 1, 0, 1 + gap, 1, 2 + gap], [1, 2, 4])
      const two = new Tensor('float32', [0.5, 0.75], [1, 1, 2])
      const attributes = { normalized: false, iou_threshold, output_type: 'i32' }
      return runOp(['openvino', 'MulticlassNms', 8], [boxes, two], { attributes, outputs: 3 })[2]
    }
    // Each has the area 4 with its last pixels, and half a pixel of two is shared: 1 of 7.
    expect(count(0.5, 0.1)).toMatchObject({ data: new Int32Array([1]) })
    expect(count(0.5, 0.2)).toMatchObject({ data: new Int32Array([2]) })
    expect(count(1, 0.01)).toMatchObject({ data: new Int32Array([2]) })
  })

  test('MatrixNms lowers scores by the overlaps with better boxes', () => {
    const of = (attributes: Record<string, string | number | boolean>): number[] =>
      rows(
        (runOp(['openvino', 'MatrixNms', 8], [three, scores(0.9, 0.8, 0.7)], { attributes, outputs: 3 }) as Tensor[])[0]
      ).map(row => row[1])
    expect(of({})).toEqual([expect.closeTo(0.9), expect.closeTo(0.7), expect.closeTo(0.8 * 0.4)])
    expect(of({ decay_function: 'gaussian', gaussian_sigma: 2 })[2]).toBeCloseTo(0.8 * Math.exp(-0.72))
    expect(of({ post_threshold: 0.5 })).toHaveLength(2)
    expect(of({ keep_top_k: 1 })).toHaveLength(1)
  })

  test('their shapes have an upper bound', () => {
    expect(
      inferOp(['openvino', 'MatrixNms', 8], [fact('float32', ['n', 10, 4]), fact('float32', [2, 3, 10])], {
        outputs: 3
      }).map(dimsOf)
    ).toEqual([['0..60', 6], ['0..60', 1], [2]])
    expect(
      runOp(['openvino', 'MatrixNms', 8], [allocate('float32', [1, 0, 4]), allocate('float32', [1, 2, 0])], {
        outputs: 3
      }).map(value => (value as Tensor).dims)
    ).toEqual([[0, 6], [0, 1], [1]])
  })
})
