import type { Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { roundedCodes, type RoundedParams } from '../op-kit/rounded-codes.ts'
import { readInstead } from './bypass.ts'
import { isSame, isSettled } from './fuse-codes.ts'
import { fillsWithZeros } from './fuse-padding.ts'
import { fusedCall } from './fuse.ts'
import { isFloat32, nodesOfAll, operandOf, type PlanCall, planCallMaking, type PlanGraph, typeOf } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed } from './patterns.ts'

const isQuantizing = isNamed('QuantizeLinear')
const isDequantizing = isNamed('DequantizeLinear')
const isPadding = isNamed('Pad')
const isRelu = isNamed('Relu')
const isMaxPool = isNamed('MaxPool')

const CODES = ['uint8', 'int8', 'uint16', 'int16']

/**
 * What is quantized and dequantized, and no operator on codes took. Numbers that are levels of the same quantization
 * already, since they were dequantized by it and only moved, are read as they are: they would come out the same. Others
 * are rounded to levels by one call, where nothing else reads their codes.
 */
export const levels: Pass = {
  name: 'levels',
  requires: ['fuse'],
  ops: ['DequantizeLinear'],
  run(graph) {
    if (graph.isObserved) return false
    let changed = false
    /** By value whose numbers are levels, the call that dequantized them. */
    const grids = new Map<ValueId, Call>()
    for (const start of graph.calls) {
      const item = planCallMaking(
        graph,
        start.call.outputs.find(id => id !== undefined)
      )
      if (item === undefined) continue
      if (isDequantizing(item.call)) changed = settle(graph, item, grids) || changed
      else spread(graph, item.call, grids)
    }
    return changed
  }
}

/** Leaves out, or makes one call of, a call that dequantizes and the one before that quantizes. */
function settle(graph: PlanGraph, item: PlanCall, grids: Map<ValueId, Call>): boolean {
  const { call } = item
  const to = call.outputs[0]!
  if (!isSettled(graph, call) || !isFloat32(graph, to) || !CODES.includes(typeOf(graph, operandOf(call, 'x')) ?? ''))
    return false
  grids.set(to, call)
  const codes = operandOf(call, 'x')!
  const quantizing = planCallMaking(graph, codes)
  if (quantizing === undefined || !isAlike(graph, quantizing.call, call)) return false
  const from = operandOf(quantizing.call, 'x')!
  const grid = grids.get(from)
  if (grid !== undefined && isSame(graph, grid, quantizing.call) && readInstead(graph, item, from)) return true
  if (graph.isOutside(codes) || graph.readersOf(codes).size !== 1) return false
  const { op, known } = quantizing.call
  const parameters: RoundedParams = {
    quantize: { op, parameters: known },
    dequantize: { op: call.op, parameters: call.known },
    type: typeOf(graph, codes)!
  }
  const inputs = { x: from, scale: operandOf(call, 'scale'), zero: operandOf(call, 'zero') }
  const nodes = nodesOfAll([quantizing, item])
  const rounded = { ...item, call: fusedCall(call, roundedCodes, inputs, { ...parameters }), nodes, fused: 'levels' }
  graph.replace(item, rounded)
  graph.remove(quantizing)
  return true
}

/** Whether a call quantizes float32 as another dequantizes. */
const isAlike = (graph: PlanGraph, quantizing: Call, call: Call): boolean =>
  isQuantizing(quantizing) &&
  isSettled(graph, quantizing) &&
  isFloat32(graph, operandOf(quantizing, 'x')) &&
  (quantizing.known.precision ?? 'float32') === 'float32' &&
  isSame(graph, call, quantizing)

/** Notes the results of a call that gives numbers of its operand, or zeros, as levels where that has levels. */
function spread(graph: PlanGraph, call: Call, grids: Map<ValueId, Call>): void {
  const operand = choosing(graph, call)
  const id = operand === undefined ? undefined : operandOf(call, operand)
  const grid = id === undefined ? undefined : grids.get(id)
  if (grid === undefined) return
  const made = isMaxPool(call) ? call.outputs.slice(0, 1) : call.outputs
  for (const to of made) if (to !== undefined) grids.set(to, grid)
}

/** The operand whose elements, and zeros, are all that a call gives. */
function choosing(graph: PlanGraph, call: Call): string | undefined {
  if (isRelu(call) || isMaxPool(call)) return 'x'
  if (isPadding(call)) return fillsWithZeros(graph, call) ? 'data' : undefined
  return call.op.moves?.length === 1 ? call.op.moves[0] : undefined
}
