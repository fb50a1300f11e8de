import { describe, expect, test } from 'vitest'
import { encodeFloat } from '../../../src/tensor/floats.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp } from '../harness.ts'
import { picks } from '../random.ts'

const ONNX: Kind = ['onnx', 'TopK', 11]
const k = (value: number): Tensor => new Tensor('int64', [BigInt(value)])
const MAX = { mode: 'max', sort: 'value', axis: -1 }

function run(
  kind: Kind,
  data: Tensor,
  count: number,
  attributes: Record<string, string | number | boolean> = {}
): [unknown[], number[]] {
  const [values, indices] = runOp(kind, [data, k(count)], { attributes, outputs: 2 }) as Tensor[]
  expect(indices.dims).toEqual(values.dims)
  return [[...values.data], [...indices.data].map(Number)]
}

describe('TopK', () => {
  const data = new Tensor('float32', [5, 3, 1, 2, 5, 5])

  test('gives the largest or smallest in order, of equal ones the lower index first', () => {
    expect(run(ONNX, data, 4)).toEqual([
      [5, 5, 5, 3],
      [0, 4, 5, 1]
    ])
    expect(run(ONNX, data, 4, { largest: 0 })).toEqual([
      [1, 2, 3, 5],
      [2, 3, 1, 0]
    ])
    expect(run(ONNX, data, 4, { sorted: 0 })).toEqual(run(ONNX, data, 4))
  })

  test('sorts every slice like a stable sort does', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const size = 1 + picks(seed, 40)
      const numbers = Array.from({ length: 6 * size }, (_, i) => picks(seed * 50 + i, 9))
      const count = 1 + picks(seed + 7, size)
      const [values, indices] = runOp(ONNX, [new Tensor('int8', numbers, [2, size, 3]), k(count)], {
        attributes: { axis: 1 },
        outputs: 2
      }) as Tensor[]
      for (const [o, i] of [
        [0, 0],
        [1, 2]
      ]) {
        const slice = Array.from({ length: size }, (_, n) => numbers[(o * size + n) * 3 + i])
        const order = slice
          .map((_, n) => n)
          .sort((a, b) => slice[b] - slice[a] || a - b)
          .slice(0, count)
        const along = (tensor: Tensor): number[] =>
          Array.from({ length: count }, (_, n) => Number(tensor.data[(o * count + n) * 3 + i]))
        expect(along(indices), `seed ${seed}`).toEqual(order)
        expect(along(values)).toEqual(order.map(n => slice[n]))
      }
    }
  })

  test('OpenVINO orders by index when asked to, and its indices are i32 by default', () => {
    const kind: Kind = ['openvino', 'TopK', 11]
    expect(run(kind, data, 4, { mode: 'min', sort: 'index', axis: 0, stable: true })).toEqual([
      [5, 3, 1, 2],
      [0, 1, 2, 3]
    ])
    expect((runOp(kind, [data, k(1)], { attributes: MAX, outputs: 2 })[1] as Tensor).type).toBe('int32')
    expect(
      (runOp(kind, [data, k(1)], { attributes: { ...MAX, index_element_type: 'i64' }, outputs: 2 })[1] as Tensor).type
    ).toBe('int64')
    expect(errorOf(() => run(kind, data, 1, { ...MAX, index_element_type: 'f32' })).code).toBe(
      'unknown-attribute-value'
    )
  })

  test('compares 64-bit integers exactly', () => {
    const wide = new Tensor('uint64', [2n ** 63n, 2n ** 64n - 1n, 2n ** 63n + 1n, 7n])
    expect(run(ONNX, wide, 3)).toEqual([
      [2n ** 64n - 1n, 2n ** 63n + 1n, 2n ** 63n],
      [1, 2, 0]
    ])
  })

  test('NaN comes last in ONNX and is smaller than every number in OpenVINO', () => {
    const some = new Tensor('float32', [1, NaN, -Infinity, 2])
    expect(run(ONNX, some, 4)[1]).toEqual([3, 0, 2, 1])
    expect(run(ONNX, some, 4, { largest: 0 })[1]).toEqual([2, 0, 3, 1])
    expect(run(['openvino', 'TopK', 3], some, 4, MAX)[1]).toEqual([3, 0, 2, 1])
    expect(run(['openvino', 'TopK', 3], some, 2, { ...MAX, mode: 'min' })[1]).toEqual([1, 2])
  })

  test('moves the bits of float16', () => {
    const codes = [1.5, -2, 0.25].map(value => encodeFloat('float16', value))
    const [values] = runOp(['onnx', 'TopK', 10], [new Tensor('float16', new Uint16Array(codes), [3]), k(2)], {
      outputs: 2
    }) as Tensor[]
    expect([...values.data]).toEqual([codes[0], codes[2]])
  })

  test('k is an attribute in version 1', () => {
    const [values] = runOp(['onnx', 'TopK', 1], [data], { attributes: { k: 2 }, outputs: 2 }) as Tensor[]
    expect([...values.data]).toEqual([5, 5])
  })

  test('k may be 0, not negative, not more than there is', () => {
    expect(run(ONNX, data, 0)).toEqual([[], []])
    expect(errorOf(() => run(ONNX, data, -1)).code).toBe('value-out-of-range')
    expect(errorOf(() => run(ONNX, data, 7)).code).toBe('value-out-of-range')
    expect(errorOf(() => run(ONNX, data, 1, { axis: 1 })).code).toBe('axis-out-of-range')
    expect(errorOf(() => run(ONNX, new Tensor('float32', [1], []), 1)).code).toBe('axis-out-of-range')
  })

  test('the shape follows k, known or not', () => {
    const infer = (dims: (number | string)[], count: Tensor | ReturnType<typeof fact>): unknown =>
      dimsOf(inferOp(ONNX, [fact('float32', dims), count], { outputs: 2 })[1])
    expect(infer(['n', 7], k(3))).toEqual(['n', 3])
    expect(infer(['n', 7], fact('int64', [1]))).toEqual(['n', '0..7'])
    expect(errorOf(() => infer(['n', '2..4'], k(5))).code).toBe('value-out-of-range')
  })
})
