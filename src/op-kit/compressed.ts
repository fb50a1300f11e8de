import { readNumbers } from '../kernels/core/numbers.ts'
import { productWithCoded } from '../kernels/quantized/coded-product.ts'
import { namedRows } from '../kernels/quantized/coded-rows.ts'
import { codePerBlock, numberPerBlock, type PerBlock } from '../kernels/quantized/packed.ts'
import { tensorFact } from '../shapes/fact.ts'
import { type DType, DTYPES } from '../tensor/dtype.ts'
import { decodeFloat, isCodedFloat } from '../tensor/floats.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { defineOp, type Op, params } from './define.ts'

/** Weights that a file stores in few bits, and how numbers are made of them. */
export interface CompressedParams {
  /** Rows and columns of the weights. */
  readonly n: number
  readonly k: number
  /** Type of the codes. */
  readonly type: DType
  /** Codes that have a scale and a zero point in common: the whole row, or a group of a row. */
  readonly blockSize: number
  /** Zero points: codes of the same type, numbers, or one integer for all. */
  readonly zeros: 'codes' | 'numbers' | number
  /** What each code stands for, where codes are positions in a table of the file. */
  readonly table?: readonly number[]
}

/** What each code of a type stands for. */
export function valuesOf(type: DType): readonly number[] {
  const { bits, kind } = DTYPES[type]
  const count = 2 ** bits
  return Array.from({ length: count }, (_, code) => {
    if (isCodedFloat(type)) return decodeFloat(type, code)
    return kind === 'int' && code >= count / 2 ? code - count : code
  })
}

/**
 * `A W^T` with weights `[n, k]` in codes: `(value of the code - zero point) * scale`, both of a group of a row. It is
 * what the planner makes of weights that a file decompresses in nodes of its own. Codes are bytes as the file has them,
 * the first code in the lowest bits, and zero points that are codes, too; scales are numbers, row by row. A bias is a
 * list for the columns of the product.
 */
export const compressedMatMul: Op = defineOp({
  name: 'CompressedMatMul',
  operands: { a: 'tensor', codes: 'tensor', scales: 'tensor', zeros: 'optional', bias: 'optional' },
  params: params<CompressedParams>(),
  shape: ({ a }, { n }) => [tensorFact(a.type, a.shape && [...a.shape.slice(0, -1), n])],

  *run({ a, codes, scales, zeros, bias }, p, call) {
    const blocks = p.k / p.blockSize
    const values = p.table ?? valuesOf(p.type)
    const weights = namedRows({
      rows: p.n,
      columns: p.k,
      codes: codes.data as Uint8Array,
      bits: DTYPES[p.type].bits,
      values,
      blockSize: p.blockSize,
      scaleOf: numberPerBlock(yield* readNumbers(scales), 0, blocks),
      zeroOf: yield* zerosOf(zeros, values, p, blocks)
    })
    yield* productWithCoded(a, weights, true, bias, call.output())
  }
})

/** Zero points in codes are one run over all rows. */
function* zerosOf(
  zeros: Tensor | undefined,
  values: readonly number[],
  { zeros: kind, n, type }: CompressedParams,
  blocks: number
): Generator<void, PerBlock> {
  if (typeof kind === 'number' || zeros === undefined) return () => Number(kind)
  if (kind === 'numbers') return numberPerBlock(yield* readNumbers(zeros), 0, blocks)
  const codeOf = codePerBlock(zeros.data as Uint8Array, 0, n * blocks, DTYPES[type].bits)
  return (row, block) => values[codeOf(0, row * blocks + block)]
}
