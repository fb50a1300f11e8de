import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const KIND: Kind = ['onnx', 'QLinearMatMul', 21]
const floats = (values: number | number[], dims?: number[]): Tensor =>
  typeof values === 'number' ? new Tensor('float32', [values], []) : new Tensor('float32', values, dims)
const bytes = (values: number | number[], dims?: number[]): Tensor =>
  typeof values === 'number' ? new Tensor('uint8', [values], []) : new Tensor('uint8', values, dims)
type Given = number | number[] | Tensor
const given = (make: (values: number | number[]) => Tensor, values: Given): Tensor =>
  values instanceof Tensor ? values : make(values)

function product(
  a: Tensor,
  aScale: Given,
  aZero: Given,
  b: Tensor,
  bScale: Given,
  bZero: Given,
  yScale: Given = 1,
  yZero: Given = 3
): Tensor {
  return runTensor(KIND, [
    a,
    given(floats, aScale),
    given(bytes, aZero),
    b,
    given(floats, bScale),
    given(bytes, bZero),
    given(floats, yScale),
    given(bytes, yZero)
  ])
}

describe('QLinearMatMul', () => {
  const a = bytes([10, 20, 30, 1, 2, 3], [2, 3])
  const b = bytes([1, 2, 3, 4, 5, 6], [3, 2])

  test('scales, rounds and shifts the product of matrices', () => {
    expect([...product(a, 0.5, 1, b, 0.25, 2).data]).toEqual([15, 22, 4, 4])
    expect([...product(a, 0.5, [1], b, [0.25], 2).data]).toEqual([15, 22, 4, 4])
  })

  test('takes scales and zero points for each column of b and each row of a', () => {
    expect([...product(a, 0.5, 1, b, [0.25, 0.5], [2, 1]).data]).toEqual([15, 56, 4, 6])
    // Row 0: 9, 19, 29 times (-1, 1, 3) is 97, times 1/8; (1, 3, 5) is 211, times 1/4. Row 1: -1, 0, 1 with 4 and 4,
    // times 1/16 and 1/8.
    expect([...product(a, [0.5, 0.25], [1, 2], b, [0.25, 0.5], [2, 1]).data]).toEqual([15, 56, 3, 3])
    const rows = product(
      a,
      floats([0.5, 0.25], [2, 1]),
      bytes([1, 2], [2, 1]),
      b,
      floats([0.25, 0.5], [1, 2]),
      bytes([2, 1], [1, 2])
    )
    expect([...rows.data]).toEqual([15, 56, 3, 3])
  })

  test('rounds ties to even before the zero point is added, then saturates', () => {
    const one = (x: number, zero: number): unknown =>
      product(bytes([x], [1, 1]), 0.5, 0, bytes([1], [1, 1]), 1, 0, 1, zero).data[0]
    expect([one(1, 1), one(3, 1), one(5, 0), one(255, 200)]).toEqual([1, 3, 2, 255])
  })

  test('multiplies lists and batches', () => {
    expect(product(bytes([1, 2, 3]), 0.5, 1, b, 0.25, 2)).toMatchObject({ dims: [2], data: new Uint8Array([4, 4]) })
    expect(product(a, 0.5, 1, bytes([1, 2, 3]), 0.25, 2)).toMatchObject({ dims: [2], data: new Uint8Array([5, 3]) })
    const batch = bytes([10, 20, 30, 1, 2, 3], [2, 1, 3])
    expect(product(batch, floats([0.5, 0.5], [2, 1, 1]), 1, b, 0.25, 2)).toMatchObject({
      dims: [2, 1, 2],
      data: new Uint8Array([15, 22, 4, 4])
    })
  })

  test('takes scales and zero points for each column of b where a is a list, as ONNX Runtime does', () => {
    const list = bytes([1, 2, 3])
    expect(product(list, 0.5, 1, b, [0.25, 1], [2, 0])).toMatchObject({ dims: [2], data: new Uint8Array([4, 11]) })
    expect(errorOf(() => product(list, 0.5, 1, list, [1, 2, 3], 0)).code).toBe('shape-mismatch')
    expect(errorOf(() => product(a, 0.5, 1, list, [1, 2, 3], 0)).code).toBe('shape-mismatch')
  })

  test('gives the type of the output zero point; 8-bit floats too', () => {
    const f8 = (values: number[], dims: number[]): Tensor =>
      convert(new Tensor('float32', values, dims), 'float8e4m3fn')
    const out = runTensor(KIND, [
      f8([1, 2], [1, 2]),
      floats(0.5),
      f8([1], []),
      f8([3, 4], [2, 1]),
      floats(1),
      f8([1], []),
      floats(1),
      f8([0], [])
    ])
    expect(out.type).toBe('float8e4m3fn')
    expect([...convert(out, 'float32').data]).toEqual([1.5])
    expect(product(a, 0.5, 1, b, 0.25, 2, 1, new Tensor('int8', [-100], []))).toMatchObject({
      type: 'int8',
      data: new Int8Array([-88, -81, -99, -99])
    })
  })

  test('refuses scales that change along the axis that is summed over', () => {
    expect(errorOf(() => product(a, 0.5, 1, b, floats([1, 2, 3], [3, 1]), 2)).code).toBe('shape-mismatch')
    expect(errorOf(() => product(a, floats([1, 2, 3], [1, 3]), 1, b, 1, 2)).code).toBe('shape-mismatch')
  })

  test('refuses scales that belong to nothing', () => {
    expect(errorOf(() => product(a, [1, 1, 1], 0, b, 1, 0)).code).toBe('shape-mismatch')
    expect(errorOf(() => product(bytes([1, 2, 3]), [1, 2, 3], 0, b, 1, 0)).code).toBe('shape-mismatch')
    expect(
      dimsOf(
        inferOp(KIND, [
          fact('uint8', ['n', 3]),
          floats(1),
          bytes(0),
          fact('uint8', [3, 'm']),
          floats(1),
          bytes(0),
          floats(1),
          bytes(0)
        ])[0]
      )
    ).toEqual(['n', 'm'])
  })
})
