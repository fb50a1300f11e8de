import type { Call } from '../bind/call.ts'
import type { Constant, ValueId } from '../graph/graph.ts'
import { drain } from '../kernels/core/pace.ts'
import { computed } from '../op-kit/byte-table.ts'
import { isConcrete } from '../shapes/dim.ts'
import { DTYPES } from '../tensor/dtype.ts'
import { allocate, elementCount, type Tensor, withDims } from '../tensor/tensor.ts'
import { type PlanGraph, shapeOf, typeOf } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed } from './patterns.ts'

/** Elements of a list up to which it is made in one go. */
const MAX_ELEMENTS = 1 << 16

const isWidening = isNamed('Cast', 'DequantizeLinear')
const isScaling = isNamed('Mul')
const isReshaping = isNamed('Reshape', 'Squeeze', 'Unsqueeze')

/**
 * Numbers that nodes make of constants in int32, as biases of quantized convolutions are stored, become constants,
 * which are made when they are first read. `fold` has done so where they are few.
 */
export const biases: Pass = {
  name: 'biases',
  requires: ['prune'],
  run(graph) {
    if (graph.isObserved) return false
    const made = new Set<ValueId>()
    for (const item of graph.calls) {
      const { call } = item
      const to = call.outputs[0]
      if (to === undefined || graph.isOutside(to) || !isBias(graph, call, made)) continue
      const constant = constantOf(graph, call, to)
      if (constant === undefined) continue
      graph.constants.set(to, constant)
      graph.remove(item, 'folded')
      made.add(to)
    }
    return made.size > 0
  }
}

/** Whether all that a call reads is constant, and the numbers come from int32. */
function isBias(graph: PlanGraph, call: Call, made: ReadonlySet<ValueId>): boolean {
  const { inputs } = call
  if (!inputs.every(id => id === undefined || graph.constantOf(id) !== undefined)) return false
  if (isWidening(call)) return typeOf(graph, inputs[0]) === 'int32'
  return (isScaling(call) || isReshaping(call)) && inputs.some(id => id !== undefined && made.has(id))
}

function constantOf(graph: PlanGraph, call: Call, to: ValueId): Constant | undefined {
  const [dims, type] = [shapeOf(graph, to), typeOf(graph, to)]
  if (dims === undefined || type === undefined || !isConcrete(dims)) return undefined
  const count = elementCount(dims)
  if (count > MAX_ELEMENTS || DTYPES[type].kind !== 'float') return undefined
  const given = call.operands.map(({ name, index }) => {
    const id = call.inputs[index]
    return [name, id === undefined ? undefined : graph.constantOf(id)] as const
  })
  const read = (): Tensor => {
    const operands = Object.fromEntries(given.map(([name, constant]) => [name, constant && tensorOf(constant)]))
    if (isReshaping(call)) return withDims(operands.data!, dims)
    const result = allocate(type, dims)
    drain(computed(call.op, operands, call.known, result) as Generator<void>)
    return result
  }
  return { type, dims, byteLength: Math.ceil((count * DTYPES[type].bits) / 8), place: {}, isDerived: true, read }
}

const tensorOf = (constant: Constant | Tensor): Tensor => ('read' in constant ? constant.read() : constant)
