import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, valuesOf } from '../values.ts'

const list = (tensor: Tensor): unknown[] => [...tensor.data]
const floats = (...values: number[]): Tensor => new Tensor('float32', values)
const doubles = (...values: number[]): Tensor => new Tensor('float64', values)

describe('functions with whole results', () => {
  test('the magnitude of the lowest integer is itself', () => {
    expect(list(runTensor(['onnx', 'Abs', 13], [new Tensor('int8', [-128, -3])]))).toEqual([-128, 3])
    expect(list(runTensor(['onnx', 'Abs', 13], [ints(-(2n ** 63n), -1)]))).toEqual([-(2n ** 63n), 1n])
    expect(list(runTensor(['onnx', 'Neg', 13], [floats(0, -2)]))).toEqual([-0, 2])
  })

  test('Sign keeps NaN', () => {
    expect(list(runTensor(['onnx', 'Sign', 13], [floats(-3, 0, 7, NaN)]))).toEqual([-1, 0, 1, NaN])
    expect(list(runTensor(['onnx', 'Sign', 13], [ints(-(2n ** 60n), 0, 2)]))).toEqual([-1n, 0n, 1n])
  })

  test('Round takes ties to even; in IR away from zero if asked for', () => {
    const ties = floats(0.5, 1.5, -2.5, 2.4)
    expect(list(runTensor(['onnx', 'Round', 22], [ties]))).toEqual([0, 2, -2, 2])
    expect(list(runTensor(['openvino', 'Round', 5], [ties], { attributes: { mode: 'half_away_from_zero' } }))).toEqual([
      1, 2, -3, 2
    ])
    expect(list(runTensor(['openvino', 'Round', 5], [ints(5)]))).toEqual([5n])
  })

  test('Ceil and Floor leave integers of IR as they are', () => {
    expect(list(runTensor(['onnx', 'Ceil', 13], [floats(1.2, -1.2)]))).toEqual([2, -1])
    expect(list(runTensor(['onnx', 'Floor', 13], [floats(1.2, -1.2)]))).toEqual([1, -2])
    expect(list(runTensor(['openvino', 'Ceiling', 1], [ints(2n ** 60n + 1n)]))).toEqual([2n ** 60n + 1n])
  })

  test('Not negates booleans, BitwiseNot integers and, in IR, booleans', () => {
    expect(list(runTensor(['onnx', 'Not', 1], [new Tensor('bool', [0, 1])]))).toEqual([1, 0])
    expect(list(runTensor(['openvino', 'LogicalNot', 1], [new Tensor('bool', [0, 1])]))).toEqual([1, 0])
    expect(list(runTensor(['onnx', 'BitwiseNot', 18], [new Tensor('uint8', [1])]))).toEqual([254])
    expect(list(runTensor(['onnx', 'BitwiseNot', 18], [ints(0)]))).toEqual([-1n])
    expect(list(runTensor(['openvino', 'BitwiseNot', 13], [new Tensor('bool', [0, 1])]))).toEqual([1, 0])
  })

  test('IsNaN, IsInf and IsFinite tell special numbers', () => {
    const special = floats(NaN, Infinity, -Infinity, 1)
    expect(list(runTensor(['onnx', 'IsNaN', 20], [special]))).toEqual([1, 0, 0, 0])
    expect(list(runTensor(['onnx', 'IsInf', 20], [special]))).toEqual([0, 1, 1, 0])
    expect(list(runTensor(['onnx', 'IsInf', 20], [special], { attributes: { detect_negative: 0 } }))).toEqual([
      0, 1, 0, 0
    ])
    expect(list(runTensor(['openvino', 'IsInf', 10], [special], { attributes: { detect_positive: false } }))).toEqual([
      0, 0, 1, 0
    ])
    expect(
      list(runTensor(['onnx', 'IsInf', 20], [special], { attributes: { detect_positive: 0, detect_negative: 0 } }))
    ).toEqual([0, 0, 0, 0])
    expect(list(runTensor(['openvino', 'IsFinite', 10], [special]))).toEqual([0, 0, 0, 1])
    expect(runTensor(['onnx', 'IsNaN', 20], [special]).type).toBe('bool')
  })
})

