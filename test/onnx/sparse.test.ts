import { describe, expect, test } from 'vitest'
import { codesOf, failure, loadGraph, TYPE } from './encode.ts'

const sparse = (
  dims: readonly number[],
  indexDims: readonly number[],
  indices: readonly number[],
  values: readonly number[]
): object => ({
  values: { name: 's', dims: [values.length], dataType: TYPE.FLOAT, floatData: values },
  indices: { dims: indexDims, dataType: TYPE.INT64, int64Data: indices },
  dims
})
const graphOf = (tensor: object): ReturnType<typeof loadGraph> =>
  loadGraph({ sparseInitializer: [tensor], node: [{ opType: 'Relu', input: ['s'], output: ['y'] }] })
const read = (tensor: object): (number | bigint | string)[] => [...graphOf(tensor).initializers.get('s')!.read().data]

describe('a sparse initializer', () => {
  test('with linear indices is read as a dense one', () => {
    const constant = graphOf(sparse([2, 3], [2], [1, 5], [7, 8])).initializers.get('s')!
    expect(constant).toMatchObject({ type: 'float32', dims: [2, 3], byteLength: 24 })
    expect([...(constant.read().data as Float32Array)]).toEqual([0, 7, 0, 0, 0, 8])
  })

  test('with coordinates is read as a dense one', () => {
    expect(read(sparse([2, 3], [2, 2], [0, 2, 1, 0], [7, 8]))).toEqual([0, 0, 7, 8, 0, 0])
  })

  test('without values is zero', () => {
    expect(read(sparse([2], [0], [], []))).toEqual([0, 0])
  })

  test('may be complex or hold strings', () => {
    const strings = {
      values: { name: 's', dims: [1], dataType: TYPE.STRING, stringData: [Uint8Array.of(97)] },
      indices: { dims: [1], dataType: TYPE.INT64, int64Data: [1] },
      dims: [2]
    }
    expect(read(strings)).toEqual(['', 'a'])
    const complex = {
      values: { name: 's', dims: [1], dataType: TYPE.COMPLEX64, floatData: [1, 2] },
      indices: { dims: [1], dataType: TYPE.INT64, int64Data: [1] },
      dims: [2]
    }
    expect(read(complex)).toEqual([0, 0, 1, 2])
  })

  test.each([[[6]], [[-1]]])('refuses the linear index %j of [2, 3]', indices => {
    expect(failure(() => read(sparse([2, 3], [1], indices, [1])))).toMatchObject({
      code: 'invalid-file',
      reason: `sparse tensor "s": index ${indices[0]} of value 0 is out of range for size 6`
    })
  })

  test('refuses a coordinate that is out of its own axis', () => {
    expect(failure(() => read(sparse([2, 3], [1, 2], [0, 3], [1]))).message).toContain(
      'index 3 of value 0 is out of range for size 3'
    )
  })

  test.each([[[3, 1]], [[2, 2]]])('refuses the indices %j, which do not ascend', indices => {
    expect(failure(() => read(sparse([4], [2], indices, [1, 2]))).message).toContain('not in ascending order')
  })

  test('refuses to write out more than 2^31 zeros', () => {
    expect(failure(() => read(sparse([2 ** 32], [1], [5], [1]))).code).toBe('limit-exceeded')
  })

  test.each([
    [sparse([4], [3], [0, 1, 2], [1, 2])],
    [sparse([4], [2, 2], [0, 1, 2, 3], [1, 2])],
    [{ ...sparse([4], [1], [0], [1]), indices: { dims: [1], dataType: TYPE.INT32, int32Data: [0] } }],
    [{ values: { name: 's', dims: [0], dataType: TYPE.FLOAT }, dims: [4] }]
  ])('whose parts do not fit is a finding', tensor => {
    expect(codesOf(graphOf(tensor).findings)).toEqual(['invalid-sparse'])
  })
})

test('a sparse attribute is a dense constant', () => {
  const { nodes } = loadGraph({
    node: [
      {
        opType: 'Constant',
        output: ['y'],
        attribute: [{ name: 'sparse_value', type: 11, sparseTensor: sparse([3], [1], [2], [9]) }]
      }
    ]
  })
  const attribute = nodes[0].attributes.get('sparse_value')!
  expect(attribute.kind).toBe('tensor')
  if (attribute.kind === 'tensor') expect([...(attribute.value.read().data as Float32Array)]).toEqual([0, 0, 9])
})
