import { altered, type Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { normalizeAxis } from '../shapes/dim.ts'
import { tensorFact } from '../shapes/fact.ts'
import { toDoubles } from '../tensor/elements.ts'
import { Tensor } from '../tensor/tensor.ts'
import {
  isPlanCall,
  knownTensor,
  operandOf,
  type PlanCall,
  planCall,
  type PlanGraph,
  type PlanItem,
  shapeOf,
  typeOf
} from './graph.ts'
import type { Pass } from './pass.ts'
import { intAttribute, isNamed, standardCall } from './patterns.ts'

const isSplit = isNamed('SplitToSequence')
const isPart = isNamed('SequenceAt')
/** Version of Split that reads sizes and asks for no number of outputs. */
const SPLIT = 13

/**
 * Parts of a tensor that are read off a sequence of them, each from a position that is known, become the results of one
 * Split, as which optimizers write them: tensors can be followed by patterns, and recorded.
 */
export const sequences: Pass = {
  name: 'sequences',
  requires: ['prune'],
  ops: ['SplitToSequence'],
  run(graph) {
    if (graph.isObserved) return false
    const by = new Map<PlanItem, readonly PlanCall[]>()
    for (const item of graph.calls) {
      const parts = isSplit(item.call) && !graph.hasFailed(item.call) ? partsOf(graph, item.call) : undefined
      const split = parts && splitCall(graph, item, parts)
      if (parts === undefined || split === undefined) continue
      by.set(item, [split])
      for (const part of parts.read) if (part) by.set(part, [])
    }
    graph.spread(by)
    return by.size > 0
  }
}

interface Parts {
  readonly axis: number
  readonly sizes: readonly number[]
  /** What reads each part. */
  readonly read: readonly (PlanCall | undefined)[]
}

/** Undefined where a sequence is read in another way, or has parts that are not known. */
function partsOf(graph: PlanGraph, call: Call): Parts | undefined {
  const [x, split, to] = [operandOf(call, 'input'), operandOf(call, 'split'), call.outputs[0]]
  const shape = shapeOf(graph, x)
  const given = knownTensor(graph, split)
  if (to === undefined || shape === undefined || graph.isOutside(to)) return undefined
  if (split === undefined ? call.known.keepsAxis !== true : given === undefined) return undefined
  const axis = normalizeAxis(call.known.axis as number, shape.length)
  const dim = shape[axis]
  if (typeof dim !== 'number' || dim > MAX_PARTS) return undefined
  const sizes = sizesOf(dim, given)
  if (sizes.reduce((a, b) => a + b, 0) !== dim || sizes.some(size => size < 0)) return undefined
  const read = new Array<PlanCall | undefined>(sizes.length).fill(undefined)
  for (const reader of graph.readersOf(to)) {
    const at = isPlanCall(reader) && isPart(reader.call) ? positionIn(graph, reader.call, sizes.length) : undefined
    if (at === undefined || read[at]) return undefined
    read[at] = reader as PlanCall
  }
  return { axis, sizes, read }
}

/** Dims that may be split into single indices. */
const MAX_PARTS = 1 << 16

/** @param split a size for all parts but the last, or one for each; undefined: parts are single indices */
function sizesOf(dim: number, split: Tensor | undefined): number[] {
  if (split && split.dims.length > 0) return [...toDoubles(split)]
  const each = split ? toDoubles(split)[0] : 1
  if (each < 1) return []
  return Array.from({ length: Math.ceil(dim / each) }, (_, i) => Math.min(each, dim - i * each))
}

function positionIn(graph: PlanGraph, call: Call, count: number): number | undefined {
  const position = knownTensor(graph, operandOf(call, 'position'))
  if (position?.data.length !== 1) return undefined
  const at = Number(position.data[0])
  return at >= -count && at < count ? at + (at < 0 ? count : 0) : undefined
}

function splitCall(graph: PlanGraph, { call, nodes }: PlanCall, { axis, sizes, read }: Parts): PlanCall | undefined {
  const [x, to] = [operandOf(call, 'input')!, call.outputs[0]!]
  const given = `${to}\0sizes`
  const attributes = { axis: intAttribute(axis) }
  const split = standardCall(graph, call, { type: 'Split', opset: SPLIT, inputs: [x, given], attributes })
  if (split === undefined) return undefined
  graph.addConstant(given, new Tensor('int64', BigInt64Array.from(sizes, BigInt), [sizes.length]))
  const shape = shapeOf(graph, x)!
  const outputs = sizes.map((size, i): ValueId => {
    const id = read[i]?.call.outputs[0] ?? `${to}\0${i}`
    graph.describe(id, tensorFact(typeOf(graph, x), shape.with(axis, size)))
    return id
  })
  const parts = read.flatMap(part => part?.nodes ?? [])
  return {
    ...planCall(altered(split, { outputs, outputCount: outputs.length })),
    nodes: [...nodes, ...parts],
    fused: 'parts of a sequence'
  }
}
