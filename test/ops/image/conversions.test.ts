import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther, inOther, modelOfNode, typesOf } from '../converted.ts'
import type { Kind } from '../harness.ts'
import { counted, randomFloats } from '../random.ts'

const interpolate: Kind = ['openvino', 'Interpolate', 11]
const x = randomFloats(1, [1, 2, 5, 4])
const axes = new Tensor('int64', [2n, 3n], [2])
const sizes = (...values: number[]): Tensor => new Tensor('int64', values.map(BigInt), [values.length])
const bySizes = { shape_calculation_mode: 'sizes' }

describe('Interpolate in ONNX', () => {
  test('version 1 keeps its coordinates', async () => {
    for (const [dims, axes] of [
      [[1, 2, 5], '2'],
      [[1, 2, 5, 4], '2,3'],
      [[1, 2, 5, 4], '1,3']
    ] as const) {
      const target = sizes(...axes.split(',').map(() => 7))
      for (const isDynamic of [false, true])
        expect(
          await differenceInOther(['openvino', 'Interpolate', 1], [randomFloats(1, [...dims]), target], {
            attributes: { mode: 'linear', axes, align_corners: false },
            isDynamic
          })
        ).toBeLessThan(1e-6)
    }
  })

  test.each([12, 17, 18])(
    'sizes and scales of some axes that a run gives are those of all axes in opset %i',
    async opset => {
      const options = { isDynamic: true, constants: [2], writtenOpset: opset }
      const nearest = { mode: 'nearest', nearest_mode: 'floor', coordinate_transformation_mode: 'asymmetric' }
      const given = new Tensor('int64', [3n, 1n], [2])
      const attributes = { ...bySizes, ...nearest }
      expect(await differenceInOther(interpolate, [x, sizes(7, 9), given], { ...options, attributes })).toBe(0)
      const scales = new Tensor('float32', [2, 3], [2])
      const byScales = { shape_calculation_mode: 'scales', ...nearest }
      expect(
        await differenceInOther(interpolate, [x, scales, given], {
          ...options,
          constants: [1, 2],
          attributes: byScales
        })
      ).toBe(0)
    }
  )

  test.each(['nearest', 'linear', 'linear_onnx', 'cubic', 'bilinear_pillow', 'bicubic_pillow'])(
    'mode %s of known dims is made of elements or weights of each axis, pads too',
    async mode => {
      for (const extra of [{}, { antialias: true }, { coordinate_transformation_mode: 'tf_half_pixel_for_nn' }]) {
        const attributes = {
          ...bySizes,
          mode,
          nearest_mode: 'simple',
          pads_begin: [0, 0, 1, 0],
          pads_end: [0],
          ...extra
        }
        for (const size of [sizes(3, 7), sizes(6, 2)]) {
          const options = { attributes, constants: [1, 2] }
          expect(await differenceInOther(interpolate, [x, size, axes], options)).toBeLessThan(1e-5)
        }
      }
    }
  )

  test('bytes are rounded and stay in their range', async () => {
    const options = { attributes: { ...bySizes, mode: 'cubic' }, constants: [1, 2] }
    const bytes = new Tensor('uint8', [0, 255, 0, 255, 255, 0, 0, 255, 0], [3, 3])
    expect(await differenceInOther(interpolate, [bytes, sizes(7, 8), sizes(0, 1)], options)).toBe(0)
  })

  test('of dims that are not known it is Resize, where that means the same', async () => {
    const options = { attributes: { ...bySizes, mode: 'linear_onnx' }, constants: [2], isDynamic: true }
    expect(typesOf(inOther(modelOfNode(interpolate, [x, sizes(3, 7), axes], options)))).toEqual(['Resize'])
    expect(await differenceInOther(interpolate, [x, sizes(3, 7), axes], options)).toBeLessThan(1e-6)
    const attributes = { ...bySizes, mode: 'bicubic_pillow' }
    const model = modelOfNode(interpolate, [x, sizes(3, 7), axes], { ...options, attributes })
    expect(() => inOther(model)).toThrow('bicubic_pillow')
  })
})

