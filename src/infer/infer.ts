import type { BoundGraph, Call } from '../bind/call.ts'
import { NodewiseError } from '../errors.ts'
import type { Body } from '../op-kit/define.ts'
import { isConcrete } from '../shapes/dim.ts'
import {
  type Elem,
  type Fact,
  isComplete,
  isPartial,
  knownValue,
  MAX_PARTIAL,
  type PartialTensor,
  type TensorFact,
  tensorFact
} from '../shapes/fact.ts'
import { limitRank } from '../shapes/lists.ts'
import { fresh } from '../shapes/sym.ts'
import { type DType, DTYPES, isInteger } from '../tensor/dtype.ts'
import { allocate, elementCount, MAX_RANK, Tensor, type Value } from '../tensor/tensor.ts'
import { elementsOf } from './parameters.ts'
import { prepareCall } from './prepare.ts'
import { ActiveCall, type CallEnvironment } from './run.ts'

export interface InferOptions {
  /** Also check known values (indices in range). */
  readonly validate?: boolean
  /** Parameters set for every call that has them. */
  readonly overrides?: Readonly<Record<string, unknown>>
}

/**
 * Facts of a call's outputs for facts of its inputs: its shape function, then values as far as they can be known.
 * @throws NodewiseError what the operator's shape function and validation throw
 */
export function inferCall(
  call: Call,
  inputs: readonly (Fact | undefined)[],
  body: (bound: BoundGraph) => Body,
  { validate, overrides }: InferOptions = {}
): readonly Fact[] {
  const { op } = call
  const { operands, parameters, outputs: facts } = prepareCall(call, inputs, { overrides, body })
  if (call.maxRank < MAX_RANK)
    for (const fact of facts) if (fact.kind === 'tensor') limitRank(fact.shape?.length ?? 0, call.maxRank)
  if (validate) op.validate?.(operands, parameters, call)
  if (op.impure || op.dynamic || facts.some(isLarge)) return facts
  const [first] = facts
  const elements = first?.kind === 'tensor' ? op.value?.(operands, parameters, call) : undefined
  const values = elements ? [finish(first as TensorFact, elements)] : outputsOfKnown(call, inputs, parameters, facts)
  return values === undefined
    ? facts
    : facts.map((fact, i) => {
        const value = values[i]
        return value !== undefined && fact.kind === 'tensor' ? tensorFact(value.type, value.dims, value) : fact
      })
}

type Known = Tensor | PartialTensor

/** Values of the outputs, where those of the inputs tell them. */
function outputsOfKnown(
  call: Call,
  inputs: readonly (Fact | undefined)[],
  parameters: Record<string, unknown>,
  facts: readonly Fact[]
): (Known | undefined)[] | undefined {
  const { op } = call
  // Most calls end here. Values come last: that of a constant is read from the file when it is asked for.
  if (!inputs.every(isSmallTensor)) return undefined
  const known = inputs as readonly (TensorFact | undefined)[]
  const tensors = op.moves ? withSymbols(call, known) : known
  if (!tensors.every(hasValue)) return undefined
  const values = tensors.map(fact => fact && knownValue(fact))
  if (values.every((value, i) => value !== undefined || tensors[i] === undefined))
    return fold(call, values, parameters, facts, FOLDING)
  if (op.moves) return runOnElements(call, tensors, parameters, facts)
  const [first] = facts
  if (op.elem && first.kind === 'tensor') return [mapElements(call, tensors, parameters, first)]
  return undefined
}

const isSmallTensor = (fact: Fact | undefined): boolean =>
  fact === undefined || (fact.kind === 'tensor' && !isLarge(fact))
const hasValue = (fact: TensorFact | undefined): boolean => fact === undefined || fact.value !== undefined

/**
 * Operators that move elements: what is not known beside something known is a symbol for each element, so that the
 * known part is not lost.
 */
function withSymbols(call: Call, facts: readonly (TensorFact | undefined)[]): readonly (TensorFact | undefined)[] {
  if (facts.every(hasValue) || !facts.some((fact, i) => isMoved(call, i) && fact?.value)) return facts
  return facts.map((fact, i) => {
    if (fact === undefined || !isMoved(call, i) || fact.value || fact.type === undefined || !isInteger(fact.type))
      return fact
    if (fact.shape === undefined || !isConcrete(fact.shape)) return fact
    return tensorFact(fact.type, fact.shape, {
      type: fact.type,
      dims: fact.shape,
      data: Array.from({ length: elementCount(fact.shape) }, () => fresh())
    })
  })
}

/** Whether an input is one of an operand whose elements are only moved. */
function isMoved({ op, operands }: Call, input: number): boolean {
  for (const { name, kind, index } of operands) {
    if (index === input || (index < input && kind.endsWith('variadic'))) return op.moves?.includes(name) === true
  }
  return false
}

