import { unsqueezed, upTo } from '../../op-kit/conversion-kit.ts'
import { type Made, rankOf, type SourceCall, type Writer } from '../../op-kit/conversion.ts'

/** `onnx.checker` wants as many dims below the `...` of every operand: the missing ones, of 1, are added in front. */
export function einsumToOnnx(call: SourceCall, w: Writer): readonly Made[] | undefined {
  const { terms } = call.param<{ terms: readonly (readonly string[])[] }>('equation')
  const inputs = call.all('inputs')
  const covered = terms.map((term, i) => (term.includes('...') ? rankOf(inputs[i]) - term.length + 1 : undefined))
  const most = Math.max(...covered.map(count => count ?? 0))
  if (covered.every(count => count === undefined || count === most)) return undefined
  const wide = inputs.map((x, i) => unsqueezed(w, x, upTo(most - (covered[i] ?? most), terms[i].indexOf('...'))))
  return [w.node('Einsum', wide, { equation: call.attribute('equation') })]
}
