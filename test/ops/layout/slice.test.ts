import { describe, expect, test } from 'vitest'
import type { Fact } from '../../../src/shapes/fact.ts'
import { ALL_DTYPES, DTYPES } from '../../../src/tensor/dtype.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota, valuesOf } from '../values.ts'

const INT64_MAX = 2n ** 63n - 1n
const INT64_MIN = -(2n ** 63n)
const cut = (data: Tensor, start: number | bigint, end: number | bigint, step?: number): unknown[] => [
  ...runTensor(
    ['onnx', 'Slice', 13],
    step === undefined ? [data, ints(start), ints(end)] : [data, ints(start), ints(end), undefined, ints(step)]
  ).data
]

describe('ONNX Slice', () => {
  const data = iota([10])

  test('takes start to before end, ends counted from the end where negative', () => {
    expect(cut(data, 2, 5)).toEqual([2, 3, 4])
    expect(cut(data, -3, -1)).toEqual([7, 8])
    expect(cut(data, 1, 8, 3)).toEqual([1, 4, 7])
    expect(cut(data, 5, 5)).toEqual([])
    expect(cut(data, 7, 3)).toEqual([])
  })

  test('clamps ends that are out of range', () => {
    expect(cut(data, -100, 3)).toEqual([0, 1, 2])
    expect(cut(data, 8, INT64_MAX)).toEqual([8, 9])
    expect(cut(data, 100, 200)).toEqual([])
  })

  test('goes backward for a negative step', () => {
    expect(cut(data, -1, INT64_MIN, -3)).toEqual([9, 6, 3, 0])
    expect(cut(data, 100, 6, -1)).toEqual([9, 8, 7])
    expect(cut(data, 3, 0, -1)).toEqual([3, 2, 1])
    expect(cut(data, -100, -200, -1)).toEqual([0])
    expect(cut(iota([0]), -1, INT64_MIN, -1)).toEqual([])
  })

  test('version 1 has attributes, 10 inputs; axes in any order', () => {
    const matrix = iota([3, 4])
    expect([
      ...runTensor(['onnx', 'Slice', 1], [matrix], { attributes: { starts: [1, -2], ends: [9, 9] } }).data
    ]).toEqual([6, 7, 10, 11])
    expect([
      ...runTensor(['onnx', 'Slice', 1], [matrix], { attributes: { starts: [1], ends: [2], axes: [1] } }).data
    ]).toEqual([1, 5, 9])
    const out = runTensor(['onnx', 'Slice', 10], [matrix, ints(1, 0), ints(4, 2), ints(-1, 0), ints(2, 1)])
    expect(out.dims).toEqual([2, 2])
    expect([...out.data]).toEqual([1, 3, 5, 7])
    const int32 = (...values: number[]): Tensor => new Tensor('int32', values)
    expect(runTensor(['onnx', 'Slice', 13], [matrix, int32(1), int32(2)]).dims).toEqual([1, 4])
  })

  test('refuses steps of 0, axes named twice, far axes and lists of other lengths', () => {
    const matrix = iota([3, 4])
    const slice =
      (...lists: Tensor[]) =>
      () =>
        runTensor(['onnx', 'Slice', 13], [matrix, ...lists])
    expect(errorOf(slice(ints(0), ints(1), ints(0), ints(0))).code).toBe('value-out-of-range')
    expect(errorOf(slice(ints(0, 0), ints(1, 1), ints(0, -2))).code).toBe('value-out-of-range')
    expect(errorOf(slice(ints(0), ints(1), ints(2))).code).toBe('axis-out-of-range')
    expect(errorOf(slice(ints(0, 0, 0), ints(1, 1, 1))).code).toBe('axis-out-of-range')
    expect(errorOf(slice(ints(0), ints(1, 1))).message).toBe('starts has 1 elements and ends 2; they must agree')
  })
})

describe('OpenVINO Slice-8', () => {
  test('slices like ONNX, with step before axes', () => {
    const out = runTensor(['openvino', 'Slice', 8], [iota([2, 5]), ints(4), ints(INT64_MIN), ints(-2), ints(-1)])
    expect([...out.data]).toEqual([4, 2, 0, 9, 7, 5])
    expect(errorOf(() => runTensor(['openvino', 'Slice', 8], [iota([2]), ints(0), ints(1)])).code).toBe(
      'wrong-input-count'
    )
    expect(errorOf(() => runTensor(['openvino', 'Slice', 8], [iota([]), ints(), ints(), ints()])).code).toBe(
      'rank-zero-data'
    )
    expect(errorOf(() => runTensor(['openvino', 'Slice', 8], [iota([2]), iota([1]), ints(1), ints(1)])).code).toBe(
      'type-not-allowed'
    )
  })

  test('moves every element type', () => {
    for (const type of ALL_DTYPES) {
      const data = iota([5], type)
      const { slots } = DTYPES[type]
      const expected = [3, 1].flatMap(i => [...data.data.slice(i * slots, (i + 1) * slots)] as unknown[])
      expect([...runTensor(['openvino', 'Slice', 8], [data, ints(3), ints(0), ints(-2)]).data], type).toEqual(expected)
    }
  })
})

