import { describe, expect, test } from 'vitest'
import { ALL_DTYPES, DTYPES } from '../../../src/tensor/dtype.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota, valuesOf } from '../values.ts'

describe('Transpose', () => {
  test('reverses the axes unless told', () => {
    const out = runTensor(['onnx', 'Transpose', 1], [iota([2, 3])])
    expect(out.dims).toEqual([3, 2])
    expect([...out.data]).toEqual([0, 3, 1, 4, 2, 5])
    expect([...runTensor(['openvino', 'Transpose', 1], [iota([2, 3]), ints()]).data]).toEqual([0, 3, 1, 4, 2, 5])
    expect(runTensor(['onnx', 'Transpose', 13], [iota([])]).dims).toEqual([])
  })

  test('moves the channels of a picture of bytes, and of other types alike', () => {
    for (const type of ['uint8', 'uint16', 'int32'] as const) {
      const data = Array.from({ length: 40 * 50 * 3 }, (_, i) => (i * 7) % 251)
      const out = runTensor(['onnx', 'Transpose', 13], [new Tensor(type, data, [1, 40, 50, 3])], {
        attributes: { perm: [0, 3, 1, 2] }
      })
      expect([...out.data]).toEqual(data.map((_, i) => ((3 * (i % 2000) + Math.floor(i / 2000)) * 7) % 251))
    }
  })

  test('gives the data under other dims where only axes of one element change places', () => {
    const data = iota([1, 3, 1, 4])
    for (const perm of [
      [0, 1, 2, 3],
      [0, 2, 1, 3],
      [1, 0, 3, 2],
      [1, 3, 0, 2]
    ]) {
      const out = runTensor(['onnx', 'Transpose', 13], [data], { attributes: { perm } })
      expect(out.dims).toEqual(perm.map(axis => data.dims[axis]))
      expect(out.data).toBe(data.data)
    }
    const moved = runTensor(['onnx', 'Transpose', 13], [data], { attributes: { perm: [0, 3, 2, 1] } })
    expect([...moved.data]).toEqual([0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11])
  })

  test('puts axes in the order given', () => {
    const out = runTensor(['onnx', 'Transpose', 13], [iota([2, 3, 4])], { attributes: { perm: [1, 2, 0] } })
    expect(out.dims).toEqual([3, 4, 2])
    expect([...out.data]).toEqual(Array.from({ length: 24 }, (_, i) => Math.floor(i / 2) + (i % 2) * 12))
    expect(
      runTensor(['onnx', 'Transpose', 13], [allocate('float32', [2, 0, 4])], { attributes: { perm: [2, 0, 1] } }).dims
    ).toEqual([4, 2, 0])
  })

  test('moves every element type, bit by bit', () => {
    for (const type of ALL_DTYPES) {
      const data = iota([2, 3], type)
      const { slots } = DTYPES[type]
      const expected = [0, 3, 1, 4, 2, 5].flatMap(i => [...data.data.slice(i * slots, (i + 1) * slots)] as unknown[])
      expect([...runTensor(['openvino', 'Transpose', 1], [data, ints(1, 0)]).data], type).toEqual(expected)
    }
    const quiet = new Tensor('float64', new Float64Array(new BigUint64Array([0x7ff4000000000001n, 0n]).buffer), [2, 1])
    const bits = new BigUint64Array((runTensor(['onnx', 'Transpose', 13], [quiet]).data as Float64Array).buffer)
    expect(bits[0]).toBe(0x7ff4000000000001n)
  })

  test('refuses what is no permutation', () => {
    for (const perm of [
      [0, 0],
      [0, 2],
      [-1, 0]
    ]) {
      expect(errorOf(() => runTensor(['onnx', 'Transpose', 13], [iota([2, 3])], { attributes: { perm } })).code).toBe(
        'value-out-of-range'
      )
    }
    expect(
      errorOf(() => runTensor(['onnx', 'Transpose', 13], [iota([2, 3])], { attributes: { perm: [0] } })).code
    ).toBe('dims-mismatch')
    expect(errorOf(() => runTensor(['openvino', 'Transpose', 1], [iota([2, 3]), ints(0)])).code).toBe('dims-mismatch')
  })

  test('permutes symbols; an unknown order gives the hull of all dims', () => {
    expect(
      dimsOf(
        inferOp(['onnx', 'Transpose', 13], [fact('float32', ['n', 3, 'm'])], { attributes: { perm: [2, 0, 1] } })[0]
      )
    ).toEqual(['m', 'n', 3])
    const [hull] = inferOp(['openvino', 'Transpose', 1], [fact('float32', [3, '5..7']), fact('int64', [2])])
    expect(dimsOf(hull)).toEqual(['3..7', '3..7'])
    expect(hull.kind === 'tensor' && hull.shape?.[0] !== hull.shape?.[1]).toBe(true)
    expect(dimsOf(inferOp(['openvino', 'Transpose', 1], [fact('float32'), ints(1, 0)])[0])).toEqual(['?', '?'])
    expect(dimsOf(inferOp(['openvino', 'Transpose', 1], [fact('float32'), ints()])[0])).toBeUndefined()
  })

  test('moves values that are partly known', () => {
    const [dims] = inferOp(['onnx', 'Shape', 15], [fact('float32', ['n', 2, 3, 'm'])])
    const [square] = inferOp(['onnx', 'Reshape', 14], [dims, ints(2, 2)])
    expect(valuesOf(inferOp(['onnx', 'Transpose', 13], [square])[0])).toEqual(['n', 3n, 2n, 'm'])
  })
})
