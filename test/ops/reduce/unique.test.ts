import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp } from '../harness.ts'
import { picks } from '../random.ts'

const ONNX: Kind = ['onnx', 'Unique', 11]

function run(data: Tensor, attributes: Record<string, number> = {}): { dims: readonly number[]; lists: unknown[][] } {
  const outs = runOp(ONNX, [data], { attributes, outputs: 4 }) as Tensor[]
  return {
    dims: outs[0].dims,
    lists: outs.map(out =>
      [...(out.data as Float32Array)].map(value => (typeof value === 'bigint' ? Number(value) : value))
    )
  }
}

describe('Unique', () => {
  test('gives elements, first places, inverse and counts, sorted or as they come', () => {
    const data = new Tensor('int32', [2, 1, 1, 3, 4, 3])
    expect(run(data, { sorted: 0 }).lists).toEqual([
      [2, 1, 3, 4],
      [0, 1, 3, 4],
      [0, 1, 1, 2, 3, 2],
      [1, 2, 2, 1]
    ])
    expect(run(data).lists).toEqual([
      [1, 2, 3, 4],
      [1, 0, 3, 4],
      [1, 0, 0, 2, 3, 2],
      [2, 1, 2, 1]
    ])
  })

  test('compares slices along an axis', () => {
    const data = new Tensor('float32', [1, 1, 0, 1, 2, 1, 0, 1, 1, 1, 0, 1, 2, 1, 0, 1], [2, 4, 2])
    const { dims, lists } = run(data, { axis: 1 })
    expect(dims).toEqual([2, 3, 2])
    expect(lists).toEqual([
      [0, 1, 1, 1, 2, 1, 0, 1, 1, 1, 2, 1],
      [1, 0, 2],
      [1, 0, 2, 0],
      [2, 1, 1]
    ])
    expect(run(new Tensor('float32', [1, 0, 0, 1, 0, 0, 2, 3, 4], [3, 3]), { axis: -2 })).toEqual({
      dims: [2, 3],
      lists: [
        [1, 0, 0, 2, 3, 4],
        [0, 2],
        [0, 0, 1],
        [2, 1]
      ]
    })
  })

  test('finds slices again by their inverse, whatever the data', () => {
    for (let seed = 1; seed <= 30; seed++) {
      const [rows, width] = [1 + picks(seed, 8), 1 + picks(seed + 1, 3)]
      const data = Array.from({ length: rows * width }, (_, i) => picks(seed * 13 + i, 2))
      const {
        lists: [values, first, inverse, counts]
      } = run(new Tensor('int8', data, [rows, width]), { axis: 0, sorted: seed % 2 })
      const slice = (list: unknown[], row: number): string => list.slice(row * width, (row + 1) * width).join()
      for (let row = 0; row < rows; row++)
        expect(slice(values, inverse[row] as number), `seed ${seed}`).toBe(slice(data, row))
      expect(first.map(row => inverse[row as number])).toEqual(first.map((_, i) => i))
      expect((counts as number[]).reduce((a, b) => a + b)).toBe(rows)
      const order = first.map((_, i) => slice(values, i))
      if (seed % 2 === 1) expect(order).toEqual([...new Set(order)].sort())
      else expect(first).toEqual([...(first as number[])].sort((a, b) => a - b))
    }
  })

  test('NaN equals NaN and is last; -0 equals 0', () => {
    expect(run(new Tensor('float32', [NaN, 1, NaN, 0, -0])).lists).toEqual([
      [0, 1, NaN],
      [3, 1, 0],
      [2, 1, 2, 0, 0],
      [2, 1, 2]
    ])
  })

  test('orders text by code points, wide integers exactly, complex numbers by parts', () => {
    expect(run(new Tensor('string', ['\u{1F600}', '\uFB01', 'b', 'b'])).lists[0]).toEqual(['b', '\uFB01', '\u{1F600}'])
    const wide = runOp(ONNX, [new Tensor('int64', [2n ** 60n + 1n, 2n ** 60n])], { outputs: 1 })[0] as Tensor
    expect([...wide.data]).toEqual([2n ** 60n, 2n ** 60n + 1n])
    expect(run(new Tensor('complex64', new Float32Array([1, 2, 1, -2, 0, 5, 1, 2]), [4])).lists).toEqual([
      [0, 5, 1, -2, 1, 2],
      [2, 1, 0],
      [2, 1, 0, 2],
      [1, 1, 2]
    ])
  })

  test('empty data have no elements, a scalar has one', () => {
    expect(run(new Tensor('float32', [])).lists).toEqual([[], [], [], []])
    expect(run(new Tensor('float32', [], [2, 0]), { axis: 0 })).toEqual({ dims: [1, 0], lists: [[], [0], [0, 0], [2]] })
    expect(run(new Tensor('float32', [7], [])).lists).toEqual([[7], [0], [0], [1]])
  })

  test('too many empty slices are refused', () => {
    expect(errorOf(() => run(new Tensor('float32', [], [0, 2 ** 40]), { axis: 1 })).code).toBe('limit-exceeded')
  })

  test('OpenVINO takes the axis from an input and chooses index types', () => {
    const outs = runOp(
      ['openvino', 'Unique', 10],
      [new Tensor('float32', [3, 3, 1, 1], [2, 2]), new Tensor('int64', [1n])],
      { attributes: { index_element_type: 'i32', sorted: false }, outputs: 4 }
    ) as Tensor[]
    expect(outs.map(({ type, dims }) => [type, dims])).toEqual([
      ['float32', [2, 1]],
      ['int32', [1]],
      ['int32', [2]],
      ['int64', [1]]
    ])
  })

  test('how many there are is bounded by the data', () => {
    expect(inferOp(ONNX, [fact('float32', [3, 'n'])], { attributes: { axis: 0 }, outputs: 4 }).map(dimsOf)).toEqual([
      ['1..3', 'n'],
      ['1..3'],
      [3],
      ['1..3']
    ])
    expect(inferOp(ONNX, [fact('float32', [2, '0..4'])], { outputs: 4 }).map(dimsOf)).toEqual([
      ['0..8'],
      ['0..8'],
      ['0..8'],
      ['0..8']
    ])
    expect(
      inferOp(['openvino', 'Unique', 10], [fact('float32', [2, 3]), fact('int64', [])], { outputs: 4 }).map(dimsOf)
    ).toEqual([['0..2', '0..3'], ['?'], ['?'], ['?']])
    expect(errorOf(() => run(new Tensor('float32', [1]), { axis: 1 })).code).toBe('axis-out-of-range')
  })
})

describe('Unique of com.microsoft', () => {
  const kind: Kind = ['onnx', 'Unique', 1, 'com.microsoft']

  test('gives elements in the order of their first occurrence, inverse and counts', () => {
    const outputs = runOp(kind, [new Tensor('float32', [2, 1, 1, 3, 4, 3])], { outputs: 3 }) as Tensor[]
    expect(outputs.map(({ type, data }) => [type, ...Array.from(data as Float32Array, Number)])).toEqual([
      ['float32', 2, 1, 3, 4],
      ['int64', 0, 1, 1, 2, 3, 2],
      ['int64', 1, 2, 2, 1]
    ])
    const none = runOp(kind, [new Tensor('float32', [])], { outputs: 3 }) as Tensor[]
    expect(none.map(({ dims }) => dims)).toEqual([[0], [0], [0]])
  })

  test('takes a list, and knows the size of the inverse', () => {
    for (const dims of [[], [1, 1]])
      expect(errorOf(() => runOp(kind, [new Tensor('float32', [1], dims)], { outputs: 3 })).code).toBe('rank-mismatch')
    expect(dimsOf(inferOp(kind, [fact('float32', ['n'])], { outputs: 3 })[1])).toEqual(['n'])
  })
})
