import type { Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { computingOnce, isReshaping } from './compute-once.ts'
import { type PlanGraph, typeOf } from './graph.ts'
import { isNamed } from './patterns.ts'

/** Elements of a list up to which it is made in one go. */
const MAX_ELEMENTS = 1 << 16

const isWidening = isNamed('Cast', 'DequantizeLinear')
const isScaling = isNamed('Mul')

/**
 * Numbers that nodes make of constants in int32, as biases of quantized convolutions are stored, become constants,
 * which are made when they are first read. `fold` has done so where they are few.
 */
export const biases = computingOnce({ name: 'biases', requires: ['prune'], most: MAX_ELEMENTS, isMeant: isBias })

/** Whether the numbers of a call come from int32. */
function isBias(graph: PlanGraph, call: Call, made: ReadonlySet<ValueId>): boolean {
  const { inputs } = call
  if (isWidening(call)) return typeOf(graph, inputs[0]) === 'int32'
  return (isScaling(call) || isReshaping(call)) && inputs.some(id => id !== undefined && made.has(id))
}
