import type { Call } from '../bind/call.ts'
import { byOperand } from '../bind/operands.ts'
import { NodewiseError } from '../errors.ts'
import type { Paced } from '../kernels/core/pace.ts'
import type { KernelContext, Parameters, Preparation } from '../op-kit/define.ts'
import { hasKernel } from '../op-kit/rules.ts'
import { isConcrete } from '../shapes/dim.ts'
import {
  type Elem,
  type Fact,
  isComplete,
  isPartial,
  knownValue,
  MAX_PARTIAL,
  type Movable,
  type TensorFact,
  tensorFact
} from '../shapes/fact.ts'
import { fresh, isSym } from '../shapes/sym.ts'
import { type DType, DTYPES, isInteger } from '../tensor/dtype.ts'
import { isCodedFloat, rounderTo } from '../tensor/floats.ts'
import { elementCount, isTensor, Tensor, type Value } from '../tensor/tensor.ts'
import { elementsOf } from './parameters.ts'
import { type PreparedFacts, withoutSelection } from './prepare.ts'
import { ActiveCall, dimsOf, FOLDING, holdAgainst, typeOf } from './run.ts'

/** Values of a call's outputs, where they are known. */
type Values = readonly (Movable | undefined)[]

/**
 * Values of a call's outputs, as far as those of its inputs tell them and they are small.
 * @returns undefined where nothing is known
 */
export function outputValues(
  call: Call,
  inputs: readonly (Fact | undefined)[],
  preparation: PreparedFacts
): Values | undefined {
  const { op } = call
  const { operands, parameters, outputs } = preparation
  if (op.impure || op.dynamic || outputs.some(isLarge)) return undefined
  const [first] = outputs
  const elements = first?.kind === 'tensor' ? op.value?.(operands, parameters, call) : undefined
  if (elements) return [finish(first as TensorFact, elements)]
  if (!hasKernel(op)) return undefined
  // Most calls end here. Values come last: that of a constant is read from the file when it is asked for.
  if (!inputs.every(isSmallTensor)) return undefined
  const onlyMoves = op.moves !== undefined && (op.movesWith?.(parameters) ?? true)
  const facts = onlyMoves ? withSymbols(call, inputs) : inputs
  if (!facts.every(hasValue)) return undefined
  const values = facts.map(fact => fact && knownValue(fact))
  if (values.every((value, i) => value !== undefined || facts[i] === undefined)) return fold(call, values, preparation)
  if (facts.some(isComplex)) return undefined
  if (onlyMoves) return moveElements(call, facts, preparation)
  if (op.elem && first.kind === 'tensor') return [mapElements(call, facts, parameters, first)]
  return undefined
}

type MaybeTensor = TensorFact | undefined

const isSmallTensor = (fact: Fact | undefined): fact is MaybeTensor =>
  fact === undefined || (fact.kind === 'tensor' && !isLarge(fact))
const hasValue = (fact: MaybeTensor): boolean => fact === undefined || fact.value !== undefined
/** Complex elements are no {@link Elem}. */
const isComplex = (fact: MaybeTensor): boolean => fact?.type !== undefined && DTYPES[fact.type].kind === 'complex'

/**
 * Operators that move elements: what is not known beside something known is a symbol for each element, so that the
 * known part is not lost.
 */
