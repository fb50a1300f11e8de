import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'

const floats = (...values: number[]): Tensor => new Tensor('float32', values)
const sizes = (...values: number[]): Tensor => new Tensor('int64', values.map(BigInt))
const line = (type: 'float32' | 'int32' | 'string', values: (number | string)[]): Tensor => new Tensor(type, values)

const resized = (
  x: Tensor,
  scales: Tensor | undefined,
  target: Tensor | undefined,
  attributes: Record<string, never | string | number | number[]>,
  opset = 19,
  roi?: Tensor
): unknown[] => [...runTensor(['onnx', 'Resize', opset], [x, roi, scales, target], { attributes: attributes }).data]

describe('ONNX Resize', () => {
  const row = line('float32', [1, 2, 3, 4])

  test('nearest rounds places by its mode', () => {
    const of = (mode: string): unknown[] =>
      resized(row, undefined, sizes(8), { coordinate_transformation_mode: 'half_pixel', nearest_mode: mode })
    expect(of('floor')).toEqual([1, 1, 1, 2, 2, 3, 3, 4])
    expect(of('ceil')).toEqual([1, 2, 2, 3, 3, 4, 4, 4])
    expect(
      resized(line('float32', [1, 2, 3]), undefined, sizes(2), {
        coordinate_transformation_mode: 'asymmetric',
        nearest_mode: 'round_prefer_floor'
      })
    ).toEqual([1, 2])
    expect(
      resized(line('float32', [1, 2, 3]), undefined, sizes(2), {
        coordinate_transformation_mode: 'asymmetric',
        nearest_mode: 'round_prefer_ceil'
      })
    ).toEqual([1, 3])
  })

  test.each([11, 13, 18, 19])('tf_half_pixel_for_nn is taken in version %i', opset => {
    const attributes = { coordinate_transformation_mode: 'tf_half_pixel_for_nn', nearest_mode: 'floor' }
    expect(resized(row, undefined, sizes(3), attributes, opset)).toEqual([1, 3, 4])
    expect(resized(row, undefined, sizes(6), attributes, opset)).toEqual([1, 2, 2, 3, 4, 4])
  })

  test('nearest moves any type', () => {
    expect(
      resized(line('string', ['a', 'b']), floats(2), undefined, {
        coordinate_transformation_mode: 'asymmetric',
        nearest_mode: 'floor'
      })
    ).toEqual(['a', 'a', 'b', 'b'])
    expect(resized(new Tensor('int64', [2n ** 60n + 1n, 3n]), floats(2), undefined, {})).toEqual([
      2n ** 60n + 1n,
      2n ** 60n + 1n,
      3n,
      3n
    ])
  })

  test('linear places by the coordinate modes', () => {
    const of = (mode: string, x = row, to = 8): number[] =>
      (resized(x, undefined, sizes(to), { mode: 'linear', coordinate_transformation_mode: mode }) as number[]).map(
        value => Math.round(value * 1000) / 1000
      )
    expect(of('half_pixel')).toEqual([1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4])
    expect(of('asymmetric')).toEqual([1, 1.5, 2, 2.5, 3, 3.5, 4, 4])
    expect(of('align_corners', row, 7)).toEqual([1, 1.5, 2, 2.5, 3, 3.5, 4])
    expect(of('pytorch_half_pixel', row, 1)).toEqual([1])
    expect(of('half_pixel', row, 1)).toEqual([2.5])
  })

  test('a coordinate that float32 puts beside the middle of two elements is a tie', () => {
    const seven = line('float32', [0, 1, 2, 3, 4, 5, 6])
    const of = (nearest_mode: string): unknown[] =>
      resized(seven, undefined, sizes(2), { coordinate_transformation_mode: 'asymmetric', nearest_mode })
    expect(of('round_prefer_ceil')).toEqual([0, 4])
    expect(of('round_prefer_floor')).toEqual([0, 3])
  })

  test('half_pixel_symmetric keeps the centre where sizes have fractions', () => {
    const out = resized(row, floats(0.6), undefined, {
      mode: 'linear',
      coordinate_transformation_mode: 'half_pixel_symmetric'
    }) as number[]
    expect(out[0] + out[1]).toBeCloseTo(5)
    expect(out[0]).toBeCloseTo(1.6667, 3)
  })

  test('cubic weights outside the data go to the others when they are excluded', () => {
    const of = (exclude: number): number[] =>
      resized(row, floats(2), undefined, { mode: 'cubic', exclude_outside: exclude }) as number[]
    expect(of(0)[0]).toBeCloseTo(0.8945, 3)
    expect(of(1)[0]).not.toBeCloseTo(of(0)[0], 3)
    expect(
      resized(line('float32', [5, 5, 5]), floats(2), undefined, { mode: 'cubic', exclude_outside: 1 }).map(value =>
        Math.fround(value as number)
      )
    ).toEqual([5, 5, 5, 5, 5, 5])
  })

  test('antialiasing averages over what is left out', () => {
    expect(resized(row, floats(0.5), undefined, { mode: 'linear', antialias: 1 })).toEqual([1.625, 3.375])
    expect(resized(row, floats(0.5), undefined, { mode: 'linear' })).toEqual([1.5, 3.5])
    expect(errorOf(() => resized(row, floats(0.5), undefined, { antialias: 1 })).code).toBe('unknown-attribute-value')
  })

  test('tf_crop_and_resize reads the roi and fills what lies outside', () => {
    const of = (from: number, to: number, count: number): unknown[] =>
      resized(
        row,
        undefined,
        sizes(count),
        { mode: 'linear', coordinate_transformation_mode: 'tf_crop_and_resize', extrapolation_value: 9 },
        19,
        floats(from, to)
      )
    expect(of(0, 1, 4)).toEqual([1, 2, 3, 4])
    expect(of(1, 0, 4)).toEqual([4, 3, 2, 1])
    expect(of(0, 2, 3)).toEqual([1, 4, 9])
    expect(of(0, 1, 1)).toEqual([2.5])
    expect(
      errorOf(() => resized(row, undefined, sizes(2), { coordinate_transformation_mode: 'tf_crop_and_resize' })).code
    ).toBe('dims-mismatch')
  })

  test('axes name what is resized, in their order; the aspect ratio may be kept', () => {
    const shape = (target: Tensor, attributes: Record<string, string | number[]>): unknown =>
      runTensor(['onnx', 'Resize', 19], [allocate('float32', [1, 2, 4, 6]), undefined, undefined, target], {
        attributes
      }).dims
    expect(shape(sizes(8, 3), { axes: [-1, 2] })).toEqual([1, 2, 3, 8])
    expect(shape(sizes(7, 8), { axes: [2, 3], keep_aspect_ratio_policy: 'not_larger' })).toEqual([1, 2, 5, 8])
    expect(shape(sizes(7, 8), { axes: [2, 3], keep_aspect_ratio_policy: 'not_smaller' })).toEqual([1, 2, 7, 11])
  })

  test('integers are rounded and cut, complex numbers taken part by part', () => {
    expect([
      ...runTensor(['onnx', 'Resize', 13], [new Tensor('uint8', [0, 3, 255]), undefined, undefined, sizes(5)], {
        attributes: { mode: 'linear' }
      }).data
    ]).toEqual([0, 1, 3, 154, 255])
    expect(
      [
        ...runTensor(['onnx', 'Resize', 13], [new Tensor('uint8', [0, 255, 255]), undefined, floats(2)], {
          attributes: { mode: 'cubic' }
        }).data
      ][3]
    ).toBe(255)
    const complex = new Tensor('complex64', new Float32Array([0, 4, 2, 0]), [2])
    expect([
      ...runTensor(['onnx', 'Resize', 13], [complex, undefined, undefined, sizes(3)], {
        attributes: { mode: 'linear', coordinate_transformation_mode: 'align_corners' }
      }).data
    ]).toEqual([0, 4, 1, 2, 2, 0])
    expect(errorOf(() => resized(line('string', ['a']), floats(2), undefined, { mode: 'linear' })).code).toBe(
      'type-not-allowed'
    )
  })

  test('elements without weight do not spoil the others', () => {
    expect(resized(line('float32', [1, NaN, 3]), floats(1), undefined, { mode: 'linear' })).toEqual([1, NaN, 3])
    expect(
      resized(line('float32', [1, 2, Infinity]), undefined, sizes(5), {
        mode: 'linear',
        coordinate_transformation_mode: 'align_corners'
      })
    ).toEqual([1, 1.5, 2, Infinity, Infinity])
  })

  test('versions 10 and Upsample divide places by the scale, upwards where an axis shrinks', () => {
    const x = new Tensor('float32', [1, 2, 3, 4], [1, 4])
    expect([...runTensor(['onnx', 'Resize', 10], [x, floats(1, 0.6)]).data]).toEqual([1, 3])
    expect([...runTensor(['onnx', 'Upsample', 9], [x, floats(2, 1)]).data]).toEqual([1, 2, 3, 4, 1, 2, 3, 4])
    expect(
      [...runTensor(['onnx', 'Upsample', 7], [x], { attributes: { scales: [1, 1.5], mode: 'linear' } }).data].map(
        value => (value as number).toFixed(2)
      )
    ).toEqual(['1.00', '1.67', '2.33', '3.00', '3.67', '4.00'])
    const image = new Tensor('float32', [1, 2], [1, 1, 1, 2])
    expect(
      runTensor(['onnx', 'Upsample', 1], [image], { attributes: { height_scale: 2, width_scale: 1.5 } }).dims
    ).toEqual([1, 1, 2, 3])
    expect(errorOf(() => runTensor(['onnx', 'Upsample', 9], [x, floats(0.5, 1)])).code).toBe('value-out-of-range')
  })

  test('Upsample-10, though deprecated, is Upsample-9, under later opsets too', () => {
    const x = new Tensor('float32', [1, 2, 3, 4], [2, 2])
    for (const opset of [9, 10, 13]) {
      const upsampled = (mode: string, ...scales: number[]): Tensor =>
        runTensor(['onnx', 'Upsample', opset], [x, floats(...scales)], { attributes: { mode } })
      expect(upsampled('nearest', 1, 2).dims).toEqual([2, 4])
      expect([...upsampled('nearest', 1, 2).data]).toEqual([1, 1, 2, 2, 3, 3, 4, 4])
      expect([...upsampled('linear', 1, 2).data]).toEqual([1, 1.5, 2, 2, 3, 3.5, 4, 4])
      expect([...upsampled('linear', 2, 1).data]).toEqual([1, 2, 2, 3, 3, 4, 3, 4])
      expect(errorOf(() => upsampled('cubic', 1, 2)).code).toBe('unknown-attribute-value')
      expect(errorOf(() => upsampled('linear', 1, 0.5)).code).toBe('value-out-of-range')
      expect(errorOf(() => upsampled('linear', 2)).code).toBe('dims-mismatch')
      expect(dimsOf(inferOp(['onnx', 'Upsample', opset], [fact('float32', ['n', 3]), floats(2, 1.5)])[0])).toEqual([
        '2*n',
        4
      ])
    }
  })

  test('refuses what contradicts itself', () => {
    expect(errorOf(() => resized(row, floats(2), sizes(8), {})).code).toBe('unexpected-input')
    expect(errorOf(() => resized(row, undefined, undefined, {})).code).toBe('missing-input')
    expect(errorOf(() => resized(row, floats(0), undefined, {})).code).toBe('value-out-of-range')
    expect(errorOf(() => resized(row, floats(1, 2), undefined, {})).code).toBe('dims-mismatch')
    expect(errorOf(() => resized(allocate('float32', [0]), undefined, sizes(3), {})).code).toBe('shape-mismatch')
    expect(resized(allocate('float32', [0]), floats(3), undefined, {})).toEqual([])
  })

  test('a filter that would take in more than memory holds is refused', () => {
    const run = (): unknown =>
      resized(row, floats(1e-9), undefined, {
        mode: 'linear',
        antialias: 1,
        coordinate_transformation_mode: 'half_pixel'
      })
    expect(run()).toEqual([])
    expect(
      errorOf(() => resized(allocate('float32', [3, 2 ** 20]), undefined, sizes(3, 2 ** 29), { mode: 'linear' })).code
    ).toBe('limit-exceeded')
  })
})

