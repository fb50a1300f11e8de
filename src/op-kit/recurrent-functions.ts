import { fail } from '../errors.ts'
import type { UnaryLoop } from '../kernels/core/elementwise.ts'
import {
  affine,
  elu,
  hardSigmoid,
  leakyRelu,
  scaledTanh,
  SIGMOID,
  SOFTPLUS,
  SOFTSIGN
} from '../kernels/elementwise/activations.ts'
import { TANH } from '../kernels/elementwise/unary.ts'

/** An activation function of a gate with its parameters, 0 where it takes none. */
export interface GateFunction {
  readonly name: GateFunctionName
  readonly alpha: number
  readonly beta: number
  readonly loop: UnaryLoop
}

/** Names of activation functions, those of ONNX in lower case. */
export type GateFunctionName = keyof typeof FUNCTIONS

/** What a name stands for: defaults of the parameters that the function takes, and the function of their values. */
interface Entry {
  readonly alpha?: number
  readonly beta?: number
  make(alpha: number, beta: number): UnaryLoop
}

const RELU: UnaryLoop = (x, out, i, to) => {
  for (; i < to; i++) out[i] = Math.max(0, x[i])
}
/** Unlike the operator of the same name it passes `alpha` itself. */
const thresholdedRelu =
  (alpha: number): UnaryLoop =>
  (x, out, i, to) => {
    for (; i < to; i++) out[i] = x[i] >= alpha ? x[i] : 0
  }

/**
 * Functions by ONNX's names. Defaults are those of the operators of the same name; Affine and ScaledTanh, whose
 * operators were removed, have defaults that change nothing.
 */
const FUNCTIONS = {
  relu: { make: () => RELU },
  tanh: { make: () => TANH },
  sigmoid: { make: () => SIGMOID },
  affine: { alpha: 1, beta: 0, make: affine },
  leakyrelu: { alpha: 0.01, make: leakyRelu },
  thresholdedrelu: { alpha: 1, make: thresholdedRelu },
  scaledtanh: { alpha: 1, beta: 1, make: scaledTanh },
  hardsigmoid: { alpha: 0.2, beta: 0.5, make: hardSigmoid },
  elu: { alpha: 1, make: elu },
  softsign: { make: () => SOFTSIGN },
  softplus: { make: () => SOFTPLUS }
} satisfies Readonly<Record<string, Entry>>

const isName = (name: string, allowed: readonly string[]): name is GateFunctionName => allowed.includes(name)

export interface FunctionNames {
  /** In lower case; an empty list stands for `otherwise`. */
  readonly names: readonly string[]
  /** Default names for one direction. */
  readonly otherwise: readonly string[]
  readonly directions: number
  readonly alphas?: readonly number[] | undefined
  readonly betas?: readonly number[] | undefined
  /** Names that the dialect allows. */
  readonly allowed?: readonly string[]
}

/**
 * The activation functions of each direction. Names for a single direction are used for both. Each function that has a
 * parameter takes the next value of its list, as ONNX says.
 * @throws NodewiseError `unknown-attribute-value`
 */
export function gateFunctions(options: FunctionNames): GateFunction[][] {
  const { names, otherwise, directions, alphas = [], betas = [], allowed = Object.keys(FUNCTIONS) } = options
  const given = names.length > 0 ? names : otherwise
  const each = otherwise.length
  if (given.length !== each && given.length !== 2 * each) {
    fail(
      'unknown-attribute-value',
      `attribute "activations" names ${given.length} functions; expected ${directions * each}`
    )
  }
  let alpha = 0
  let beta = 0
  const rows = given.slice(0, directions * each).map((name): GateFunction => {
    if (!isName(name, allowed))
      fail('unknown-attribute-value', `activation function "${name}" is unknown; expected one of ${allowed.join(', ')}`)
    const found: Entry = FUNCTIONS[name]
    const own = {
      alpha: found.alpha === undefined ? 0 : (alphas[alpha++] ?? found.alpha),
      beta: found.beta === undefined ? 0 : (betas[beta++] ?? found.beta)
    }
    return { name, ...own, loop: found.make(own.alpha, own.beta) }
  })
  return Array.from({ length: directions }, (_, i) =>
    rows.length > each ? rows.slice(i * each, (i + 1) * each) : rows
  )
}
