import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther, inOther, modelOfNode, typesOf } from '../converted.ts'
import { randomFloats } from '../random.ts'
import { ints, iota, scalar } from '../values.ts'

const floats = (values: readonly number[], dims: readonly number[]): Tensor => new Tensor('float32', values, dims)

test('ReduceLogSumExp in IR: infinities, which no difference of two tells apart', async () => {
  const x = floats([-Infinity, -Infinity, Infinity, 1, Infinity, -Infinity, 2, 3], [4, 2])
  for (const keepdims of [0, 1])
    expect(
      await differenceInOther(['onnx', 'ReduceLogSumExp', 13], [x], { attributes: { axes: [1], keepdims } })
    ).toBeLessThan(1e-6)
})

test('ReduceLogSumExp in IR over no axis is the data, dims of 1 included', async () => {
  const attributes = { noop_with_empty_axes: 1, keepdims: 0 }
  expect(await differenceInOther(['onnx', 'ReduceLogSumExp', 18], [iota([3, 1])], { attributes })).toBe(0)
})

test('logarithms of sums of integers are truncated once in IR, too', async () => {
  for (const x of [ints(3, 2, 2), new Tensor('int32', [5, 1, 1])])
    for (const type of ['ReduceLogSum', 'ReduceLogSumExp'])
      expect(await differenceInOther(['onnx', type, 13], [x], { attributes: { axes: [0] } })).toBe(0)
})

test('CumSum in IR has its axis also where that is the default: OpenVINO reads no layer without it', async () => {
  const attributes = { reverse: 1 }
  for (const constants of [[1], []]) {
    const model = modelOfNode(['onnx', 'CumSum', 14], [iota([3, 2]), scalar(0)], { attributes, constants })
    const layer = inOther(model).graph.nodes.find(({ type }) => type === 'CumSum')
    expect(layer?.inputs.length).toBe(2)
    expect(await differenceInOther(['onnx', 'CumSum', 14], [iota([3, 2]), scalar(0)], { attributes, constants })).toBe(
      0
    )
  }
  expect(typesOf(inOther(modelOfNode(['onnx', 'CumSum', 14], [iota([2]), scalar(0)])))).toEqual(['CumSum'])
})

test('TopK in IR is stable, so that equal elements are in the order of ONNX', async () => {
  const x = floats([1, 2, 2, 2, 0, 2], [2, 3])
  for (const constants of [[1], []]) {
    const call = [['onnx', 'TopK', 11], [x, ints(2)], { outputs: 2, constants, attributes: { axis: -1 } }] as const
    const layer = inOther(modelOfNode(...call)).graph.nodes.find(({ type }) => type === 'TopK')
    expect(layer?.attributes.get('stable')).toMatchObject({ value: 'true' })
    expect(await differenceInOther(...call)).toBe(0)
  }
  const smallest = { outputs: 2, attributes: { largest: 0 } }
  expect(await differenceInOther(['onnx', 'TopK', 11], [ints(3, 1, 1), ints(2)], smallest)).toBe(0)
})

test('TopK of the smallest floats in IR has NaN last and the first of equal ones first', async () => {
  const x = floats([NaN, Infinity, -0, 0, -2, NaN, 3, -Infinity, -Infinity, 1, Infinity, NaN], [2, 6])
  for (const type of ['float32', 'float64', 'float16', 'int32'] as const) {
    const data = type === 'int32' ? ints(3, 1, 1, 2, 0, 7) : new Tensor(type, [...(x.data as Float32Array)], [2, 6])
    for (const k of [1, 4, 6])
      expect(
        await differenceInOther(['onnx', 'TopK', 11], [data, ints(k)], { outputs: 2, attributes: { largest: 0 } })
      ).toBe(0)
  }
})

test.each([12, 13])('boundaries below each value are counted in opset %i', async opset => {
  const values = randomFloats(1, [2, 3])
  const boundaries = floats([-0.5, 0, 0.5], [3])
  const options = { attributes: { output_type: 'i32' }, writtenOpset: opset }
  expect(await differenceInOther(['openvino', 'Bucketize', 3], [values, boundaries], options)).toBe(0)
  const inputs = [floats([-0.5, 0.5, -0.2, 0.2], [2, 2]), values]
  expect(await differenceInOther(['openvino', 'SearchSorted', 15], inputs, { writtenOpset: opset })).toBe(0)
})
