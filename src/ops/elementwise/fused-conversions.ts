import { fail } from '../../errors.ts'
import { asScalar, elementwise } from '../../op-kit/conversion-kit.ts'
import {
  add,
  geluByErf,
  geluByTanh,
  mul,
  ofWide,
  plus,
  sigmoidWeighted,
  splitEvenly,
  times,
  widened,
  withAdded
} from '../../op-kit/conversion-parts.ts'
import { type Conversion, expands, opNamed, type SourceCall, toOpenvino, typeOf } from '../../op-kit/conversion.ts'
import { activationOps } from './activations.ts'
import { biasAdd } from './bias-add.ts'
import { biasGelu } from './bias-gelu.ts'
import { biasSplitGelu } from './bias-split-gelu.ts'
import { gatedAdd } from './gated-add.ts'
import { scaledSiLU } from './scaled-silu.ts'

const number = (call: SourceCall, name: string): number => Number(call.attribute(name))

/** `alpha * x + beta`: Affine, or Scale, whose factor has another name. */
const affine = ofWide((w, x, call) =>
  call.node.type === 'Scale'
    ? times(w, x, number(call, 'scale'))
    : plus(w, times(w, x, number(call, 'alpha')), number(call, 'beta'))
)

const scaledTanh = ofWide((w, x, call) =>
  times(w, elementwise(w, 'Tanh', times(w, x, number(call, 'beta'))), number(call, 'alpha'))
)

const parametricSoftplus = ofWide((w, x, call) =>
  times(w, elementwise(w, 'Softplus', times(w, x, number(call, 'beta'))), number(call, 'alpha'))
)

/** `alpha * elu(x / alpha)`, which is Celu for a positive alpha only. */
const celu = ofWide((w, x, call) => {
  const alpha = number(call, 'alpha')
  if (!(alpha > 0)) fail('unsupported-op', `alpha is ${alpha}`)
  return times(w, w.standard('Elu', [times(w, x, 1 / alpha)], { alpha: 1 })[0], alpha)
})

/** Gelu of a sum, by tanh in FastGelu. */
const biased = ofWide((w, x, call) => {
  const sum = withAdded(w, x, call.optional('bias'))
  return call.node.type === 'FastGelu' ? geluByTanh(w, sum) : geluByErf(w, sum)
})

const skipping = ofWide((w, x, call) => withAdded(w, withAdded(w, x, call.operand('bias')), call.operand('skip')))

const geglu = ofWide((w, x, call) => {
  const [left, right] = splitEvenly(w, withAdded(w, x, call.operand('bias')), 2, 2)
  return mul(w, left, geluByErf(w, right))
})

const silu = ofWide((w, x, call) => {
  const scale = call.optional('scale')
  return sigmoidWeighted(
    w,
    scale ? mul(w, x, asScalar(w, w.cast(scale, typeOf(x)))) : times(w, x, number(call, 'alpha')),
    1
  )
})

const gated = ofWide((w, x, call) => {
  const [y, gate] = ['y', 'gate'].map(name => widened(w, call.operand(name)))
  return add(w, x, mul(w, gate, y))
})

const activation = (name: string) => opNamed(activationOps, name)

/** Activations of com.microsoft, and some that ONNX Runtime has of removed operators, expanded. */
export const fusedElementwiseRules: readonly Conversion[] = [
  ...expands(activation('Affine'), affine),
  ...expands(activation('ScaledTanh'), scaledTanh),
  ...expands(activation('ParametricSoftplus'), parametricSoftplus),
  toOpenvino(activation('Celu'), celu),
  ...expands(biasGelu, biased),
  ...expands(biasAdd, skipping),
  ...expands(biasSplitGelu, geglu),
  ...expands(scaledSiLU, silu),
  ...expands(gatedAdd, gated)
]