function isLarge(fact: Fact): boolean {
  if (fact.kind !== 'tensor' || fact.shape === undefined) return false
  const { shape } = fact
  let size = 1
  for (let i = 0; i < shape.length; i++) {
    const dim = shape[i]
    if (typeof dim !== 'number') return false
    size *= dim
  }
  return size > MAX_PARTIAL
}

/** Surroundings of a call that has no bodies and is neither random nor stateful. */
export const FOLDING: CallEnvironment = {
  allocate,
  wanted: () => true,
  body: () => {
    throw new Error('a call with bodies is not folded')
  },
  state: { read: () => undefined, write: () => undefined },
  random: () => () => 0,
  threads: 1
}

/**
 * Runs the kernel of a call now, whose types, parameters and output facts are worked out. A failure is left to the run,
 * which may never come
 * here; a kernel that chooses its dims may choose others than the shape rule foresaw. There are no values then.
 */
function fold(
  call: Call,
  inputs: readonly (Value | undefined)[],
  parameters: Readonly<Record<string, unknown>>,
  expected: readonly Fact[],
  context: CallEnvironment
): (Known | undefined)[] | undefined {
  try {
    const active = new ActiveCall(call, inputs, context)
    const turns = active.start({ parameters, outputs: expected, selection: undefined })
    if (turns) for (const _ of turns);
    return active
      .finish()
      .map(value => (value && 'dims' in value && elementCount(value.dims) <= MAX_PARTIAL ? value : undefined))
  } catch (error) {
    if (error instanceof NodewiseError) return undefined
    throw error
  }
}

const ON_ELEMENTS: CallEnvironment = {
  ...FOLDING,
  allocate: (type, dims) => asTensor({ type, dims, data: new Array<Elem>(elementCount(dims)).fill(zeroOf(type)) })
}

/** Movement kernels take a plain array of elements as they take strings. */
const asTensor = (partial: PartialTensor): Tensor => partial as unknown as Tensor

function runOnElements(
  call: Call,
  facts: readonly (TensorFact | undefined)[],
  parameters: Record<string, unknown>,
  expected: readonly Fact[]
): (Known | undefined)[] | undefined {
  const inputs: (Tensor | undefined)[] = []
  for (const [i, fact] of facts.entries()) {
    if (fact?.value === undefined) inputs.push(undefined)
    else if (isMoved(call, i))
      inputs.push(asTensor({ type: fact.value.type, dims: fact.value.dims, data: elementsOf(fact.value) }))
    else if (isPartial(fact.value)) return undefined
    else inputs.push(fact.value)
  }
  return fold(call, inputs, parameters, expected, ON_ELEMENTS)?.map(value => value && settle(value))
}

/** Elementwise: operands broadcast against the output, each element computed on its own. */
function mapElements(
  call: Call,
  facts: readonly (TensorFact | undefined)[],
  parameters: Record<string, unknown>,
  out: TensorFact
): Known | undefined {
  if (out.shape === undefined || !isConcrete(out.shape)) return undefined
  const dims = out.shape
  const operands = facts.flatMap(fact =>
    fact?.value ? [{ dims: fact.value.dims, elements: elementsOf(fact.value) }] : []
  )
  const elements: Elem[] = []
  for (let i = 0; i < elementCount(dims); i++) {
    const element = call.op.elem?.(
      operands.map(operand => operand.elements[broadcastIndex(i, dims, operand.dims)]),
      parameters
    )
    if (element === undefined) return undefined
    elements.push(element)
  }
  return finish(out, elements)
}

function broadcastIndex(at: number, dims: readonly number[], own: readonly number[]): number {
  let index = 0
  let stride = 1
  for (let i = dims.length - 1, rest = at; i >= 0; i--) {
    const dim = own[i - (dims.length - own.length)] ?? 1
    if (dim !== 1) index += (rest % dims[i]) * stride
    stride *= dim
    rest = Math.floor(rest / dims[i])
  }
  return index
}

function finish({ type, shape }: TensorFact, elements: readonly Elem[]): Known | undefined {
  if (type === undefined || shape === undefined || !isConcrete(shape)) return undefined
  return settle({ type, dims: shape, data: elements })
}

/** A partial tensor without symbols becomes an ordinary one. */
function settle(value: Known): Known {
  if (!isPartial(value) || !isComplete(value) || value.type === 'string') return value
  const { kind } = DTYPES[value.type]
  if (kind === 'float' && DTYPES[value.type].bits < 32) return value
  return new Tensor(
    value.type,
    value.data.map(element => (kind === 'bool' ? Number(element) : element)) as number[],
    value.dims
  )
}

const zeroOf = (type: DType): Elem => {
  const { kind } = DTYPES[type]
  return kind === 'string' ? '' : kind === 'bool' ? false : kind === 'float' ? 0 : 0n
}
