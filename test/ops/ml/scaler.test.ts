import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { ints, iota, scalar } from '../values.ts'

const KIND: Kind = ['onnx', 'Scaler', 1, 'ai.onnx.ml']

const scale = (x: Tensor, offset: readonly number[], factor: readonly number[]): Tensor =>
  runTensor(KIND, [x], { attributes: { offset, scale: factor } })

test('Scaler subtracts and multiplies, by the last axis or all alike', () => {
  expect(scale(iota([2, 3]), [1, 0, -1], [10, 100, 0.5])).toMatchObject({
    type: 'float32',
    dims: [2, 3],
    data: new Float32Array([-10, 100, 1.5, 20, 400, 3])
  })
  expect([...scale(iota([2, 2, 2]), [0, 1], [1, -1]).data]).toEqual([0, -0, 2, -2, 4, -4, 6, -6])
  expect([...scale(iota([3]), [1], [2]).data]).toEqual([-2, 0, 2])
  expect(scale(scalar(3, 'float32'), [1], [2])).toMatchObject({ dims: [], data: new Float32Array([4]) })
})

test('Scaler gives float32 for every type, and rounds once', () => {
  const wanted = { type: 'float32', data: new Float32Array([-0.5, 0, 0.5]) }
  expect(scale(new Tensor('int32', [0, 1, 2]), [1], [0.5])).toMatchObject(wanted)
  expect(scale(ints(0, 1, 2), [1], [0.5])).toMatchObject(wanted)
  expect(scale(ints(2n ** 24n + 1n), [2 ** 24], [1]).data).toEqual(new Float32Array([1]))
  expect(scale(new Tensor('float64', [1 + 2 ** -40]), [1], [2 ** 40]).data).toEqual(new Float32Array([1]))
  expect([...scale(new Tensor('float32', [NaN, Infinity]), [1], [-1]).data]).toEqual([NaN, -Infinity])
})

test('Scaler goes on with the right feature after a yield', () => {
  const count = 99_999
  const { data } = scale(iota([count, 3], 'int32'), [0, 0, 0], [1, 2, 3])
  expect([...data.slice(-3)]).toEqual([3 * count - 3, 2 * (3 * count - 2), 3 * (3 * count - 1)])
})

test('Scaler takes empty tensors', () => {
  expect(scale(iota([0, 2]), [1, 2], [1, 2]).dims).toEqual([0, 2])
  expect(scale(iota([2, 0], 'int64'), [1], [1]).dims).toEqual([2, 0])
})

test('Scaler wants as many offsets and scales as features, or one', () => {
  const of = (offset: number[], factor: number[], x = iota([2, 3])): string =>
    errorOf(() => scale(x, offset, factor)).code
  expect(of([1, 2], [1, 2])).toBe('dims-mismatch')
  expect(of([1, 2], [1, 2], iota([]))).toBe('rank-mismatch')
  expect(of([1], [1, 2, 3])).toBe('unknown-attribute-value')
  expect(of([], [])).toBe('unknown-attribute-value')
  expect(errorOf(() => runTensor(KIND, [iota([3])], { attributes: { offset: [1] } })).code).toBe('missing-attribute')
  expect(errorOf(() => runTensor(KIND, [iota([3])], { attributes: { scale: [1] } })).code).toBe('missing-attribute')
})

test('Scaler keeps symbolic dims', () => {
  const of = (dims?: (number | string)[]): unknown =>
    inferOp(KIND, [fact('float64', dims)], { attributes: { offset: [1, 2], scale: [1, 2] } })[0]
  expect(of()).toMatchObject({ type: 'float32' })
  expect(dimsOf(of(['n', 'c']) as never)).toEqual(['n', 'c'])
  expect(errorOf(() => of(['n', '3..'])).code).toBe('dims-mismatch')
})
