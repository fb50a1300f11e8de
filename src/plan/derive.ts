import type { Constant, Node, ValueId } from '../graph/graph.ts'
import { oncePer } from '../kernels/core/once.ts'
import { tensorFact } from '../shapes/fact.ts'
import { convert } from '../tensor/convert.ts'
import { type DType, isHalf } from '../tensor/dtype.ts'
import { areSameDims, areSameElements, elementCount, fileBytes, type Tensor, withDims } from '../tensor/tensor.ts'
import { callMaking, knownTensor, type PlanGraph } from './graph.ts'
import { isNamed } from './patterns.ts'

const isCast = isNamed('Cast')

/** The elements of a constant, which is read if need be. */
export const tensorOf = (constant: Constant | Tensor): Tensor => ('read' in constant ? constant.read() : constant)

/**
 * The elements of a constant that a pass has to see, where it need not wait for a server: those of a small one are
 * known, whatever its file.
 */
export function elementsAtHand(graph: PlanGraph, id: ValueId): Tensor | undefined {
  const constant = graph.constantOf(id)
  if (constant === undefined) return undefined
  const waits = 'raw' in constant && constant.raw?.source.remote !== undefined
  return knownTensor(graph, id) ?? (waits ? undefined : tensorOf(constant))
}

let nodeCount = 0
/** The number of a node that makes constants. */
const numberOf = /* @__PURE__ */ oncePer((_: Node) => nodeCount++)

/**
 * The key of a constant that nodes make and give a name: the branches of an If may give values of the same constant the
 * same name.
 */
export const keyOfMade = (id: ValueId, nodes: readonly Node[]): string =>
  `${id}\0${nodes.map(node => numberOf(node)).join()}`

/** Constants by what they are made of and a key that says how, so that all plans of a session share them. */
const derivations = new WeakMap<Constant | Tensor, Map<string, Derivation>>()

interface Derived extends Pick<Constant, 'raw' | 'verify' | 'inPlace'> {
  readonly beside?: readonly (Constant | Tensor)[]
}

interface Derivation {
  readonly constant: Constant
  readonly beside: readonly (Constant | Tensor)[]
}

/**
 * Whether constants are the same ones: small ones, which a plan has because it knows an input of the run, may be others
 * in the next plan.
 */
const areSame = (some: readonly (Constant | Tensor)[], others: readonly (Constant | Tensor)[]): boolean =>
  some.length === others.length && some.every((one, i) => one === others[i] || areEqual(one, others[i]))

function areEqual(a: Constant | Tensor, b: Constant | Tensor): boolean {
  if ('read' in a || 'read' in b || a.type !== b.type) return false
  return areSameDims(a.dims, b.dims) && areSameElements(a.data, b.data)
}

/**
 * A constant that is made of another, by key in another way, when it is first read.
 * @param how tells where its elements lie in a file, if as they lie in memory, and what refuses a file whose elements
 *   are not all there; or how they are made in place; and which constants make it beside the one
 */
export function derivedConstant(
  of: Constant | Tensor,
  key: string,
  type: DType,
  dims: readonly number[],
  read: () => Tensor,
  { beside = [], ...where }: Derived = {}
): Constant {
  const byKey = derivations.get(of) ?? new Map<string, Derivation>()
  derivations.set(of, byKey)
  const known = byKey.get(key)
  if (known && areSame(known.beside, beside)) return known.constant
  const place = 'place' in of ? of.place : {}
  const byteLength = fileBytes(type, elementCount(dims))
  const constant: Constant = { type, dims, byteLength, place, isDerived: true, read, ...where }
  byKey.set(key, { constant, beside })
  return constant
}

/** A constant of 16-bit floats as one of float32, which all plans of a session share. */
const widened = /* @__PURE__ */ oncePer((constant: Constant): Constant => ({
  type: 'float32',
  dims: constant.dims,
  byteLength: 4 * elementCount(constant.dims),
  place: constant.place,
  isDerived: true,
  read: () => convert(constant.read(), 'float32')
}))

/** A constant, 16-bit floats as float32. */
export function widenedOf(constant: Constant | Tensor): Constant | Tensor {
  if (!isHalf(constant.type)) return constant
  return 'read' in constant ? widened(constant) : convert(constant, 'float32')
}

/** The constant of float32 that a Cast of a value makes of a constant of 16-bit floats. */
export function widenedConstant(graph: PlanGraph, id: ValueId | undefined): Constant | undefined {
  const maker = callMaking(graph, id)
  if (maker === undefined || !isCast(maker) || maker.known.to !== 'float32') return undefined
  const constant = graph.constantOf(maker.inputs[0]!)
  return constant && 'read' in constant && isHalf(constant.type) ? widened(constant) : undefined
}

/** A constant as a list of its elements, which all plans of a session share. */
const listed = /* @__PURE__ */ oncePer((constant: Constant): Constant => {
  const { type, byteLength, place, raw, isDerived } = constant
  const dims = [elementCount(constant.dims)]
  return {
    ...{ type, dims, byteLength, place },
    read: () => withDims(constant.read(), dims),
    ...(constant.verify && { verify: () => constant.verify!() }),
    ...(raw && { raw }),
    ...(isDerived && { isDerived })
  }
})

/** Adds a constant that is a list of the elements of another, 16-bit floats as float32. */
export function addList(graph: PlanGraph, id: ValueId): ValueId {
  const constant: Constant | Tensor = widenedConstant(graph, id) ?? graph.constantOf(id)!
  const name = `${id}\0list`
  const wide = widenedOf(constant)
  const list = 'read' in wide ? listed(wide) : wide.reshape([wide.data.length])
  graph.constants.set(name, list)
  graph.describe(name, tensorFact(list.type, list.dims))
  return name
}
