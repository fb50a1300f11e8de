import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { counted, picks } from '../random.ts'

const ONNX: Kind = ['onnx', 'ReverseSequence', 10]
const IR: Kind = ['openvino', 'ReverseSequence', 1]
const lens = (...values: number[]): Tensor => new Tensor('int64', values)

describe('ReverseSequence', () => {
  test('reverses the beginning of each sequence, as the examples of ONNX say', () => {
    const data = counted('float32', [4, 4])
    expect([
      ...runTensor(ONNX, [data, lens(1, 2, 3, 4)], { attributes: { time_axis: 1, batch_axis: 0 } }).data
    ]).toEqual([0, 1, 2, 3, 5, 4, 6, 7, 10, 9, 8, 11, 15, 14, 13, 12])
    expect([...runTensor(ONNX, [data, lens(4, 3, 2, 1)]).data]).toEqual([
      12, 9, 6, 3, 8, 5, 2, 7, 4, 1, 10, 11, 0, 13, 14, 15
    ])
  })

  test('any two axes in OpenVINO, negative ones too', () => {
    for (let seed = 1; seed <= 30; seed++) {
      const dims = Array.from({ length: 2 + picks(seed, 3) }, (_, d) => 1 + picks(seed * 7 + d, 4))
      const batch = picks(seed + 1, dims.length)
      const time = (batch + 1 + picks(seed + 2, dims.length - 1)) % dims.length
      const lengths = Array.from({ length: dims[batch] }, (_, b) => 1 + picks(seed * 3 + b, dims[time]))
      const data = counted(seed % 2 === 0 ? 'int64' : 'string', dims)
      const out = runTensor(IR, [data, lens(...lengths)], {
        attributes: { batch_axis: batch - dims.length, seq_axis: time }
      })
      const strides = dims.map((_, d) => dims.slice(d + 1).reduce((a, b) => a * b, 1))
      const expected = Array.from(data.data as string[], (_, t) => {
        const at = strides.map((stride, d) => Math.floor(t / stride) % dims[d])
        if (at[time] < lengths[at[batch]]) at[time] = lengths[at[batch]] - 1 - at[time]
        return data.data[at.reduce((sum, c, d) => sum + c * strides[d], 0)]
      })
      expect([...(out.data as string[])], `seed ${seed}`).toEqual(expected)
    }
  })

  test('lengths are whole numbers from 0 to the size of the axis, floats allowed in OpenVINO', () => {
    const data = counted('int8', [2, 3])
    expect([...runTensor(IR, [data, new Tensor('float32', [0, 3])]).data]).toEqual([0, 1, 2, 5, 4, 3])
    for (const bad of [
      [1, 4],
      [-1, 1],
      [1.5, 1]
    ])
      expect(errorOf(() => runTensor(IR, [data, new Tensor('float32', bad)])).code).toBe('value-out-of-range')
    expect(errorOf(() => inferOp(IR, [fact('int8', [2, 3]), lens(1, 4)])).message).toContain('length 4 at [1]')
  })

  test('refuses equal axes, axes beyond 1 in ONNX and lists that do not fit', () => {
    const data = counted('int8', [2, 3, 2])
    expect(
      errorOf(() => runTensor(ONNX, [data, lens(1, 1)], { attributes: { time_axis: 0, batch_axis: 0 } })).code
    ).toBe('value-out-of-range')
    expect(
      errorOf(() => runTensor(ONNX, [data, lens(1, 1)], { attributes: { time_axis: 0, batch_axis: 2 } })).code
    ).toBe('axis-out-of-range')
    expect(errorOf(() => runTensor(IR, [data, lens(1, 1, 1)])).code).toBe('dims-mismatch')
    expect(errorOf(() => runTensor(IR, [counted('int8', [2]), lens(1, 1)])).code).toBe('rank-mismatch')
  })

  test('the batch is what data and lengths say together', () => {
    expect(dimsOf(inferOp(IR, [fact('int8', ['?', 'n']), fact('int64', [4])])[0])).toEqual([4, 'n'])
  })
})
