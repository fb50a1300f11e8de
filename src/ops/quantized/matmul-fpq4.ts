import { fail } from '../../errors.ts'
import { productWithCoded } from '../../kernels/quantized/coded-product.ts'
import { mlasRowBytes, mlasRows } from '../../kernels/quantized/coded-rows.ts'
import { type DataDependent, params } from '../../op-kit/define.ts'
import { checkForms, checkLastDim } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { inputInts, int, mapped } from '../../op-kit/sources.ts'
import { isConcrete, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { lengthOf, sizesOf } from '../../shapes/lists.ts'

interface Params {
  /** Rows and columns of B. */
  dims: DataDependent<readonly number[]>
  hasZeros: boolean
}

/** Rules of {@link matmulFpQ4}. */
export const matmulFpQ4Rules = defineRules({
  name: 'MatMulFpQ4',
  operands: { a: 'tensor', b: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      domain: 'com.microsoft',
      since: 1,
      bind: { dims: inputInts(2), hasZeros: mapped(int('blk_quant_type'), type => type !== 0) }
    }
  ],

  shape({ a, b }, { dims, hasZeros }) {
    const length = lengthOf(dims)
    if (length !== undefined && length !== 2)
      fail('dims-mismatch', `B_shape has ${length} elements; those of a matrix are expected`)
    const size = dims === 'unknown' ? [unknownDim(), unknownDim()] : sizesOf(dims, 'B_shape')
    const [k, n] = size
    if (isConcrete(size)) checkForms('B', b, [size[1] * mlasRowBytes(size[0], hasZeros)])
    checkLastDim('A', a, k)
    return [tensorFact(a.type, a.shape && [...a.shape.slice(0, -1), n])]
  }
})

/**
 * `A B` with a matrix `[K, N]` that MLAS, the linear algebra of ONNX Runtime, has packed: column by column, in blocks
 * of a scale, a zero point unless `blk_quant_type` is 0, and 32 codes of 4 bits. MatMulFpQ4-1 of com.microsoft, whose
 * text leaves the layout to MLAS; it is that of its `q4common.h`, the same on every processor. As in ONNX Runtime,
 * every other type counts as 1.
 */
export const matmulFpQ4 = /* @__PURE__ */ withKernel(matmulFpQ4Rules, {
  run({ a, b }, { dims: [k, n], hasZeros }, call) {
    const weights = mlasRows(b.data as Uint8Array, hasZeros, n, k)
    return productWithCoded(a, weights, true, undefined, call.output())
  }
})
