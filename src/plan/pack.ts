import type { Call } from '../bind/call.ts'
import type { PlanCall, PlanGraph } from './graph.ts'
import type { Pass } from './pass.ts'

/**
 * Notes the constants of each call that a kernel may pack. Which kernel runs is known when the call runs for the first
 * time, and only then are they packed (`runtime/packs.ts`), so that making a plan reads no weights.
 */
export const pack: Pass = {
  name: 'pack',
  requires: ['fuse'],
  run(graph) {
    let changed = false
    for (const item of graph.calls) {
      item.constants = packable(graph, item)
      changed ||= item.constants.length > 0
    }
    return changed
  }
}

/** Input positions of constant operands; none where a parameter may differ from run to run. */
function packable(graph: PlanGraph, { call, convert }: PlanCall): number[] {
  if (convert !== undefined || call.bodies.size > 0) return []
  for (const { source } of call.dataDependent)
    if (call.inputs[source.index] !== undefined && !isConstant(graph, call, source.index)) return []
  const positions: number[] = []
  for (const { kind, index } of call.operands)
    if ((kind === 'tensor' || kind === 'optional') && isConstant(graph, call, index)) positions.push(index)
  return positions
}

function isConstant(graph: PlanGraph, { inputs }: Call, position: number): boolean {
  const id = inputs[position]
  return id !== undefined && graph.constantOf(id) !== undefined
}
