import type { BoundGraph } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'

/**
 * What a value is called and where it comes from: `"ids" (graph input)`, `"idx" (initializer)`, `"y" (output of TopK
 * "top")`.
 */
export function originOf(bound: BoundGraph, id: ValueId): string {
  const name = bound.graph.values.get(id)?.name ?? id
  return `"${name}" (${kindOf(bound, id)})`
}

function kindOf(bound: BoundGraph, id: ValueId): string {
  if (bound.graph.inputs.some(input => input.value === id))
    return bound.graph.path === '' ? 'graph input' : 'input of the body'
  if (bound.graph.initializers.has(id)) return 'initializer'
  if (bound.constants.has(id)) return 'constant'
  for (const item of bound.items) {
    const { node } = item
    if (node.outputs.includes(id)) return `output of ${node.type}${node.name === '' ? '' : ` "${node.name}"`}`
  }
  return 'value of an enclosing graph'
}
