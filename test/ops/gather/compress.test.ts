import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { counted } from '../random.ts'

const ONNX: Kind = ['onnx', 'Compress', 11]
const flags = (...values: boolean[]): Tensor => new Tensor('bool', values)

describe('Compress', () => {
  const data = counted('float32', [3, 2])

  test('keeps slices along an axis, or elements of the flattened data', () => {
    expect(runTensor(ONNX, [data, flags(false, true, true)], { attributes: { axis: 0 } })).toMatchObject({
      dims: [2, 2],
      data: new Float32Array([2, 3, 4, 5])
    })
    expect(runTensor(ONNX, [data, flags(false, true)], { attributes: { axis: -1 } })).toMatchObject({
      dims: [3, 1],
      data: new Float32Array([1, 3, 5])
    })
    expect(runTensor(ONNX, [data, flags(false, true, false, false, true)])).toMatchObject({
      dims: [2],
      data: new Float32Array([1, 4])
    })
  })

  test.each([39, 40, 41, 63, 64, 65, 200])('keeps rows of %d elements, whatever they are copied by', width => {
    for (const type of ['float32', 'float16', 'uint8', 'int64'] as const) {
      const rows = counted(type, [7, width])
      const kept = [1, 2, 4, 6]
      const condition = flags(...Array.from({ length: 7 }, (_, row) => kept.includes(row)))
      const out = runTensor(ONNX, [rows, condition], { attributes: { axis: 0 } })
      const elements = [...(rows.data as Iterable<number | bigint>)]
      expect([...(out.data as Iterable<number | bigint>)]).toEqual(
        kept.flatMap(row => elements.slice(row * width, (row + 1) * width))
      )
    }
  })

  test('a condition may be shorter than the axis, and longer where it does not hold', () => {
    expect(runTensor(ONNX, [data, flags(true)], { attributes: { axis: 0 } }).dims).toEqual([1, 2])
    expect(runTensor(ONNX, [data, flags(true, false, false, false)], { attributes: { axis: 0 } }).dims).toEqual([1, 2])
    expect(
      errorOf(() => runTensor(ONNX, [data, flags(false, false, false, true)], { attributes: { axis: 0 } })).code
    ).toBe('value-out-of-range')
  })

  test('a known condition gives the size, an unknown one its bound', () => {
    expect(
      dimsOf(inferOp(ONNX, [fact('float32', ['n', 5]), flags(true, false, true)], { attributes: { axis: 1 } })[0])
    ).toEqual(['n', 2])
    expect(
      dimsOf(inferOp(ONNX, [fact('float32', ['n', 5]), fact('bool', [3])], { attributes: { axis: 1 } })[0])
    ).toEqual(['n', '0..3'])
    expect(dimsOf(inferOp(ONNX, [fact('float32'), fact('bool')])[0])).toEqual(['?'])
  })

  test('data are no scalar, the condition a list', () => {
    expect(errorOf(() => runTensor(ONNX, [new Tensor('float32', [1], []), flags(true)])).code).toBe('rank-mismatch')
    expect(errorOf(() => runTensor(ONNX, [data, new Tensor('bool', [true], [])])).code).toBe('rank-mismatch')
  })
})
