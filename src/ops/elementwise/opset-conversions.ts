import { fail } from '../../errors.ts'
import { elementwise, extreme, knownNumbers } from '../../op-kit/conversion-kit.ts'
import { geluByErf, geluByTanh, mul, ofWide, plus, times } from '../../op-kit/conversion-parts.ts'
import {
  type Conversions,
  type Made,
  opNamed,
  type SourceCall,
  toOnnx,
  typeOf,
  within,
  type Writer
} from '../../op-kit/conversion.ts'
import { activationOps, GELU_TANH } from './activations.ts'
import { binaryOps } from './binary.ts'
import { clip } from './clip.ts'
import { erfInvToOnnx } from './erf-inv-conversion.ts'
import { erfInv } from './erf-inv.ts'
import type { UnaryFunction } from './unary.ts'

/** Bounds that are inputs since opset 11, as attributes. */
function clipWithin(call: SourceCall, w: Writer): readonly Made[] | undefined {
  if (w.opset >= 11) return undefined
  const bound = (name: string, parameter: string): number | undefined => {
    const given = call.optional(name)
    const value = given ? knownNumbers(given)?.[0] : call.param<number>(parameter)
    if (value === undefined) return fail('unsupported-op', `the bound ${name} is not known before the model runs`)
    return Number.isFinite(value) ? value : undefined
  }
  return [w.node('Clip', [call.operand('x')], { min: bound('min', 'low'), max: bound('max', 'high') })]
}

/** `x / 2 (1 + erf(x / √2))`, or its approximation by tanh. */
const gelu = ofWide((w, x, call) =>
  call.param<UnaryFunction>('function') === GELU_TANH ? geluByTanh(w, x) : geluByErf(w, x)
)

const hardSwish = ofWide((w, x) => {
  const [zero, one] = [0, 1].map(value => w.scalar(typeOf(x), value))
  return mul(w, x, extreme(w, 'Max', extreme(w, 'Min', plus(w, times(w, x, 1 / 6), 0.5), one), zero))
})

const mish = ofWide((w, x) => mul(w, x, elementwise(w, 'Tanh', elementwise(w, 'Softplus', x))))

/** Comparisons that ONNX has since opset 12. */
const orEqual =
  (name: 'Greater' | 'Less') =>
  (call: SourceCall, w: Writer): readonly Made[] => {
    const operands = [call.operand('a'), call.operand('b')]
    return [elementwise(w, 'Or', elementwise(w, name, ...operands), elementwise(w, 'Equal', ...operands))]
  }

const activation = (name: string) => opNamed(activationOps, name)

/** Elementwise operators in other operator sets of ONNX. */
export const elementwiseOpsetConversions: Conversions = {
  rules: [
    toOnnx(erfInv, erfInvToOnnx),
    within(toOnnx(clip, clipWithin)),
    within(toOnnx(activation('Gelu'), gelu)),
    within(toOnnx(activation('HardSwish'), hardSwish)),
    within(toOnnx(activation('Mish'), mish)),
    within(toOnnx(opNamed(binaryOps, 'GreaterOrEqual'), orEqual('Greater'))),
    within(toOnnx(opNamed(binaryOps, 'LessOrEqual'), orEqual('Less')))
  ],
  leniencies: []
}
