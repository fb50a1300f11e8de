import { describe, expect, test } from 'vitest'
import { tensorFact } from '../../../src/shapes/fact.ts'
import { named } from '../../../src/shapes/sym.ts'
import { ALL_DTYPES, DTYPES } from '../../../src/tensor/dtype.ts'
import { allocate, stridesOf, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { counted, picks, randomDims, randomIndices } from '../random.ts'

const ONNX: Kind = ['onnx', 'GatherElements', 13]
const IR: Kind = ['openvino', 'GatherElements', 6]
const along = (axis: number): { attributes: { axis: number } } => ({ attributes: { axis } })

/** The equation of the specification, one element at a time. */
function naive(data: Tensor, indices: Tensor, axis: number): (number | bigint | string)[] {
  const strides = stridesOf(data.dims)
  const own = stridesOf(indices.dims)
  return Array.from({ length: indices.data.length }, (_, t) => {
    const at = own.map((stride, d) => Math.floor(t / stride) % indices.dims[d])
    const index = Number(indices.data[t])
    at[axis] = index < 0 ? index + data.dims[axis] : index
    return data.data[at.reduce((sum, coordinate, d) => sum + coordinate * strides[d], 0)]
  })
}

describe('GatherElements', () => {
  test('reads each element at its own coordinates but for the axis', () => {
    const data = new Tensor('float32', [1, 2, 3, 4, 5, 6, 7, 8, 9], [3, 3])
    const indices = new Tensor('int64', [1n, 2n, 0n, 2n, 0n, 0n], [2, 3])
    const out = runTensor(ONNX, [data, indices])
    expect(out.dims).toEqual([2, 3])
    expect([...out.data]).toEqual([4, 8, 3, 7, 2, 3])
  })

  test('agrees with the equation for random dims, axes and indices', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const dims = randomDims(seed, 1, 5)
      const axis = picks(seed, dims.length)
      const indexDims = dims.map((dim, d) =>
        d === axis ? 1 + picks(seed + d, 7) : seed % 2 === 0 ? dim : 1 + picks(seed + d, dim)
      )
      const data = counted(seed % 3 === 0 ? 'int64' : seed % 3 === 1 ? 'float32' : 'string', dims)
      const indices = randomIndices(seed, seed % 4 < 2 ? 'int32' : 'int64', indexDims, dims[axis])
      const out = runTensor(ONNX, [data, indices], along(seed % 5 === 0 ? axis - dims.length : axis))
      expect([...(out.data as Float32Array)], `seed ${seed}`).toEqual(naive(data, indices, axis))
    }
  })

  test('moves every element type', () => {
    for (const type of ALL_DTYPES) {
      const data = counted(type, [2, 2])
      const { slots } = DTYPES[type]
      const out = runTensor(IR, [data, new Tensor('int32', [1, -2], [1, 2])], along(0))
      expect([...(out.data as Float32Array)], type).toEqual([
        ...data.data.slice(2 * slots, 3 * slots),
        ...data.data.slice(slots, 2 * slots)
      ])
    }
  })

  test('names the first index out of range in row-major order', () => {
    const indices = new Tensor('int64', [0n, 1n, -3n, 2n ** 32n + 1n], [2, 2])
    const error = errorOf(() => runTensor(ONNX, [allocate('float32', [2, 2]), indices], along(1)))
    expect(error.code).toBe('index-out-of-range')
    expect(error.details).toEqual({ index: '-3', position: [1, 0], axis: 1, size: 2 })
  })

  test('an index into an empty axis is out of range, no index is not', () => {
    expect(errorOf(() => runTensor(ONNX, [allocate('float32', [0, 2]), allocate('int64', [1, 2])])).code).toBe(
      'index-out-of-range'
    )
    expect(runTensor(ONNX, [allocate('float32', [0, 2]), allocate('int64', [0, 2])]).dims).toEqual([0, 2])
  })

  test('ONNX admits smaller indices off the axis, OpenVINO only equal ones, nobody larger ones', () => {
    const data = counted('float32', [3, 4])
    expect([...runTensor(ONNX, [data, allocate('int64', [2, 3])]).data]).toEqual([0, 1, 2, 0, 1, 2])
    expect(errorOf(() => runTensor(IR, [data, allocate('int64', [2, 3])], along(0))).code).toBe('dims-mismatch')
    expect(errorOf(() => runTensor(ONNX, [data, allocate('int64', [2, 5])])).code).toBe('dims-mismatch')
  })

  test('refuses scalars, unequal ranks, far axes and other index types', () => {
    const scalar = allocate('float32', [])
    const data = allocate('float32', [2, 2])
    expect(errorOf(() => runTensor(ONNX, [scalar, allocate('int64', [])])).code).toBe('rank-zero-data')
    expect(errorOf(() => runTensor(ONNX, [data, allocate('int64', [])])).code).toBe('rank-mismatch')
    expect(errorOf(() => runTensor(ONNX, [data, allocate('int64', [2])])).code).toBe('rank-mismatch')
    expect(errorOf(() => runTensor(ONNX, [data, allocate('int64', [2, 2])], along(2))).code).toBe('axis-out-of-range')
    expect(errorOf(() => runTensor(IR, [data, allocate('int16', [2, 2])], along(0))).code).toBe(
      'index-type-not-allowed'
    )
    expect(
      errorOf(() => runTensor(['onnx', 'GatherElements', 11], [allocate('bfloat16', [2]), allocate('int64', [2])])).code
    ).toBe('type-not-allowed')
  })

  test('OpenVINO requires the axis, and it must be an integer', () => {
    const inputs = [allocate('float32', [2]), allocate('int64', [2])]
    expect(errorOf(() => runTensor(IR, inputs)).code).toBe('missing-attribute')
    expect(errorOf(() => runTensor(IR, inputs, along(1.5))).code).toBe('unknown-attribute-value')
  })
})

