import { fail } from '../errors.ts'
import { DTYPES } from '../tensor/dtype.ts'
import { mapType } from '../tensor/map.ts'
import { areSameDims, type Tensor } from '../tensor/tensor.ts'
import { type Dim, hullDims, maxDim, minDim, sameDim, unknownDim } from './dim.ts'
import { integerOf } from './elem.ts'
import {
  type Elem,
  type Fact,
  isPartial,
  type MapFact,
  mapFact,
  type OptionalFact,
  type PartialTensor,
  type SequenceFact,
  type TensorFact,
  tensorFact,
  typeOnly,
  UNKNOWN_TENSOR
} from './fact.ts'
import { eitherOf, fresh, isSym, maxOf, minOf, sameInt } from './sym.ts'

/** How dims and values of two facts are brought together. */
interface Policy {
  dim(a: Dim, b: Dim): Dim
  /** Undefined: nothing is known of the value. */
  value(a: Tensor | PartialTensor, b: Tensor | PartialTensor): Tensor | PartialTensor | undefined
  /** Called where the result says less than, or something else than, the first fact. */
  note?(): void
}

/**
 * What holds of a value that may be either of two, such as a conditional's output.
 * @throws NodewiseError `type-mismatch` when one value cannot be both
 */
export const hullFacts = (a: Fact, b: Fact): Fact => merge(a, b, { dim: hullDims, value: hullValues })

/**
 * What holds of a value in every iteration of a loop, found by growing from what it is at first. Dims that change
 * become unknowns of its own, which stand for any size within their bounds; a bound that moves twice is given up, so
 * that growing ends.
 */
export class Widening {
  private readonly own = new Set<Dim>()
  private changed = false
  private readonly policy: Policy = {
    dim: (a, b) => this.widen(a, b),
    value: (a, b) => (sameValues(a, b) ? a : undefined),
    note: () => {
      this.changed = true
    }
  }

  /**
   * Grows `state` until it holds `next` too.
   * @returns undefined when it does already
   * @throws NodewiseError `type-mismatch`
   */
  grow(state: Fact, next: Fact): Fact | undefined {
    this.changed = false
    const grown = merge(state, next, this.policy)
    return this.changed ? grown : undefined
  }

  private widen(a: Dim, b: Dim): Dim {
    if (sameDim(a, b)) return a
    const isOwn = this.own.has(a)
    const lower = minDim(b) < minDim(a)
    const higher = maxDim(b) > maxDim(a)
    if (isOwn && !lower && !higher) return a
    this.changed = true
    const dim = unknownDim(
      lower ? (isOwn ? 0 : minDim(b)) : minDim(a),
      higher ? (isOwn ? Infinity : maxDim(b)) : maxDim(a)
    )
    this.own.add(dim)
    return dim
  }
}

const isUnknown = (fact: Fact): boolean => fact.kind === 'tensor' && fact.type === undefined && fact.shape === undefined

function merge(a: Fact, b: Fact, policy: Policy): Fact {
  if (a.kind === 'tensor' && b.kind === 'tensor') return mergeTensors(a, b, policy)
  if (a.kind === 'sequence' && b.kind === 'sequence') return mergeSequences(a, b, policy)
  if (a.kind === 'map' && b.kind === 'map') return mergeMaps(a, b, policy)
  if (isUnknown(a)) return a
  if (isUnknown(b)) {
    policy.note?.()
    return UNKNOWN_TENSOR
  }
  // An optional may become what it holds, and the other way round (ONNX Loop-16, If-16).
  if (a.kind === 'optional')
    return mergeOptionals(a, b.kind === 'optional' ? b : { kind: 'optional', element: b }, policy)
  if (b.kind === 'optional') {
    policy.note?.()
    return mergeOptionals({ kind: 'optional', element: a }, b, policy)
  }
  return fail('type-mismatch', `it is a ${a.kind} and a ${b.kind}`)
}

function mergeTensors(a: TensorFact, b: TensorFact, policy: Policy): TensorFact {
  if (a.type !== undefined && b.type !== undefined && a.type !== b.type)
    fail('type-mismatch', `it has type ${a.type} and type ${b.type}`)
  const type = a.type ?? b.type
  const shape = a.shape && b.shape && mergeShapes(a.shape, b.shape, policy)
  const value = shape && a.value && b.value && policy.value(a.value, b.value)
  const lost = (shape === undefined && a.shape !== undefined) || (value === undefined && a.value !== undefined)
  if (lost || type !== a.type) policy.note?.()
  return tensorFact(type, shape, value)
}