describe('the shape rule of Slice', () => {
  const [n, m] = ['n', 'm'].map(name => inferOp(['onnx', 'Shape', 15], [fact('float32', [name])])[0])
  const of = (dim: number | string, start: Fact | Tensor, end: Fact | Tensor, step = 1): unknown =>
    dimsOf(inferOp(['onnx', 'Slice', 13], [fact('float32', [dim, 7]), start, end, ints(0), ints(step)])[0])?.[0]

  test('knows what a slice of a symbolic dim takes', () => {
    expect(of('n', ints(0), n)).toBe('n')
    expect(of('n', ints(0), ints(INT64_MAX))).toBe('n')
    expect(of('n', ints(0), ints(2 ** 31 - 1))).toBe('n')
    expect(of('n', ints(-1), ints(INT64_MAX))).toBe('min(1, n)')
    expect(of('2..', ints(-1), ints(INT64_MAX))).toBe(1)
    expect(of('2..', ints(1), ints(INT64_MAX))).toBe('1..')
    expect(of('n', ints(1), ints(INT64_MAX))).toBe('max(0, n-1)')
    expect(of('n', ints(INT64_MAX), ints(INT64_MIN), -1)).toBe('n')
    expect(of('n', ints(-1), ints(INT64_MIN), -1)).toBe('n')
    expect(of('1..9', ints(0), ints(INT64_MAX), 2)).toBe('1..5')
    expect(of(10, ints(0), n)).toBe('min(10, n)')
    expect(of('n', m, ints(INT64_MAX))).toBe('max(-m+n, 0)')
  })

  test('bounds what it cannot express', () => {
    expect(of('3..9', ints(2), ints(-1))).toBe('0..6')
    expect(of('3..9', fact('int64', [1]), ints(100))).toBe('0..9')
    expect(of('n', fact('int64', [1]), ints(4))).toBe('0..4')
    expect(of('n', ints(4), fact('int64', [1]), -2)).toBe('0..3')
    expect(of('3..9', fact('int64', [1]), ints(0), -4)).toBe('0..2')
    expect(of(9, ints(0), fact('int64', [1]), 2)).toBe('0..5')
  })

  test('unknown lists touch only their axes; unknown axes may be any', () => {
    const infer = (...lists: (Fact | Tensor)[]): unknown =>
      dimsOf(inferOp(['onnx', 'Slice', 13], [fact('float32', [4, 'n', 6]), ...lists])[0])
    expect(infer(fact('int64', ['k']), fact('int64', ['k']), ints(1))).toEqual([4, '?', 6])
    expect(infer(fact('int64', [1]), fact('int64', [1]))).toEqual(['0..4', 'n', 6])
    expect(infer(ints(0), ints(1), fact('int64', [1]))).toEqual(['0..4', '?', '0..6'])
    expect(dimsOf(inferOp(['onnx', 'Slice', 13], [fact('float32'), ints(0), ints(1)])[0])).toBeUndefined()
  })

  test('moves values that are partly known', () => {
    const [dims] = inferOp(['onnx', 'Shape', 15], [fact('float32', ['n', 2, 'm'])])
    expect(valuesOf(inferOp(['onnx', 'Slice', 13], [dims, ints(-1), ints(INT64_MIN), ints(0), ints(-2)])[0])).toEqual([
      'm',
      'n'
    ])
  })
})

describe('DynamicSlice', () => {
  const matrix = iota([3, 4])
  const sliced = (start: Tensor, end: Tensor, axes?: Tensor): Tensor =>
    runTensor(['onnx', 'DynamicSlice', 9], [matrix, start, end, axes])

  // The results are those of ONNX Runtime 1.32.
  test('takes its bounds from inputs, and the first axes where none are given', () => {
    expect([...sliced(ints(1, 0), ints(2, 2)).data]).toEqual([4, 5])
    expect([...sliced(ints(0), ints(-1), ints(-1)).data]).toEqual([0, 1, 2, 4, 5, 6, 8, 9, 10])
    expect(sliced(ints(3), ints(1), ints(0)).dims).toEqual([0, 4])
    expect(sliced(ints(-10), ints(10), ints(1)).dims).toEqual([3, 4])
    expect(errorOf(() => sliced(ints(0, 0), ints(1, 1), ints(0, 0))).code).toBe('value-out-of-range')
  })
})
