import { type PlanCall, type PlanGraph, positionOf } from './graph.ts'
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
  const isConstant = (position: number): boolean => {
    const id = call.inputs[position]
    return id !== undefined && graph.constantOf(id) !== undefined
  }
  const isSettled = call.dataDependent.every(
    ({ source }) => call.inputs[source.index] === undefined || isConstant(source.index)
  )
  if (!isSettled) return []
  return call.operands
    .filter(({ kind }) => kind === 'tensor' || kind === 'optional')
    .map(({ name }) => positionOf(call, name))
    .filter(isConstant)
}
