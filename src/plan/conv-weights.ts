import type { Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { computingOnce, isReshaping } from './compute-once.ts'
import { isByteValue, isPlanCall, operandOf, type PlanGraph } from './graph.ts'
import { isNamed } from './patterns.ts'

const isCast = isNamed('Cast')
const isScaling = isNamed('Sub', 'Mul')
const isDequantizing = isNamed('DequantizeLinear')
const isRounding = isNamed('FakeQuantize')
const isConv = isNamed('Conv', 'ConvTranspose')
const isProduct = isNamed('MatMul')

/**
 * Numbers that nodes make of constant codes, or round, as weights of a convolution become constants, which are made
 * when they are first read, and let go of once they are packed. Weights that a product reads are rounded only once,
 * too; of codes products have patterns of their own.
 */
export const convWeights = computingOnce({
  name: 'conv weights',
  requires: ['fuse'],
  most: Infinity,
  isMeant: (graph, call, made) => isPart(graph, call, made) && areWeights(graph, call.outputs[0], isRounding(call))
})

/** Whether a call makes numbers of codes, rounds numbers, or goes on with what such a call has made. */
function isPart(graph: PlanGraph, call: Call, made: ReadonlySet<ValueId>): boolean {
  const goesOn = call.inputs.some(id => id !== undefined && made.has(id))
  if (isCast(call)) return goesOn || isByteValue(graph, call.inputs[0])
  return isDequantizing(call) || isRounding(call) || ((isScaling(call) || isReshaping(call)) && goesOn)
}

/** Whether all that reads a value, as it is or further computed, are convolutions that multiply it with their data. */
function areWeights(graph: PlanGraph, id: ValueId | undefined, areRounded: boolean): boolean {
  const readers = id === undefined ? [] : [...graph.readersOf(id)]
  return (
    readers.length > 0 &&
    readers.every(reader => {
      if (!isPlanCall(reader)) return false
      const { call } = reader
      if (isConv(call)) return operandOf(call, 'w') === id && operandOf(call, 'x') !== id
      if (areRounded && isProduct(call)) return operandOf(call, 'b') === id && operandOf(call, 'a') !== id
      const to = call.outputs[0]
      return (
        to !== undefined && (isCast(call) || isScaling(call) || isReshaping(call)) && areWeights(graph, to, areRounded)
      )
    })
  )
}
