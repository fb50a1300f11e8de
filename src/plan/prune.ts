import { type Call, isStateful, someCall } from '../bind/call.ts'
import { isPlanCall, outputsOf, type PlanGraph, type PlanItem } from './graph.ts'
import type { Pass } from './pass.ts'

/**
 * Removes what no wanted value depends on: calls none of whose results is read, or only such as are constants. Stateful
 * calls stay.
 */
export const prune: Pass = {
  name: 'prune',
  requires: [],
  run(graph) {
    let changed = false
    // Backwards, so that the readers of a result have been decided on before the call that makes it.
    for (const item of graph.items.toReversed()) {
      if (isNeeded(graph, item)) continue
      const isKnown = outputsOf(item).some(id => id !== undefined && graph.constants.has(id))
      graph.remove(item, isKnown ? 'folded' : 'pruned')
      changed = true
    }
    return changed
  }
}

const isNeeded = (graph: PlanGraph, item: PlanItem): boolean =>
  outputsOf(item).some(id => id !== undefined && graph.isRead(id) && !graph.constants.has(id)) ||
  (isPlanCall(item) && keepsState(item.call))

const keepsState = (call: Call): boolean =>
  isStateful(call) || [...call.bodies.values()].some(body => someCall(body, isStateful))
