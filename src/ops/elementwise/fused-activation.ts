import { fail } from '../../errors.ts'
import type { AnyUnaryLoops, UnaryLoop } from '../../kernels/core/elementwise.ts'
import * as kernels from '../../kernels/elementwise/activations.ts'
import { RELU, TANH } from '../../kernels/elementwise/unary.ts'
import { type Activation, activationPart, type EpiloguePart } from '../../op-kit/fused.ts'
import { type NodeFacts, text } from '../../op-kit/sources.ts'

/** An activation by the name that a fused operator gives it. */
interface Fusable {
  /** The attributes of its parameters without `activation_`, in the order of `activation_params`. */
  readonly params: readonly string[]
  loops(p: number, q: number): AnyUnaryLoops
  /** What accelerated kernels know it as. */
  readonly activation?: Omit<Activation, 'p' | 'q'> & { readonly bounds?: readonly [number, number] }
}

const of = (
  params: readonly string[],
  loop: (p: number, q: number) => UnaryLoop,
  activation?: Fusable['activation']
): Fusable => ({ params, loops: (p, q) => ({ float: loop(p, q) }), ...(activation && { activation }) })

const clip =
  (low: number, high: number): UnaryLoop =>
  (x, out, i, to) => {
    for (; i < to; i++) out[i] = Math.min(Math.max(x[i], low), high)
  }

/** What ONNX Runtime fuses with a convolution or a product, and HardSwish with its slope. */
const FUSABLE: ReadonlyMap<string, Fusable> = new Map([
  ['Relu', { params: [], loops: () => RELU, activation: { name: 'clip', bounds: [0, Infinity] } } satisfies Fusable],
  ['Sigmoid', of([], () => kernels.SIGMOID, { name: 'sigmoid' })],
  ['Tanh', of([], () => TANH, { name: 'tanh' })],
  ['Softplus', of([], () => kernels.SOFTPLUS, { name: 'softplus' })],
  ['Softsign', of([], () => kernels.SOFTSIGN, { name: 'softsign' })],
  ['LeakyRelu', of(['alpha'], kernels.leakyRelu, { name: 'leakyRelu' })],
  ['Elu', of(['alpha'], kernels.elu, { name: 'elu' })],
  ['Celu', of(['alpha'], kernels.celu)],
  ['ThresholdedRelu', of(['alpha'], kernels.thresholdedRelu, { name: 'thresholdedRelu' })],
  ['Selu', of(['alpha', 'gamma'], kernels.selu, { name: 'selu' })],
  ['HardSigmoid', of(['alpha', 'beta'], kernels.hardSigmoid, { name: 'hardSigmoid' })],
  ['HardSwish', of(['alpha', 'beta'], kernels.hardSwish, { name: 'hardSwish' })],
  ['Clip', of(['min', 'max'], clip, { name: 'clip' })]
])

/** The last step of a fused operator, and how accelerated kernels know it. */
interface FusedActivation {
  readonly epilogue: readonly EpiloguePart[]
  readonly activation: Activation | 'other' | undefined
}

/**
 * The activation of a FusedConv or a FusedGemm: none where the attribute `activation` is absent or empty.
 * @param parametersOf the numbers of an activation whose parameters have these names
 * @throws NodewiseError `unknown-attribute-value` for an activation that is not known
 */
export function fusedActivation(
  node: NodeFacts,
  parametersOf: (name: string, params: readonly string[]) => readonly number[]
): FusedActivation {
  const name = node.get(text('activation', '')) ?? ''
  if (name === '') return { epilogue: [], activation: undefined }
  const found = FUSABLE.get(name)
  if (found === undefined)
    fail('unknown-attribute-value', `activation is "${name}"; expected one of ${[...FUSABLE.keys()].join(', ')}`)
  const [p = 0, q = 0] = found.params.length > 0 ? parametersOf(name, found.params) : (found.activation?.bounds ?? [])
  return {
    epilogue: [activationPart(found.loops(p, q))],
    activation: found.activation ? { name: found.activation.name, p, q } : 'other'
  }
}
