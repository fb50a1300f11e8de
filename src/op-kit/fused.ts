import { type AnyUnaryLoops, binary, unary } from '../kernels/core/elementwise.ts'
import { workTensorOf } from '../kernels/core/numbers.ts'
import { oncePer } from '../kernels/core/once.ts'
import type { Paced } from '../kernels/core/pace.ts'
import { swish } from '../kernels/elementwise/activations.ts'
import { ADD } from '../kernels/elementwise/binary.ts'
import { tensorFact } from '../shapes/fact.ts'
import { Tensor } from '../tensor/tensor.ts'
import {
  defineOp,
  type KernelContext,
  type Op,
  type Operands,
  type Parameters,
  params,
  type ValueOperands
} from './define.ts'
import { defineRules, type KernelDefinition, type RulesDefinition, withKernel } from './rules.ts'
import { withOutput } from './with-output.ts'

/** An elementwise function by name, with its parameters; kernels that know it apply it while they write. */
export interface Activation {
  readonly name:
    | 'clip'
    | 'silu'
    | 'swish'
    | 'sigmoid'
    | 'tanh'
    | 'leakyRelu'
    | 'elu'
    | 'hardSwish'
    | 'hardSigmoid'
    | 'gelu'
    | 'geluTanh'
    | 'selu'
    | 'softplus'
    | 'softsign'
    | 'mish'
    | 'thresholdedRelu'
  readonly p?: number
  readonly q?: number
}

/** One operator that a fused one applies to the result of the operator that it begins with. */
export interface EpiloguePart {
  readonly op: Op
  readonly parameters: Parameters
  /** Operand of `op` that takes the result so far. */
  readonly result: string
  /** Its other operands: constants, or by name operands of the fused operator. */
  readonly others: Readonly<Record<string, Tensor | 'bias' | 'residual'>>
}

/** Parameters of a fused operator, beside those of the operator that it begins with. */
export interface FusedParams {
  readonly epilogue: readonly EpiloguePart[]
  /** What the last part computes, where it is no addition; `other`: what kernels in WebAssembly do not know. */
  readonly activation: Activation | 'other' | undefined
}

/**
 * An operator that begins with `base` and adds a bias, a residual and an activation: what the planner makes of several
 * nodes. Its own kernel runs the kernels of its parts one after the other.
 */
export const fusedOp = /* @__PURE__ */ oncePer((base: Op) =>
  withKernel(defineRules(fusedRules(base)), fusedKernel(base))
)

/**
 * Rules of {@link fusedOp}; operators of files that are fused already add their operator versions. Their name is
 * `Fused` and that of the base, by which selectors know them; one that computes something else needs another name.
 */
export const fusedRules = (base: Op): RulesDefinition<Operands, FusedParams & Parameters> => ({
  name: `Fused${base.name}`,
  operands: { ...base.operands, bias: base.operands.bias ?? 'optional', residual: 'optional' },
  shape: (facts, parameters, call) => base.shape(facts, parameters, call)
})

/** Kernel of {@link fusedOp}. */
export const fusedKernel = (base: Op): KernelDefinition<Operands, FusedParams & Parameters> => ({
  run: (values, parameters, context) => runParts(base, values, parameters, context)
})

/** Adds an operand: the bias has a number for each column. */
export const addedPart = (operand: 'bias' | 'residual'): EpiloguePart => ({
  op: addition,
  parameters: {},
  result: 'a',
  others: { b: operand }
})

/** Applies an elementwise function. */
export const activationPart = (loops: AnyUnaryLoops): EpiloguePart => ({
  op: elementwise,
  parameters: { loops },
  result: 'x',
  others: {}
})

const addition: Op = defineOp({
  name: 'Addition',
  operands: { a: 'tensor', b: 'tensor' },
  inPlace: ['a'],
  shape: ({ a }) => [tensorFact(a.type, a.shape)],
  run: ({ a, b }, _, context) => binary(ADD, a, b, context.rawOutput())
})

const elementwise: Op = defineOp({
  name: 'Elementwise',
  operands: { x: 'tensor' },
  params: params<{ loops: AnyUnaryLoops }>(),
  inPlace: ['x'],
  shape: ({ x }) => [tensorFact(x.type, x.shape)],
  run: ({ x }, { loops }, context) => unary(loops, x, context.rawOutput())
})

function* runParts(
  base: Op,
  values: ValueOperands,
  parameters: FusedParams & Parameters,
  context: KernelContext
): Paced {
  // Coded floats are rounded once, at the end.
  const { work: out, finish } = workTensorOf(context.rawOutput())
  const into = withOutput(context, out)
  const begun = base.run(values, parameters, into)
  if (begun) yield* begun
  for (const part of parameters.epilogue) {
    const rest = runEpiloguePart(part, values, out, into)
    if (rest) yield* rest
  }
  yield* finish()
}

/**
 * Runs a part of an epilogue by its reference, over the result so far.
 * @param values operands of the fused operator
 * @param into a context whose output 0 is `out`
 */
export function runEpiloguePart(
  { op, parameters, result, others }: EpiloguePart,
  values: ValueOperands,
  out: Tensor,
  into: KernelContext
): void | Paced {
  // A kernel that may not write over its operand reads a copy.
  const isInPlace = op.inPlace?.includes(result) === true
  const soFar = isInPlace ? out : new Tensor(out.type, out.data.slice(), out.dims)
  const operands: Record<string, Tensor | undefined> = { [result]: soFar }
  for (const [name, other] of Object.entries(others))
    operands[name] = typeof other === 'string' ? (values[other] as Tensor) : other
  return op.run(operands, parameters, into)
}

/** SiLU, `x / (1 + e^-x)`: what a product of x and its sigmoid is fused into. */
export const silu: Op = defineOp({
  name: 'Silu',
  operands: { x: 'tensor' },
  inPlace: ['x'],
  shape: ({ x }) => [tensorFact(x.type, x.shape)],
  run: ({ x }, _, context) => unary({ float: swish(1) }, x, context.rawOutput())
})
