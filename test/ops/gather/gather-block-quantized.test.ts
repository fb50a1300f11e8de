import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { type DType, isFloat } from '../../../src/tensor/dtype.ts'
import { decodeFloat, isCodedFloat } from '../../../src/tensor/floats.ts'
import { allocate, stridesOf, Tensor } from '../../../src/tensor/tensor.ts'
import fc from '../../fixtures/random-cases.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const kind: Kind = ['onnx', 'GatherBlockQuantized', 1, 'com.microsoft']
const product = (dims: readonly number[]): number => dims.reduce((a, b) => a * b, 1)
const ids = (values: readonly number[], dims = [values.length]): Tensor => new Tensor('int64', values.map(BigInt), dims)
const random = (count: number, below: number, seed: number): number[] =>
  Array.from({ length: count }, (_, i) => (Math.imul(seed + 31 * i, 2654435761) >>> 8) % below)

/** Codes of a byte each, packed along the last axis, the first in the lowest bits. */
function pack(codes: readonly number[], dims: readonly number[], bits: number): Tensor {
  const last = dims[dims.length - 1]
  const width = Math.ceil((last * bits) / 8)
  const bytes = new Uint8Array((codes.length / last) * width)
  codes.forEach((code, i) => {
    const at = i % last
    bytes[Math.floor(i / last) * width + Math.floor((at * bits) / 8)] |= code << ((at * bits) % 8)
  })
  return new Tensor('uint8', bytes, [...dims.slice(0, -1), width])
}

interface Quantized {
  readonly type: DType
  readonly dims: readonly number[]
  readonly gatherAxis: number
  readonly quantizeAxis: number
  readonly blockSize: number
  readonly bits: number
  readonly hasZeros: boolean
  readonly indices: readonly number[]
}

/** Inputs of a call and its result, element by element. */
function example(q: Quantized) {
  const { type, dims, gatherAxis, quantizeAxis, blockSize, bits, hasZeros, indices } = q
  const low = type === 'int4' ? 8 : 0
  const limit = type === 'uint8' ? 2 ** bits : isFloat(type) && type !== 'float4e2m1' ? 120 : 16
  const codes = random(product(dims), limit, 3).map(code => code - low)
  const scaleDims = dims.map((dim, i) => (i === quantizeAxis ? Math.ceil(dim / blockSize) : dim))
  const scales = random(product(scaleDims), 100, 5).map(value => (value - 50) / 8)
  const points = random(product(scaleDims), limit, 9).map(code => code - low)
  const [strides, scaleStrides] = [stridesOf(dims), stridesOf(scaleDims)]
  const valueAt = (position: readonly number[]): number => {
    const code = codes[position.reduce((sum, at, i) => sum + at * strides[i], 0)]
    const scale = position.reduce(
      (sum, at, i) => sum + (i === quantizeAxis ? Math.floor(at / blockSize) : at) * scaleStrides[i],
      0
    )
    const zero = hasZeros ? points[scale] : type === 'uint8' ? 2 ** (bits - 1) : 0
    return (isCodedFloat(type) ? decodeFloat(type, code) : code - zero) * scales[scale]
  }
  const expected: number[] = []
  const size = dims[gatherAxis]
  const outDims = dims.with(gatherAxis, indices.length)
  const outStrides = stridesOf(outDims)
  for (let i = 0; i < product(outDims); i++) {
    const position = outStrides.map((stride, axis) => Math.floor(i / stride) % outDims[axis])
    const index = indices[position[gatherAxis]]
    const inRange = index >= -size && index < size
    expected.push(inRange ? valueAt(position.with(gatherAxis, index < 0 ? index + size : index)) : 0)
  }
  const isPacked = type === 'uint8'
  const zeros = isPacked ? pack(points, scaleDims, bits) : new Tensor(type, points, scaleDims)
  return {
    inputs: [
      isPacked ? pack(codes, dims, bits) : new Tensor(type, codes, dims),
      ids(indices),
      new Tensor('float32', scales, scaleDims),
      ...(hasZeros ? [zeros] : [])
    ],
    attributes: { gather_axis: gatherAxis, quantize_axis: quantizeAxis, block_size: blockSize, bits },
    outDims,
    expected
  }
}

const dim = fc.integer({ min: 1, max: 4 })
const wide = fc.integer({ min: 1, max: 40 })
const quantized = fc
  .record({
    type: fc.constantFrom<DType>('int4', 'uint4', 'uint8', 'float8e4m3fn', 'float8e5m2', 'float4e2m1'),
    outer: fc.array(dim, { maxLength: 2 }),
    width: wide,
    gather: fc.nat(2),
    quantize: fc.nat(2),
    blockSize: fc.constantFrom(16, 32),
    bits: fc.constantFrom(2, 4, 8),
    hasZeros: fc.boolean(),
    indices: fc.array(fc.integer({ min: -45, max: 45 }), { maxLength: 5 })
  })
  .map(({ outer, width, gather, quantize, ...rest }): Quantized => {
    const isPacked = rest.type === 'uint8'
    const swapped = !isPacked && quantize % 2 === 1
    const last = isPacked ? Math.ceil((width * rest.bits) / 8) * (8 / rest.bits) : width
    const dims = swapped ? [last, ...outer] : [...outer, last]
    return {
      ...rest,
      dims,
      gatherAxis: isPacked ? 0 : gather % dims.length,
      quantizeAxis: isPacked ? dims.length - 1 : swapped ? 0 : quantize % dims.length,
      hasZeros: rest.hasZeros && !isFloat(rest.type)
    }
  })

