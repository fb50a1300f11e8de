import { describe, expect, test } from 'vitest'
import { namedDim, unknownDim } from '../../../src/shapes/dim.ts'
import { tensorFact } from '../../../src/shapes/fact.ts'
import { ALL_DTYPES, DTYPES } from '../../../src/tensor/dtype.ts'
import { allocate, stridesOf, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { counted, picks, randomDims, randomIndices } from '../random.ts'

const ids = (...values: number[]): Tensor => new Tensor('int64', values.map(BigInt))
const axisOf = (axis: number): Tensor => new Tensor('int64', [BigInt(axis)], [])
const table = new Tensor('float32', [0, 1, 10, 11, 20, 21], [3, 2])

describe('ONNX Gather', () => {
  test('takes rows along axis 0', () => {
    const out = runTensor(['onnx', 'Gather', 13], [table, ids(2, 0)])
    expect(out.dims).toEqual([2, 2])
    expect([...out.data]).toEqual([20, 21, 0, 1])
  })

  test('counts negative indices from the end', () => {
    expect([...runTensor(['onnx', 'Gather', 1], [table, ids(-1)]).data]).toEqual([20, 21])
  })

  test('a scalar index removes the axis', () => {
    const out = runTensor(['onnx', 'Gather', 13], [table, new Tensor('int32', [1], [])], { attributes: { axis: 1 } })
    expect(out.dims).toEqual([3])
    expect([...out.data]).toEqual([1, 11, 21])
  })

  test('names index, position, axis and size of the first index out of range', () => {
    const indices = new Tensor('int64', [0n, 1n, 2n ** 40n, 9n], [2, 2])
    const error = errorOf(() => runTensor(['onnx', 'Gather', 13], [table, indices]))
    expect(error.code).toBe('index-out-of-range')
    expect(error.details).toMatchObject({ index: '1099511627776', position: [1, 0], axis: 0, size: 3 })
  })

  test('compares 64-bit indices exactly', () => {
    for (const index of [2n ** 32n, 2n ** 32n + 1n, -(2n ** 63n), 2n ** 63n - 1n]) {
      expect(
        errorOf(() => runTensor(['onnx', 'Gather', 13], [table, new Tensor('int64', [index])])).details.index
      ).toBe(`${index}`)
    }
  })

  test('checks indices when another axis is empty', () => {
    expect(errorOf(() => runTensor(['onnx', 'Gather', 13], [allocate('float32', [3, 0]), ids(3)])).code).toBe(
      'index-out-of-range'
    )
  })

  test('checks indices of few 64-bit integers when another axis is empty', () => {
    const empty = new Tensor('int64', new BigInt64Array(0), [3, 0, 2, 1])
    expect(
      errorOf(() =>
        runTensor(['openvino', 'Gather', 7], [empty, new Tensor('int32', [0, 1, 2, 0, 1, 0], [3, 2]), axisOf(2)])
      ).code
    ).toBe('index-out-of-range')
  })

  test('empty indices give an empty output even on an empty axis', () => {
    expect(runTensor(['onnx', 'Gather', 13], [allocate('string', [0, 2]), allocate('int64', [0])]).dims).toEqual([0, 2])
  })

  test('refuses a scalar, a far axis and float indices', () => {
    expect(errorOf(() => runTensor(['onnx', 'Gather', 13], [new Tensor('float32', [1], []), ids(0)])).code).toBe(
      'rank-zero-data'
    )
    expect(errorOf(() => runTensor(['onnx', 'Gather', 13], [table, ids(0)], { attributes: { axis: 2 } })).code).toBe(
      'axis-out-of-range'
    )
    expect(errorOf(() => runTensor(['onnx', 'Gather', 13], [table, new Tensor('float32', [0])])).code).toBe(
      'index-type-not-allowed'
    )
  })

  test('bfloat16 came with version 13', () => {
    const data = new Tensor('bfloat16', new Uint16Array([1, 2]), [2])
    expect([...runTensor(['onnx', 'Gather', 13], [data, ids(1)]).data]).toEqual([2])
    expect(errorOf(() => runTensor(['onnx', 'Gather', 12], [data, ids(1)])).code).toBe('type-not-allowed')
  })
})

describe('OpenVINO Gather', () => {
  test('moves every element type', () => {
    for (const type of ALL_DTYPES) {
      const data = allocate(type, [3, 2])
      const { slots } = DTYPES[type]
      for (let i = 0; i < 6 * slots; i++)
        data.data[i] = type === 'string' ? `s${i}` : type === 'int64' || type === 'uint64' ? BigInt(i) : i % 2
      const out = runTensor(['openvino', 'Gather', 8], [data, ids(2, -3), axisOf(0)])
      expect([...out.data], type).toEqual([...data.data.slice(4 * slots), ...data.data.slice(0, 2 * slots)])
    }
  })

  test('Gather-8 reads zeros out of range, Gather-1 and -7 refuse, negatives too', () => {
    expect([...runTensor(['openvino', 'Gather', 8], [table, ids(3, -4), axisOf(0)]).data]).toEqual([0, 0, 0, 0])
    for (const opset of [1, 7]) {
      expect(errorOf(() => runTensor(['openvino', 'Gather', opset], [table, ids(-1), axisOf(0)])).code).toBe(
        'index-out-of-range'
      )
    }
  })

  test('batch_dims pairs batches of data and indices', () => {
    const data = new Tensor('int32', [1, 2, 3, 4, 5, 6], [2, 3])
    const indices = new Tensor('int32', [0, 2, 2, 1], [2, 2])
    for (const batchDims of [1, -1]) {
      const out = runTensor(['openvino', 'Gather', 8], [data, indices, axisOf(1)], {
        attributes: { batch_dims: batchDims }
      })
      expect(out.dims).toEqual([2, 2])
      expect([...out.data]).toEqual([1, 3, 6, 5])
    }
    expect([
      ...runTensor(['openvino', 'Gather', 7], [data, indices, axisOf(1)], { attributes: { batch_dims: -1 } }).data
    ]).toEqual([1, 3, 6, 5])
    expect(
      errorOf(() =>
        runTensor(['openvino', 'Gather', 7], [data, indices, axisOf(1)], { attributes: { batch_dims: -3 } })
      ).code
    ).toBe('batch-dims-out-of-range')
    expect(
      errorOf(() =>
        runTensor(['openvino', 'Gather', 7], [data, new Tensor('int32', [0, 2]), axisOf(1)], {
          attributes: { batch_dims: 1 }
        })
      ).code
    ).toBe('batch-dims-out-of-range')
    expect(
      errorOf(() => runTensor(['openvino', 'Gather', 8], [data, indices, axisOf(0)], { attributes: { batch_dims: 1 } }))
        .code
    ).toBe('batch-dims-out-of-range')
  })

  test('an axis of rank 2 and an axis of two elements are refused', () => {
    expect(
      errorOf(() => runTensor(['openvino', 'Gather', 8], [table, ids(0), new Tensor('int64', [0n], [1, 1])])).code
    ).toBe('rank-mismatch')
    expect(errorOf(() => runTensor(['openvino', 'Gather', 8], [table, ids(0), ids(0, 1)])).code).toBe('dims-mismatch')
  })
})

describe('Gather', () => {
  test('agrees with the definition for random dims, axes and batch dims', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const dims = randomDims(seed, 1, 5)
      const axis = picks(seed, dims.length)
      const batch = picks(seed + 1, axis + 1)
      const indices = randomIndices(
        seed,
        seed % 2 === 0 ? 'int32' : 'int64',
        [...dims.slice(0, batch), ...randomDims(seed + 2, 0, 2)],
        dims[axis]
      )
      const data = counted(seed % 3 === 0 ? 'int64' : seed % 3 === 1 ? 'float16' : 'string', dims)
      const out = runTensor(['openvino', 'Gather', 8], [data, indices, axisOf(axis - dims.length)], {
        attributes: { batch_dims: batch }
      })
      const strides = stridesOf(out.dims)
      const taken = indices.dims.length - batch
      const expected = Array.from({ length: out.data.length }, (_, t) => {
        const at = strides.map((stride, d) => Math.floor(t / stride) % out.dims[d])
        const indexAt = [...at.slice(0, batch), ...at.slice(axis, axis + taken)]
        const index = Number(indices.data[indexAt.reduce((sum, c, d) => sum + c * stridesOf(indices.dims)[d], 0)])
        const source = [...at.slice(0, axis), index < 0 ? index + dims[axis] : index, ...at.slice(axis + taken)]
        return data.data[source.reduce((sum, c, d) => sum + c * stridesOf(dims)[d], 0)]
      })
      expect([...(out.data as Uint16Array)], `seed ${seed}`).toEqual(expected)
    }
  })
})

