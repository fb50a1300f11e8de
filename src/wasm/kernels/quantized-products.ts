import type { Selection } from '../../op-kit/define.ts'
import type { FusedParams } from '../../op-kit/fused.ts'
import type { DType } from '../../tensor/dtype.ts'
import { product } from '../../tensor/tensor.ts'
import { type Candidate, jobKernel, selectorFor, type TensorOperands } from '../selector.ts'
import {
  bindByteProduct,
  type ByteProduct,
  byteProductOf,
  type Finish,
  isByte,
  isOfColumns,
  isSingle,
  packProduct,
  productMemory
} from './byte-product.ts'

/** MatMulInteger of bytes. */
export const selectMatMulInteger = selectorFor<unknown>(call => {
  const { a, b, aZero, bZero } = call.operands
  const found = a && b && byteProductOf(a, b)
  if (!found || !isSingle(aZero) || !isOfColumns(bZero, found.found.n)) return undefined
  return productSelection(call, found, 'int32', given => ({ aZero: given.aZero, bZero: given.bZero }))
})

/** QLinearMatMul of bytes with one quantization of A and of the result. */
export const selectQLinearMatMul = selectorFor<unknown>(call => {
  const { a, b, aScale, aZero, bScale, bZero, yScale, yZero } = call.operands
  const found = a && b && byteProductOf(a, b)
  if (!found || !yZero || !isByte(yZero.type)) return undefined
  const { n } = found.found
  if (![aScale, aZero, yScale, yZero].every(isSingle) || ![bScale, bZero].every(list => isOfColumns(list, n)))
    return undefined
  return productSelection(call, found, yZero.type, given => ({
    aZero: given.aZero,
    bZero: given.bZero,
    scales: { a: given.aScale!, b: given.bScale! },
    scale: given.yScale,
    zero: given.yZero
  }))
})

/** MatMulIntegerToFloat of bytes to float32, also with an activation. */
export const selectMatMulIntegerToFloat = selectorFor<Partial<FusedParams>>(call => {
  const { a, b, aScale, aZero, bScale, bZero, bias, residual } = call.operands
  const { activation } = call.parameters
  if (activation === 'other' || residual) return undefined
  const found = a && b && byteProductOf(a, b)
  if (!found || aScale?.type !== 'float32' || !isSingle(aScale) || !isSingle(aZero)) return undefined
  if (![bScale, bZero, bias].every(list => isOfColumns(list, found.found.n))) return undefined
  return productSelection(call, found, 'float32', given => ({
    aZero: given.aZero,
    bZero: given.bZero,
    scales: { a: given.aScale!, b: given.bScale! },
    bias: given.bias,
    activation
  }))
})

interface GemmParams {
  readonly alpha: number
  readonly transposeA: boolean
  readonly transposeB: boolean
}

/** QGemm of bytes that adds nothing or a number a column. */
export const selectQGemm = selectorFor<GemmParams>(call => {
  const { operands, parameters, dims } = call
  const { a, b, aScale, aZero, bScale, bZero, c, yScale, yZero } = operands
  const found = a && b && byteProductOf(a, b, parameters)
  if (!found || ![aScale, aZero, yScale, yZero].every(isSingle)) return undefined
  if (c && c.type !== 'int32' && c.type !== 'float32') return undefined
  // Floats in units of a scale are rare.
  if (yScale && !yZero) return undefined
  const { m, n } = found.found
  const type = yZero?.type ?? 'float32'
  if (product(dims) !== m * n || ![bScale, bZero, c].every(list => isOfColumns(list, n))) return undefined
  if (type !== 'float32' && !isByte(type)) return undefined
  return productSelection(call, found, type, given => ({
    aZero: given.aZero,
    bZero: given.bZero,
    scales: { a: given.aScale!, b: given.bScale!, alpha: parameters.alpha },
    ...(given.c?.type === 'int32' ? { added: given.c } : { bias: given.c }),
    scale: given.yScale,
    zero: given.yZero
  }))
})

/** Operands whose elements are in the lists of a job, but for the scale of A. */
const LISTED = ['bScale', 'bZero', 'bias', 'c', 'yScale', 'yZero']

function productSelection(
  { op, operands }: Candidate<unknown>,
  found: ByteProduct,
  type: DType,
  finishOf: (given: TensorOperands) => Finish
): Selection {
  const memory = productMemory()
  const listed = LISTED.filter(name => operands[name] !== undefined)
  return {
    kernel: jobKernel(op, (given, packs) => {
      const factors = { a: given.a!, b: given.b!, packs }
      return bindByteProduct(found, factors, type, finishOf(given), memory)
    }),
    pack: packProduct(op, found, listed, finishOf),
    looksAt: operands.aScale === undefined || operands.aScale.type === 'float32' ? listed : ['aScale', ...listed]
  }
}
