import type { Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import type { Broadcast } from '../op-kit/broadcast.ts'
import type { Op, Parameters } from '../op-kit/define.ts'
import { type Activation, type EpiloguePart, fusedOp, type FusedParams } from '../op-kit/fused.ts'
import { is64BitInteger } from '../tensor/dtype.ts'
import { toNumbers } from '../tensor/elements.ts'
import { inputsOf } from './code-ops.ts'
import { addList, widenedConstant } from './derive.ts'
import { fusedCall } from './fuse.ts'
import { areDims, isFloat32, knownTensor, operandOf, type PlanGraph, scalarOf, shapeOf } from './graph.ts'
import type { Match, Pattern } from './match.ts'
import { commutative, numbersOf } from './patterns.ts'

/** Operators to whose result a kernel can add a bias, a residual and an activation while it writes. */
const PRODUCERS = ['Conv', 'FusedConv', 'MatMul', 'FusedMatMul', 'Gemm', 'FusedGemm']
/** The same for an activation alone. */
const SCALED = 'MatMulIntegerToFloat'

type ActivationOf = (call: Call, graph: PlanGraph) => Activation | undefined

const plain =
  (activation: Activation): ActivationOf =>
  () =>
    activation
const functionOf = ({ known }: Call) =>
  known.function as { readonly alpha?: number; readonly approximation?: 'none' | 'tanh' }

/** An activation whose parameter alpha is an attribute. */
const withAlpha =
  (name: Activation['name']): ActivationOf =>
  call => {
    const { alpha } = functionOf(call)
    return alpha === undefined ? undefined : { name, p: alpha }
  }

/** An activation whose parameters are attributes or constants. */
const withNumbers =
  (name: Activation['name'], first: string, second?: string): ActivationOf =>
  (call, graph) => {
    const [p] = numbersOf(graph, call, first) ?? []
    const [q] = second === undefined ? [0] : (numbersOf(graph, call, second) ?? [])
    return p === undefined || q === undefined ? undefined : { name, p, q }
  }

/** Activations that kernels know, by the name of their operator. */
const ACTIVATIONS: ReadonlyMap<string, ActivationOf> = new Map([
  ['Relu', plain({ name: 'clip', p: 0, q: Infinity })],
  ['Clip', clipOf],
  ['Sigmoid', plain({ name: 'sigmoid' })],
  ['Tanh', plain({ name: 'tanh' })],
  ['Silu', plain({ name: 'silu' })],
  ['Swish', withNumbers('swish', 'beta')],
  ['HardSwish', plain({ name: 'hardSwish', p: 1 / 6, q: 0.5 })],
  ['HSigmoid', plain({ name: 'hardSigmoid', p: 1 / 6, q: 0.5 })],
  ['HardSigmoid', withNumbers('hardSigmoid', 'alpha', 'beta')],
  ['LeakyRelu', withAlpha('leakyRelu')],
  ['Elu', withAlpha('elu')],
  ['Selu', withNumbers('selu', 'alpha', 'gamma')],
  ['Softplus', plain({ name: 'softplus' })],
  ['Softsign', plain({ name: 'softsign' })],
  ['Mish', plain({ name: 'mish' })],
  ['ThresholdedRelu', withAlpha('thresholdedRelu')],
  [
    'Gelu',
    call => {
      const { approximation } = functionOf(call)
      return approximation && { name: approximation === 'tanh' ? 'geluTanh' : 'gelu' }
    }
  ]
])

/** A product that a number scales. */
export const scaledProductPattern: Pattern = {
  name: 'scale',
  calls: { product: { ops: ['MatMul'] }, scaled: commutative('Mul', ['product', 'factor']) },
  scalars: { factor: 'any' },
  root: 'scaled',
  guard({ calls, values }, graph) {
    const [product, scaled] = ['product', 'scaled'].map(label => calls.get(label)!.call.outputs[0])
    const made = shapeOf(graph, product)
    // The axes of the number may be more than those of the product, where nobody knows how many that has.
    const keepsRank = made
      ? shapeOf(graph, scaled)?.length === made.length
      : shapeOf(graph, values.get('factor'))?.length === 0
    return isFloat32(graph, product) && keepsRank
  },
  fuse({ calls, values }, graph) {
    const { call } = calls.get('product')!
    const alpha = (call.known.alpha as number) * scalarOf(graph, values.get('factor'))!
    const inputs = inputsOf(call)
    return { call: fusedCall(calls.get('scaled')!.call, call.op, inputs, { ...call.known, alpha }, call) }
  }
}

/** A list that is added to the columns of a product: the bias of a dense layer. */
export const biasPatterns: readonly Pattern[] = [
  ['a', 'b'],
  ['b', 'a']
].map(([producer, bias]) => ({
  name: 'bias',
  calls: {
    producer: { ops: ['MatMul'] },
    add: { ops: ['Add'], reads: { [producer]: 'producer', [bias]: 'bias' } }
  },
  root: 'add',
  guard({ calls, values }, graph) {
    const id = values.get('bias')!
    const dims = (graph.constantOf(id) ?? widenedConstant(graph, id))?.dims ?? []
    const made = shapeOf(graph, calls.get('producer')!.call.outputs[0])
    // Older versions can lay the list onto another axis.
    const { mode } = calls.get('add')!.call.known.broadcast as Broadcast
    // OpenVINO gives the list as many axes as the product has.
    const isList = dims.length > 0 && dims.length <= (made?.length ?? 0) && dims.slice(0, -1).every(dim => dim === 1)
    const isColumn = isList && dims.at(-1) === made?.at(-1)
    return mode === 'numpy' && isColumn && isFloat32(graph, id)
  },
  fuse: match => withPart(match, producer, bias, 'bias')
}))

/**
 * A number that is added to each channel of a convolution, `[1, channels, 1, 1]`, as OpenVINO writes the bias: it
 * becomes the bias of the operator.
 */
export const channelPattern: Pattern = {
  name: 'bias',
  calls: {
    producer: { ops: ['Conv'], where: call => isOpen(call) && operandOf(call, 'bias') === undefined },
    sum: commutative('Add', ['producer', 'bias'])
  },
  root: 'sum',
  guard({ calls, values }, graph) {
    const id = values.get('bias')!
    const made = shapeOf(graph, calls.get('producer')!.call.outputs[0])
    const dims = (graph.constantOf(id) ?? widenedConstant(graph, id))?.dims
    if (made === undefined || dims === undefined || dims.length > made.length || !isFloat32(graph, id)) return false
    const before = made.length - dims.length
    return before <= 1 && dims.every((dim, i) => (i + before === 1 ? dim === made[1] : dim === 1))
  },
  fuse({ calls, values }, graph) {
    const { call } = calls.get('producer')!
    const inputs = inputsOf(call)
    const bias = addList(graph, values.get('bias')!)
    return { call: fusedCall(calls.get('sum')!.call, call.op, { ...inputs, bias }, call.known, call) }
  }
}

/** A tensor of the same dims that is added: the shortcut of a residual block. */
export const residualPatterns: readonly Pattern[] = [
  ['a', 'b'],
  ['b', 'a']
].map(([producer, residual]) => ({
  name: 'residual',
  calls: {
    // Gemm has a matrix to add already.
    producer: {
      ops: PRODUCERS.filter(name => !name.endsWith('Gemm')),
      where: call => isOpen(call) && operandOf(call, 'residual') === undefined
    },
    add: { ops: ['Add'], reads: { [producer]: 'producer', [residual]: 'residual' } }
  },
  root: 'add',
  guard({ calls, values }, graph) {
    const made = shapeOf(graph, calls.get('producer')!.call.outputs[0])
    const added = shapeOf(graph, values.get('residual'))
    return added !== undefined && areDims(made, added) && isFloat32(graph, values.get('residual'))
  },
  fuse: match => withPart(match, producer, residual, 'residual')
}))

/** An activation of what a convolution or a product gives. */
export const activationPattern: Pattern = {
  name: 'activation',
  calls: {
    producer: { ops: [...PRODUCERS, SCALED], where: isOpen },
    activation: { ops: [...ACTIVATIONS.keys()], reads: { x: 'producer' } }
  },
  root: 'activation',
  guard: ({ calls }, graph) =>
    isFloat32(graph, calls.get('producer')!.call.outputs[0]) &&
    activationOf(calls.get('activation')!.call, graph) !== undefined,
  fuse(match, graph) {
    const { call } = match.calls.get('activation')!
    const others = Object.fromEntries(
      call.operands.flatMap(({ name, index }) => {
        const id = call.inputs[index]
        const value = name === 'x' || id === undefined ? undefined : knownTensor(graph, id)
        return value ? [[name, value]] : []
      })
    )
    // Numbers that are inputs in some versions: the slope of Swish.
    const inputs = call.dataDependent.map(({ name }) => [name, numbersOf(graph, call, name)?.[0]])
    const parameters = { ...call.known, ...Object.fromEntries(inputs) }
    const part: EpiloguePart = { op: call.op, parameters, result: 'x', others }
    return { call: extended(match, 'activation', part, {}, activationOf(call, graph)) }
  }
}

/** Whether something can still be added to what a call makes: its activation comes last. */
function isOpen({ dataDependent, known }: Call): boolean {
  return dataDependent.length === 0 && (known as Partial<FusedParams>).activation === undefined
}

/** The addition `add`, the root, as the next part of a fused call. */
function withPart(match: Match, result: string, other: string, operand: 'bias' | 'residual') {
  const { call } = match.calls.get('add')!
  const part: EpiloguePart = { op: call.op, parameters: call.known, result, others: { [other]: operand } }
  return { call: extended(match, 'add', part, { [operand]: match.values.get(operand) }, undefined) }
}

/** The producer's call with one more part, in the place of the root. */
function extended(
  { calls }: Match,
  root: string,
  part: EpiloguePart,
  added: Readonly<Record<string, ValueId | undefined>>,
  activation: Activation | undefined
): Call {
  const { call } = calls.get('producer')!
  const earlier = (call.known as Partial<FusedParams>).epilogue ?? []
  const op: Op = call.op.name.startsWith('Fused') ? call.op : fusedOp(call.op)
  const inputs = inputsOf(call)
  const parameters: Parameters = { ...call.known, epilogue: [...earlier, part], activation }
  return fusedCall(calls.get(root)!.call, op, { ...inputs, ...added }, parameters, call)
}

/** What an operator that is an activation computes; undefined: another operator, or not known before the graph runs. */
export const activationOf = (call: Call, graph: PlanGraph): Activation | undefined =>
  ACTIVATIONS.get(call.op.name)?.(call, graph)

/** Clip whose bounds are attributes or constants, none of 64 bits: what a kernel adds is a function of float32. */
function clipOf(call: Call, graph: PlanGraph): Activation | undefined {
  const bound = (operand: string, attribute: string): number | undefined => {
    const id = operandOf(call, operand)
    if (id === undefined) return call.known[attribute] as number
    const value = knownTensor(graph, id)
    return value && !is64BitInteger(value.type) ? toNumbers(value)[0] : undefined
  }
  const [low, high] = [bound('min', 'low'), bound('max', 'high')]
  return low === undefined || high === undefined ? undefined : { name: 'clip', p: low, q: high }
}