describe('the shape rule of Gather', () => {
  test('puts the dims of indices in place of the axis, names kept', () => {
    expect(
      dimsOf(
        inferOp(['onnx', 'Gather', 13], [fact('float32', ['n', 4, 'm']), fact('int64', ['k', 2])], {
          attributes: { axis: 1 }
        })[0]
      )
    ).toEqual(['n', 'k', 2, 'm'])
  })

  test('an unknown axis gives the hull over all axes', () => {
    expect(
      dimsOf(inferOp(['openvino', 'Gather', 8], [fact('float32', [3, 5]), fact('int64', [7]), fact('int64', [])])[0])
    ).toEqual(['3..7', '5..7'])
  })

  test('batch dims keep the intersection and must not be disjoint', () => {
    const of = (data: string, indices: string): unknown =>
      dimsOf(
        inferOp(['openvino', 'Gather', 8], [fact('float32', [data, 5]), fact('int64', [indices, 2]), axisOf(1)], {
          attributes: { batch_dims: 1 }
        })[0]
      )
    expect(of('1..4', '3..9')).toEqual(['3..4', 2])
    expect(errorOf(() => of('1..2', '3..9')).code).toBe('batch-dims-mismatch')
  })

  test('a known index is checked before the run', () => {
    expect(errorOf(() => inferOp(['onnx', 'Gather', 13], [fact('float32', [3, 'n']), ids(3)])).code).toBe(
      'index-out-of-range'
    )
    expect(dimsOf(inferOp(['onnx', 'Gather', 13], [fact('float32', ['n', 2]), ids(3)])[0])).toEqual([1, 2])
  })

  test('where the size is known by its bounds only, the error leaves it out', () => {
    const error = errorOf(() => inferOp(['onnx', 'Gather', 13], [fact('float32', ['2..4']), ids(-5)]))
    expect(error.details).toEqual({ index: '-5', position: [0], axis: 0 })
    expect(error.message).toContain('2..4')
  })

  test('an axis known by its bounds leaves fewer shapes, or none', () => {
    const infer = (batch: number): unknown =>
      dimsOf(
        inferOp(
          ['openvino', 'Gather', 8],
          [
            fact('float32', [3, 5, 8]),
            fact('int64', [7]),
            tensorFact('int64', [], { type: 'int64', dims: [], data: [unknownDim(1, 2)] })
          ],
          { attributes: { batch_dims: batch } }
        )[0]
      )
    expect(infer(0)).toEqual([3, '5..7', '7..8'])
    const far = tensorFact('int64', [], { type: 'int64', dims: [], data: [unknownDim(3, 9)] })
    expect(
      errorOf(() => inferOp(['openvino', 'Gather', 8], [fact('float32', [3, 5, 8]), fact('int64', [7]), far])).code
    ).toBe('axis-out-of-range')
  })

  test('one known rank is enough to refuse an axis or batch dims', () => {
    const infer = (data: number[] | undefined, indices: number[] | undefined, axis: number, batch: number): unknown =>
      inferOp(['openvino', 'Gather', 8], [fact('float32', data), fact('int64', indices), axisOf(axis)], {
        attributes: { batch_dims: batch }
      })
    expect(errorOf(() => infer([2, 3], undefined, 2, 0)).code).toBe('axis-out-of-range')
    expect(errorOf(() => infer([2, 3], undefined, 0, 1)).code).toBe('batch-dims-out-of-range')
    expect(errorOf(() => infer(undefined, [2], 0, 2)).code).toBe('batch-dims-out-of-range')
  })

  test('symbolic elements are moved as they are', () => {
    const n = namedDim('n') as never
    const partial = tensorFact('int64', [3], { type: 'int64', dims: [3], data: [n, 5n, 6n] })
    const [out] = inferOp(['onnx', 'Gather', 13], [partial, ids(-1, 0)])
    expect(out.kind === 'tensor' && out.value?.data).toEqual([6n, n])
  })
})
