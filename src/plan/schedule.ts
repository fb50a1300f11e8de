import type { ValueId } from '../graph/graph.ts'
import { isConcrete } from '../shapes/dim.ts'
import type { Fact } from '../shapes/fact.ts'
import { areSameDims } from '../tensor/tensor.ts'
import { outputsOf, type PlanCall, type PlanGraph, positionOf, readBy } from './graph.ts'
import type { Pass } from './pass.ts'

/**
 * Notes on each call which values die there, and which of those its first output may be written over; of a body, whose
 * operator hands values round that nobody else counts, these are inputs that the operator may have given up. Calls stay
 * in the order of the file.
 */
export const schedule: Pass = {
  name: 'schedule',
  requires: ['fuse', 'pack'],
  run(graph) {
    let changed = false
    const seen = new Set<ValueId>()
    for (const item of graph.calls.toReversed()) {
      const dying = new Set<ValueId>()
      const given = new Set<ValueId>()
      for (const id of [...readBy(item), ...outputsOf(item)]) {
        if (id === undefined || seen.has(id)) continue
        seen.add(id)
        if (graph.isOnlyGiven(id)) given.add(id)
        else if (!graph.isOutside(id) && !graph.constants.has(id)) dying.add(id)
      }
      item.free = [...dying]
      item.inPlace = graph.isObserved ? [] : inPlaceInputs(graph, item, graph.isBody ? given : dying)
      changed ||= dying.size > 0
    }
    return changed
  }
}

/**
 * Input positions of operands that are free after a call, and whose type and dims may be those of its first output. One
 * that is another operand as well stays as it is, since only elements of operands that may be written over are read
 * before: the updates of ScatterElements are read at other positions than its data.
 */
function inPlaceInputs(graph: PlanGraph, { call }: PlanCall, free: ReadonlySet<ValueId>): number[] {
  const [output] = call.outputs
  if (output === undefined || call.op.inPlace === undefined) return []
  if (!graph.isBody && graph.isOutside(output)) return []
  const positions = call.op.inPlace.map(name => positionOf(call, name))
  const isReadElsewhere = (id: ValueId): boolean =>
    call.inputs.some((other, i) => other === id && !positions.includes(i))
  return positions.filter(position => {
    const id = call.inputs[position]
    if (id === undefined || !free.has(id) || isReadElsewhere(id)) return false
    return mayAgree(graph.facts.get(id), graph.facts.get(output)) !== false
  })
}

/** Whether two values have one type and the same dims; undefined: that is known when the graph runs. */
export function mayAgree(a: Fact | undefined, b: Fact | undefined): boolean | undefined {
  if (a?.kind !== 'tensor' || b?.kind !== 'tensor') return undefined
  if (a.type === undefined || b.type === undefined || a.shape === undefined || b.shape === undefined) return undefined
  if (a.type !== b.type || a.shape.length !== b.shape.length) return false
  if (isConcrete(a.shape) && isConcrete(b.shape)) return areSameDims(a.shape, b.shape)
  return undefined
}
