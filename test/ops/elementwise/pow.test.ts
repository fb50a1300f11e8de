import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota, valuesOf } from '../values.ts'

const list = (tensor: Tensor): unknown[] => [...tensor.data]
const floats = (...values: number[]): Tensor => new Tensor('float32', values)

describe('ONNX Pow', () => {
  test('has the type of the base whatever the exponent’s is', () => {
    const out = runTensor(['onnx', 'Pow', 15], [floats(2, 3, 4), ints(3, 0, -1)])
    expect(out.type).toBe('float32')
    expect(list(out)).toEqual([8, 1, 0.25])
    expect(list(runTensor(['onnx', 'Pow', 15], [new Tensor('int32', [2, 9]), floats(3, 0.5)]))).toEqual([8, 3])
  })

  test('integers are exact, low bits kept', () => {
    expect(list(runTensor(['onnx', 'Pow', 15], [ints(3, 3, -2), ints(39, 41, 63)]))).toEqual([
      3n ** 39n,
      BigInt.asIntN(64, 3n ** 41n),
      -(2n ** 63n)
    ])
    expect(list(runTensor(['onnx', 'Pow', 15], [new Tensor('int32', [3]), ints(21)]))).toEqual([
      Number(BigInt.asIntN(32, 3n ** 21n))
    ])
  })

  test('integers of up to 32 bits keep their low bits whatever types both have', () => {
    const base = new Tensor('int32', [3, -7, -1, 1, 5])
    for (const type of ['int32', 'uint8', 'int64'] as const) {
      const exponent = type === 'int64' ? ints(21, 13, 7, 200, 0) : new Tensor(type, [21, 13, 7, 200, 0])
      const expected = [3n ** 21n, (-7n) ** 13n, -1n, 1n, 1n].map(value => Number(BigInt.asIntN(32, value)))
      expect(list(runTensor(['onnx', 'Pow', 15], [base, exponent]))).toEqual(expected)
    }
    const refused = [new Tensor('int32', [0]), new Tensor('int32', [-1])]
    expect(errorOf(() => runTensor(['onnx', 'Pow', 15], refused)).code).toBe('value-out-of-range')
  })

  test('a negative exponent of an integer gives the integer part; 0 to it is refused', () => {
    expect(list(runTensor(['onnx', 'Pow', 15], [ints(1, -1, -1, 2), ints(-1, -2, -3, -1)]))).toEqual([1n, 1n, -1n, 0n])
    expect(errorOf(() => runTensor(['onnx', 'Pow', 15], [ints(0), ints(-1)])).code).toBe('value-out-of-range')
  })

  test('special values are those of IEEE 754', () => {
    const out = runTensor(['onnx', 'Pow', 15], [floats(1, -1, NaN, 0, -8), floats(NaN, Infinity, 0, -1, 1 / 3)])
    expect(list(out)).toEqual([1, 1, 1, Infinity, NaN])
  })

  test('another exponent type needs version 12', () => {
    expect(errorOf(() => runTensor(['onnx', 'Pow', 7], [floats(2), ints(3)])).code).toBe('type-not-allowed')
    expect(
      list(runTensor(['onnx', 'Pow', 1], [iota([2, 2]), floats(2, 3)], { attributes: { broadcast: 1, axis: 0 } }))
    ).toEqual([0, 1, 8, 27])
  })

  test('small powers of symbols are followed', () => {
    const shape = inferOp(['onnx', 'Shape', 13], [fact('float32', ['n'])])[0]
    expect(valuesOf(inferOp(['onnx', 'Pow', 15], [shape, ints(2)])[0])).toEqual(['n*n'])
  })
})

test('OpenVINO Power wraps unsigned bytes', () => {
  const bytes = (...values: number[]): Tensor => new Tensor('uint8', values)
  expect(list(runTensor(['openvino', 'Power', 1], [bytes(2, 3), bytes(8, 3)]))).toEqual([0, 27])
})

test('OpenVINO Power takes operands of one type only', () => {
  expect(errorOf(() => runTensor(['openvino', 'Power', 1], [floats(2), ints(3)])).code).toBe('type-mismatch')
  expect(list(runTensor(['openvino', 'Power', 1], [floats(2), floats(3)]))).toEqual([8])
})
