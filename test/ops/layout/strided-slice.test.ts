import { describe, expect, test } from 'vitest'
import type { Fact } from '../../../src/shapes/fact.ts'
import type { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota, valuesOf } from '../values.ts'

type Masks = Partial<Record<'begin' | 'end' | 'new_axis' | 'shrink_axis' | 'ellipsis', readonly number[]>>

const attributesOf = (masks: Masks): Record<string, readonly number[]> => ({
  begin_mask: [],
  end_mask: [],
  ...Object.fromEntries(Object.entries(masks).map(([name, mask]) => [`${name}_mask`, mask]))
})

const slice = (
  data: Tensor,
  begin: number[],
  end: number[],
  strides: number[] | undefined,
  masks: Masks = {}
): Tensor =>
  runTensor(
    ['openvino', 'StridedSlice', 1],
    [data, ints(...begin), ints(...end), ...(strides ? [ints(...strides)] : [])],
    { attributes: attributesOf(masks) }
  )

const cube = iota([2, 3, 4])

describe('StridedSlice', () => {
  test('slices the first dims and takes the others whole', () => {
    const out = slice(cube, [1, 0], [2, 2], undefined)
    expect(out.dims).toEqual([1, 2, 4])
    expect([...out.data]).toEqual([12, 13, 14, 15, 16, 17, 18, 19])
    expect(slice(cube, [], [], []).dims).toEqual([2, 3, 4])
  })

  test('masked ends are those of the dim, also backward', () => {
    const out = slice(cube, [1, 1, 123], [0, 0, 2], [1, 1, -1], {
      begin: [0, 1, 1],
      end: [1, 1, 1],
      new_axis: [0, 0, 0, 0, 0]
    })
    expect(out.dims).toEqual([1, 3, 4])
    expect([...out.data]).toEqual([15, 14, 13, 12, 19, 18, 17, 16, 23, 22, 21, 20])
  })

  test('equal ends take nothing', () => {
    expect(slice(cube, [1], [1], [1]).dims).toEqual([0, 3, 4])
  })

  test('new_axis_mask inserts dims and ignores their ends', () => {
    expect(
      slice(iota([2, 4]), [1234, 0, -1, 0], [1234, 2, 9876, 4], [132, 1, 241, 1], { new_axis: [1, 0, 1, 0] }).dims
    ).toEqual([1, 2, 1, 4])
    expect(slice(cube, [0, 0, 0, 0], [2, 3, 4, 0], undefined, { new_axis: [0, 0, 0, 1] }).dims).toEqual([2, 3, 4, 1])
  })

  test('shrink_axis_mask takes one index; only begin counts', () => {
    const out = slice(cube, [-1, 0, 2], [0, 9, 1], [1, 1, -1], { shrink_axis: [1, 0, 1], end: [0, 1] })
    expect(out.dims).toEqual([3])
    expect([...out.data]).toEqual([14, 18, 22])
    expect([...slice(iota([4]), [3], [8], [1], { begin: [1], shrink_axis: [1] }).data]).toEqual([0])
  })

  test('an index out of range is an error', () => {
    for (const index of [2, -3]) {
      const error = errorOf(() => slice(cube, [0, index], [1, 0], undefined, { shrink_axis: [0, 1], new_axis: [1] }))
      expect(error.code).toBe('index-out-of-range')
      expect(error.details).toEqual({ index: `${index}`, position: [1], axis: 0, size: 2 })
    }
  })

  test('an ellipsis stands for as many dims as are left, also none', () => {
    const ten = iota([2, 1, 3, 1, 2])
    expect(slice(ten, [0, 0, 1], [1, 0, 2], [1, -1, 1], { ellipsis: [0, 1] }).dims).toEqual([1, 1, 3, 1, 1])
    expect(
      slice(ten, [1, 1, 10, 10], [123, 1, 10, 1], [1, -1, 1, 1], {
        begin: [0, 0, 1, 1],
        end: [1, 1],
        new_axis: [0, 0, 1],
        shrink_axis: [0],
        ellipsis: [0, 1]
      }).dims
    ).toEqual([1, 1, 3, 1, 1, 1])
    expect(slice(cube, [0, 0, 0, 1], [1, 2, 0, 3], undefined, { ellipsis: [0, 0, 1, 0] }).dims).toEqual([1, 2, 2])
  })

  test('an ellipsis comes before a new axis, that before an index', () => {
    expect(slice(cube, [0, 1], [0, 2], undefined, { ellipsis: [1], new_axis: [1], shrink_axis: [1] }).dims).toEqual([
      2, 3, 1
    ])
    expect(slice(cube, [1, 0], [2, 2], undefined, { new_axis: [1], shrink_axis: [1] }).dims).toEqual([1, 2, 3, 4])
  })

  test('refuses too many dims, two ellipses, a stride of 0 and lists of other lengths', () => {
    expect(errorOf(() => slice(cube, [0, 0, 0, 0], [1, 1, 1, 1], undefined)).code).toBe('rank-mismatch')
    expect(errorOf(() => slice(cube, [0, 0], [1, 1], undefined, { ellipsis: [1, 1] })).code).toBe(
      'unknown-attribute-value'
    )
    expect(errorOf(() => slice(cube, [0], [1], [0])).code).toBe('value-out-of-range')
    expect(errorOf(() => slice(cube, [0], [1, 1], undefined)).code).toBe('dims-mismatch')
    expect(
      errorOf(() =>
        runTensor(['openvino', 'StridedSlice', 1], [cube, ints(0), ints(1)], { attributes: { end_mask: [0] } })
      ).code
    ).toBe('missing-attribute')
  })
})

describe('the shape rule of StridedSlice', () => {
  const of = (
    dims: readonly (number | string)[] | undefined,
    begin: Tensor | Fact,
    end: Tensor | Fact,
    masks: Masks = {}
  ): unknown =>
    dimsOf(
      inferOp(['openvino', 'StridedSlice', 1], [fact('float32', dims), begin, end], {
        attributes: attributesOf(masks)
      })[0]
    )

  test('keeps symbols', () => {
    expect(of(['n', 'm', 5], ints(0, 0, 0), ints(0, 0, 3), { begin: [1, 1, 0], end: [1, 1, 0] })).toEqual(['n', 'm', 3])
    expect(of(['n', 'm'], ints(0, 0), ints(1, 0), { shrink_axis: [1], new_axis: [0, 1] })).toEqual([1, 'm'])
  })

  test('unknown ends touch their own dims; an unknown number of them any', () => {
    expect(of([4, 'n', 6], fact('int64', [2]), ints(0, 3), { end: [1] })).toEqual(['0..4', '0..3', 6])
    expect(of([4, 'n', 6], fact('int64', [2]), ints(0, 3), { shrink_axis: [1], begin: [0, 1] })).toEqual([
      'min(3, n)',
      6
    ])
    expect(of([4, 5], fact('int64', ['k']), fact('int64', ['k']))).toEqual(['0..4', '0..5'])
    expect(of([4, 5], fact('int64', ['k']), fact('int64', ['k']), { new_axis: [1] })).toBeUndefined()
    expect(of(undefined, ints(0), ints(1))).toBeUndefined()
  })

  test('one dim of a shape is a known symbol', () => {
    const [dims] = inferOp(['openvino', 'ShapeOf', 1], [fact('float32', ['n', 3, 'm'])])
    const [out] = inferOp(['openvino', 'StridedSlice', 1], [dims, ints(-1), ints(0)], {
      attributes: attributesOf({ shrink_axis: [1] })
    })
    expect([dimsOf(out), valuesOf(out)]).toEqual([[], ['m']])
  })
})
