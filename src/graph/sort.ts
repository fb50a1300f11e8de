import type { Node, ValueId } from './graph.ts'

/** What sorting needs of a graph. */
export interface Sortable {
  readonly nodes: readonly Pick<Node, 'inputs' | 'outputs' | 'captures'>[]
}

export interface SortedNodes {
  /** Indices of all nodes, producers before consumers. A file that is in order keeps its order. */
  readonly order: readonly number[]
  /**
   * Indices of the nodes of one cycle, each reading an output of the next; `order` ignores the edges that close cycles.
   */
  readonly cycle?: readonly number[]
}

/** Results by list of nodes: a graph is sorted when it is read, and again by each later stage. */
const sorted = new WeakMap<Sortable['nodes'], SortedNodes>()

/**
 * Sorts the nodes of one graph topologically, in linear time. Values that the bodies of a node capture count as its
 * inputs.
 * @param makerOf index of the node that makes a value, where the caller has a table of that
 */
export function sortNodes(graph: Sortable, makerOf?: MakerOf): SortedNodes {
  let result = sorted.get(graph.nodes)
  if (result === undefined) {
    result = sortAfresh(graph, makerOf)
    sorted.set(graph.nodes, result)
  }
  return result
}

type MakerOf = (id: ValueId) => number | undefined

const fileOrder = ({ nodes }: Sortable): SortedNodes => {
  const order = new Array<number>(nodes.length)
  for (let i = 0; i < nodes.length; i++) order[i] = i
  return { order }
}

function sortAfresh(graph: Sortable, makerOf?: MakerOf): SortedNodes {
  if (makerOf && isSorted(graph, makerOf)) return fileOrder(graph)
  const producers = producersOf(graph)
  if (!makerOf && isSorted(graph, id => producers.get(id))) return fileOrder(graph)
  const order: number[] = []
  let cycle: number[] | undefined
  const state = new Uint8Array(graph.nodes.length)
  // Depth-first search with a path of its own, as recursion could overflow the stack: a chain may be as long as the
  // graph. Each node on the path has the producers that are left to visit.
  const path: { index: number; pending: number[] }[] = []
  const enter = (index: number): void => {
    state[index] = VISITING
    path.push({ index, pending: producersRead(graph, index, producers) })
  }
  for (let start = 0; start < graph.nodes.length; start++) {
    if (state[start] === NEW) enter(start)
    while (path.length > 0) {
      const top = path[path.length - 1]
      const next = top.pending.pop()
      if (next === undefined) {
        path.pop()
        state[top.index] = DONE
        order.push(top.index)
      } else if (state[next] === NEW) enter(next)
      else if (state[next] === VISITING)
        cycle ??= path.map(({ index }) => index).slice(path.findIndex(({ index }) => index === next))
    }
  }
  return cycle ? { order, cycle } : { order }
}

const NEW = 0
const VISITING = 1
const DONE = 2

/** Whether every node stands after those that it reads. */
function isSorted({ nodes }: Sortable, makerOf: MakerOf): boolean {
  for (let index = 0; index < nodes.length; index++) {
    const { inputs, captures } = nodes[index]
    for (const ids of [inputs, captures])
      for (const id of ids) if (id !== undefined && (makerOf(id) ?? -1) >= index) return false
  }
  return true
}

/** Index of the node that makes each value; the first one where several make it. */
export function producersOf(graph: Sortable): Map<ValueId, number> {
  const producers = new Map<ValueId, number>()
  graph.nodes.forEach((node, index) => {
    for (const output of node.outputs) if (output !== undefined && !producers.has(output)) producers.set(output, index)
  })
  return producers
}

/** Indices of the producers of a node's inputs and captures, in reverse order; an index may occur twice. */
function producersRead(graph: Sortable, index: number, producers: ReadonlyMap<ValueId, number>): number[] {
  const read: number[] = []
  const { inputs, captures } = graph.nodes[index]
  for (const ids of [captures, inputs]) {
    for (let i = ids.length - 1; i >= 0; i--) {
      const id = ids[i]
      const producer = id === undefined ? undefined : producers.get(id)
      if (producer !== undefined) read.push(producer)
    }
  }
  return read
}
