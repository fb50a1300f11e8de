import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'

const floats = (...values: number[]): Tensor => new Tensor('float32', values)
const ints = (...values: number[]): Tensor => new Tensor('int64', values.map(BigInt))
const row = new Tensor('float32', [1, 2, 3, 4], [1, 4])

type Attributes = Record<string, string | number | boolean>

const byScales = (scale: number, attributes: Attributes, x = row): number[] => [
  ...(runTensor(['openvino', 'Interpolate', 11], [x, floats(scale), ints(1)], {
    attributes: { shape_calculation_mode: 'scales', ...attributes }
  }).data as Float32Array)
]
const bySizes = (size: number, attributes: Attributes, x = row): number[] => [
  ...(runTensor(['openvino', 'Interpolate', 11], [x, ints(size), ints(1)], {
    attributes: { shape_calculation_mode: 'sizes', ...attributes }
  }).data as Float32Array)
]

describe('OpenVINO Interpolate', () => {
  test('version 4 takes sizes or scales, version 11 one input for either', () => {
    for (const mode of ['sizes', 'scales']) {
      const out = runTensor(['openvino', 'Interpolate', 4], [row, ints(8), floats(3), ints(1)], {
        attributes: { mode: 'nearest', shape_calculation_mode: mode }
      })
      expect(out.dims).toEqual([1, mode === 'sizes' ? 8 : 12])
    }
    expect(
      bySizes(8, { mode: 'nearest', coordinate_transformation_mode: 'asymmetric', nearest_mode: 'floor' })
    ).toEqual([1, 1, 2, 2, 3, 3, 4, 4])
    expect(
      byScales(2, { mode: 'nearest', coordinate_transformation_mode: 'asymmetric', nearest_mode: 'floor' })
    ).toEqual([1, 1, 2, 2, 3, 3, 4, 4])
  })

  test('nearest mode simple rounds up where an axis shrinks', () => {
    expect(
      bySizes(3, { mode: 'nearest', coordinate_transformation_mode: 'asymmetric', nearest_mode: 'simple' })
    ).toEqual([1, 3, 4])
    expect(
      bySizes(3, { mode: 'nearest', coordinate_transformation_mode: 'asymmetric', nearest_mode: 'floor' })
    ).toEqual([1, 2, 3])
    expect(
      bySizes(6, { mode: 'nearest', coordinate_transformation_mode: 'asymmetric', nearest_mode: 'simple' })
    ).toEqual([1, 1, 2, 3, 3, 4])
  })

  test('linear and linear_onnx agree without antialiasing, which only linear has', () => {
    for (const coordinates of [
      'half_pixel',
      'asymmetric',
      'align_corners',
      'tf_half_pixel_for_nn',
      'pytorch_half_pixel'
    ]) {
      expect(bySizes(7, { mode: 'linear', coordinate_transformation_mode: coordinates })).toEqual(
        bySizes(7, { mode: 'linear_onnx', coordinate_transformation_mode: coordinates })
      )
    }
    expect(bySizes(2, { mode: 'linear_onnx', antialias: true })).toEqual([1.5, 3.5])
    const smooth = bySizes(2, { mode: 'linear', antialias: true })
    expect(smooth[0]).toBeCloseTo(12 / 7, 5)
    expect(smooth[1]).toBeCloseTo(23 / 7, 5)
  })

  test('an axis that keeps its size keeps its elements', () => {
    expect(byScales(1.1, { mode: 'linear' })).toEqual([1, 2, 3, 4])
    expect(bySizes(4, { mode: 'linear', coordinate_transformation_mode: 'tf_half_pixel_for_nn' })).toEqual([1, 2, 3, 4])
  })

  test('the Pillow modes average over what is left out and take cube_coeff', () => {
    const of = (attributes: Attributes): number =>
      runTensor(['openvino', 'Interpolate', 11], [row, ints(1, 2), ints(0, 1)], {
        attributes: { shape_calculation_mode: 'sizes', ...attributes }
      }).data[0] as number
    expect(of({ mode: 'bilinear_pillow' })).toBeCloseTo(12 / 7, 5)
    expect(of({ mode: 'bicubic_pillow', cube_coeff: -0.5 })).not.toBeCloseTo(
      of({ mode: 'bicubic_pillow', cube_coeff: -0.75 }),
      3
    )
    expect(errorOf(() => bySizes(2, { mode: 'bilinear_pillow' })).code).toBe('dims-mismatch')
    expect(
      errorOf(() =>
        runTensor(['openvino', 'Interpolate', 4], [row, ints(8), floats(3), ints(1)], {
          attributes: { mode: 'bilinear_pillow', shape_calculation_mode: 'sizes' }
        })
      ).code
    ).toBe('unknown-attribute-value')
  })

  test('mode linear of version 1 samples between half pixels, but not in padded data and in planes of rank 4', () => {
    const resized = (dims: number[], axis: number, attributes: Attributes = {}): number[] => [
      ...(runTensor(['openvino', 'Interpolate', 1], [new Tensor('float32', [0, 4], dims), ints(4)], {
        attributes: { mode: 'linear', axes: `${axis}`, align_corners: false, ...attributes }
      }).data as Float32Array)
    ]
    expect(resized([1, 1, 2], 2)).toEqual([0, 1, 3, 4])
    expect(resized([1, 1, 1, 2, 1], 3)).toEqual([0, 1, 3, 4])
    expect(resized([1, 1, 1, 2], 3)).toEqual([0, 1, 3, 4])
    expect(resized([1, 2], 0, { pads_begin: '1' })).toEqual([0, 0, 0, 2, 0, 4, 0, 4])
    const plane = runTensor(['openvino', 'Interpolate', 1], [new Tensor('float32', [0, 4], [1, 1, 1, 2]), ints(1, 4)], {
      attributes: { mode: 'linear', axes: '2,3', align_corners: false }
    })
    expect([...plane.data]).toEqual([0, 2, 4, 4])
    expect(resized([1, 1, 2], 2, { mode: 'nearest' })).toEqual([0, 0, 4, 4])
  })

  test('pads are zeros around the data, on axes that are not resized too', () => {
    const out = runTensor(['openvino', 'Interpolate', 11], [row, ints(5), ints(1)], {
      attributes: { mode: 'linear', shape_calculation_mode: 'sizes', pads_begin: '1,1', pads_end: '0' }
    })
    expect(out.dims).toEqual([2, 5])
    expect([...out.data]).toEqual([0, 0, 0, 0, 0, 0, 1, 2, 3, 4])
    const nearest = runTensor(['openvino', 'Interpolate', 11], [row, floats(2), ints(1)], {
      attributes: {
        mode: 'nearest',
        shape_calculation_mode: 'scales',
        pads_begin: '0,1',
        pads_end: '0,1',
        nearest_mode: 'floor',
        coordinate_transformation_mode: 'asymmetric'
      }
    })
    expect([...nearest.data]).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 0, 0])
    expect(errorOf(() => bySizes(3, { mode: 'nearest', pads_begin: '-1' })).code).toBe('value-out-of-range')
  })

  test('integers are rounded; the Pillow modes do it after each axis', () => {
    const x = new Tensor('uint8', [0, 255, 3, 7, 10, 100, 255, 0, 0], [3, 3])
    const of = (mode: string): number[] => [
      ...(runTensor(['openvino', 'Interpolate', 11], [x, ints(5, 4), ints(0, 1)], {
        attributes: { mode, shape_calculation_mode: 'sizes' }
      }).data as Uint8Array)
    ]
    expect(of('linear_onnx').slice(0, 8)).toEqual([0, 159, 160, 3, 3, 99, 114, 42])
    expect(of('bilinear_pillow')[2]).toBe(161)
    expect(of('cubic')[0]).toBe(0)
  })

  test('version 1 aligns corners, if asked to', () => {
    const of = (attributes: Attributes): number[] => [
      ...(runTensor(['openvino', 'Interpolate', 1], [row, ints(7)], { attributes: { axes: '1', ...attributes } })
        .data as Float32Array)
    ]
    expect(of({ mode: 'linear', align_corners: true })).toEqual([1, 1.5, 2, 2.5, 3, 3.5, 4])
    expect(of({ mode: 'linear', align_corners: false })[1]).toBeCloseTo((1.5 * 4) / 7 + 0.5, 5)
    expect(errorOf(() => of({ mode: 'area' })).code).toBe('unknown-attribute-value')
  })

  test('the shape rule keeps names and counts pads', () => {
    const of = (attributes: Attributes, target: Tensor): unknown =>
      dimsOf(
        inferOp(['openvino', 'Interpolate', 11], [fact('float32', ['n', 3, 'h', 'w']), target, ints(2, 3)], {
          attributes: { mode: 'nearest', ...attributes }
        })[0]
      )
    expect(of({ shape_calculation_mode: 'scales', pads_begin: '0,0,1,0' }, floats(2, 3))).toEqual([
      'n',
      3,
      '2*h+2',
      '3*w'
    ])
    expect(of({ shape_calculation_mode: 'sizes' }, ints(5, 6))).toEqual(['n', 3, 5, 6])
    expect(errorOf(() => of({ shape_calculation_mode: 'sizes' }, ints(5))).code).toBe('dims-mismatch')
    expect(
      dimsOf(
        inferOp(
          ['openvino', 'Interpolate', 4],
          [fact('float32', ['n', 4]), fact('int64', [1]), fact('float32', [1]), fact('int64', [1])],
          { attributes: { mode: 'nearest', shape_calculation_mode: 'sizes' } }
        )[0]
      )
    ).toEqual(['?', '?'])
  })

  test('an empty axis cannot grow', () => {
    expect(errorOf(() => bySizes(3, { mode: 'linear' }, allocate('float32', [1, 0]))).code).toBe('shape-mismatch')
    expect(
      runTensor(['openvino', 'Interpolate', 11], [allocate('float32', [0, 4]), ints(8), ints(1)], {
        attributes: { mode: 'linear', shape_calculation_mode: 'sizes' }
      }).dims
    ).toEqual([0, 8])
  })
})
