import { describe, expect, test } from 'vitest'
import { encodeFloat } from '../../../src/tensor/floats.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { counted } from '../random.ts'

const EYE: Kind = ['openvino', 'Eye', 9]
const int = (value: number): Tensor => new Tensor('int32', [value], [])

describe('EyeLike', () => {
  test('takes dims and type of its input', () => {
    const out = runTensor(['onnx', 'EyeLike', 9], [counted('int64', [2, 3])], { attributes: { k: 1 } })
    expect(out).toMatchObject({ type: 'int64', dims: [2, 3], data: new BigInt64Array([0n, 1n, 0n, 0n, 0n, 1n]) })
    expect([...runTensor(['onnx', 'EyeLike', 9], [counted('bool', [2, 2])], { attributes: { k: -1 } }).data]).toEqual([
      0, 0, 1, 0
    ])
    expect([...runTensor(['onnx', 'EyeLike', 9], [counted('bool', [2, 2])], { attributes: { k: 9 } }).data]).toEqual([
      0, 0, 0, 0
    ])
  })

  test('dtype chooses another type that the version allows', () => {
    const run = (opset: number, dtype: number): Tensor =>
      runTensor(['onnx', 'EyeLike', opset], [counted('float32', [1, 1])], { attributes: { dtype } })
    expect(run(9, 10).data).toEqual(new Uint16Array([encodeFloat('float16', 1)]))
    expect(run(22, 16).data).toEqual(new Uint16Array([encodeFloat('bfloat16', 1)]))
    expect(errorOf(() => run(9, 16)).code).toBe('type-not-allowed')
    expect(errorOf(() => run(22, 8)).code).toBe('type-not-allowed')
  })

  test('the input is a matrix', () => {
    expect(errorOf(() => runTensor(['onnx', 'EyeLike', 9], [counted('float32', [2])])).code).toBe('rank-mismatch')
  })
})

describe('Eye', () => {
  const run = (rows: number, columns: number, diagonal: number, batch?: number[]): Tensor =>
    runTensor(EYE, [int(rows), int(columns), int(diagonal), ...(batch ? [new Tensor('int64', batch)] : [])], {
      attributes: { output_type: 'i8' }
    })

  test('draws a diagonal in each matrix', () => {
    expect([...run(3, 4, 2).data]).toEqual([0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0])
    expect([...run(3, 4, -1).data]).toEqual([0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0])
    expect(run(2, 2, 0, [1, 2])).toMatchObject({ dims: [1, 2, 2, 2], data: new Int8Array([1, 0, 0, 1, 1, 0, 0, 1]) })
    expect(run(2, 2, 5).data).toEqual(new Int8Array(4))
    expect(run(2, 2, 0, []).dims).toEqual([2, 2])
  })

  test('sizes are not negative, the type is numeric', () => {
    expect(errorOf(() => run(-1, 2, 0)).code).toBe('value-out-of-range')
    expect(errorOf(() => run(1, 2, 0, [-2])).code).toBe('value-out-of-range')
    expect(
      errorOf(() => runTensor(EYE, [int(1), int(1), int(0)], { attributes: { output_type: 'string' } })).code
    ).toBe('type-not-allowed')
    expect(errorOf(() => run(2 ** 30, 2 ** 30, 0)).code).toBe('limit-exceeded')
  })

  test('unknown sizes give unknown dims', () => {
    const infer = (...inputs: (Tensor | ReturnType<typeof fact>)[]): unknown =>
      dimsOf(inferOp(EYE, inputs, { attributes: { output_type: 'f32' } })[0])
    expect(infer(fact('int32', []), int(3), int(0))).toEqual(['?', 3])
    expect(infer(int(2), int(3), fact('int32', []), fact('int32', ['?']))).toBeUndefined()
  })
})
