import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { counted, picks, randomDims } from '../random.ts'

const ONNX: Kind = ['onnx', 'ScatterND', 18]
const IR: Kind = ['openvino', 'ScatterNDUpdate', 15]
const tuples = (values: number[], dims: number[]): Tensor => new Tensor('int64', values, dims)
const floats = (values: number[], dims?: number[]): Tensor => new Tensor('float32', values, dims)

describe('ScatterND', () => {
  test('writes elements or slices', () => {
    const data = floats([1, 2, 3, 4, 5, 6, 7, 8])
    expect([...runTensor(ONNX, [data, tuples([4, 3, 1, -1], [4, 1]), floats([9, 10, 11, 12])]).data]).toEqual([
      1, 11, 3, 10, 9, 6, 7, 12
    ])
    expect([
      ...runTensor(IR, [floats([1, 2, 3, 4], [2, 2]), tuples([1], [1, 1]), floats([8, 9], [1, 2])]).data
    ]).toEqual([1, 2, 8, 9])
  })

  test('gives back what GatherND took', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const dims = randomDims(seed, 1, 4)
      const width = 1 + picks(seed, dims.length)
      const indexDims = [...randomDims(seed + 1, 0, 2), width]
      const count = indexDims.reduce((a, b) => a * b, 1)
      const indices = tuples(
        Array.from({ length: count }, (_, i) => picks(seed * 7 + i, 2 * dims[i % width]) - dims[i % width]),
        indexDims
      )
      const data = counted(seed % 2 === 0 ? 'string' : 'float64', dims)
      const taken = runTensor(['onnx', 'GatherND', 13], [data, indices])
      expect(runTensor(ONNX, [data, indices, taken]).data, `seed ${seed}`).toEqual(data.data)
      const empty = runTensor(ONNX, [allocate(data.type, dims), indices, taken])
      expect(runTensor(['onnx', 'GatherND', 13], [empty, indices]).data).toEqual(taken.data)
    }
  })

  test('reductions apply to every update of an element', () => {
    const run = (reduction: string): number[] => [
      ...(runTensor(
        IR,
        [
          new Tensor('int32', [1, 2, 3, 4]),
          tuples([0, 2, -3, -3, 0], [5, 1]),
          new Tensor('int32', [10, 20, 30, 40, 50])
        ],
        { attributes: { reduction } }
      ).data as Int32Array)
    ]
    expect(run('sum')).toEqual([61, 72, 23, 4])
    expect(run('sub')).toEqual([-59, -68, -17, 4])
    expect(run('prod')).toEqual([500, 2400, 60, 4])
    expect(run('min')).toEqual([1, 2, 3, 4])
    expect(run('max')).toEqual([50, 40, 20, 4])
    expect(run('none')).toEqual([50, 40, 20, 4])
  })

  test('booleans: or, exclusive or, and', () => {
    const run = (reduction: string): number[] => [
      ...(runTensor(
        IR,
        [new Tensor('bool', [true, true, false]), tuples([0, 1, 2], [3, 1]), new Tensor('bool', [true, false, true])],
        { attributes: { reduction } }
      ).data as Uint8Array)
    ]
    expect([run('sum'), run('sub'), run('prod')]).toEqual([
      [1, 1, 1],
      [0, 1, 1],
      [1, 0, 0]
    ])
  })

  test('an empty tuple names all of the data', () => {
    expect([...runTensor(ONNX, [floats([1, 2]), tuples([], [2, 0]), floats([3, 4, 5, 6], [2, 2])]).data]).toEqual([
      5, 6
    ])
    expect([
      ...runTensor(ONNX, [floats([1, 2]), tuples([], [2, 0]), floats([3, 4, 5, 6], [2, 2])], {
        attributes: { reduction: 'add' }
      }).data
    ]).toEqual([9, 12])
  })

  test('names the component out of range', () => {
    const error = errorOf(() =>
      runTensor(ONNX, [allocate('float32', [3, 4]), tuples([0, 0, 2, 4], [2, 2]), floats([1, 2])])
    )
    expect(error.details).toEqual({ index: '4', position: [1, 1], axis: 1, size: 4 })
    expect(
      errorOf(() => inferOp(ONNX, [fact('float32', ['n', 4]), tuples([0, 4], [1, 2]), fact('float32', [1])])).code
    ).toBe('index-out-of-range')
  })

  test('updates have the dims that indices and data give; OpenVINO takes one element for a scalar', () => {
    const data = allocate('float32', [3, 4])
    expect(errorOf(() => runTensor(ONNX, [data, tuples([0], [1, 1]), floats([1, 2, 3], [1, 3])])).code).toBe(
      'dims-mismatch'
    )
    expect(errorOf(() => runTensor(ONNX, [data, tuples([0, 0], [2]), floats([1])])).code).toBe('rank-mismatch')
    expect(runTensor(IR, [data, tuples([0, 0], [2]), floats([1], [1, 1])]).data[0]).toBe(1)
    expect(errorOf(() => runTensor(ONNX, [data, tuples([0, 0, 0], [1, 3]), floats([1])])).code).toBe('dims-mismatch')
    expect(errorOf(() => runTensor(ONNX, [data, tuples([0], []), floats([1])])).code).toBe('rank-mismatch')
    expect(dimsOf(inferOp(ONNX, [fact('float32', ['n', 4]), fact('int64', ['?', '?']), fact('float32')])[0])).toEqual([
      'n',
      4
    ])
  })
})
