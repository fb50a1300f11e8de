import { fail } from '../../errors.ts'
import { readNumbers } from '../../kernels/core/numbers.ts'
import { productWithCoded } from '../../kernels/quantized/coded-product.ts'
import { bnb4Rows, FP4, NF4 } from '../../kernels/quantized/coded-rows.ts'
import { params } from '../../op-kit/define.ts'
import { checkForms, checkLastDim } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, int } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params {
  /** Columns and rows of the weights. */
  k: number
  n: number
  blockSize: number
  quantType: number
  transposeB: boolean
}

/** Number types by their number. */
const TABLES: readonly Float64Array[] = [FP4, NF4]

/** Rules of {@link matmulBnb4}. */
export const matmulBnb4Rules = defineRules({
  name: 'MatMulBnb4',
  operands: { a: 'tensor', b: 'tensor', largest: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      domain: 'com.microsoft',
      since: 1,
      bind: {
        k: int('K'),
        n: int('N'),
        blockSize: int('block_size'),
        quantType: int('quant_type'),
        transposeB: flag('transB')
      }
    }
  ],

  shape({ a, b, largest }, { k, n, blockSize, quantType, transposeB }) {
    for (const [name, size] of Object.entries({ K: k, N: n }))
      if (size < 0) fail('value-out-of-range', `${name} is ${size}; expected 0 or more`)
    if (blockSize < 1) fail('value-out-of-range', `block_size is ${blockSize}; expected 1 or more`)
    if (TABLES[quantType] === undefined)
      fail('unknown-attribute-value', `quant_type is ${quantType}; expected 0 (FP4) or 1 (NF4)`)
    const bytes = Math.ceil((n * k) / 2)
    const blocks = Math.ceil((n * k) / blockSize)
    checkForms('B', b, [bytes], [bytes, 1])
    checkForms('absmax', largest, [blocks])
    checkLastDim('A', a, transposeB ? k : n)
    const type = commonType({ A: a, absmax: largest })
    return [tensorFact(type, a.shape && [...a.shape.slice(0, -1), transposeB ? n : k])]
  }
})

/**
 * `A W^T` with weights `[N, K]` as bitsandbytes quantizes them: 4-bit codes of one run over all rows, the first of a
 * byte in its high bits, which name a value of FP4 or NF4 that is scaled by the largest magnitude of its block.
 * MatMulBnb4-1 of com.microsoft. With `transB` 0 the product is `A W`, the gradient of the other; its dims are those
 * that ONNX Runtime works out.
 */
export const matmulBnb4 = /* @__PURE__ */ withKernel(matmulBnb4Rules, {
  *run({ a, b, largest }, { k, n, blockSize, quantType, transposeB }, call) {
    const scales = yield* readNumbers(largest)
    const weights = bnb4Rows(b.data as Uint8Array, TABLES[quantType], scales, n, k, blockSize)
    yield* productWithCoded(a, weights, transposeB, undefined, call.output())
  }
})
