import { knownValue } from '../shapes/fact.ts'
import type { Pass } from './pass.ts'

/**
 * Results that are known become constants; `prune` then removes the calls that made them. Inference computed the values
 * (`infer/infer.ts`), so only small ones are folded, and none of a random or stateful operator.
 */
export const fold: Pass = {
  name: 'fold',
  requires: [],
  run(graph) {
    let changed = false
    for (const { call } of graph.calls) {
      if (call.op.impure) continue
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
}
