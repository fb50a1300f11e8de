import type { Constant, ValueId } from '../graph/graph.ts'
import { drain } from '../kernels/core/pace.ts'
import { computed } from '../op-kit/byte-table.ts'
import { isConcrete } from '../shapes/dim.ts'
import { tensorFact } from '../shapes/fact.ts'
import { convert } from '../tensor/convert.ts'
import { type DType, DTYPES } from '../tensor/dtype.ts'
import { allocate, elementCount, type Tensor, withDims } from '../tensor/tensor.ts'
import { isPlanCall, type PlanCall, type PlanGraph, shapeOf, typeOf } from './graph.ts'
import { isNamed } from './patterns.ts'

/** Types whose every number is one of float32, too. */
const NARROW: readonly DType[] = ['float16', 'bfloat16']
const isCast = isNamed('Cast')

/** Makes constants of others, once for each, so that all plans of a session share them. */
function oncePerConstant(make: (constant: Constant) => Constant): (constant: Constant) => Constant {
  const made = new WeakMap<Constant, Constant>()
  return constant => {
    const own = made.get(constant) ?? make(constant)
    made.set(constant, own)
    return own
  }
}

/** A constant of 16-bit floats as one of float32. */
const widened = oncePerConstant(constant => ({
  type: 'float32',
  dims: constant.dims,
  byteLength: 4 * elementCount(constant.dims),
  place: constant.place,
  isDerived: true,
  read: () => convert(constant.read(), 'float32')
}))

/** The constant of float32 that a Cast of a value makes of a constant of 16-bit floats. */
export function widenedConstant(graph: PlanGraph, id: ValueId | undefined): Constant | undefined {
  const maker = id === undefined ? undefined : graph.makerOf(id)
  if (maker === undefined || !isPlanCall(maker) || !isCast(maker.call) || maker.call.known.to !== 'float32')
    return undefined
  const constant = graph.constantOf(maker.call.inputs[0]!)
  return constant && 'read' in constant && NARROW.includes(constant.type) ? widened(constant) : undefined
}

/** A constant as a list of its elements. */
const listed = oncePerConstant(constant => {
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
  const list = 'read' in constant ? listed(wide(constant)) : listOf(constant)
  graph.constants.set(name, list)
  graph.describe(name, tensorFact(list.type, list.dims))
  return name
}

const wide = (constant: Constant): Constant => (NARROW.includes(constant.type) ? widened(constant) : constant)

const listOf = (tensor: Tensor): Tensor =>
  (NARROW.includes(tensor.type) ? convert(tensor, 'float32') : tensor).reshape([tensor.data.length])

/** Calls that give the elements of their first operand other dims. */
export const isReshaping = isNamed('Reshape', 'Squeeze', 'Unsqueeze')

/**
 * Puts a constant, which is made when it is first read, in the place of an elementwise call, or one that reshapes.
 * @param most elements of it
 * @returns false, with nothing done, where an operand is no constant, or others see the result
 */
export function computeOnce(graph: PlanGraph, item: PlanCall, most: number): boolean {
  const { call } = item
  const to = call.outputs[0]
  const [dims, type] = [shapeOf(graph, to), typeOf(graph, to)]
  if (to === undefined || dims === undefined || type === undefined || !isConcrete(dims)) return false
  const count = elementCount(dims)
  if (graph.isOutside(to) || count > most || DTYPES[type].kind !== 'float') return false
  const given: [string, Constant | Tensor][] = []
  for (const { name, index } of call.operands) {
    const id = call.inputs[index]
    const constant = id === undefined ? undefined : graph.constantOf(id)
    if (id !== undefined && constant === undefined) return false
    if (constant) given.push([name, constant])
  }
  const read = (): Tensor => {
    const operands = Object.fromEntries(given.map(([name, constant]) => [name, tensorOf(constant)]))
    if (isReshaping(call)) return withDims(operands.data, dims)
    const result = allocate(type, dims)
    drain(computed(call.op, operands, call.known, result) as Generator<void>)
    return result
  }
  const byteLength = Math.ceil((count * DTYPES[type].bits) / 8)
  graph.constants.set(to, { type, dims, byteLength, place: {}, isDerived: true, read })
  graph.remove(item, 'folded')
  return true
}

const tensorOf = (constant: Constant | Tensor): Tensor => ('read' in constant ? constant.read() : constant)
