import type { Place } from '../errors.ts'
import { allGraphs, bodiesOf, type Graph, type Model, type ModelFunction, type Node } from '../graph/graph.ts'
import { exceed, leastStructure } from '../graph/limits.ts'

/** What a graph becomes when calls are written out. */
interface Size {
  nodes: number
  /** Names that are made: each gets the paths of the calls around it before it. */
  names: number
  /** Bytes of memory, roughly, with the paths that are known so far. */
  bytes: number
  /** Calls inside each other. */
  depth: number
}

const BYTES_OF_NODE = 512
const BYTES_OF_NAME = 64
const BYTES_OF_ATTRIBUTE = 64
/**
 * A file of a kilobyte must not become a gigabyte: a share of the nodes is free, then every node that the file lists
 * may stand for so many.
 */
const FREE_SHARE = 1 / 128
const NODES_BY_NODE = 64
/** The same for the memory that they take: deep calls have long names. */
const FREE_BYTES_SHARE = 1 / 64
const BYTES_BY_NODE = 2 ** 16

/** What is known of the calls of a model before they are expanded. */
export interface Expandable {
  /** The functions that are called. */
  readonly called: ReadonlySet<ModelFunction>
  /**
   * Counts what is made while calls are expanded: a function may hold a body that its call gives any number of times,
   * and the body calls of functions.
   * @throws NodewiseError `limit-exceeded`
   */
  count(nodes: number, names: number): void
}

/**
 * Holds what calls of functions expand to against the limits, before anything is expanded.
 * @throws NodewiseError `limit-exceeded`
 */
export function requireExpandable(model: Model): Expandable {
  const { functions, limits } = model
  const known = new Map<ModelFunction, Size>()

  /** `calls`: how many are around the graph, so that a function that calls itself comes to an end. */
  function sizeOf(graph: Graph, calls: number): Size {
    // The path of a body is a part of its names too, in the spelling of the file or of the call.
    const path = graph.path.length + graph.name.length
    const size: Size = { nodes: 0, names: 0, bytes: 0, depth: 0 }
    const addName = (name: string | undefined): void => {
      size.names++
      size.bytes += BYTES_OF_NAME + path + (name?.length ?? 0)
    }
    for (const id of graph.values.keys()) addName(id)
    for (const node of graph.nodes) {
      for (const id of node.inputs) addName(id)
      for (const id of node.outputs) addName(id)
      size.bytes += node.attributes.size * BYTES_OF_ATTRIBUTE
      for (const { graph: body } of bodiesOf(node)) add(size, sizeOf(body, calls), path)
      const fn = functionOf(node, functions)
      if (fn !== undefined) {
        add(size, sizeOfCall(fn, node.place, calls + 1), path + `${node.index}:${node.type}/`.length)
        const copies = handedOn(fn).length
        size.nodes += copies
        size.bytes += copies * BYTES_OF_NODE
      } else {
        size.nodes++
        size.bytes += BYTES_OF_NODE
      }
    }
    return size
  }

  function sizeOfCall(fn: ModelFunction, place: Place, calls: number): Size {
    requireDepth(calls, place)
    let inner = known.get(fn)
    if (inner === undefined) known.set(fn, (inner = sizeOf(fn.graph, calls)))
    requireDepth(calls + inner.depth, place)
    return { ...inner, depth: inner.depth + 1 }
  }

  function requireDepth(calls: number, place: Place): void {
    if (calls > limits.callDepth)
      exceed('callDepth', limits, `calls of functions nest deeper than ${limits.callDepth}`, place)
  }

  const requireRoom = roomFor(model)
  requireRoom(sizeOf(model.graph, 0))
  const made = { nodes: 0, bytes: 0 }
  return {
    called: new Set(known.keys()),
    count(nodes, names) {
      made.nodes += nodes
      made.bytes += names * BYTES_OF_NAME
      requireRoom(made)
    }
  }
}

/** The function that a node of ONNX calls; undefined where it is an operator. */
export const functionOf = (
  { domain, type, overload }: Node,
  functions: Model['functions']
): ModelFunction | undefined => functions.get(`${domain}::${type}::${overload}`)

/** Returns what refuses more than a model may become, going by the nodes that its file lists. */
function roomFor(model: Model): (size: Pick<Size, 'nodes' | 'bytes'>) => void {
  const { limits } = model
  const listed = [...allGraphs(model)].reduce((sum, graph) => sum + graph.nodes.length, 0)
  const maxNodes = Math.min(limits.nodes, limits.nodes * FREE_SHARE + listed * NODES_BY_NODE)
  const maxBytes = (limit: number): number => Math.min(limit, limit * FREE_BYTES_SHARE + listed * BYTES_BY_NODE)
  return ({ nodes, bytes }) => {
    if (nodes > maxNodes) exceed('nodes', limits, `calls of functions make ${nodes} nodes of ${listed}`)
    if (bytes > maxBytes(leastStructure(limits)) && bytes > maxBytes(limits.structureBytes))
      exceed('structureBytes', limits, `calls of functions expand to about ${bytes} bytes`)
  }
}

/**
 * Positions of a function's outputs whose value has a name of the call already, as an input or an earlier output: each
 * takes a node that copies it.
 */
export function handedOn({ graph }: ModelFunction): number[] {
  const named = new Set(graph.inputs.map(({ value }) => value))
  const positions: number[] = []
  graph.outputs.forEach(({ value }, i) => {
    if (named.has(value)) positions.push(i)
    else named.add(value)
  })
  return positions
}

function add(size: Size, inner: Size, path: number): void {
  size.nodes += inner.nodes
  size.names += inner.names
  size.bytes += inner.bytes + path * inner.names
  size.depth = Math.max(size.depth, inner.depth)
}