describe('GatherBlockQuantized', () => {
  test('takes what the whole data decode to, whatever the axes, types and blocks', () => {
    fc.assert(
      fc.property(quantized, one => {
        const { inputs, attributes, outDims, expected } = example(one)
        const result = runTensor(kind, inputs, { attributes })
        expect(result.dims).toEqual(outDims)
        expect([...result.data].map(value => Number(value) + 0)).toEqual(expected.map(value => Math.fround(value) + 0))
      }),
      { numRuns: 150 }
    )
  })

  const plain: Quantized = {
    type: 'uint8',
    dims: [3, 32],
    gatherAxis: 0,
    quantizeAxis: 1,
    blockSize: 16,
    bits: 4,
    hasZeros: true,
    indices: [2, 0]
  }

  test('compares indices of 64 bits exactly; out of range gives zeros', () => {
    const { inputs, attributes, expected } = example(plain)
    const far = new Tensor('int64', [2n ** 32n + 1n, 2n, -(2n ** 63n), 3n], [4])
    const result = runTensor(kind, inputs.with(1, far), { attributes })
    expect([...result.data]).toEqual([
      ...new Array<number>(32).fill(0),
      ...expected.slice(0, 32),
      ...new Array<number>(64).fill(0)
    ])
  })

  test('has the dims of the indices in the place of the axis, and the type of the scales', () => {
    const { inputs, attributes, expected } = example({
      ...plain,
      type: 'uint4',
      gatherAxis: 1,
      quantizeAxis: 1,
      indices: [31]
    })
    const scalar = runTensor(kind, inputs.with(1, new Tensor('int32', [31], [])), { attributes })
    expect(scalar.dims).toEqual([3])
    expect([...scalar.data]).toEqual(expected)
    for (const type of ['float16', 'bfloat16'] as const) {
      const result = runTensor(kind, inputs.with(2, convert(inputs[2], type)), { attributes })
      expect(result.type).toBe(type)
      expect([...convert(result, 'float32').data]).toEqual([
        ...convert(convert(new Tensor('float32', expected, [3]), type), 'float32').data
      ])
    }
    const facts = [fact('uint4', ['r', 64]), fact('int64', ['b', 's']), fact('float16', ['r', '?'])]
    expect(dimsOf(inferOp(kind, facts, { attributes: { block_size: 16 } })[0])).toEqual(['b', 's', 64])
    const bytes = [fact('uint8', [9, 'w']), fact('int64', ['n']), fact('float32', [9, '?'])]
    expect(dimsOf(inferOp(kind, bytes, { attributes: { block_size: 16 } })[0])).toEqual(['n', '2*w'])
  })

  test('floats may have one scale for all positions of an axis, and one block for all of an axis', () => {
    const data = new Tensor('float8e4m3fn', random(2 * 20, 120, 1), [2, 20])
    const decoded = [...data.data].map(code => decodeFloat('float8e4m3fn', Number(code)))
    const run = (scales: Tensor, block_size: number): number[] => [
      ...(runTensor(kind, [data, ids([1, 0]), scales], { attributes: { block_size } }).data as Float32Array)
    ]
    const rows = [...decoded.slice(20), ...decoded.slice(0, 20)]
    expect(run(new Tensor('float32', [2, 4], [1, 2]), 16)).toEqual(
      rows.map((value, i) => value * (i % 20 < 16 ? 2 : 4))
    )
    expect(run(new Tensor('float32', [2, 4], [2, 1]), 0)).toEqual(rows.map((value, i) => value * (i < 20 ? 4 : 2)))
  })

  test('takes nothing of nothing', () => {
    const { inputs, attributes } = example(plain)
    expect(runTensor(kind, inputs.with(1, ids([])), { attributes }).dims).toEqual([0, 32])
    const empty = [allocate('uint8', [0, 16]), ids([0, -1]), allocate('float32', [0, 2])]
    expect([...runTensor(kind, empty, { attributes }).data]).toEqual(new Array<number>(64).fill(0))
  })

  test.each([
    [{ bits: 3 }, {}, 'unknown-attribute-value'],
    [{ block_size: 8 }, {}, 'value-out-of-range'],
    [{ block_size: 48 }, {}, 'value-out-of-range'],
    [{ block_size: 0 }, {}, 'value-out-of-range'],
    [{ gather_axis: 1 }, {}, 'value-out-of-range'],
    [{ quantize_axis: 0 }, {}, 'value-out-of-range'],
    [{ quantize_axis: 2 }, {}, 'axis-out-of-range'],
    [{ gather_axis: -3 }, {}, 'axis-out-of-range'],
    [{}, { 0: allocate('uint8', []) }, 'rank-zero-data'],
    [{}, { 1: new Tensor('int16', [0], [1]) }, 'index-type-not-allowed'],
    [{}, { 2: allocate('float32', [3, 1]) }, 'dims-mismatch'],
    [{}, { 2: allocate('float32', [1, 2]) }, 'dims-mismatch'],
    [{}, { 2: allocate('float32', [6]) }, 'rank-mismatch'],
    [{}, { 3: allocate('uint8', [3, 2]) }, 'dims-mismatch'],
    [{}, { 0: allocate('float8e5m2', [3, 32]), 3: allocate('float8e5m2', [3, 2]) }, 'wrong-input-count']
  ])('checks what does not fit together, case %#', (changedAttributes, changed, code) => {
    const { inputs, attributes } = example(plain)
    const given = Object.assign([...inputs], changed)
    const error = errorOf(() => runTensor(kind, given, { attributes: { ...attributes, ...changedAttributes } }))
    expect(error.code).toBe(code)
  })
})