describe('the shape rule of Resize', () => {
  const of = (dims: (number | string)[], scales: Tensor): unknown =>
    dimsOf(inferOp(['onnx', 'Resize', 13], [fact('float32', dims), undefined, scales])[0])

  test('multiplies names by whole scales and divides them by halves', () => {
    expect(of(['n', 3, 'h', 5], floats(1, 1, 2, 2))).toEqual(['n', 3, '2*h', 10])
    expect(of(['h'], floats(1.5))).toEqual(['floor(3*h/2)'])
    expect(of(['4..10'], floats(0.6))).toEqual(['2..6'])
  })

  test('rounds the product to float32 before it drops the fraction', () => {
    expect(of([10], floats(0.7))).toEqual([7])
  })

  test('takes sizes, unknown ones as unknown', () => {
    expect(
      dimsOf(inferOp(['onnx', 'Resize', 13], [fact('float32', ['n', 4]), undefined, undefined, fact('int64', [2])])[0])
    ).toEqual(['?', '?'])
    expect(
      dimsOf(
        inferOp(['onnx', 'Resize', 18], [fact('float32', ['n', 4]), undefined, undefined, sizes(7)], {
          attributes: { axes: [1] }
        })[0]
      )
    ).toEqual(['n', 7])
    expect(dimsOf(inferOp(['onnx', 'Resize', 13], [fact('float32'), undefined, floats(1, 2)])[0])).toEqual(['?', '?'])
  })
})
