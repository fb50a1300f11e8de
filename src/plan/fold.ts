import type { Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { knownValue } from '../shapes/fact.ts'
import { isByteValue, type PlanGraph } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed } from './patterns.ts'

const isDequantizing = isNamed('DequantizeLinear')
const isCast = isNamed('Cast')
const isRounding = isNamed('FakeQuantize')
const isScaling = isNamed('Sub', 'Mul')
const isMoving = isNamed('Reshape', 'Transpose')

/**
 * Results that are known become constants; `prune` then removes the calls that made them. Inference computed the values
 * (`infer/infer.ts`), so only small ones are folded, and none of a random or stateful operator.
 */
export const fold: Pass = {
  name: 'fold',
  requires: [],
  run: graph => foldKnown(graph, false)
}

/** {@link fold} for numbers of constant codes: after the passes that work with the codes themselves. */
export const foldNumbers: Pass = {
  name: 'fold numbers',
  requires: ['fuse'],
  run: graph => foldKnown(graph, true)
}

/**
 * Calls that make numbers of constant codes, DequantizeLinear, or Convert of bytes and what scales or moves these,
 * or round constants to levels.
 */
function numbersOfBytes(graph: PlanGraph): ReadonlySet<Call> {
  const calls = new Set<Call>()
  const made = new Set<ValueId | undefined>()
  for (const { call } of graph.calls) {
    const [first] = call.inputs
    const isOfBytes =
      isDequantizing(call) ||
      (isRounding(call) && graph.constants.has(first!)) ||
      (isCast(call) && isByteValue(graph, first) && graph.constants.has(first!)) ||
      ((isScaling(call) || isCast(call) || isMoving(call)) && call.inputs.some(id => made.has(id)))
    if (!isOfBytes) continue
    calls.add(call)
    if (!isDequantizing(call) && !isRounding(call)) made.add(call.outputs[0])
  }
  return calls
}

/** @param isOfNumbers whether only the {@link numbersOfBytes} become constants, or only what is none */
function foldKnown(graph: PlanGraph, isOfNumbers: boolean): boolean {
  const numbers = numbersOfBytes(graph)
  let changed = false
  for (const { call } of graph.calls) {
    if (call.op.impure || numbers.has(call) !== isOfNumbers) continue
    for (const id of call.outputs) {
      const fact = id === undefined ? undefined : graph.facts.get(id)
      const value = fact?.kind === 'tensor' ? knownValue(fact) : undefined
      if (id === undefined || value === undefined) continue
      graph.constants.set(id, value)
      changed = true
    }
  }
  return changed
}
