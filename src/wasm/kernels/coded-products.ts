import { FP4, NF4 } from '../../kernels/quantized/coded-rows.ts'
import { codeBytes } from '../../kernels/quantized/packed.ts'
import { type CompressedParams, valuesOf } from '../../op-kit/compressed.ts'
import type { Op, Pack, Packed, Selection } from '../../op-kit/define.ts'
import { DTYPES } from '../../tensor/dtype.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { remembered } from '../remembered.ts'
import { arrayOf, jobKernel, selectorFor, type TensorOperands } from '../selector.ts'
import { isFloat8 } from './coded-floats.ts'
import { isByParts, productByParts } from './coded-parts.ts'
import { arePackable, bindCoded, type CodedArrays, type CodedProduct, isServed, rowsOf } from './coded.ts'
import { packingOf } from './nibble-packing.ts'

interface NBitsParams {
  readonly k: number
  readonly n: number
  readonly bits: number
  readonly blockSize: number
  readonly accuracyLevel: number
}

/** MatMulNBits of float32 whose blocks are those of the order of the columns. */
export const selectMatMulNBits = selectorFor<NBitsParams>(({ op, operands, parameters: p }) => {
  const { a, b, scales, zeros, blockOf, bias } = operands
  if (a?.type !== 'float32' || b === undefined || scales?.type !== 'float32' || blockOf) return undefined
  if (bias && bias.type !== 'float32') return undefined
  const blocks = Math.ceil(p.k / p.blockSize)
  const found: CodedProduct = {
    m: rowsOf(a.dims),
    n: p.n,
    k: p.k,
    bits: p.bits,
    rowBytes: blocks * codeBytes(p.blockSize, p.bits),
    blockSize: p.blockSize,
    mayRound: p.accuracyLevel === 4,
    zeros: zeros
      ? zeros.type === 'uint8'
        ? { kind: 'codes', rowBits: 8 * codeBytes(blocks, p.bits) }
        : { kind: 'numbers' }
      : { kind: 'one', zero: 2 ** (p.bits - 1) }
  }
  return codedSelection(op, found, scales, { weights: 'b', scales: 'scales' })
})

interface Bnb4Params {
  readonly k: number
  readonly n: number
  readonly blockSize: number
  readonly quantType: number
  readonly transposeB: boolean
}

/** Values of the types of MatMulBnb4, by number. */
const BNB4_TABLES = [FP4, NF4].map(table => Float32Array.from(table))

/** Least part of a block that has a scale of its own: with smaller ones the scales would take more than the codes. */
const MIN_PART = 16

/**
 * MatMulBnb4 of float32 with a transposed second factor. Its blocks go on from row to row: where one may belong to
 * two, the parts that rows and blocks divide into alike are blocks, whose scales are packed once.
 */
export const selectMatMulBnb4 = selectorFor<Bnb4Params>(({ op, operands, parameters: p }) => {
  const { a, b, largest } = operands
  const { n, k, blockSize } = p
  if (a?.type !== 'float32' || b === undefined || largest?.type !== 'float32') return undefined
  const part = commonDivisor(k, blockSize)
  if (!p.transposeB || k % 2 !== 0 || (part < blockSize && part < MIN_PART)) return undefined
  const found: CodedProduct = {
    ...{ m: rowsOf(a.dims), n, k, bits: 4, hasTable: true, isHighFirst: true, rowBytes: k / 2, blockSize: part },
    zeros: { kind: 'one', zero: 0 }
  }
  const names = { weights: 'b', scales: 'largest', table: BNB4_TABLES[p.quantType] }
  return codedSelection(op, found, largest, names, part < blockSize ? scalesOfParts : undefined)
})

function commonDivisor(a: number, b: number): number {
  while (b > 0) [a, b] = [b, a % b]
  return a
}

/** A scale for each part of a block of MatMulBnb4. */
const scalesOfParts: Pack = ({ largest }: Readonly<Record<string, Tensor>>, params, { allocate }) => {
  if (largest === undefined) return undefined
  const { n, k, blockSize } = params as unknown as Bnb4Params
  const part = commonDivisor(k, blockSize)
  const scales = allocate('float32', [n, k / part])
  const [from, to] = [arrayOf(largest), arrayOf(scales)]
  for (let i = 0; i < to.length; i++) to[i] = from[Math.floor((i * part) / blockSize)]
  return { largest: scales }
}

/** CompressedMatMul of float32. */
export const selectCompressedMatMul = selectorFor<CompressedParams>(({ op, operands, parameters: p }) => {
  const { a, scales, bias } = operands
  if (a?.type !== 'float32' || scales === undefined || (bias && bias.type !== 'float32')) return undefined
  const { n, k, type, blockSize, zeros, table: ofFile } = p
  const { bits, kind } = DTYPES[type]
  const hasTable = type === 'nf4' || type === 'float4e2m1' || ofFile !== undefined
  const found: CodedProduct = {
    ...{ m: rowsOf(a.dims), n, k, bits, hasTable, isSigned: kind === 'int', rowBytes: (k * bits) / 8, blockSize },
    floats: isFloat8(type) ? type : undefined,
    zeros: typeof zeros === 'number' ? { kind: 'one', zero: zeros } : { kind: zeros, rowBits: (k / blockSize) * bits }
  }
  const table = hasTable ? { table: Float32Array.from(ofFile ?? valuesOf(type)) } : {}
  return codedSelection(op, found, scales, { weights: 'codes', scales: 'scales', ...table })
})

/**
 * @param names the operands that have the codes and the scales
 * @param spread packs scales, without which the kernel does not do
 */
function codedSelection(
  op: Op,
  found: CodedProduct,
  scales: Tensor,
  names: { readonly weights: string; readonly scales: string; readonly table?: Float32Array },
  spread?: Pack
): Selection | undefined {
  if (!isServed(found, scales.type)) return undefined
  const kept = remembered<JobTemplate>()
  const pack = spread ?? (arePackable(found) ? packingOf[found.zeros.kind] : undefined)
  const areCodesPacked = (packed: Packed | undefined): boolean => spread === undefined && packed !== undefined
  const arraysOf = (given: TensorOperands, packed: Packed | undefined): CodedArrays => {
    const weights = packed ? { ...given, ...packed } : given
    return {
      a: arrayOf(given.a!),
      codes: arrayOf(weights[names.weights]!),
      scales: weights[names.scales]!,
      zeros: weights.zeros && arrayOf(weights.zeros),
      bias: given.bias && arrayOf(given.bias),
      ...(names.table && { table: names.table })
    }
  }
  const kernel = jobKernel(
    op,
    (given, packed) =>
      spread && packed === undefined
        ? undefined
        : bindCoded(found, arraysOf(given, packed), areCodesPacked(packed), kept),
    (given, packed, out, threads) =>
      isByParts(arrayOf(out)) && !(spread && packed === undefined)
        ? productByParts(found, arraysOf(given, packed), areCodesPacked(packed), arrayOf(out), threads)
        : undefined
  )
  return { kernel, ...(pack && { pack }), looksAt: [] }
}