function withSymbols(call: Call, facts: readonly MaybeTensor[]): readonly MaybeTensor[] {
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

/**
 * Runs the kernel of a call on values that are all known. An error is left to the run, which may never come to the
 * call: there are no values then.
 */
function fold(call: Call, inputs: readonly (Tensor | undefined)[], preparation: Preparation): Values | undefined {
  return orNothing(() => {
    const active = new ActiveCall(call, inputs, FOLDING)
    if (!hasRun(active.start(withoutSelection(preparation)))) return undefined
    return active.finish().map(value => (value && isTensor(value) ? ifSmall(value) : undefined))
  })
}

/** Runs the kernel of a call that only moves elements on plain arrays of elements, symbols among them. */
function moveElements(
  call: Call,
  facts: readonly MaybeTensor[],
  { parameters, outputs: expected }: Preparation
): Values | undefined {
  const inputs: (Movable | undefined)[] = []
  for (const [i, fact] of facts.entries()) {
    if (fact?.value === undefined) inputs.push(undefined)
    else if (isMoved(call, i))
      inputs.push({ type: fact.value.type, dims: fact.value.dims, data: elementsOf(fact.value) })
    else if (isPartial(fact.value)) return undefined
    else inputs.push(fact.value)
  }
  return orNothing(() => {
    const context = new MovingContext(call, expected)
    if (!hasRun(call.op.run(byOperand(call, inputs), parameters, context))) return undefined
    for (const [i, fact] of expected.entries()) holdAgainst(fact, context.outputs[i])
    return context.outputs.map(value => value && ifSmall(settle(value)))
  })
}

/** What a kernel may ask that moves elements of plain arrays. */
class MovingContext implements KernelContext<Movable> {
  readonly dialect: KernelContext['dialect']
  readonly version: number
  readonly outputCount: number
  readonly state = FOLDING.state
  readonly threads = 1
  readonly packed = undefined
  readonly outputs: (Movable | undefined)[]
  private readonly expected: readonly Fact[]

  constructor({ dialect, version, outputCount }: Call, expected: readonly Fact[]) {
    this.dialect = dialect
    this.version = version
    this.outputCount = outputCount
    this.outputs = new Array<Movable | undefined>(outputCount).fill(undefined)
    this.expected = expected
  }

  output(index = 0, dims = dimsOf(this.expected[index]), type = typeOf(this.expected[index])): Movable {
    const output = { type, dims, data: new Array<Elem>(elementCount(dims)).fill(zeroOf(type)) }
    this.outputs[index] = output
    return output
  }

  rawOutput(index?: number, dims?: readonly number[], type?: DType): Movable {
    return this.output(index, dims, type)
  }

  give(index: number, value: Value | Movable): void {
    this.outputs[index] = 'dims' in value ? value : undefined
  }

  wanted(index: number): boolean {
    return index < this.outputCount
  }

  random(): () => number {
    return FOLDING.random()
  }
}

/** Runs what a kernel leaves to do; false where the kernel waits for a promise, which inference does not. */
function hasRun(work: void | Paced): boolean {
  for (const pending of work ?? []) {
    if (pending === undefined) continue
    // The run meets the same failure.
    pending.catch(() => undefined)
    return false
  }
  return true
}

const ifSmall = (value: Movable): Movable | undefined => (elementCount(value.dims) <= MAX_PARTIAL ? value : undefined)

/** What `values` gives; undefined where it fails as a run would fail. A fault of the program is none of these. */
function orNothing(values: () => Values | undefined): Values | undefined {
  try {
    return values()
  } catch (error) {
    if (error instanceof NodewiseError && error.code !== 'internal') return undefined
    throw error
  }
}

/** Elementwise: operands broadcast against the output, each element computed on its own. */
function mapElements(
  call: Call,
  facts: readonly MaybeTensor[],
  parameters: Parameters,
  out: TensorFact
): Movable | undefined {
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

function finish({ type, shape }: TensorFact, elements: readonly Elem[]): Movable | undefined {
  if (type === undefined || shape === undefined || !isConcrete(shape)) return undefined
  return settle({ type, dims: shape, data: stored(type, elements) })
}

/**
 * Elements as a kernel would store them. Floats beside a symbol stay JavaScript numbers, which are doubles: 10 times
 * the float32 nearest to 1.1 is 11 in float32, and a Ceil of the double would be 12. Integers wrap.
 */
function stored(type: DType, elements: readonly Elem[]): readonly Elem[] {
  if (isInteger(type)) return elements.map(element => storedInteger(type, element))
  if (DTYPES[type].kind !== 'float') return elements
  const round = type === 'float64' ? Number : isCodedFloat(type) ? rounderTo(type) : Math.fround
  return elements.map(element =>
    typeof element === 'number' || typeof element === 'bigint' ? round(Number(element)) : element
  )
}

/** An integer as a kernel would store it; of a symbol that may have wrapped only the type is known. */
function storedInteger(type: DType, element: Elem): Elem {
  const { kind, bits } = DTYPES[type]
  const lowest = kind === 'int' ? -(2 ** (bits - 1)) : 0
  if (isSym(element)) {
    const highest = lowest + 2 ** bits - 1
    // What has no bound is a size, or nothing is known of it; those are assumed to fit into 32 bits.
    const isWide = (bound: number): boolean => bits >= 32 && Math.abs(bound) === Infinity
    const fits =
      (element.min >= lowest || (kind === 'int' && isWide(element.min))) &&
      (element.max <= highest || isWide(element.max))
    return fits ? element : fresh(lowest, highest)
  }
  // A power of an integer to a float is a number.
  if (typeof element === 'number' ? !Number.isSafeInteger(element) : typeof element !== 'bigint') return element
  const whole = BigInt(element)
  return kind === 'int' ? BigInt.asIntN(bits, whole) : BigInt.asUintN(bits, whole)
}

/** A partial tensor without symbols becomes an ordinary one. */
function settle(value: Movable): Movable {
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
