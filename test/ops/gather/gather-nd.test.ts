import { describe, expect, test } from 'vitest'
import { ALL_DTYPES, DTYPES } from '../../../src/tensor/dtype.ts'
import { allocate, stridesOf, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { counted, picks, randomDims } from '../random.ts'

const ONNX: Kind = ['onnx', 'GatherND', 13]
const IR: Kind = ['openvino', 'GatherND', 8]
const batched = (batch_dims: number): { attributes: { batch_dims: number } } => ({ attributes: { batch_dims } })
const ints = (values: number[], dims?: number[]): Tensor => new Tensor('int64', values, dims)

/** The slices named by each tuple, one element at a time. */
function naive(data: Tensor, indices: Tensor, batch: number): unknown[] {
  const width = indices.dims[indices.dims.length - 1]
  const strides = stridesOf(data.dims)
  const own = stridesOf(indices.dims.slice(0, -1))
  const block = data.dims.slice(batch + width).reduce((a, b) => a * b, 1)
  return Array.from({ length: indices.data.length / width }, (_, t) => {
    let at = 0
    for (let d = 0; d < batch; d++) at += (Math.floor(t / own[d]) % indices.dims[d]) * strides[d]
    for (let j = 0; j < width; j++) {
      const index = Number(indices.data[t * width + j])
      at += (index < 0 ? index + data.dims[batch + j] : index) * strides[batch + j]
    }
    return [...(data.data.slice(at, at + block) as Float32Array)]
  }).flat()
}

describe('GatherND', () => {
  test('tuples as long as the rank take elements, shorter ones slices', () => {
    const data = ints([0, 1, 2, 3], [2, 2])
    expect([...runTensor(ONNX, [data, ints([0, 0, 1, 1], [2, 2])]).data]).toEqual([0n, 3n])
    const out = runTensor(ONNX, [data, ints([1, 0], [2, 1])])
    expect(out.dims).toEqual([2, 2])
    expect([...out.data]).toEqual([2n, 3n, 0n, 1n])
  })

  test('agrees with the definition for random dims, batches and widths', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const dims = randomDims(seed, 1, 5)
      const batch = picks(seed, dims.length)
      const width = 1 + picks(seed + 1, dims.length - batch)
      const indexDims = [...dims.slice(0, batch), ...randomDims(seed + 2, 0, 2), width]
      const count = indexDims.reduce((a, b) => a * b, 1)
      const values = Array.from(
        { length: count },
        (_, i) => picks(seed * 7 + i, 2 * dims[batch + (i % width)]) - dims[batch + (i % width)]
      )
      const data = counted(seed % 3 === 0 ? 'int64' : seed % 3 === 1 ? 'uint8' : 'string', dims)
      const indices = ints(values, indexDims)
      const out = runTensor(ONNX, [data, indices], batched(batch))
      expect([...(out.data as Float32Array)], `seed ${seed}`).toEqual(naive(data, indices, batch))
    }
  })

  test('moves every element type', () => {
    for (const type of ALL_DTYPES) {
      const data = counted(type, [2, 2])
      const { slots } = DTYPES[type]
      expect([...(runTensor(IR, [data, ints([-1, 0], [1, 2])]).data as Float32Array)], type).toEqual([
        ...data.data.slice(2 * slots, 3 * slots)
      ])
    }
  })

  test('version 5 of OpenVINO fuses several batch dims and wants indices from 0', () => {
    const data = counted('float32', [2, 3, 4])
    const indices = allocate('int32', [2, 3, 1])
    expect(runTensor(['openvino', 'GatherND', 5], [data, indices], batched(2)).dims).toEqual([6])
    expect(runTensor(IR, [data, indices], batched(2)).dims).toEqual([2, 3])
    expect(runTensor(['openvino', 'GatherND', 5], [data, allocate('int32', [2, 1])], batched(1)).dims).toEqual([2, 4])
    indices.data.fill(-1)
    expect(errorOf(() => runTensor(['openvino', 'GatherND', 5], [data, indices], batched(2))).details).toMatchObject({
      index: '-1',
      position: [0, 0, 0],
      axis: 2,
      size: 4
    })
    expect([...runTensor(IR, [data, indices], batched(2)).data]).toEqual([3, 7, 11, 15, 19, 23])
  })

  test('names the first component out of range in row-major order and its axis', () => {
    const data = allocate('float32', [3, 4, 5])
    const error = errorOf(() => runTensor(ONNX, [data, ints([0, 0, 2, 9, 3, 9], [3, 2])]))
    expect(error.details).toEqual({ index: '9', position: [1, 1], axis: 1, size: 4 })
    const batch = errorOf(() =>
      runTensor(ONNX, [data, new Tensor('int64', [3n, 0n, 0n, 2n ** 40n, 0n, 9n], [3, 2])], batched(1))
    )
    expect(batch.details).toEqual({ index: '1099511627776', position: [1, 1], axis: 2, size: 5 })
  })

  test('an index is checked even when the output is empty', () => {
    expect(errorOf(() => runTensor(ONNX, [allocate('float32', [3, 0]), ints([3], [1, 1])])).code).toBe(
      'index-out-of-range'
    )
    expect(runTensor(ONNX, [allocate('float32', [3, 0]), ints([2], [1, 1])]).dims).toEqual([1, 0])
    expect(runTensor(ONNX, [allocate('float32', [0, 2]), allocate('int64', [0, 1])]).dims).toEqual([0, 2])
  })

  test('refuses scalars, tuples of no or too many components and unequal batches', () => {
    const data = allocate('float32', [2, 3])
    expect(errorOf(() => runTensor(ONNX, [allocate('float32', []), ints([0])])).code).toBe('rank-zero-data')
    expect(errorOf(() => runTensor(ONNX, [data, ints([0], [])])).code).toBe('rank-mismatch')
    expect(errorOf(() => runTensor(ONNX, [data, allocate('int64', [4, 0])])).code).toBe('dims-mismatch')
    expect(errorOf(() => runTensor(ONNX, [data, allocate('int64', [4, 3])])).code).toBe('dims-mismatch')
    expect(errorOf(() => runTensor(ONNX, [data, allocate('int64', [4, 1])], batched(1))).code).toBe(
      'batch-dims-mismatch'
    )
    for (const batch of [-1, 1, 2])
      expect(errorOf(() => runTensor(ONNX, [data, allocate('int64', [2])], batched(batch))).code).toBe(
        'batch-dims-out-of-range'
      )
    expect(errorOf(() => runTensor(ONNX, [data, allocate('int32', [2])])).code).toBe('index-type-not-allowed')
    expect(errorOf(() => runTensor(['onnx', 'GatherND', 11], [data, allocate('int64', [2])], batched(0))).code).toBe(
      'unknown-attribute-value'
    )
  })
})

