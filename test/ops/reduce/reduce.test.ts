import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { ints, iota, scalar, valuesOf } from '../values.ts'

const list = (tensor: Tensor): unknown[] => [...tensor.data]
const x = iota([2, 3, 4])

describe('ONNX reductions', () => {
  test('take axes from the attribute, later from the input', () => {
    for (const out of [
      runTensor(['onnx', 'ReduceSum', 11], [x], { attributes: { axes: [0, -1], keepdims: 0 } }),
      runTensor(['onnx', 'ReduceSum', 13], [x, ints(0, -1)], { attributes: { keepdims: 0 } })
    ]) {
      expect(out.dims).toEqual([3])
      expect(list(out)).toEqual([60, 92, 124])
    }
    expect(list(runTensor(['onnx', 'ReduceMax', 13], [x], { attributes: { axes: [1] } }))).toEqual([
      8, 9, 10, 11, 20, 21, 22, 23
    ])
    expect(list(runTensor(['onnx', 'ReduceMax', 18], [x, ints(1)]))).toEqual([8, 9, 10, 11, 20, 21, 22, 23])
  })

  test('no axes mean all, or none with noop_with_empty_axes', () => {
    expect(runTensor(['onnx', 'ReduceSum', 13], [x]).dims).toEqual([1, 1, 1])
    expect(runTensor(['onnx', 'ReduceSum', 13], [x, ints()], { attributes: { keepdims: 0 } }).dims).toEqual([])
    const out = runTensor(['onnx', 'ReduceSumSquare', 18], [iota([3])], { attributes: { noop_with_empty_axes: 1 } })
    expect(list(out)).toEqual([0, 1, 4])
  })

  test('every kind has its formula', () => {
    const of = (type: string, values: number[]): unknown =>
      runTensor(['onnx', type, 18], [new Tensor('float64', values)]).data[0]
    expect(of('ReduceMean', [1, 2, 6])).toBe(3)
    expect(of('ReduceProd', [2, 3, 4])).toBe(24)
    expect(of('ReduceMin', [2, -3, 4])).toBe(-3)
    expect(of('ReduceL1', [2, -3])).toBe(5)
    expect(of('ReduceL2', [3, -4])).toBe(5)
    expect(of('ReduceLogSum', [1, 2])).toBe(Math.log(3))
    expect(of('ReduceLogSumExp', [0, Math.log(3)])).toBeCloseTo(Math.log(4), 14)
  })

  test('ReduceLogSumExp does not overflow', () => {
    expect(list(runTensor(['onnx', 'ReduceLogSumExp', 18], [new Tensor('float32', [1000, 1000])]))).toEqual([
      Math.fround(1000 + Math.log(2))
    ])
    expect(list(runTensor(['onnx', 'ReduceLogSumExp', 18], [new Tensor('float32', [-Infinity, -Infinity])]))).toEqual([
      -Infinity
    ])
  })

  test('float32 is summed without loss', () => {
    const out = runTensor(['onnx', 'ReduceSum', 13], [new Tensor('float32', [2 ** 24, 1, 1, 1, 1])])
    expect(list(out)).toEqual([2 ** 24 + 4])
  })

  test('integers are exact and wrap', () => {
    expect(list(runTensor(['onnx', 'ReduceSum', 13], [ints(2n ** 62n, 2n ** 62n)]))).toEqual([-(2n ** 63n)])
    expect(list(runTensor(['onnx', 'ReduceProd', 13], [new Tensor('int32', [0x10001, 0x10001])]))).toEqual([0x20001])
    expect(list(runTensor(['onnx', 'ReduceSumSquare', 18], [new Tensor('uint32', [0xffffffff])]))).toEqual([1])
    expect(list(runTensor(['onnx', 'ReduceSum', 18], [new Tensor('int32', [2 ** 31 - 1, 5])]))).toEqual([4 - 2 ** 31])
    expect(list(runTensor(['onnx', 'ReduceSum', 18], [new Tensor('uint32', [2 ** 32 - 1, 5])]))).toEqual([4])
    expect(list(runTensor(['onnx', 'ReduceMean', 18], [ints(-1, -2)]))).toEqual([-1n])
    for (const [data, mean] of [
      [[-1, -2], -1],
      [[2 ** 31 - 1, 2 ** 31 - 1, 2 ** 31 - 2], 2 ** 31 - 2],
      [[-(2 ** 31), -(2 ** 31), 1 - 2 ** 31], 1 - 2 ** 31]
    ] as const)
      expect(list(runTensor(['onnx', 'ReduceMean', 18], [new Tensor('int32', [...data])]))).toEqual([mean])
    expect(list(runTensor(['onnx', 'ReduceMax', 18], [new Tensor('uint64', [2n ** 64n - 1n, 1n])]))).toEqual([
      2n ** 64n - 1n
    ])
  })

  test('booleans have a maximum and a minimum from version 20 on', () => {
    const flags = new Tensor('bool', [0, 1])
    expect(list(runTensor(['onnx', 'ReduceMax', 20], [flags]))).toEqual([1])
    expect(list(runTensor(['onnx', 'ReduceMin', 20], [flags]))).toEqual([0])
    expect(errorOf(() => runTensor(['onnx', 'ReduceMax', 18], [flags])).code).toBe('type-not-allowed')
  })

  test('nothing to reduce gives the neutral element', () => {
    const of = (type: string, data: Tensor): unknown =>
      runTensor(['onnx', type, 20], [data, ints(0)], { attributes: { keepdims: 0 } }).data[0]
    const none = allocate('float32', [0, 1])
    expect(of('ReduceSum', none)).toBe(0)
    expect(of('ReduceProd', none)).toBe(1)
    expect(of('ReduceMax', none)).toBe(-Infinity)
    expect(of('ReduceMin', none)).toBe(Infinity)
    expect(of('ReduceLogSum', none)).toBe(-Infinity)
    expect(of('ReduceMean', none)).toBe(0)
    expect(of('ReduceMax', allocate('int8', [0, 1]))).toBe(-128)
    expect(of('ReduceMin', allocate('int64', [0, 1]))).toBe(2n ** 63n - 1n)
    expect(of('ReduceMin', allocate('bool', [0, 1]))).toBe(1)
    expect(of('ReduceMean', allocate('int32', [0, 1]))).toBe(0)
    expect(of('ReduceMean', allocate('int64', [0, 1]))).toBe(0n)
  })

  test('NaN wins in maximum and minimum', () => {
    expect(list(runTensor(['onnx', 'ReduceMax', 18], [new Tensor('float32', [1, NaN, 2])]))).toEqual([NaN])
  })

  test('an axis out of range or twice is refused', () => {
    expect(errorOf(() => runTensor(['onnx', 'ReduceSum', 13], [x, ints(3)])).code).toBe('axis-out-of-range')
    expect(errorOf(() => runTensor(['onnx', 'ReduceSum', 13], [x, ints(0, -3)])).code).toBe('value-out-of-range')
  })
})

