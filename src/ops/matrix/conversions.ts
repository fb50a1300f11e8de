import { swappedLast } from '../../op-kit/conversion-kit.ts'
import { add, times } from '../../op-kit/conversion-parts.ts'
import {
  type Conversions,
  first,
  type Made,
  rankOf,
  type SourceCall,
  toOnnx,
  toOpenvino,
  type Writer
} from '../../op-kit/conversion.ts'
import { einsumToOnnx, einsumToOpenvino } from './einsum-conversion.ts'
import { einsum } from './einsum.ts'
import { fusedMatrixRules } from './fused-conversions.ts'
import { gemm } from './gemm.ts'
import { inverseToOnnx } from './inverse-conversion.ts'
import { inverse } from './inverse.ts'
import { matmul } from './matmul.ts'

/** Factors are transposed first, those of rank 1 never. */
function matmulToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const factor = (name: string, flag: string): Made => {
    const x = call.operand(name)
    return call.param<boolean>(flag) && rankOf(x) > 1 ? swappedLast(w, x) : x
  }
  return [w.op(matmul, { a: factor('a', 'transposeA'), b: factor('b', 'transposeB') }, { alpha: 1 })[0]]
}

/** Products that are scaled, as ONNX Runtime fuses them. */
function scaledToOpenvino(call: SourceCall, w: Writer): readonly Made[] | undefined {
  if (call.param<boolean>('movesA') || call.param<boolean>('movesB')) return undefined
  const product = w.node('MatMul', [call.operand('a'), call.operand('b')], {
    transpose_a: call.param<boolean>('transposeA'),
    transpose_b: call.param<boolean>('transposeB')
  })
  return [times(w, product, call.param('alpha'))]
}

/** `alpha A B + beta C`. */
function gemmToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const product = w.node('MatMul', [call.operand('a'), call.operand('b')], {
    transpose_a: call.param<boolean>('transposeA'),
    transpose_b: call.param<boolean>('transposeB')
  })
  const y = times(w, product, call.param('alpha'))
  const c = call.optional('c')
  return [c ? add(w, y, times(w, c, call.param('beta'))) : y]
}

/** Products of one dialect in words of the other. */
export const matrixConversions: Conversions = {
  rules: [
    first(toOnnx(einsum, einsumToOnnx)),
    first(toOpenvino(einsum, einsumToOpenvino)),
    toOnnx(inverse, inverseToOnnx),
    toOnnx(matmul, matmulToOnnx),
    toOpenvino(matmul, scaledToOpenvino),
    ...fusedMatrixRules,
    toOpenvino(gemm, gemmToOpenvino)
  ],
  leniencies: []
}