describe('the shape rule of GatherElements', () => {
  const infer = (
    kind: Kind,
    data: (number | string)[] | undefined,
    indices: (number | string)[] | undefined,
    axis: number
  ): unknown => dimsOf(inferOp(kind, [fact('float32', data), fact('int64', indices)], along(axis))[0])

  test('gives the dims of indices, names kept', () => {
    expect(infer(ONNX, ['n', 4], ['m', 3], 1)).toEqual(['m', 3])
  })

  test('OpenVINO keeps the intersection off the axis', () => {
    expect(infer(IR, [7, '3..7', '8..15'], [7, '?', '7..14'], 2)).toEqual([7, '3..7', '7..14'])
    expect(errorOf(() => infer(IR, ['1..2', 3], ['3..', 3], 1)).code).toBe('dims-mismatch')
  })

  test('needs only one of the ranks', () => {
    expect(infer(IR, [3, '2..5'], undefined, 0)).toEqual(['?', '2..5'])
    expect(infer(ONNX, [3, 5], undefined, 0)).toEqual(['?', '?'])
    expect(infer(IR, undefined, [3, 'k'], 0)).toEqual([3, 'k'])
    expect(infer(IR, undefined, undefined, 0)).toBeUndefined()
    expect(errorOf(() => infer(IR, undefined, [3], 1)).code).toBe('axis-out-of-range')
  })

  test('known indices are checked against the bounds of the axis', () => {
    const error = errorOf(() => inferOp(ONNX, [fact('float32', ['2..4']), new Tensor('int64', [3n, 4n])]))
    expect(error.details).toEqual({ index: '4', position: [1], axis: 0 })
    expect(dimsOf(inferOp(ONNX, [fact('float32', ['n']), new Tensor('int64', [3n, 4n])])[0])).toEqual([2])
  })

  test('symbolic elements are moved as they are', () => {
    const n = named('n')
    const partial = tensorFact('int64', [2], { type: 'int64', dims: [2], data: [n, 5n] })
    const [out] = inferOp(ONNX, [partial, new Tensor('int64', [1n, -2n])])
    expect(out.kind === 'tensor' && out.value?.data).toEqual([5n, n])
  })
})
