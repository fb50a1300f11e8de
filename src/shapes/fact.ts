import type { DType } from '../tensor/dtype.ts'
import type { KeyType, Tensor, Value } from '../tensor/tensor.ts'
import type { Dim } from './dim.ts'
import { isSym, type Sym } from './sym.ts'

/** An element of a partial tensor: known, or a symbol (booleans: a symbol of 0..1). */
export type Elem = bigint | number | boolean | string | Sym

/**
 * A small tensor of which some elements are symbols. `data` is a plain array; movement kernels treat it as they treat
 * strings.
 */
export interface PartialTensor {
  readonly type: DType
  readonly dims: readonly number[]
  readonly data: readonly Elem[]
}

/** What a kernel takes that only moves elements and never computes with them. */
export type Movable = Tensor | PartialTensor

/** Largest tensor whose values are followed while shapes are worked out. */
export const MAX_PARTIAL = 1024

/** What is known of a tensor. Absent `type` or `shape`: unknown (shape: rank unknown). `value` implies both. */
export interface TensorFact {
  readonly kind: 'tensor'
  readonly type?: DType
  readonly shape?: readonly Dim[]
  readonly value?: Tensor | PartialTensor | undefined
}

/** What is known of a sequence of tensors. */
export interface SequenceFact {
  readonly kind: 'sequence'
  /** What holds of every element. */
  readonly element: Fact
  /** Number of elements, where known. */
  readonly length?: Dim
  readonly value?: Value | undefined
}

/** What is known of an optional. */
export interface OptionalFact {
  readonly kind: 'optional'
  readonly element: Fact
  readonly value?: Value | undefined
}

/** What is known of a map. Absent types: unknown. */
export interface MapFact {
  readonly kind: 'map'
  readonly keyType?: KeyType
  readonly valueType?: DType
  readonly value?: Value | undefined
}

/** What is known of a value before (or while) a graph runs. */
export type Fact = TensorFact | SequenceFact | OptionalFact | MapFact

/** A fact about a tensor. */
export function tensorFact(
  type: DType | undefined,
  shape: readonly Dim[] | undefined,
  value?: Tensor | PartialTensor | undefined
): TensorFact {
  // Made for every value of a model, mostly with both: in one piece, which spreads are not.
  if (type && shape) return value ? { kind: 'tensor', type, shape, value } : { kind: 'tensor', type, shape }
  return { kind: 'tensor', ...(type && { type }), ...(shape && { shape }), ...(value && { value }) }
}

/** A fact about a map. */
export const mapFact = (keyType: KeyType | undefined, valueType: DType | undefined): MapFact => ({
  kind: 'map',
  ...(keyType && { keyType }),
  ...(valueType && { valueType })
})

/** Nothing is known but that it is a tensor. */
export const UNKNOWN_TENSOR: TensorFact = { kind: 'tensor' }

/** Everything about a value that is at hand. */
export function factOf(value: Value): Fact {
  if (value.type === 'sequence') {
    // Elements may differ in everything but their type.
    return {
      kind: 'sequence',
      element: value.values.length > 0 ? typeOnly(factOf(value.values[0])) : UNKNOWN_TENSOR,
      length: value.values.length,
      value
    }
  }
  if (value.type === 'optional')
    return { kind: 'optional', element: value.value ? factOf(value.value) : UNKNOWN_TENSOR, value }
  if (value.type === 'map') return { ...mapFact(value.keyType, value.valueType), value }
  return { kind: 'tensor', type: value.type, shape: value.dims, value }
}

/** The fact reduced to kind and element type. */
export function typeOnly(fact: Fact): Fact {
  if (fact.kind === 'tensor') return tensorFact(fact.type, undefined)
  if (fact.kind === 'map') return mapFact(fact.keyType, fact.valueType)
  return { kind: fact.kind, element: typeOnly(fact.element) }
}

/** The fact without its value. */
export function withoutValue(fact: Fact): Fact {
  if (fact.kind === 'tensor') return tensorFact(fact.type, fact.shape)
  const { value: _, ...rest } = fact
  return rest
}

/** Whether a known value has symbols in it (strings alone are a plain array too). */
export const isPartial = (value: Tensor | PartialTensor): value is PartialTensor =>
  Array.isArray(value.data) && value.type !== 'string'

/** A value all of whose elements are known, or undefined. */
export const knownValue = (fact: TensorFact): Tensor | undefined =>
  fact.value !== undefined && !isPartial(fact.value) ? fact.value : undefined

/** Whether a partial tensor has no symbol left. */
export const isComplete = (partial: PartialTensor): boolean => !partial.data.some(isSym)
