import type { Call } from '../bind/call.ts'
import type { ValueId } from '../graph/graph.ts'
import { drain } from '../kernels/core/pace.ts'
import { bytesOf, everyCode } from '../kernels/quantized/codes.ts'
import { byteTable, tableOfCodes, type TableParams, type TablePart } from '../op-kit/byte-table.ts'
import { isConcrete } from '../shapes/dim.ts'
import { product, type Tensor, withDims } from '../tensor/tensor.ts'
import { readInstead } from './bypass.ts'
import { codesOf } from './code-ops.ts'
import { BINARY, isSame, isSettled, UNARY } from './fuse-codes.ts'
import { DEQUANTIZED, quantizedAfter } from './fuse-quantized.ts'
import { fusedCall, removeUnread } from './fuse.ts'
import {
  knownTensor,
  nodesOfAll,
  operandOf,
  type PlanCall,
  planCallMaking,
  type PlanGraph,
  shapeOf,
  typeOf
} from './graph.ts'
import { isMeant } from './match.ts'
import type { Pass } from './pass.ts'
import { alignsEnds, isNamed } from './patterns.ts'

/** Elements of a result from which a table pays, of which each part computes one for each code. */
const MIN_ELEMENTS = 1 << 8
/** Calls that are looked at for a table before a code is taken as it is, and at most. */
const ENOUGH = 32
const MAX_LOOKED_AT = 128

/** Operators whose result at a place depends on what their operands are there, and on nothing else. */
const isElementwise = isNamed(
  ...UNARY,
  ...BINARY,
  ...['Shrink', 'Sign', 'Sin', 'Cos', 'SquaredDifference', 'Pow', 'PRelu'],
  ...['IsNaN', 'IsInf', 'Equal', 'NotEqual', 'Greater', 'GreaterOrEqual', 'Less', 'LessOrEqual'],
  ...['Not', 'And', 'Or', 'Xor', 'Where']
)
const QUANTIZED = quantizedAfter()

/**
 * What depends on one code alone is a table of it: elementwise calls, perhaps with numbers, between a DequantizeLinear
 * and a QuantizeLinear, and through others of them. A GELU that is quantized after each of its nodes is one table.
 * Where the table gives each code itself there is nothing to do. The codes are the same by definition.
 */
export const tablesOfCodes: Pass = {
  name: 'tables of codes',
  requires: ['prune'],
  ops: ['QuantizeLinear'],
  run(graph) {
    if (graph.isObserved) return false
    let changed = false
    // The last ones first, which hold the others.
    for (const start of graph.calls.toReversed()) {
      const item = planCallMaking(graph, start.call.outputs[0])
      if (item && isQuantizing(graph, item.call) && tabulate(graph, item)) changed = true
    }
    return changed
  }
}

const isQuantizing = (graph: PlanGraph, call: Call): boolean =>
  isMeant(QUANTIZED, call, graph) && isSettled(graph, call)

const isDequantizing = (graph: PlanGraph, call: Call): boolean =>
  isMeant(DEQUANTIZED, call, graph) && isSettled(graph, call)

/** Puts a table in the place of a call that quantizes, and of those that decide what it gives. */
function tabulate(graph: PlanGraph, root: PlanCall): boolean {
  const traced = new Traced(graph)
  const shape = shapeOf(graph, root.call.outputs[0])
  if (shape && isConcrete(shape) && product(shape) < MIN_ELEMENTS) return false
  if (traced.partOf(root) === undefined) return false
  const { parts, items, first } = traced
  // Ranks of numbers are 0, or the result might have more axes than the codes.
  if (first === undefined || traced.rank > (shapeOf(graph, codesOf(first).codes)?.length ?? 0)) return false
  const { codes, scale: aScale, zero: aZero } = codesOf(first)
  const isAlike = isSame(graph, first, root.call)
  // What is only dequantized and quantized alike is another pass's.
  if (parts.length === 2 && isAlike) return false
  const calls = new Set(items.keys())
  calls.delete(root)
  if (isAlike && givesCodes(parts, typeOf(graph, codes)!) && readInstead(graph, root, codes)) {
    removeUnread(graph, calls)
    return true
  }
  const parameters: TableParams = { parts, types: { a: typeOf(graph, codes)!, b: undefined } }
  const quantization = { aScale, aZero, yScale: operandOf(root.call, 'scale'), yZero: operandOf(root.call, 'zero') }
  const call = fusedCall(root.call, byteTable, { a: codes, ...quantization }, { ...parameters })
  const nodes = nodesOfAll(items.keys())
  graph.replace(root, { ...root, call, nodes, fused: 'table of codes' })
  removeUnread(graph, calls)
  return true
}

