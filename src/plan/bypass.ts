import { altered, type BoundGraph, type Call, isCall } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { DTYPES } from '../tensor/dtype.ts'
import {
  areDims,
  callMaking,
  isPlanCall,
  operandOf,
  type PlanCall,
  planCallMaking,
  type PlanGraph,
  shapeOf,
  typeOf
} from './graph.ts'
import type { Pass } from './pass.ts'
import { intAttribute, isNamed, standardCall } from './patterns.ts'

const isCast = isNamed('Cast')
const isCastLike = isNamed('CastLike')
const isIdentity = isNamed('Identity')

const isReshaping = isNamed('Reshape', 'Flatten', 'Squeeze', 'Unsqueeze')

/**
 * Whoever reads the result of an Identity, or of a Cast to the type that its operand has, reads the operand instead.
 * Exporters leave both behind: `x.float()` of what is float32, and constants that several layers share. Where a reshape
 * undoes others, what these read is read. The patterns of `fuse` then match what is around them.
 */
export const bypass: Pass = {
  name: 'bypass',
  requires: ['prune'],
  run(graph) {
    if (graph.isObserved) return false
    let changed = false
    for (const item of graph.calls) if (namesType(graph, item)) changed = true
    for (const { call } of graph.calls) {
      // A call that reads what an earlier one gave has been replaced.
      const item = planCallMaking(graph, call.outputs[0])
      const from = item && sameAs(graph, item.call)
      if (item && from !== undefined && readInstead(graph, item, from)) changed = true
    }
    return changed
  }
}

/**
 * Has all that read the one result of a call read another value, and takes the call away.
 * @returns false, with nothing done, where the result is seen from outside
 */
export function readInstead(graph: PlanGraph, item: PlanCall, from: ValueId): boolean {
  const to = item.call.outputs[0]!
  const readers = [...graph.readersOf(to)]
  if (graph.isOutside(to) || !readers.every(reader => isPlanCall(reader) && !captures(reader.call, to))) return false
  for (const reader of readers as PlanCall[]) {
    const inputs = reader.call.inputs.map(id => (id === to ? from : id))
    graph.replace(reader, { ...reader, call: altered(reader.call, { inputs }) })
  }
  graph.remove(item, 'pruned')
  return true
}

/**
 * What the outputs of a body are the same as, before any Identity: a loop whose body gives a state back as it is then
 * copies it in no iteration, as exporters of TensorFlow's loops leave each tensor that the body reads.
 */
export function outputsBypassed(body: BoundGraph): ValueId[] {
  const sources = new Map<ValueId, ValueId>()
  for (const item of body.items) {
    if (!isCall(item) || !isIdentity(item)) continue
    const [from] = item.inputs
    const [to] = item.outputs
    if (from !== undefined && to !== undefined) sources.set(to, sources.get(from) ?? from)
  }
  return body.graph.outputs.map(({ value }) => sources.get(value) ?? value)
}

/** What a call gives as it is, if it does. */
function sameAs(graph: PlanGraph, call: Call): ValueId | undefined {
  const [from] = call.inputs
  if (from === undefined) return undefined
  if (isReshaping(call)) return reshapedBack(graph, call, from)
  const type = typeOf(graph, from)
  return type !== undefined && (isIdentity(call) || (isCast(call) && call.known.to === type)) ? from : undefined
}

/** What has the dims of a result of a reshape already, before this and other ones. */
function reshapedBack(graph: PlanGraph, call: Call, from: ValueId): ValueId | undefined {
  const dims = shapeOf(graph, call.outputs[0])
  let id: ValueId | undefined = from
  while (id !== undefined && dims !== undefined) {
    if (areDims(shapeOf(graph, id), dims)) return id
    const maker = callMaking(graph, id)
    id = maker && isReshaping(maker) ? maker.inputs[0] : undefined
  }
  return undefined
}

/**
 * Has a CastLike to a type that is known be a Cast to this type: it does not wait for a value then of which it reads no
 * element.
 */
function namesType(graph: PlanGraph, item: PlanCall): boolean {
  const { call } = item
  const type = isCastLike(call) && call.dialect === 'onnx' ? typeOf(graph, operandOf(call, 'like')) : undefined
  const to = type && DTYPES[type].onnx
  if (to === undefined) return false
  const attributes = { ...Object.fromEntries(call.node.attributes), to: intAttribute(to) }
  const inputs = [operandOf(call, 'input')]
  const cast = standardCall(graph, call, { type: 'Cast', opset: call.version, inputs, attributes })
  if (cast) graph.replace(item, { ...item, call: cast })
  return cast !== undefined
}

/** Whether a body of a call reads a value from outside. */
const captures = ({ node, bodies }: Call, id: ValueId): boolean =>
  node.captures.includes(id) || [...bodies.values()].some(body => body.captures.includes(id))
