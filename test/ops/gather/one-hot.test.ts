import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const scalar = (value: number): Tensor => new Tensor('int64', [BigInt(value)], [])
const OFF_ON = new Tensor('float32', [2, 5])
const ids = (...values: number[]): Tensor => new Tensor('int64', values)
const onnx = (opset: number, indices: Tensor, depth: Tensor, axis = -1): Tensor =>
  runTensor(['onnx', 'OneHot', opset], [indices, depth, OFF_ON], { attributes: { axis } })

describe('OneHot of ONNX', () => {
  test('puts the classes on a new axis', () => {
    const out = onnx(11, new Tensor('int32', [0, 2, 1, 1], [2, 2]), scalar(3), 1)
    expect(out.dims).toEqual([2, 3, 2])
    expect([...out.data]).toEqual([5, 2, 2, 2, 2, 5, 2, 2, 5, 5, 2, 2])
  })

  test('counts negative indices from the end since version 11; others are no class', () => {
    expect([...onnx(11, ids(-1, -3, -4, 3), scalar(3)).data]).toEqual([2, 2, 5, 5, 2, 2, 2, 2, 2, 2, 2, 2])
    expect([...onnx(9, ids(-1, 0), scalar(3)).data]).toEqual([2, 2, 2, 5, 2, 2])
    expect([...onnx(11, new Tensor('int64', [2n ** 32n]), scalar(2)).data]).toEqual([2, 2])
  })

  test('cuts floats to integers', () => {
    const out = onnx(11, new Tensor('float32', [1.9, -0.5, -1.5, NaN]), new Tensor('float32', [2.7], []))
    expect(out.dims).toEqual([4, 2])
    expect([...out.data]).toEqual([2, 5, 5, 2, 2, 5, 2, 2])
  })

  test('the values are a pair of any type', () => {
    const out = runTensor(['onnx', 'OneHot', 11], [ids(1), scalar(2), new Tensor('string', ['no', 'yes'])])
    expect(out.data).toEqual(['no', 'yes'])
    expect(
      errorOf(() => runTensor(['onnx', 'OneHot', 11], [ids(1), scalar(2), new Tensor('float32', [1, 2, 3])])).code
    ).toBe('dims-mismatch')
    expect(
      errorOf(() => runTensor(['onnx', 'OneHot', 11], [ids(1), scalar(2), new Tensor('float32', [1], [])])).code
    ).toBe('rank-mismatch')
  })

  test('depth is not negative', () => {
    expect(onnx(11, ids(1), scalar(0)).dims).toEqual([1, 0])
    expect(errorOf(() => onnx(11, ids(1), scalar(-1))).code).toBe('value-out-of-range')
    expect(errorOf(() => onnx(11, ids(1), scalar(1), 2)).code).toBe('axis-out-of-range')
  })

  test('the shape holds the depth, known or not', () => {
    const infer = (depth: Tensor | ReturnType<typeof fact>): unknown =>
      dimsOf(inferOp(['onnx', 'OneHot', 11], [fact('int64', ['n']), depth, fact('float32', [2])])[0])
    expect(infer(scalar(4))).toEqual(['n', 4])
    expect(infer(fact('int64', []))).toEqual(['n', '?'])
  })
})

describe('OneHot of OpenVINO', () => {
  const run = (kind: Kind, indices: Tensor, attributes: Record<string, string | number>): Tensor =>
    runTensor(kind, [indices, scalar(3), new Tensor('int8', [7], []), new Tensor('int8', [1], [])], { attributes })

  test('on and off are inputs of their own', () => {
    expect([...run(['openvino', 'OneHot', 1], ids(0, 3, -1), { axis: -1 }).data]).toEqual([7, 1, 1, 1, 1, 1, 1, 1, 1])
  })

  test('version 16 counts negative indices from the end when asked to', () => {
    expect([...run(['openvino', 'OneHot', 16], ids(-1, -4), { axis: 0 }).data]).toEqual([1, 1, 1, 1, 1, 1])
    expect([
      ...run(['openvino', 'OneHot', 16], ids(-1, -4), { axis: 0, negative_indices_mode: 'normalize' }).data
    ]).toEqual([1, 1, 1, 1, 7, 1])
  })

  test('on and off are scalars of one type', () => {
    const kind: Kind = ['openvino', 'OneHot', 1]
    const inputs = (on: Tensor): Tensor[] => [ids(0), scalar(3), on, new Tensor('int8', [1], [])]
    expect(errorOf(() => runTensor(kind, inputs(new Tensor('int16', [1], [])), { attributes: { axis: 0 } })).code).toBe(
      'type-mismatch'
    )
    expect(errorOf(() => runTensor(kind, inputs(new Tensor('int8', [1])), { attributes: { axis: 0 } })).code).toBe(
      'rank-mismatch'
    )
  })
})