describe('OpenVINO reductions', () => {
  test('no axes reduce nothing', () => {
    expect(list(runTensor(['openvino', 'ReduceMean', 1], [iota([3]), ints()]))).toEqual([0, 1, 2])
    expect(list(runTensor(['openvino', 'ReduceL1', 4], [new Tensor('float32', [-2]), ints()]))).toEqual([2])
  })

  test('dims go unless keep_dims is set; the axis may be a scalar', () => {
    expect(runTensor(['openvino', 'ReduceSum', 1], [x, scalar(1)]).dims).toEqual([2, 4])
    expect(
      runTensor(['openvino', 'ReduceSum', 1], [x, scalar(1, 'int32')], { attributes: { keep_dims: true } }).dims
    ).toEqual([2, 1, 4])
  })

  test('logical reductions take booleans', () => {
    const flags = new Tensor('bool', [1, 0, 1, 1], [2, 2])
    expect(list(runTensor(['openvino', 'ReduceLogicalAnd', 1], [flags, ints(1)]))).toEqual([0, 1])
    expect(list(runTensor(['openvino', 'ReduceLogicalOr', 1], [flags, ints(0)]))).toEqual([1, 1])
    expect(errorOf(() => runTensor(['openvino', 'ReduceLogicalOr', 1], [x, ints(0)])).code).toBe('type-not-allowed')
  })

  test('the mean of nothing is 0, as in OpenVINO', () => {
    expect(list(runTensor(['openvino', 'ReduceMean', 1], [allocate('float32', [0]), ints(0)]))).toEqual([0])
  })
})

describe('the shape rule of reductions', () => {
  test('known axes', () => {
    expect(dimsOf(inferOp(['onnx', 'ReduceSum', 13], [fact('float32', ['n', 3, 'm']), ints(1)])[0])).toEqual([
      'n',
      1,
      'm'
    ])
    expect(
      dimsOf(
        inferOp(['onnx', 'ReduceSum', 13], [fact('float32', ['n', 3, 'm']), ints(0, 1)], {
          attributes: { keepdims: 0 }
        })[0]
      )
    ).toEqual(['m'])
  })

  test('unknown axes leave what every axis would give', () => {
    const shape = fact('float32', [3, 5, 7])
    expect(dimsOf(inferOp(['onnx', 'ReduceSum', 13], [shape, fact('int64', [1])])[0])).toEqual(['1..3', '1..5', '1..7'])
    expect(
      dimsOf(inferOp(['onnx', 'ReduceSum', 13], [shape, fact('int64', [1])], { attributes: { keepdims: 0 } })[0])
    ).toEqual(['3..5', '5..7'])
    expect(
      dimsOf(inferOp(['onnx', 'ReduceSum', 13], [shape, fact('int64', ['k'])], { attributes: { keepdims: 0 } })[0])
    ).toBeUndefined()
  })

  test('element counts of shapes stay symbolic', () => {
    const shape = inferOp(['onnx', 'Shape', 13], [fact('float32', ['n', 6, 'm'])])[0]
    const attributes = { keepdims: 0 }
    expect(valuesOf(inferOp(['onnx', 'ReduceProd', 18], [shape], { attributes })[0])).toEqual(['6*m*n'])
    expect(valuesOf(inferOp(['onnx', 'ReduceSum', 13], [shape], { attributes })[0])).toEqual(['m+n+6'])
    expect(valuesOf(inferOp(['onnx', 'ReduceMax', 18], [shape], { attributes })[0])).toHaveLength(1)
    expect(valuesOf(inferOp(['onnx', 'ReduceProd', 18], [ints(2, 3)], { attributes })[0])).toEqual([6n])
  })

  test('known integers wrap as at run time', () => {
    const out = inferOp(['onnx', 'ReduceProd', 18], [new Tensor('int32', [0x10001, 0x10001])])[0]
    expect(valuesOf(out)).toEqual([0x20001])
  })
})
