import { altered, type Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { isReshaping } from './compute-once.ts'
import { areDims, callMaking, type PlanGraph, shapeOf } from './graph.ts'
import type { Pass } from './pass.ts'

/**
 * A parameter that is read from an input of one element reads the scalar, or the list of one, of which a Reshape, a
 * Squeeze or an Unsqueeze makes it: parameters take both. Exporters make a list of each number that a Slice starts or
 * ends at, which in a body costs every iteration as much as the Slice.
 */
export const oneElement: Pass = {
  name: 'one element',
  requires: ['fuse'],
  run(graph) {
    if (graph.isObserved) return false
    let changed = false
    for (const item of graph.calls) {
      const inputs = item.call.inputs.slice()
      for (const { source } of item.call.dataDependent) {
        const id = inputs[source.index]
        if (id !== undefined && !isOperand(item.call, source.index)) inputs[source.index] = sourceOf(graph, id)
      }
      if (inputs.every((id, i) => id === item.call.inputs[i])) continue
      graph.replace(item, { ...item, call: altered(item.call, { inputs }) })
      changed = true
    }
    return changed
  }
}

/** The value that has the one element of this one, before other dims were given to it. */
function sourceOf(graph: PlanGraph, id: ValueId): ValueId {
  let source = id
  for (;;) {
    const maker = isSingle(graph, source) ? callMaking(graph, source) : undefined
    const from = maker && isReshaping(maker) ? maker.inputs[0] : undefined
    if (from === undefined || !isSingle(graph, from)) return source
    source = from
  }
}

/** Whether a value is known to be a scalar or a list of one. */
function isSingle(graph: PlanGraph, id: ValueId): boolean {
  const shape = shapeOf(graph, id)
  return areDims(shape, []) || areDims(shape, [1])
}

const isOperand = ({ operands }: Call, at: number): boolean =>
  operands.some(({ kind, index }) => index === at || (index < at && (kind === 'variadic' || kind === 'any-variadic')))
