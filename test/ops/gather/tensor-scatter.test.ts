import { describe, expect, test } from 'vitest'
import { namedDim } from '../../../src/shapes/dim.ts'
import { tensorFact } from '../../../src/shapes/fact.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { counted } from '../random.ts'
import { ints, valuesOf } from '../values.ts'

const KIND: Kind = ['onnx', 'TensorScatter', 24]
const cache = allocate('int32', [2, 4, 2])
const update = new Tensor('int32', [1, 2, 3, 4, 5, 6, 7, 8], [2, 2, 2])

describe('TensorScatter', () => {
  test('writes each sample from its own index on', () => {
    expect([...runTensor(KIND, [cache, update, ints(0, 2)]).data]).toEqual([
      1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 5, 6, 7, 8
    ])
    expect([...runTensor(KIND, [cache, update]).data]).toEqual([1, 2, 3, 4, 0, 0, 0, 0, 5, 6, 7, 8, 0, 0, 0, 0])
  })

  test('in circular mode goes on at the beginning', () => {
    const circular = (...starts: bigint[]): unknown[] => [
      ...runTensor(KIND, [cache, update, ints(...starts)], { attributes: { mode: 'circular' } }).data
    ]
    const expected = [3, 4, 0, 0, 0, 0, 1, 2, 0, 0, 5, 6, 7, 8, 0, 0]
    expect(circular(3n, 1n)).toEqual(expected)
    expect(circular(7n, -3n)).toEqual(expected)
    expect(circular(3n + 2n ** 60n, 1n)).toEqual(expected)
  })

  test('knows every axis but that of the batch', () => {
    const data = counted('string', [1, 2, 3])
    const out = runTensor(KIND, [data, new Tensor('string', ['a', 'b'], [1, 2, 1]), ints(1)], {
      attributes: { axis: -1 }
    })
    expect(out.data).toEqual(['s0', 'a', 's2', 's3', 'b', 's5'])
    expect(errorOf(() => runTensor(KIND, [data, data], { attributes: { axis: -3 } })).code).toBe('axis-out-of-range')
  })

  test('an update must end within the cache', () => {
    expect(errorOf(() => runTensor(KIND, [cache, update, ints(0, 3)]))).toMatchObject({
      code: 'index-out-of-range',
      details: { index: '3', position: [1], axis: 1, size: 3 }
    })
    expect(errorOf(() => inferOp(KIND, [fact('int32', [2, 4, 2]), fact('int32', [2, 2, 2]), ints(0, -1)])).code).toBe(
      'index-out-of-range'
    )
  })

  test('an update has the dims of the cache off the axis, and there no more', () => {
    expect(
      dimsOf(inferOp(KIND, [fact('int32', ['n', 4, 2]), fact('int32', ['?', 's', 2]), fact('int64', ['n'])])[0])
    ).toEqual(['n', 4, 2])
    expect(errorOf(() => inferOp(KIND, [fact('int32', [2, 4, 2]), fact('int32', [2, 5, 2])])).code).toBe(
      'dims-mismatch'
    )
    expect(errorOf(() => inferOp(KIND, [fact('int32', [2, 4, 2]), fact('int32', [2, 1, 3])])).code).toBe(
      'dims-mismatch'
    )
    expect(
      errorOf(() => inferOp(KIND, [fact('int32', [2, 4, 2]), fact('int32', [2, 1, 2]), fact('int64', [3])])).code
    ).toBe('dims-mismatch')
  })

  test('symbolic elements are moved as they are', () => {
    const n = namedDim('n') as never
    const [out] = inferOp(
      KIND,
      [
        new Tensor('int64', [1n, 2n], [1, 2]),
        tensorFact('int64', [1, 1], { type: 'int64', dims: [1, 1], data: [n] }),
        ints(1)
      ],
      { attributes: { axis: 1 } }
    )
    expect(valuesOf(out)).toEqual([1n, 'n'])
  })
})
