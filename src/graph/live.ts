import type { Graph } from './graph.ts'
import { producersOf } from './sort.ts'

/**
 * Which layers of an IR graph some Result, Parameter or Assign needs, or is: 1 at their indices. OpenVINO removes the
 * others without a word.
 */
export function liveLayers(graph: Graph): Uint8Array {
  const { nodes } = graph
  const producers = producersOf(graph)
  const live = new Uint8Array(nodes.length)
  const pending: number[] = []
  const reach = (index: number | undefined): void => {
    if (index === undefined || live[index] === 1) return
    live[index] = 1
    pending.push(index)
  }
  nodes.forEach(({ type }, index) => {
    if (type === 'Result' || type === 'Parameter' || type === 'Assign') reach(index)
  })
  for (const { value } of graph.outputs) reach(producers.get(value))
  for (let index = pending.pop(); index !== undefined; index = pending.pop())
    for (const id of nodes[index].inputs) if (id !== undefined) reach(producers.get(id))
  return live
}
