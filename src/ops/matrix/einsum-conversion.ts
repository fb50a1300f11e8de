import { unsqueezed, upTo } from '../../op-kit/conversion-kit.ts'
import { type Made, rankOf, type SourceCall, type Writer } from '../../op-kit/conversion.ts'
import type { Equation } from '../../op-kit/equation.ts'

/** `onnx.checker` wants as many dims below the `...` of every operand: the missing ones, of 1, are added in front. */
export function einsumToOnnx(call: SourceCall, w: Writer): readonly Made[] | undefined {
  const { terms } = call.param<Equation>('equation')
  const inputs = call.all('inputs')
  const covered = terms.map((term, i) => (term.includes('...') ? rankOf(inputs[i]) - term.length + 1 : undefined))
  const most = Math.max(...covered.map(count => count ?? 0))
  if (covered.every(count => count === undefined || count === most)) return undefined
  const wide = inputs.map((x, i) => unsqueezed(w, x, upTo(most - (covered[i] ?? most), terms[i].indexOf('...'))))
  return [w.node('Einsum', wide, { equation: call.attribute('equation') })]
}

/** Without spaces, which OpenVINO refuses, and with the result, which its CPU plugin fails to find for `ii`. */
export function einsumToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const { terms, output } = call.param<Equation>('equation')
  const all = terms.flat()
  const once = all.filter(label => label !== '...' && all.indexOf(label) === all.lastIndexOf(label)).sort()
  const result = output ?? [...(all.includes('...') ? ['...'] : []), ...once]
  const equation = `${terms.map(term => term.join('')).join(',')}->${result.join('')}`
  return [w.node('Einsum', call.all('inputs'), { equation })]
}
