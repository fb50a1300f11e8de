import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { resolveIndicesPaced } from '../../kernels/gather/indices.ts'
import { gatherQuantized, valuesOf, zeroPointsOf } from '../../kernels/quantized/dequantized-gather.ts'
import { checkCodeWidth } from '../../op-kit/coded.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { checkForms } from '../../op-kit/ranks.ts'
import { int } from '../../op-kit/sources.ts'
import { addDims, ceilDivDims, type Dim, floorDivDims, mulDims, normalizeAxis } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { type DType, isFloat } from '../../tensor/dtype.ts'

interface Params {
  axis: number
  quantizeAxis: number
  /** Elements of a block; 0: the whole axis, for floats. */
  blockSize: number
  /** Bits of a code where data are bytes. */
  bits: number
}

/** Indices out of range give zeros, as in ONNX Runtime, unlike those of ONNX Gather. */
const POLICY = { negative: 'wrap', outOfRange: 'zero' } as const

/**
 * Takes slices of block-quantized data along `gather_axis`, decoded: `(code - zero point) * scale` of the block along
 * `quantize_axis`. Data are 4-bit integers; bytes that hold codes of 2, 4 or 8 bits along the last axis, the first in
 * the lowest bits, as their zero points do; or floats of 8 and 4 bits, which have no zero points. Without zero points
 * it is 0, for codes in bytes the middle of their range. GatherBlockQuantized-1 of com.microsoft.
 */
export const gatherBlockQuantized = defineOp({
  name: 'GatherBlockQuantized',
  operands: { data: 'tensor', indices: 'tensor', scales: 'tensor', zeros: 'optional' },
  params: params<Params>(),
  onnx: [
    {
      domain: 'com.microsoft',
      since: 1,
      bind: {
        axis: int('gather_axis'),
        quantizeAxis: int('quantize_axis'),
        blockSize: int('block_size'),
        bits: int('bits')
      }
    }
  ],
  rows: {
    table: 'data',
    indices: 'indices',
    beside: ['scales', 'zeros'],
    at(dims, p) {
      const axis = normalizeAxis(p.axis, dims.length)
      // Rows of a block that spans rows share a scale, which is found by their position.
      return axis === normalizeAxis(p.quantizeAxis, dims.length) ? undefined : { axis, policy: POLICY }
    }
  },

  shape({ data, indices, scales, zeros }, p) {
    checkParams(data.type, p)
    if (zeros && data.type !== undefined && isFloat(data.type))
      fail('wrong-input-count', `zero_points are given; data of ${data.type} have none`)
    if (data.shape === undefined || data.type === undefined) return [tensorFact(scales.type, undefined)]
    if (data.shape.length === 0) fail('rank-zero-data', 'data is a scalar; a gather needs at least one axis')
    const axis = normalizeAxis(p.axis, data.shape.length, 'gather_axis')
    const quantized = normalizeAxis(p.quantizeAxis, data.shape.length, 'quantize_axis')
    const last = data.shape.length - 1
    if (data.type === 'uint8' && (axis !== 0 || quantized !== last))
      fail(
        'value-out-of-range',
        `gather_axis is ${axis} and quantize_axis ${quantized}; expected 0 and ${last} for codes in bytes`
      )
    const dims = elementDims(data.shape, data.type, p)
    checkScales(dims, quantized, data.type, scales, zeros, p)
    return [
      tensorFact(scales.type, indices.shape && [...dims.slice(0, axis), ...indices.shape, ...dims.slice(axis + 1)])
    ]
  },

  *run({ data, indices, scales, zeros }, p, call) {
    const out = call.output()
    if (out.data.length === 0) return
    const dims = elementDims(data.dims, data.type, p) as number[]
    const axis = normalizeAxis(p.axis, dims.length)
    const quantized = normalizeAxis(p.quantizeAxis, dims.length)
    const isPacked = data.type === 'uint8'
    const bits = isPacked ? p.bits : 8
    const positions = yield* resolveIndicesPaced(indices, dims[axis], axis, POLICY)
    const target = targetOf(out)
    const quantizedData = {
      dims,
      codes: data.data as Uint8Array | Int8Array,
      bits,
      values: valuesOf(data.type),
      scales: yield* readNumbers(scales),
      scaleDims: scales.dims,
      axis: quantized,
      blockSize: p.blockSize === 0 ? Math.max(1, dims[quantized]) : p.blockSize,
      zeroOf: zeroPointsOf(zeros, bits, isPacked, scales.dims[scales.dims.length - 1])
    }
    yield* gatherQuantized(quantizedData, positions, axis, target.numbers)
    yield* target.finish()
  }
})

function checkParams(type: DType | undefined, { blockSize, bits }: Params): void {
  if (type === 'uint8') checkCodeWidth('bits', bits)
  const isPower = Number.isInteger(Math.log2(blockSize)) && blockSize >= 16
  const mayBeAny = type === undefined || isFloat(type)
  if (blockSize < 0 || (!mayBeAny && !isPower))
    fail(
      'value-out-of-range',
      `block_size is ${blockSize}; expected ${mayBeAny ? '0 or more' : 'a power of two from 16 on'}`
    )
}

/** Dims with the codes of a byte apart. */
const elementDims = (dims: readonly Dim[], type: DType, { bits }: Params): readonly Dim[] =>
  type === 'uint8' ? [...dims.slice(0, -1), mulDims(dims[dims.length - 1], 8 / bits)] : dims

function checkScales(
  dims: readonly Dim[],
  axis: number,
  type: DType,
  scales: TensorFact,
  zeros: TensorFact | undefined,
  { blockSize, bits }: Params
): void {
  const blocks = blockSize === 0 ? 1 : ceilDivDims(dims[axis], blockSize)
  const own = scales.shape
  const mayBeOne = (i: number): boolean => isFloat(type) && i !== axis && own?.[i] === 1
  const expected = dims.map((dim, i) => (i === axis ? blocks : mayBeOne(i) ? 1 : dim))
  checkForms('scales', scales, expected)
  if (zeros === undefined) return
  const last = expected.length - 1
  const packed = (count: Dim): Dim => floorDivDims(addDims(mulDims(count, bits), 7), 8)
  checkForms('zero_points', zeros, type === 'uint8' ? [...expected.slice(0, last), packed(expected[last])] : expected)
}
