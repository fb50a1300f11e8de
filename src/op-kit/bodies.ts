import { fail } from '../errors.ts'
import { bodiesOf, type Graph, type Node, type PortMap, type PortMapEntry } from '../graph/graph.ts'
import type { LoopInput, LoopOutput, Slice } from '../kernels/control/loop-ports.ts'

/** @throws NodewiseError `missing-attribute` */
export const bodyOf = (node: Node, attribute: string): Graph =>
  bodiesOf(node).find(body => body.attribute === attribute)?.graph ??
  fail('missing-attribute', `the graph "${attribute}" is missing`)

/** @throws NodewiseError `invalid-graph` */
export const portMapOf = (node: Node): PortMap =>
  node.portMaps?.get('body') ?? fail('invalid-graph', 'the port map is missing')

/** Entries of one side that are connected to a port of the layer. */
const connected = (map: PortMap, side: PortMapEntry['side']): readonly PortMapEntry[] =>
  map.entries.filter(entry => entry.side === side && entry.externalPort >= 0)

/** IR: what feeds each Parameter of a loop's body (as OpenVINO's `xml_deserialize_util.cpp` reads the port map). */
export function irInputs(map: PortMap, graph: Graph): LoopInput[] {
  const from = new Map(map.backEdges.map(edge => [edge.toParameter, edge.fromResult]))
  const entries = new Map(connected(map, 'input').map(entry => [entry.bodyIndex, entry]))
  return graph.inputs.map((_, i) => {
    const entry = entries.get(i)
    if (entry === undefined) return { kind: 'unfed' }
    const operand = entry.externalPort
    if (entry.axis !== undefined) return { kind: 'sliced', operand, slice: sliceOf(entry, entry.axis) }
    const result = from.get(i)
    return result === undefined ? { kind: 'invariant', operand } : { kind: 'carried', operand, from: result }
  })
}

function sliceOf({ start = 0, end = -1, stride = 1, partSize = 1 }: PortMapEntry, axis: number): Slice {
  if (stride === 0) fail('value-out-of-range', 'a stride of 0 in the port map goes nowhere')
  if (partSize < 1) fail('value-out-of-range', `part_size is ${partSize} in the port map; expected 1 or more`)
  return { axis, start, end, backward: stride < 0, part: partSize, keepsAxis: true }
}

/** IR: how each output of a loop is made from results of its body. @throws NodewiseError `invalid-graph` */
export function irOutputs(map: PortMap, count: number): LoopOutput[] {
  const entries = new Map(connected(map, 'output').map(entry => [entry.externalPort, entry]))
  return Array.from({ length: count }, (_, i): LoopOutput => {
    const entry = entries.get(i) ?? fail('invalid-graph', `output ${i} is not in the port map`)
    const { axis, bodyIndex: from, stride = 1 } = entry
    if (axis !== undefined) return { kind: 'concatenated', from, axis, stacks: false, reversed: stride < 0 }
    const initial = initialOf(map, from)
    return { kind: 'last', from, ...(initial !== undefined && { initial }) }
  })
}

/** The operand from which a carried value starts. */
function initialOf(map: PortMap, result: number): number | undefined {
  const parameter = map.backEdges.find(edge => edge.fromResult === result)?.toParameter
  return connected(map, 'input').find(({ bodyIndex }) => bodyIndex === parameter)?.externalPort
}