/** Whether parts give each code of a type itself. */
function givesCodes(parts: readonly TablePart[], type: TablePart['type']): boolean {
  const [given, codes] = [drain(tableOfCodes(parts, type)), everyCode(type)].map(bytesOf)
  return given.every((code, i) => code === codes[i])
}

/** Whether a call may be part of a table; integers, whose operators can fail, are none. */
function isPart(graph: PlanGraph, { call, convert }: PlanCall): boolean {
  if (convert !== undefined || call.outputs.length !== 1) return false
  if (isQuantizing(graph, call) || isDequantizing(graph, call)) return true
  const isOfNumbers = ['float32', 'bool'].includes(typeOf(graph, call.outputs[0]) ?? '')
  return isElementwise(call) && isOfNumbers && call.dataDependent.length === 0 && alignsEnds(call)
}

/** The calls that decide a value, as parts of a table, as far as one code decides all of them. */
class Traced {
  readonly parts: TablePart[] = []
  /** Numbers of their parts. */
  readonly items = new Map<PlanCall, number>()
  /** Dequantizes the code. */
  first: Call | undefined
  /** The highest rank of a number beside the code. */
  rank = 0
  private readonly graph: PlanGraph
  private count = 0

  constructor(graph: PlanGraph) {
    this.graph = graph
  }

  /** The number of the part that a call is; undefined where it is none. */
  partOf(item: PlanCall): number | undefined {
    const { parts, items, graph } = this
    const known = items.get(item)
    if (known !== undefined || ++this.count > MAX_LOOKED_AT || !isPart(graph, item)) return known
    const { call } = item
    const inputs: Record<string, Tensor | string | number> = {}
    for (const { name, index } of call.operands) {
      const id = call.inputs[index]
      if (id === undefined) continue
      const isCode = name === 'x' && isDequantizing(graph, call)
      const input = isCode ? this.codeOf(call, id) : this.inputOf(call, id)
      if (input === undefined) return undefined
      inputs[name] = input
    }
    const part = { op: call.op, parameters: call.known, inputs, type: typeOf(graph, call.outputs[0])! }
    items.set(item, parts.push(part) - 1)
    return parts.length - 1
  }

  /** A number, or the part that makes a value; undefined where there is none, and with nothing added. */
  private inputOf(call: Call, id: ValueId): Tensor | number | undefined {
    const { graph, parts, items, first, rank } = this
    const value = knownTensor(graph, id)
    if (value !== undefined) return this.numberOf(call, value)
    const maker = planCallMaking(graph, id)
    const count = parts.length
    const part = maker && this.partOf(maker)
    if (part !== undefined) return part
    parts.length = count
    for (const [item, number] of items) if (number >= count) items.delete(item)
    Object.assign(this, { first, rank })
    return undefined
  }

  private numberOf(call: Call, value: Tensor): Tensor | undefined {
    if (value.data.length !== 1) return undefined
    // Scales and zero points of one element may be lists.
    if (isElementwise(call)) this.rank = Math.max(this.rank, value.dims.length)
    return withDims(value, [])
  }

  /** What decides what is dequantized, or the code of the table; undefined where it is another code. */
  private codeOf(call: Call, id: ValueId): Tensor | number | 'a' | undefined {
    const deeper = this.count > ENOUGH ? undefined : this.inputOf(call, id)
    if (deeper !== undefined) return deeper
    this.first ??= call
    return codesOf(this.first).codes === id ? 'a' : undefined
  }
}
