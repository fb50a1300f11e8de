import { describe, expect, test } from 'vitest'
import { allocate } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { valuesOf } from '../values.ts'

describe('ONNX Shape', () => {
  const data = allocate('string', [2, 0, 4])
  const cut = (start: number, end?: number): bigint[] => [
    ...(runTensor(['onnx', 'Shape', 15], [data], { attributes: { start, ...(end !== undefined && { end }) } })
      .data as BigInt64Array)
  ]

  test('gives the dims of any tensor', () => {
    expect([...runTensor(['onnx', 'Shape', 1], [data]).data]).toEqual([2n, 0n, 4n])
    expect(runTensor(['onnx', 'Shape', 13], [allocate('bool', [])]).dims).toEqual([0])
  })

  test('start and end count from the end and are clamped to the rank', () => {
    expect(cut(1)).toEqual([0n, 4n])
    expect(cut(-1)).toEqual([4n])
    expect(cut(0, -1)).toEqual([2n, 0n])
    expect(cut(-9, 9)).toEqual([2n, 0n, 4n])
    expect(cut(2, 1)).toEqual([])
  })

  test('start and end came with version 15', () => {
    expect(errorOf(() => runTensor(['onnx', 'Shape', 13], [data], { attributes: { start: 1 } })).code).toBe(
      'unknown-attribute-value'
    )
  })

  test('dims are known as symbols before the run', () => {
    const [out] = inferOp(['onnx', 'Shape', 15], [fact('float32', ['n', 3, 'm', '1..4'])], {
      attributes: { start: 0, end: 3 }
    })
    expect(dimsOf(out)).toEqual([3])
    expect(valuesOf(out)).toEqual(['n', 3n, 'm'])
  })

  test('an unknown rank gives a list of unknown length', () => {
    const [out] = inferOp(['onnx', 'Shape', 13], [fact('float32')])
    expect(dimsOf(out)).toEqual(['0..64'])
    expect(valuesOf(out)).toBeUndefined()
  })
})

describe('OpenVINO ShapeOf', () => {
  test('ShapeOf-1 gives i64, ShapeOf-3 the type that it names', () => {
    expect(runTensor(['openvino', 'ShapeOf', 1], [allocate('uint4', [3, 2])])).toMatchObject({
      type: 'int64',
      data: new BigInt64Array([3n, 2n])
    })
    expect(
      runTensor(['openvino', 'ShapeOf', 3], [allocate('uint4', [3, 2])], { attributes: { output_type: 'i32' } })
    ).toMatchObject({ type: 'int32', data: new Int32Array([3, 2]) })
    expect(
      valuesOf(
        inferOp(['openvino', 'ShapeOf', 3], [fact('float32', ['n', 2])], { attributes: { output_type: 'i32' } })[0]
      )
    ).toEqual(['n', 2n])
  })

  test('ShapeOf-3 needs output_type, i32 or i64', () => {
    expect(errorOf(() => runTensor(['openvino', 'ShapeOf', 3], [allocate('bool', [1])])).code).toBe('missing-attribute')
    expect(
      errorOf(() =>
        runTensor(['openvino', 'ShapeOf', 3], [allocate('bool', [1])], { attributes: { output_type: 'f32' } })
      ).code
    ).toBe('unknown-attribute-value')
  })
})
