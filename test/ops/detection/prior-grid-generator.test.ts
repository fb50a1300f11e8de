import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { type CallOptions, dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const GRID: Kind = ['openvino', 'ExperimentalDetectronPriorGridGenerator', 6]
type Attributes = CallOptions['attributes']

const PRIORS: Tensor = new Tensor('float32', [-2, -1, 2, 1, 0, 0, 10, 20], [2, 4])

/** The result for a feature map and an image of these heights and widths. */
const grid = (
  [height, width]: readonly [number, number],
  [imageHeight, imageWidth]: readonly [number, number],
  attributes?: Attributes,
  priors: Tensor = PRIORS
): Tensor =>
  runTensor(
    GRID,
    [priors, allocate(priors.type, [1, 5, height, width]), allocate(priors.type, [1, 3, imageHeight, imageWidth])],
    { attributes }
  )

const rowsOf = ({ data }: Tensor): number[][] =>
  Array.from({ length: data.length / 4 }, (_, i) => [...(data.slice(4 * i, 4 * i + 4) as Float32Array)])

describe('OpenVINO ExperimentalDetectronPriorGridGenerator', () => {
  test('places every prior at the centre of every cell, row by row', () => {
    const out = grid([2, 2], [8, 20], { flatten: true })
    expect(out.dims).toEqual([8, 4])
    expect(rowsOf(out)).toEqual([
      [3, 1, 7, 3],
      [5, 2, 15, 22],
      [13, 1, 17, 3],
      [15, 2, 25, 22],
      [3, 5, 7, 7],
      [5, 6, 15, 26],
      [13, 5, 17, 7],
      [15, 6, 25, 26]
    ])
    for (const attributes of [{ flatten: false }, {}]) {
      const apart = grid([2, 2], [8, 20], attributes)
      expect(apart.dims).toEqual([2, 2, 2, 4])
      expect(rowsOf(apart)).toEqual(rowsOf(out))
    }
  })

  test('strides take the place of the image', () => {
    expect(rowsOf(grid([1, 2], [100, 100], { stride_x: 4, stride_y: 6 }))).toEqual([
      [0, 2, 4, 4],
      [2, 3, 12, 23],
      [4, 2, 8, 4],
      [6, 3, 16, 23]
    ])
  })

  test('a smaller grid fills the start of the result and spreads over the image', () => {
    const out = grid([2, 2], [8, 20], { flatten: true, h: 1, w: 1 })
    expect(out.dims).toEqual([8, 4])
    expect(rowsOf(out).slice(0, 3)).toEqual([
      [8, 3, 12, 5],
      [10, 4, 20, 24],
      [0, 0, 0, 0]
    ])
  })

  test('takes maps without cells, and no priors', () => {
    expect(grid([0, 2], [8, 20], { flatten: true }).dims).toEqual([0, 4])
    expect(grid([2, 2], [8, 20], { flatten: false }, allocate('float32', [0, 4])).dims).toEqual([2, 2, 0, 4])
  })

  test('rounds float16 once', () => {
    const half = new Tensor('float16', new Uint16Array([0x3c00, 0xbc00, 0x4000, 0x0000]), [1, 4])
    // 1, -1, 2, 0 and steps of 3 and 1: 2.5, -0.5, 3.5, 0.5
    expect([...grid([1, 1], [1, 3], {}, half).data]).toEqual([0x4100, 0xb800, 0x4300, 0x3800])
  })

  test('its shape has room for all cells of the feature map', () => {
    const shape = (
      priors: (number | string)[] | undefined,
      map: (number | string)[] | undefined,
      image: (number | string)[] | undefined,
      attributes?: Attributes
    ): unknown =>
      dimsOf(inferOp(GRID, [fact('float32', priors), fact('float32', map), fact('float32', image)], { attributes })[0])
    expect(shape(['n', 4], ['b', 8, 2, 3], ['b', 3, 'y', 'x'], { flatten: true })).toEqual(['6*n', 4])
    expect(shape(['n', 4], [1, 8, 'h', 3], [1, 3, 8, 8], { flatten: false, h: 2 })).toEqual(['h', 3, 'n', 4])
    expect(shape(undefined, undefined, undefined, { flatten: true })).toEqual(['?', 4])
    expect(shape(undefined, undefined, undefined)).toEqual(['?', '?', '?', 4])
    const code = (...of: Parameters<typeof shape>): string => errorOf(() => shape(...of)).code
    expect(code([4], undefined, undefined)).toBe('rank-mismatch')
    expect(code(undefined, [1, 2, 3], undefined)).toBe('rank-mismatch')
    expect(code(undefined, undefined, [2, 3])).toBe('rank-mismatch')
    expect(code(['n', 5], undefined, undefined)).toBe('dims-mismatch')
    expect(code(undefined, [1, 8, 2, 3], [2, 3, 8, 8])).toBe('dims-mismatch')
    expect(code(undefined, [1, 8, 2, 3], undefined, { h: 3 })).toBe('value-out-of-range')
    expect(code(undefined, [1, 8, 2, 3], undefined, { w: 4 })).toBe('value-out-of-range')
    expect(code(undefined, undefined, undefined, { w: -1 })).toBe('value-out-of-range')
    expect(code(undefined, undefined, undefined, { stride_x: -1 })).toBe('value-out-of-range')
    expect(code(undefined, undefined, undefined, { stride_y: 'nan' })).toBe('value-out-of-range')
  })

  test('wants one type of float', () => {
    const infer = (type: 'float16' | 'int32'): unknown =>
      inferOp(GRID, [fact('float32', [2, 4]), fact(type, [1, 8, 2, 3]), fact('float32', [1, 3, 8, 8])])
    expect(errorOf(() => infer('float16')).code).toBe('type-mismatch')
    expect(errorOf(() => infer('int32')).code).toBe('type-not-allowed')
  })
})