describe('the shape rule of GatherND', () => {
  const infer = (
    kind: Kind,
    data: (number | string)[] | undefined,
    indices: (number | string)[] | undefined,
    batch = 0
  ): unknown => dimsOf(inferOp(kind, [fact('float32', data), fact('int64', indices)], batched(batch))[0])

  test('batch dims meet and take the names of the indices', () => {
    expect(infer(ONNX, ['n', 'm', 3], ['b', 5, 1], 1)).toEqual(['b', 5, 3])
    expect(infer(IR, ['2..4', 3], ['3..9', 1], 1)).toEqual(['3..4'])
    expect(errorOf(() => infer(IR, ['0..2', 3], ['3..9', 1], 1)).code).toBe('batch-dims-mismatch')
  })

  test('version 5 multiplies batch dims symbolically', () => {
    expect(infer(['openvino', 'GatherND', 5], ['n', 'm', 3], ['n', 'm', 1], 2)).toEqual(['m*n'])
  })

  test('the rank is known only when both ranks and the width are', () => {
    expect(infer(IR, [2, 3], ['?', '1..2'])).toBeUndefined()
    expect(infer(IR, undefined, [3, 1])).toBeUndefined()
    expect(infer(IR, [2, 3], undefined)).toBeUndefined()
  })

  test('what no unknown can mend is an error', () => {
    expect(errorOf(() => infer(IR, [2, 3], ['?', '3..5'])).code).toBe('dims-mismatch')
    expect(errorOf(() => infer(IR, undefined, [2, 0])).code).toBe('dims-mismatch')
    expect(errorOf(() => infer(IR, [2, 3], undefined, 2)).code).toBe('batch-dims-out-of-range')
  })

  test('known tuples are checked component by component', () => {
    const error = errorOf(() => inferOp(IR, [fact('float32', ['?', 4]), ints([9, 3, 0, 4], [2, 2])]))
    expect(error.details).toEqual({ index: '4', position: [1, 1], axis: 1, size: 4 })
  })
})

test('GatherND of com.microsoft has no batch dims, and names an index out of range', () => {
  const kind: Kind = ['onnx', 'GatherND', 1, 'com.microsoft']
  const data = counted('float32', [3, 4])
  expect([...runTensor(kind, [data, ints([-1])]).data]).toEqual([8, 9, 10, 11])
  expect([...runTensor(kind, [data, new Tensor('int32', [-1, -1, 0, 2], [2, 2])]).data]).toEqual([11, 2])
  expect([...runTensor(kind, [counted('string', [2, 2]), ints([1, 0], [1, 2])]).data]).toEqual(['s2'])
  expect(errorOf(() => runTensor(kind, [data, ints([3], [1, 1])])).code).toBe('index-out-of-range')
  expect(dimsOf(inferOp(kind, [fact('float32', ['n', 4]), fact('int64', ['m', 1])])[0])).toEqual(['m', 4])
})
