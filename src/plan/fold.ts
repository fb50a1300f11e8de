import type { Call } from '../bind/call.ts'
import { knownValue } from '../shapes/fact.ts'
import type { PlanGraph } from './graph.ts'
import type { Pass } from './pass.ts'
import { isNamed } from './patterns.ts'

/** Numbers of codes, which only {@link foldNumbers} folds. */
const isDequantizing = isNamed('DequantizeLinear')

/**
 * Results that are known become constants; `prune` then removes the calls that made them. Inference computed the values
 * (`infer/infer.ts`), so only small ones are folded, and none of a random or stateful operator.
 */
export const fold: Pass = {
  name: 'fold',
  requires: [],
  run: graph => foldWhere(graph, call => !isDequantizing(call))
}

/** {@link fold} for numbers of constant codes: after the passes that work with the codes themselves. */
export const foldNumbers: Pass = {
  name: 'fold numbers',
  requires: ['fuse'],
  run: graph => foldWhere(graph, isDequantizing)
}

function foldWhere(graph: PlanGraph, isMeant: (call: Call) => boolean): boolean {
  let changed = false
  for (const { call } of graph.calls) {
    if (call.op.impure || !isMeant(call)) continue
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
