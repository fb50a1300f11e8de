import { activated } from '../../op-kit/conversion-activations.ts'
import { elementwise, reduced, swappedLast, transposed, unsqueezed, upTo } from '../../op-kit/conversion-kit.ts'
import { mul, multiplied, ownAttributes, sub, times, widened } from '../../op-kit/conversion-parts.ts'
import {
  type Conversion,
  expands,
  type Made,
  rankOf,
  type SourceCall,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { cdist } from './cdist.ts'
import { fusedGemm } from './fused-gemm.ts'
import { matmul } from './matmul.ts'

/** Factors of which the first axis is moved to the place before the last, and that are transposed. */
function expandMatmul(call: SourceCall, w: Writer): readonly Made[] {
  const factor = (name: 'a' | 'b'): Made => {
    const x = call.operand(name)
    const rank = rankOf(x)
    const side = name.toUpperCase()
    const moved = call.param<boolean>(`moves${side}`) && rank > 2
    const own = moved ? transposed(w, x, [...upTo(rank - 2, 1), 0, rank - 1]) : x
    return call.param<boolean>(`transpose${side}`) && rank > 1 ? swappedLast(w, own) : own
  }
  return [times(w, multiplied(w, factor('a'), factor('b')), call.param('alpha'))]
}

function expandGemm(call: SourceCall, w: Writer): readonly Made[] {
  const operands = ['a', 'b', 'c'].map(name => call.optional(name))
  const [y] = w.standard('Gemm', operands, ownAttributes(call, ['alpha', 'beta', 'transA', 'transB']))
  return [activated(call, w, y)]
}

/** Distances of rows, by their differences: the products of large rows would lose small distances. */
function expandDistances(call: SourceCall, w: Writer): readonly Made[] {
  const own = typeOf(call.operand('a'))
  const [a, b] = ['a', 'b'].map((name, i) => unsqueezed(w, widened(w, call.operand(name)), [1 - i]))
  const difference = sub(w, a, b)
  const sum = reduced(w, 'ReduceSum', mul(w, difference, difference), [2], false)
  return [w.cast(call.param<boolean>('isRoot') ? elementwise(w, 'Sqrt', sum) : sum, own)]
}

/** Products of com.microsoft, expanded. */
export const fusedMatrixRules: readonly Conversion[] = [
  ...expands(matmul, expandMatmul),
  ...expands(fusedGemm, expandGemm),
  ...expands(cdist, expandDistances)
]
