import { fail } from '../../errors.ts'
import { gathered, swappedLast, transposed, unsqueezed, upTo } from '../../op-kit/conversion-kit.ts'
import { add, div, mul, times, wideType } from '../../op-kit/conversion-parts.ts'
import {
  type Conversions,
  dimsOf,
  first,
  type Made,
  rankOf,
  type SourceCall,
  toOnnx,
  toOpenvino,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import type { Equation } from '../../op-kit/equation.ts'
import { einsum } from './einsum.ts'
import { fusedMatrixRules } from './fused-conversions.ts'
import { gemm } from './gemm.ts'
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

const productOf = (call: SourceCall, w: Writer): Made =>
  w.node('MatMul', [call.operand('a'), call.operand('b')], {
    transpose_a: call.param<boolean>('transposeA'),
    transpose_b: call.param<boolean>('transposeB')
  })

/** Products that are scaled, as ONNX Runtime fuses them. */
function scaledToOpenvino(call: SourceCall, w: Writer): readonly Made[] | undefined {
  if (call.param<boolean>('movesA') || call.param<boolean>('movesB')) return undefined
  return [times(w, productOf(call, w), call.param('alpha'))]
}

/** `alpha A B + beta C`. */
function gemmToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const y = times(w, productOf(call, w), call.param('alpha'))
  const c = call.optional('c')
  return [c ? add(w, y, times(w, c, call.param('beta'))) : y]
}

/** `onnx.checker` wants as many dims below the `...` of every operand: the missing ones, of 1, are added in front. */
function einsumToOnnx(call: SourceCall, w: Writer): readonly Made[] | undefined {
  const { terms } = call.param<Equation>('equation')
  const inputs = call.all('inputs')
  const covered = terms.map((term, i) => (term.includes('...') ? rankOf(inputs[i]) - term.length + 1 : undefined))
  const most = Math.max(...covered.map(count => count ?? 0))
  if (covered.every(count => count === undefined || count === most)) return undefined
  const wide = inputs.map((x, i) => unsqueezed(w, x, upTo(most - (covered[i] ?? most), terms[i].indexOf('...'))))
  return [w.node('Einsum', wide, { equation: call.attribute('equation') })]
}

/** Without spaces, which OpenVINO refuses, and with the result, which its CPU plugin fails to find for `ii`. */
function einsumToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const { terms, output } = call.param<Equation>('equation')
  const all = terms.flat()
  const once = all.filter(label => label !== '...' && all.indexOf(label) === all.lastIndexOf(label)).sort()
  const result = output ?? [...(all.includes('...') ? ['...'] : []), ...once]
  const equation = `${terms.map(term => term.join('')).join(',')}->${result.join('')}`
  return [w.node('Einsum', call.all('inputs'), { equation })]
}

/** Rows of a matrix whose inverse is written by its minors: their number grows with the square. */
const MAX_ROWS = 16

/** The inverse by Cramer's rule: determinants of all minors with their signs, divided by that of the matrix. */
function inverseToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const rank = rankOf(x)
  const size = dimsOf(x)[rank - 1]
  if (typeof size !== 'number' || size > MAX_ROWS)
    return fail('unsupported-op', `the number of rows is not known before the model runs, or above ${MAX_ROWS}`)
  const type = typeOf(x)
  const own = wideType(type)
  const matrix = w.cast(x, own)
  if (size === 1) return [w.cast(div(w, w.scalar(own, 1), matrix), type)]
  // The others of each row or column: [size, size - 1].
  const others = w.constant(
    'int64',
    upTo(size).flatMap(left => upTo(size).filter(at => at !== left)),
    [size, size - 1]
  )
  const rows = gathered(w, matrix, others, rank - 2)
  const minors = gathered(w, rows, others, rank)
  const order = [...upTo(rank - 2), rank - 2, rank, rank - 1, rank + 1]
  const determinants = w.node('Det', [transposed(w, minors, order)])
  const signs = upTo(size * size).map(at => ((Math.floor(at / size) + (at % size)) % 2 === 0 ? 1 : -1))
  const cofactors = mul(w, determinants, w.constant(own, signs, [size, size]))
  const whole = unsqueezed(w, w.node('Det', [matrix]), [rank - 2, rank - 1])
  const adjugate = call.param<boolean>('adjoint') ? cofactors : swappedLast(w, cofactors)
  return [w.cast(div(w, adjugate, whole), type)]
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
