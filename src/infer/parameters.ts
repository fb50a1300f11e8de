import type { BoundGraph, Call } from '../bind/call.ts'
import { fail } from '../errors.ts'
import type { Body, Parameters } from '../op-kit/define.ts'
import type { InputSource } from '../op-kit/sources.ts'
import { type Dim, isConcrete, mayMatch, printShape, productOf } from '../shapes/dim.ts'
import { type Elem, type Fact, isPartial, type PartialTensor, type TensorFact } from '../shapes/fact.ts'
import { fresh, isSym } from '../shapes/sym.ts'
import { DTYPES } from '../tensor/dtype.ts'
import { safeNumber, toNumbers } from '../tensor/elements.ts'
import { withArticle } from '../tensor/map.ts'
import type { Tensor } from '../tensor/tensor.ts'

export interface ParameterOptions {
  /** Parameters set for every call that has them. */
  readonly overrides?: Parameters | undefined
  /** What the call's bodies become; without it they are left out. */
  body?(bound: BoundGraph): Body
}

/**
 * A call's parameters: those of its attributes and those that facts of its inputs tell. What is not known yet is a
 * symbol (numbers) or `'unknown'`.
 * @throws NodewiseError `rank-mismatch`, `dims-mismatch` when an input cannot be such a parameter
 */
export function parametersOf(
  call: Call,
  facts: readonly (Fact | undefined)[],
  options: ParameterOptions = {}
): Parameters {
  const { overrides } = options
  if (call.dataDependent.length === 0 && call.bodies.size === 0 && overrides === undefined) return call.known
  const parameters: Record<string, unknown> = { ...call.known }
  for (const { name, source } of call.dataDependent) {
    const fact = facts[source.index]
    parameters[name] = fact === undefined ? source.fallback?.value : readInput(name, source, fact)
  }
  if (options.body) for (const [name, bound] of call.bodies) parameters[name] = options.body(bound)
  for (const name in overrides) if (name in parameters) parameters[name] = overrides[name]
  return parameters
}

function readInput(name: string, source: InputSource<unknown>, fact: Fact): unknown {
  if (fact.kind !== 'tensor') fail('type-not-allowed', `${name} is ${withArticle(fact.kind)}; a tensor is expected`)
  const isList = source.form === 'ints' || source.form === 'floats'
  if (source.form === 'flag') checkSingle(name, fact)
  else checkForm(name, isList, source.asRow === true, fact)
  if (isList) return fact.value ? numbersOf(fact.value) : unknownList(fact)
  if (fact.value === undefined) return source.form === 'int' || source.form === 'float' ? fresh() : 'unknown'
  const element = firstElement(fact.value)
  if (source.form === 'flag') return isSym(element) ? 'unknown' : Boolean(element)
  if (source.form === 'text') return isSym(element) ? 'unknown' : String(element)
  return numberOf(element)
}

/** A scalar may be written as a tensor of one element, a list as a scalar and, with `asRow`, as a matrix of one row. */
function checkForm(name: string, isList: boolean, asRow: boolean, { shape }: TensorFact): void {
  if (shape === undefined || (asRow && shape.length === 2 && mayMatch(shape[0], 1))) return
  if (shape.length > 1)
    fail(
      'rank-mismatch',
      `${name} has rank ${shape.length}; expected ${isList ? 'a list' : 'a scalar or a list of one'}`
    )
  if (!isList && shape.length === 1 && typeof shape[0] === 'number' && shape[0] !== 1) {
    fail('dims-mismatch', `${name} has ${shape[0]} elements; expected one`)
  }
}

/** Runtimes take a flag of one element in any rank. */
function checkSingle(name: string, { shape }: TensorFact): void {
  if (shape && !mayMatch(productOf(shape), 1))
    fail('dims-mismatch', `${name} has shape ${printShape(shape)}; one element is expected`)
}

function unknownList({ shape }: TensorFact): readonly Dim[] | 'unknown' {
  if (shape === undefined || !isConcrete(shape)) return 'unknown'
  const length = shape.at(-1) ?? 1
  return length > 64 ? 'unknown' : Array.from({ length }, () => fresh())
}

/** Elements as numbers and symbols; integers beyond 2^53 keep their order only. */
const numbersOf = (value: Tensor | PartialTensor): readonly Dim[] =>
  value.type === 'int64' && !isPartial(value) ? safeNumbers(value.data) : elementsOf(value).map(numberOf)

/** `Array.from` takes several times as long for the few elements that lists of dims have. */
function safeNumbers(data: BigInt64Array): number[] {
  const numbers = new Array<number>(data.length)
  for (let i = 0; i < data.length; i++) numbers[i] = safeNumber(data[i])
  return numbers
}

function numberOf(element: Elem): Dim {
  if (isSym(element)) return element
  return typeof element === 'bigint' ? safeNumber(element) : Number(element)
}

/** The first of {@link elementsOf}; the only one of most values that are looked at while a graph runs. */
function firstElement(value: Tensor | PartialTensor): Elem {
  if (!isPartial(value) && value.type === 'int64') return value.data[0]
  if (!isPartial(value) && value.type === 'bool') return value.data[0] !== 0
  return elementsOf(value)[0]
}

/** The elements of a small value: bigint for 64-bit integers and all other integers too, numbers for floats. */
export function elementsOf(value: Tensor | PartialTensor): readonly Elem[] {
  if (isPartial(value)) return value.data
  const { kind, bits } = DTYPES[value.type]
  if (kind === 'string') return value.data as unknown as readonly string[]
  if (kind === 'bool') return Array.from(value.data as Uint8Array, item => item !== 0)
  if (kind === 'int' || kind === 'uint') return Array.from(value.data as ArrayLike<number | bigint>, BigInt)
  if (kind === 'float' && bits >= 32) return Array.from(value.data as Float32Array)
  return Array.from(toNumbers(value))
}
