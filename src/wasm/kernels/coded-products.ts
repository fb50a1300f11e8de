import { FP4, NF4 } from '../../kernels/quantized/coded-rows.ts'
import { codeBytes } from '../../kernels/quantized/packed.ts'
import { type CompressedParams, valuesOf } from '../../op-kit/compressed.ts'
import type { Op, Packed, Selection } from '../../op-kit/define.ts'
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

/** MatMulBnb4 of float32 with a transposed second factor, no block of which belongs to two rows. */
export const selectMatMulBnb4 = selectorFor<Bnb4Params>(({ op, operands, parameters: p }) => {
  const { a, b, largest } = operands
  const { n, k, blockSize } = p
  if (a?.type !== 'float32' || b === undefined || largest?.type !== 'float32') return undefined
  if (!p.transposeB || k % blockSize !== 0 || k % 2 !== 0) return undefined
  const found: CodedProduct = {
    ...{ m: rowsOf(a.dims), n, k, bits: 4, hasTable: true, isHighFirst: true, rowBytes: k / 2, blockSize },
    zeros: { kind: 'one', zero: 0 }
  }
  return codedSelection(op, found, largest, { weights: 'b', scales: 'largest', table: BNB4_TABLES[p.quantType] })
})

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

/** @param names the operands that have the codes and the scales */
function codedSelection(
  op: Op,
  found: CodedProduct,
  scales: Tensor,
  names: { readonly weights: string; readonly scales: string; readonly table?: Float32Array }
): Selection | undefined {
  if (!isServed(found, scales.type)) return undefined
  const kept = remembered<JobTemplate>()
  const pack = arePackable(found) ? packingOf[found.zeros.kind] : undefined
  const arraysOf = (given: TensorOperands, packed: Packed | undefined): CodedArrays => {
    const weights = packed ?? given
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
    (given, packed) => bindCoded(found, arraysOf(given, packed), packed !== undefined, kept),
    (given, packed, out, threads) =>
      isByParts(arrayOf(out))
        ? productByParts(found, arraysOf(given, packed), packed !== undefined, arrayOf(out), threads)
        : undefined
  )
  return { kernel, ...(pack && { pack }), looksAt: [] }
}
