import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'

const planes = new Tensor('float32', [1, 2, -4, 3, 5, 5, 5, 5], [1, 2, 2, 2])

describe('global pools', () => {
  test('take a plane as one window', () => {
    const run = (type: string, attributes = {}): Tensor => runTensor(['onnx', type, 22], [planes], { attributes })
    expectNear(run('GlobalAveragePool'), [0.5, 5])
    expectNear(run('GlobalMaxPool'), [3, 5])
    expectNear(run('GlobalLpPool'), [Math.sqrt(30), 10])
    expectNear(run('GlobalLpPool', { p: 1 }), [10, 20])
    expect(run('GlobalMaxPool').dims).toEqual([1, 2, 1, 1])
  })

  test('GlobalLpPool-1 takes an order with a fraction', () => {
    expectNear(runTensor(['onnx', 'GlobalLpPool', 1], [planes], { attributes: { p: 0.5 } }), [
      (1 + Math.SQRT2 + 2 + Math.sqrt(3)) ** 2,
      80
    ])
    expect(errorOf(() => runTensor(['onnx', 'GlobalLpPool', 2], [planes], { attributes: { p: 0 } })).code).toBe(
      'value-out-of-range'
    )
  })

  test('float16 means do not overflow on the way', () => {
    const half = new Tensor('float16', new Uint16Array([0x7bff, 0x7bff, 0x7bff]), [1, 1, 3])
    expect([...runTensor(['onnx', 'GlobalAveragePool', 1], [half]).data]).toEqual([0x7bff])
  })

  test('keep names, and need a spatial axis', () => {
    for (const type of ['GlobalAveragePool', 'GlobalMaxPool', 'GlobalLpPool']) {
      expect(dimsOf(inferOp(['onnx', type, 22], [fact('float32', ['n', 'c', 'h', '?'])])[0])).toEqual(['n', 'c', 1, 1])
      expect(dimsOf(inferOp(['onnx', type, 22], [fact('float32')])[0])).toBeUndefined()
      expect(errorOf(() => inferOp(['onnx', type, 22], [fact('float32', [1, 2])])).code).toBe('rank-mismatch')
    }
  })

  test('of nothing', () => {
    const empty = allocate('float32', [1, 1, 0])
    expect([...runTensor(['onnx', 'GlobalAveragePool', 22], [empty]).data]).toEqual([0])
    expect([...runTensor(['onnx', 'GlobalMaxPool', 22], [empty]).data]).toEqual([-Infinity])
    expect([...runTensor(['onnx', 'GlobalLpPool', 22], [empty]).data]).toEqual([0])
  })
})