describe('GridSample', () => {
  const grid = randomFloats(3, [1, 6, 5, 2])
  const beyond = new Tensor(
    'float32',
    Array.from(grid.data as Float32Array, value => 2 * value),
    grid.dims
  )
  test('is the same in ONNX and in IR, also beyond the edges', async () => {
    for (const mode of ['bilinear', 'bicubic', 'nearest'])
      for (const padding_mode of ['zeros', 'border', 'reflection'])
        for (const aligned of [true, false]) {
          const own = { attributes: { mode, padding_mode, align_corners: aligned } }
          expect(await differenceInOther(['openvino', 'GridSample', 9], [x, beyond], own)).toBeLessThan(1e-5)
          const standard = { attributes: { mode, padding_mode, align_corners: Number(aligned) } }
          expect(await differenceInOther(['onnx', 'GridSample', 16], [x, beyond], standard)).toBeLessThan(1e-5)
        }
  })

  test('of three spatial axes is not in IR', () => {
    const inputs = [randomFloats(1, [1, 1, 2, 2, 2]), randomFloats(2, [1, 2, 2, 2, 3])]
    expect(() => inOther(modelOfNode(['onnx', 'GridSample', 20], inputs))).toThrow('GridSample')
  })
})

test('AffineGrid in IR is its points times the matrices', async () => {
  const theta = randomFloats(1, [2, 3, 4])
  for (const align_corners of [0, 1]) {
    const options = { attributes: { align_corners }, constants: [1] }
    expect(await differenceInOther(['onnx', 'AffineGrid', 20], [theta, sizes(2, 1, 3, 1, 2)], options)).toBeLessThan(
      1e-6
    )
  }
  expect(() => inOther(modelOfNode(['onnx', 'AffineGrid', 20], [theta, counted('int64', [5])]))).toThrow('size')
})

describe('Resize in OpenVINO IR', () => {
  const resize: Kind = ['onnx', 'Resize', 18]
  const scales = (...values: number[]): Tensor => new Tensor('float32', values, [values.length])

  test.each(['nearest', 'linear', 'cubic'])('mode %s is Interpolate, by sizes and by scales', async mode => {
    for (const coordinate_transformation_mode of ['half_pixel', 'pytorch_half_pixel', 'align_corners', 'asymmetric'])
      for (const isDynamic of [false, true])
        for (const writtenOpset of [4, 11]) {
          const given = { attributes: { mode, coordinate_transformation_mode }, isDynamic, writtenOpset }
          const byScales = [x, undefined, scales(1, 1, 2, coordinate_transformation_mode === 'align_corners' ? 3 : 0.6)]
          expect(await differenceInOther(resize, byScales, { ...given, constants: [2] })).toBeLessThan(1e-5)
          const bySizes = [x, undefined, undefined, sizes(1, 2, 3, 9)]
          expect(await differenceInOther(resize, bySizes, given)).toBeLessThan(1e-5)
        }
  })

  test('axes that keep their size are left out', async () => {
    const attributes = { mode: 'linear', axes: [-1, 0] }
    const options = { attributes, constants: [2] }
    expect(await differenceInOther(resize, [x, undefined, scales(2, 1)], options)).toBeLessThan(1e-6)
    expect(await differenceInOther(resize, [x, undefined, scales(1, 1)], options)).toBe(0)
  })

  test.each([
    ['a region of interest', { coordinate_transformation_mode: 'tf_crop_and_resize' }, [2, 2]],
    ['antialias', { mode: 'linear', antialias: 1 }, [0.5, 0.5]],
    ['without those of elements outside', { mode: 'cubic', exclude_outside: 1 }, [2, 2]],
    ['a fraction of an element', { mode: 'linear', coordinate_transformation_mode: 'align_corners' }, [2, 0.6]],
    ['an axis may keep its size', { mode: 'linear' }, [1.1, 2]]
  ])('refuses what Interpolate does not do: %s', (reason, attributes, values) => {
    const roi = new Tensor('float32', [0, 0, 1, 1], [4])
    const model = modelOfNode(resize, [x, roi, scales(...values)], {
      attributes: { ...attributes, axes: [2, 3] },
      constants: [1, 2]
    })
    expect(() => inOther(model)).toThrow(reason)
  })
})
