import { fail } from '../errors.ts'
import { elementwise } from './conversion-kit.ts'
import { clamped, mul, plus, times } from './conversion-parts.ts'
import type { Made, SourceCall, Writer } from './conversion.ts'

/** The attributes of activations of ONNX, in the order of `activation_params`. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  LeakyRelu: ['alpha'],
  Elu: ['alpha'],
  Celu: ['alpha'],
  ThresholdedRelu: ['alpha'],
  Selu: ['alpha', 'gamma'],
  HardSigmoid: ['alpha', 'beta'],
  HardSwish: ['alpha', 'beta'],
  Clip: ['min', 'max']
}

/** The numbers of the activation of a fused operator, in a list or each in an attribute of its own. */
function parametersOf(call: SourceCall, names: readonly string[]): readonly number[] {
  const list = call.node.attributes.get('activation_params')
  if (list?.kind === 'floats') return list.value
  return names.map(name => Number(call.attribute(`activation_${name}`)))
}

/** The activation of a fused operator, applied to what it computed. */
export function activated(call: SourceCall, w: Writer, x: Made): Made {
  const name = call.attribute('activation') ?? ''
  if (name === '') return x
  const names = NAMES[name] ?? []
  const [p, q] = parametersOf(call, names)
  if (name === 'Clip') return clamped(w, x, p, q)
  if (name === 'HardSwish') return mul(w, x, clamped(w, plus(w, times(w, x, p), q), 0, 1))
  const elementary = ['Relu', 'Sigmoid', 'Tanh', 'Softplus'] as const
  const own = elementary.find(one => one === name)
  if (own) return elementwise(w, own, x)
  const attributes = Object.fromEntries(names.map((attribute, i) => [attribute, [p, q][i]]))
  return w.standard(name, [x], attributes)[0] ?? fail('internal', `${name} gives nothing`)
}
