import { describe, expect, test } from 'vitest'
import { ALL_DTYPES, DTYPES } from '../../../src/tensor/dtype.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { counted } from '../random.ts'
import { ints, iota, valuesOf } from '../values.ts'

const join = (axis: number, ...inputs: Tensor[]): Tensor =>
  runTensor(['onnx', 'Concat', 13], inputs, { attributes: { axis } })

describe('Concat', () => {
  test('joins along any axis, counted from the end too', () => {
    const a = iota([2, 1, 2])
    const b = new Tensor('float32', [10, 11, 12, 13, 14, 15, 16, 17], [2, 2, 2])
    for (const axis of [1, -2]) {
      const out = join(axis, a, b)
      expect(out.dims).toEqual([2, 3, 2])
      expect([...out.data]).toEqual([0, 1, 10, 11, 12, 13, 2, 3, 14, 15, 16, 17])
    }
    expect([...join(0, ints(1, 2), ints(), ints(3)).data]).toEqual([1n, 2n, 3n])
  })

  test('joins every element type', () => {
    for (const type of ALL_DTYPES) {
      const out = runTensor(['openvino', 'Concat', 1], [iota([2, 1], type), iota([2, 2], type)], {
        attributes: { axis: -1 }
      })
      const [a, b] = [iota([2, 1], type).data, iota([2, 2], type).data] as unknown as [unknown[], unknown[]]
      const per = a.length / 2
      expect([...out.data], type).toEqual([
        ...a.slice(0, per),
        ...b.slice(0, 2 * per),
        ...a.slice(per),
        ...b.slice(2 * per)
      ])
    }
  })

  test('version 1 joins along axis 1 unless told; later ones and must be told', () => {
    expect(runTensor(['onnx', 'Concat', 1], [iota([1, 2]), iota([1, 2])]).dims).toEqual([1, 4])
    expect(errorOf(() => runTensor(['onnx', 'Concat', 4], [iota([1, 2])])).code).toBe('missing-attribute')
    expect(runTensor(['openvino', 'Concat', 1], [iota([1, 2]), iota([1, 2])]).dims).toEqual([2, 2])
  })

  test('refuses inputs that do not fit together', () => {
    expect(errorOf(() => join(0, iota([2]), iota([2, 1]))).code).toBe('rank-mismatch')
    expect(errorOf(() => join(0, iota([2, 2]), iota([2, 3]))).message).toBe(
      'inputs of shapes [2, 2] and [2, 3] differ at dim 1, which is not the axis (0)'
    )
    expect(errorOf(() => join(2, iota([2, 2]))).code).toBe('axis-out-of-range')
    expect(errorOf(() => join(0, iota([]), iota([]))).code).toBe('axis-out-of-range')
    expect(errorOf(() => join(0, iota([2]), ints(1))).code).toBe('type-mismatch')
    expect(
      errorOf(() => runTensor(['openvino', 'Concat', 1], [iota([2]), ints(1)], { attributes: { axis: 0 } })).code
    ).toBe('type-mismatch')
  })

  test('adds symbolic dims up and keeps what is known of the others', () => {
    const of = (...shapes: (readonly (number | string)[] | undefined)[]): unknown =>
      dimsOf(
        inferOp(
          ['onnx', 'Concat', 13],
          shapes.map(shape => fact('float32', shape)),
          { attributes: { axis: 1 } }
        )[0]
      )
    expect(of(['b', 'n'], ['b', 'm'], ['?', 2])).toEqual(['b', 'm+n+2'])
    expect(of(['b', 'n'], [4, 'n'])).toEqual([4, '2*n'])
    expect(of(['b', 3], undefined)).toEqual(['b', '3..'])
    expect(of(undefined)).toBeUndefined()
    expect(errorOf(() => of([3, 'n'], [4, 'n'])).code).toBe('dims-mismatch')
  })

  test('joins values that are partly known', () => {
    const [dims] = inferOp(['onnx', 'Shape', 15], [fact('float32', ['n', 3])])
    expect(valuesOf(inferOp(['onnx', 'Concat', 13], [dims, ints(-1), dims], { attributes: { axis: 0 } })[0])).toEqual([
      'n',
      3n,
      -1n,
      'n',
      3n
    ])
  })

  test.each([17, 3, 1])('joins lines of any type as it joins single elements, of %i elements', width => {
    for (const type of ['uint8', 'float16', 'float32', 'int64', 'complex128', 'string'] as const)
      for (const [outer, rows] of [
        [1, [30, 3]],
        [6, [2, 40, 1]],
        [5, [1, 1]]
      ] as const) {
        const parts = rows.map(count => counted(type, [outer, count, width]))
        const { slots } = DTYPES[type]
        const lineOf = ({ data, dims }: Tensor, o: number): unknown[] => {
          const length = dims[1] * width * slots
          return [...(data as Uint8Array).slice(o * length, (o + 1) * length)]
        }
        const expected = Array.from({ length: outer }, (_, o) => parts.flatMap(part => lineOf(part, o)))
        expect([...join(1, ...parts).data], `${type} ${outer}`).toEqual(expected.flat())
      }
  })

  test('many small parts make one large one', () => {
    const parts = Array.from({ length: 300 }, () => allocate('uint8', [3, 1]))
    expect(join(1, ...parts).dims).toEqual([3, 300])
  })
})
