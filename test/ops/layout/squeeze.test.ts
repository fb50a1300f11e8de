import { describe, expect, test } from 'vitest'
import type { Kind } from '../harness.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota, scalar, valuesOf } from '../values.ts'

const data = iota([1, 3, 1])

describe('ONNX Squeeze', () => {
  test('takes dims of 1 at the axes away, or all', () => {
    expect(runTensor(['onnx', 'Squeeze', 1], [data], { attributes: { axes: [2] } }).dims).toEqual([1, 3])
    expect(runTensor(['onnx', 'Squeeze', 11], [data], { attributes: { axes: [-1, 0] } }).dims).toEqual([3])
    expect(runTensor(['onnx', 'Squeeze', 13], [data, ints(-3)]).dims).toEqual([3, 1])
    expect(runTensor(['onnx', 'Squeeze', 13], [data]).dims).toEqual([3])
    expect(runTensor(['onnx', 'Squeeze', 13], [data, ints()]).dims).toEqual([1, 3, 1])
    expect(runTensor(['onnx', 'Squeeze', 13], [data, ints(0, 0)]).dims).toEqual([3, 1])
  })

  test('refuses other dims, far axes, and negative ones in version 1', () => {
    expect(errorOf(() => runTensor(['onnx', 'Squeeze', 13], [data, ints(1)])).message).toBe(
      'dim 1 is 3; only dims of 1 can be taken away'
    )
    expect(errorOf(() => runTensor(['onnx', 'Squeeze', 13], [data, ints(3)])).code).toBe('axis-out-of-range')
    expect(errorOf(() => runTensor(['onnx', 'Squeeze', 1], [data], { attributes: { axes: [-1] } })).code).toBe(
      'axis-out-of-range'
    )
  })
})

describe('OpenVINO Squeeze', () => {
  test('keeps other dims; an empty list and none mean all', () => {
    for (const opset of [1, 15]) {
      const kind: Kind = ['openvino', 'Squeeze', opset]
      expect(runTensor(kind, [data, ints(1, 2)]).dims).toEqual([1, 3])
      expect(runTensor(kind, [data, ints()]).dims).toEqual([3])
      expect(runTensor(kind, [data]).dims).toEqual([3])
      expect(runTensor(kind, [data, scalar(-1)]).dims).toEqual([1, 3])
      expect(errorOf(() => runTensor(kind, [data, iota([1])])).code).toBe('type-not-allowed')
    }
  })
})

describe('the shape rule of Squeeze', () => {
  const of = (
    kind: Kind,
    dims: readonly (number | string)[] | undefined,
    axes?: ReturnType<typeof ints> | ReturnType<typeof fact>,
    attributes = {}
  ): unknown => dimsOf(inferOp(kind, axes ? [fact('float32', dims), axes] : [fact('float32', dims)], { attributes })[0])

  test('a symbolic dim at an axis goes', () => {
    expect(of(['onnx', 'Squeeze', 13], ['n', 3, 'm'], ints(2))).toEqual(['n', 3])
    expect(of(['openvino', 'Squeeze', 1], ['n', 3, 'm'], ints(2, 1))).toEqual(['n', 3])
    expect(of(['openvino', 'Squeeze', 15], ['n', 3, '2..4'], ints(2))).toEqual(['n', 3, '2..4'])
    expect(errorOf(() => of(['onnx', 'Squeeze', 13], ['2..4'], ints(0))).code).toBe('dims-mismatch')
  })

  test('allow_axis_skip leaves the rank open', () => {
    expect(of(['openvino', 'Squeeze', 15], ['n', 3, 'm'], ints(2), { allow_axis_skip: true })).toBeUndefined()
    expect(of(['openvino', 'Squeeze', 15], ['n', 3, 1], ints(2), { allow_axis_skip: true })).toEqual(['n', 3])
  })

  test('without axes a dim that may be 1 leaves the rank open', () => {
    expect(of(['onnx', 'Squeeze', 13], ['n', 1, 3])).toBeUndefined()
    expect(of(['onnx', 'Squeeze', 13], ['2..', 1, 3])).toEqual(['2..', 3])
  })

  test('unknown axes', () => {
    expect(of(['onnx', 'Squeeze', 13], ['n', 1, 3], fact('int64', [1]))).toEqual(['?', '?'])
    expect(of(['onnx', 'Squeeze', 13], ['n', 1, 3], fact('int64', [2]))).toBeUndefined()
    expect(of(['openvino', 'Squeeze', 1], ['n', 1, 3], fact('int64', [1]))).toBeUndefined()
    expect(of(['onnx', 'Squeeze', 13], undefined, ints(0))).toBeUndefined()
  })

  test('moves values that are partly known', () => {
    const [dims] = inferOp(['onnx', 'Shape', 15], [fact('float32', ['n'])])
    const [out] = inferOp(['onnx', 'Squeeze', 13], [dims, ints(0)])
    expect([dimsOf(out), valuesOf(out)]).toEqual([[], ['n']])
  })
})