const mergeShapes = (a: readonly Dim[], b: readonly Dim[], policy: Policy): Dim[] | undefined =>
  a.length === b.length ? a.map((dim, i) => policy.dim(dim, b[i])) : undefined

function mergeSequences(a: SequenceFact, b: SequenceFact, policy: Policy): SequenceFact {
  const element = mergeElements(a, b, policy)
  const length = a.length !== undefined && b.length !== undefined ? policy.dim(a.length, b.length) : undefined
  const value = a.value !== undefined && a.value === b.value ? a.value : undefined
  if (value !== a.value || (length === undefined) !== (a.length === undefined)) policy.note?.()
  return { kind: 'sequence', element, ...(length !== undefined && { length }), ...(value && { value }) }
}

/** An empty sequence says nothing of elements but their type. */
function mergeElements(a: SequenceFact, b: SequenceFact, policy: Policy): Fact {
  if (a.length !== 0 && b.length !== 0) return merge(a.element, b.element, policy)
  merge(typeOnly(a.element), typeOnly(b.element), { dim: hullDims, value: hullValues })
  return a.length === 0 && b.length !== 0 ? b.element : a.element
}

function mergeMaps(a: MapFact, b: MapFact, policy: Policy): MapFact {
  const keyType = a.keyType ?? b.keyType
  const valueType = a.valueType ?? b.valueType
  if ((b.keyType ?? keyType) !== keyType || (b.valueType ?? valueType) !== valueType)
    fail('type-mismatch', `it is a ${mapType(a.keyType, a.valueType)} and a ${mapType(b.keyType, b.valueType)}`)
  const value = a.value !== undefined && a.value === b.value ? a.value : undefined
  if (value !== a.value || keyType !== a.keyType || valueType !== a.valueType) policy.note?.()
  return { ...mapFact(keyType, valueType), ...(value && { value }) }
}

function mergeOptionals(a: OptionalFact, b: OptionalFact, policy: Policy): OptionalFact {
  const value = a.value !== undefined && a.value === b.value ? a.value : undefined
  if (value !== a.value) policy.note?.()
  return { kind: 'optional', element: merge(a.element, b.element, policy), ...(value && { value }) }
}

function sameValues(a: Tensor | PartialTensor, b: Tensor | PartialTensor): boolean {
  if (a === b) return true
  if (isPartial(a) !== isPartial(b) || !areSameDims(a.dims, b.dims)) return false
  for (let i = 0; i < a.data.length; i++) if (!sameElem(a.data[i], b.data[i])) return false
  return true
}

const sameElem = (a: Elem, b: Elem): boolean => Object.is(a, b) || (isSym(a) && isSym(b) && sameInt(a, b))

const eitherElem = (a: Elem, b: Elem): Elem => (isSym(a) && isSym(b) ? eitherOf(a, b) : a)

/** Integers and booleans element by element: what is the same, else bounds. */
function hullValues(a: Tensor | PartialTensor, b: Tensor | PartialTensor): Tensor | PartialTensor | undefined {
  if (sameValues(a, b))
    return isPartial(a) && isPartial(b) ? { ...a, data: a.data.map((element, i) => eitherElem(element, b.data[i])) } : a
  const { kind } = DTYPES[a.type]
  if (!['int', 'uint', 'bool'].includes(kind) || !areSameDims(a.dims, b.dims)) return undefined
  const data: Elem[] = []
  for (let i = 0; i < a.data.length; i++) {
    const x = integerOf(a.data[i])
    const y = integerOf(b.data[i])
    if (x === undefined || y === undefined) return undefined
    if (!sameInt(x, y)) data.push(fresh(Math.min(minOf(x), minOf(y)), Math.max(maxOf(x), maxOf(y))))
    else data.push(kind === 'bool' && typeof x === 'bigint' ? x !== 0n : eitherElem(x, y))
  }
  return { type: a.type, dims: a.dims, data }
}