describe('functions with fractions', () => {
  test('have the values of Math in double precision', () => {
    const cases: readonly (readonly [string, number, (x: number) => number])[] = [
      ['Sqrt', 0.3, Math.sqrt],
      ['Exp', 0.3, Math.exp],
      ['Log', 0.3, Math.log],
      ['Sin', 0.3, Math.sin],
      ['Cos', 0.3, Math.cos],
      ['Tan', 0.3, Math.tan],
      ['Asin', 0.3, Math.asin],
      ['Acos', 0.3, Math.acos],
      ['Atan', 0.3, Math.atan],
      ['Sinh', 0.3, Math.sinh],
      ['Cosh', 0.3, Math.cosh],
      ['Tanh', 0.3, Math.tanh],
      ['Asinh', 0.3, Math.asinh],
      ['Acosh', 1.3, Math.acosh],
      ['Atanh', 0.3, Math.atanh],
      ['Reciprocal', 0.3, x => 1 / x]
    ]
    for (const [type, x, expected] of cases) {
      expect(list(runTensor(['onnx', type, 22], [doubles(x)])), type).toEqual([expected(x)])
      expect(list(runTensor(['onnx', type, 22], [floats(x)])), type).toEqual([Math.fround(expected(Math.fround(x)))])
    }
  })

  test('Erf of float32 is the nearest float32', () => {
    expect(list(runTensor(['onnx', 'Erf', 13], [floats(0.5, -2)]))).toEqual(
      [0.5204998778130465, -0.9953222650189527].map(Math.fround)
    )
  })

  test('in IR the results of integers are rounded to the nearest', () => {
    expect(list(runTensor(['openvino', 'Sqrt', 1], [new Tensor('int32', [4, 7, 9, 10])]))).toEqual([2, 3, 3, 3])
    expect(list(runTensor(['openvino', 'Exp', 1], [ints(0, 1, 2)]))).toEqual([1n, 3n, 7n])
  })

  test('float16 is computed in double precision and rounded once', () => {
    expect(list(runTensor(['onnx', 'Sqrt', 13], [new Tensor('float16', new Uint16Array([0x4000]))]))).toEqual([0x3da8])
  })
})

describe('all of them', () => {
  test('keep dims, empty ones too', () => {
    expect(runTensor(['onnx', 'Exp', 13], [allocate('float32', [2, 0, 3])]).dims).toEqual([2, 0, 3])
    expect(runTensor(['onnx', 'Exp', 13], [new Tensor('float32', [0], [])]).dims).toEqual([])
    expect(dimsOf(inferOp(['onnx', 'Tanh', 13], [fact('float32', ['n', '1..4'])])[0])).toEqual(['n', '1..4'])
  })

  test('refuse types that their version does not allow', () => {
    expect(errorOf(() => runTensor(['onnx', 'Sin', 7], [new Tensor('bfloat16', new Uint16Array([0]))])).code).toBe(
      'type-not-allowed'
    )
    expect(errorOf(() => runTensor(['openvino', 'Exp', 1], [new Tensor('bool', [1])])).code).toBe('type-not-allowed')
  })

  test('follow symbols where the result is whole', () => {
    const shape = inferOp(['onnx', 'Shape', 13], [fact('float32', ['n', 3])])[0]
    expect(valuesOf(inferOp(['onnx', 'Neg', 13], [shape])[0])).toEqual(['-n', -3n])
    expect(valuesOf(inferOp(['onnx', 'Abs', 13], [shape])[0])).toEqual(['n', 3n])
    expect(valuesOf(inferOp(['openvino', 'Floor', 1], [shape])[0])).toEqual(['n', 3n])
  })
})
