import type { Call } from '../bind/call.ts'
import type { Constant, ValueId } from '../graph/graph.ts'
import { drain } from '../kernels/core/pace.ts'
import { computed } from '../op-kit/byte-table.ts'
import { isConcrete } from '../shapes/dim.ts'
import { isFloat } from '../tensor/dtype.ts'
import { allocate, elementCount, fileBytes, type Tensor, withDims } from '../tensor/tensor.ts'
import { tensorOf } from './derive.ts'
import { type PlanCall, type PlanGraph, shapeOf, typeOf } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed } from './patterns.ts'

/** What {@link computingOnce} computes. */
interface Computed {
  readonly name: string
  readonly requires: readonly string[]
  /** Elements of a result up to which it is a constant. */
  readonly most: number
  /**
   * Whether a call is meant, if all that it reads is constant.
   * @param made results of earlier calls that are constants now
   */
  isMeant(graph: PlanGraph, call: Call, made: ReadonlySet<ValueId>): boolean
}

/** A pass that has results of elementwise calls, and of those that reshape, become constants, made when first read. */
export const computingOnce = ({ name, requires, most, isMeant }: Computed): Pass => ({
  name,
  requires,
  run(graph) {
    if (graph.isObserved) return false
    const made = new Set<ValueId>()
    for (const item of graph.calls)
      if (isMeant(graph, item.call, made) && computeOnce(graph, item, most)) made.add(item.call.outputs[0]!)
    return made.size > 0
  }
})

/** Calls that give the elements of their first operand other dims. */
export const isReshaping = isNamed('Reshape', 'Squeeze', 'Unsqueeze')

/**
 * Puts a constant, which is made when it is first read, in the place of an elementwise call, or one that reshapes.
 * @param most elements of it
 * @returns false, with nothing done, where an operand is no constant, or others see the result
 */
function computeOnce(graph: PlanGraph, item: PlanCall, most: number): boolean {
  const { call } = item
  const to = call.outputs[0]
  const [dims, type] = [shapeOf(graph, to), typeOf(graph, to)]
  if (to === undefined || dims === undefined || type === undefined || !isConcrete(dims)) return false
  const count = elementCount(dims)
  if (graph.isOutside(to) || count > most || !isFloat(type)) return false
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
  graph.constants.set(to, { type, dims, byteLength: fileBytes(type, count), place: {}, isDerived: true, read })
  graph.remove(item, 'folded')
  return true
}
