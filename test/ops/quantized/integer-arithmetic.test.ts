import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { scalar } from '../values.ts'

const MUL: Kind = ['onnx', 'MulInteger', 1, 'com.microsoft']
const SUM: Kind = ['onnx', 'ReduceSumInteger', 1, 'com.microsoft']

describe('MulInteger', () => {
  test('multiplies in int32, zero points subtracted first', () => {
    const a = new Tensor('uint8', [0, 255], [2, 1])
    const b = new Tensor('uint8', [1, 200])
    expect(runTensor(MUL, [a, scalar(255, 'uint8'), b, scalar(2, 'uint8')])).toMatchObject({
      type: 'int32',
      dims: [2, 2],
      data: new Int32Array([255, -50490, 0, 0])
    })
    expect([...runTensor(MUL, [a, undefined, b]).data]).toEqual([0, 0, 255, 51000])
  })

  test('takes one zero point for each factor', () => {
    const a = new Tensor('int8', [1, 2])
    expect(errorOf(() => runTensor(MUL, [a, a, a])).code).toBe('dims-mismatch')
    expect(dimsOf(inferOp(MUL, [fact('int8', ['n', 1]), undefined, fact('int8', [4])])[0])).toEqual(['n', 4])
  })
})

describe('ReduceSumInteger', () => {
  test('sums in 32 bits of the same sign', () => {
    const bytes = new Tensor('uint8', [200, 100, 255, 255], [2, 2])
    expect(runTensor(SUM, [bytes], { attributes: { axes: [1], keepdims: 1 } })).toMatchObject({
      type: 'uint32',
      dims: [2, 1],
      data: new Uint32Array([300, 510])
    })
    const signed = new Tensor('int8', [-128, -100, 5, 6], [2, 2])
    expect(runTensor(SUM, [signed], { attributes: { axes: [-2, -1], keepdims: 0 } })).toMatchObject({
      type: 'int32',
      dims: [],
      data: new Int32Array([-217])
    })
  })

  test('refuses an axis that is not there', () => {
    const bytes = new Tensor('uint8', [1])
    expect(errorOf(() => runTensor(SUM, [bytes], { attributes: { axes: [1], keepdims: 1 } })).code).toBe(
      'axis-out-of-range'
    )
  })
})
