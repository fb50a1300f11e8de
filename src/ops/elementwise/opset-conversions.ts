import { fail } from '../../errors.ts'
import { elementwise, extreme, knownNumbers } from '../../op-kit/conversion-kit.ts'
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

/** A function of one value by its definition, in float32 where the type is narrower. */
const defined =
  (compute: (w: Writer, x: Made, constant: (value: number) => Made, call: SourceCall) => Made) =>
  (call: SourceCall, w: Writer): readonly Made[] => {
    const x = call.operand('x')
    const type = typeOf(x)
    const own = type === 'float64' ? type : 'float32'
    return [
      w.cast(
        compute(w, w.cast(x, own), value => w.scalar(own, value), call),
        type
      )
    ]
  }

const half = (w: Writer, x: Made, constant: (value: number) => Made, inner: Made): Made =>
  elementwise(w, 'Mul', elementwise(w, 'Mul', constant(0.5), x), elementwise(w, 'Add', constant(1), inner))

/** `x / 2 (1 + erf(x / √2))`, or its approximation by tanh. */
const gelu = defined((w, x, constant, call) => {
  if (call.param<UnaryFunction>('function') !== GELU_TANH)
    return half(w, x, constant, w.node('Erf', [elementwise(w, 'Mul', x, constant(Math.SQRT1_2))]))
  const cube = elementwise(w, 'Mul', elementwise(w, 'Mul', x, x), x)
  const sum = elementwise(w, 'Add', x, elementwise(w, 'Mul', constant(0.044715), cube))
  return half(w, x, constant, elementwise(w, 'Tanh', elementwise(w, 'Mul', constant(Math.sqrt(2 / Math.PI)), sum)))
})

const hardSwish = defined((w, x, constant) => {
  const line = elementwise(w, 'Add', elementwise(w, 'Mul', x, constant(1 / 6)), constant(0.5))
  return elementwise(w, 'Mul', x, extreme(w, 'Max', extreme(w, 'Min', line, constant(1)), constant(0)))
})

const mish = defined((w, x) => elementwise(w, 'Mul', x, elementwise(w, 'Tanh', w.node('Softplus', [x]))))

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
