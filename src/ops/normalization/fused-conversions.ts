import { fail } from '../../errors.ts'
import { elementwise, reduced, upTo } from '../../op-kit/conversion-kit.ts'
import {
  type Conversion,
  type Made,
  rankOf,
  type SourceCall,
  toOpenvino,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { rmsNormalization } from './layer-normalization.ts'
import { skipLayerNormalization } from './skip-layer-normalization.ts'

/** Divided by the root mean square over the axes from one on. */
function byRootMeanSquare(w: Writer, x: Made, axis: number, epsilon: number): Made {
  const axes = upTo(rankOf(x) - axis, axis)
  const mean = reduced(w, 'ReduceMean', elementwise(w, 'Mul', x, x), axes, true)
  return elementwise(w, 'Div', x, elementwise(w, 'Sqrt', elementwise(w, 'Add', mean, w.scalar(typeOf(x), epsilon))))
}

function rmsToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  if (call.outputCount > 1) fail('unsupported-op', 'the root mean squares are a result')
  const [x, scale] = [call.operand('x'), call.operand('scale')]
  const y = byRootMeanSquare(
    w,
    w.cast(x, 'float32'),
    normalizeAxis(call.param('axis'), rankOf(x)),
    call.param('epsilon')
  )
  return [elementwise(w, 'Mul', w.cast(y, typeOf(scale)), scale)]
}

/** The sum of the operands, normalized along the last axis, scaled and shifted. */
function skipToOpenvino(call: SourceCall, w: Writer): readonly (Made | undefined)[] {
  if ([1, 2].some(index => index < call.outputCount && call.wanted(index)))
    fail('unsupported-op', 'means and deviations are results')
  const bias = call.optional('bias')
  const joined = elementwise(w, 'Add', call.operand('x'), call.operand('skip'))
  const sum = bias ? elementwise(w, 'Add', joined, bias) : joined
  const [axis, epsilon] = [rankOf(sum) - 1, call.param<number>('epsilon')]
  const y = call.param<boolean>('centers')
    ? w.node(
        'MVN',
        [sum, w.constant('int64', [axis])],
        { normalize_variance: true, eps: epsilon, eps_mode: 'inside_sqrt' },
        { since: 6 }
      )
    : w.cast(byRootMeanSquare(w, w.cast(sum, 'float32'), axis, epsilon), typeOf(sum))
  const scaled = elementwise(w, 'Mul', y, call.operand('scale'))
  const shift = call.optional('shift')
  return [shift ? elementwise(w, 'Add', scaled, shift) : scaled, undefined, undefined, sum].slice(0, call.outputCount)
}

/** Normalizations that ONNX Runtime fuses, in IR. */
export const fusedNormalizationRules: readonly Conversion[] = [
  toOpenvino(rmsNormalization, rmsToOpenvino),
  toOpenvino(skipLayerNormalization, skipToOpenvino)
]
