import { bindNode } from '../bind/bind.ts'
import { altered, type Call } from '../bind/call.ts'
import type { Attribute, Dialect, ValueId } from '../graph/graph.ts'
import type { Broadcast } from '../op-kit/broadcast.ts'
import { isBuiltIn, type Op } from '../op-kit/define.ts'
import { toDoubles } from '../tensor/elements.ts'
import { knownTensor, type PlanGraph } from './graph.ts'
import { type PatternCall, type Reading, readingsOf } from './match.ts'

/** Whether a call's operator is the one of this package with one of these names. */
export function isNamed(...names: readonly string[]): (call: Call) => boolean {
  return ({ op }) => names.includes(op.name) && isBuiltIn(op)
}

/** A call whose result others may read, too: it stays for them. */
export const shared = (call: PatternCall): PatternCall => ({ ...call, repeats: true })

/** The same of an operator, by what it reads. */
export const sharedOf = (name: string, ...readings: readonly Reading[]): PatternCall =>
  shared({ ops: [name], reads: readings })

/** A call of one of several operators, each with readings of its own. */
export function eitherOf(...calls: readonly PatternCall[]): PatternCall {
  const meant = ({ op }: Call): PatternCall => calls.find(({ ops }) => ops?.includes(op.name))!
  return {
    ops: calls.flatMap(({ ops = [] }) => ops),
    where: (call, graph) => meant(call).where?.(call, graph) ?? true,
    reads: call => readingsOf(meant(call), call)
  }
}

/** An elementwise operator of one operand, `x`. */
export const unaryOf = (name: string, ...readings: readonly string[]): PatternCall => ({
  ops: [name],
  reads: readings.map(x => ({ x }))
})

type Pair = readonly [a: string, b: string]

/** An operator of the operands a and b, in this order, broadcast as NumPy does. */
export const binaryOf = (name: string, ...pairs: readonly Pair[]): PatternCall => ({
  ops: [name],
  where: alignsEnds,
  reads: pairs.map(([a, b]) => ({ a, b }))
})

/** An operator whose operands a and b may stand in either order. */
export const commutative = (name: string, ...pairs: readonly Pair[]): PatternCall =>
  binaryOf(name, ...pairs, ...pairs.map(([a, b]): Pair => [b, a]))

/** Older versions can lay an operand onto another axis than the last. */
export function alignsEnds({ known }: Call): boolean {
  return (known.broadcast as Broadcast | undefined)?.mode !== 'aligned'
}

/** x to a power that is a constant. */
export const powerOf = (base: string, exponent: string): PatternCall => ({
  ops: ['Pow'],
  where: alignsEnds,
  reads: { base, exponent }
})

/** What {@link standardCall} makes a call of. */
export interface StandardNode {
  readonly type: string
  /** Version of the operator set. */
  readonly opset: number
  readonly inputs: readonly (ValueId | undefined)[]
  readonly attributes?: Readonly<Record<string, Attribute>>
}

/**
 * A call of an operator of ai.onnx in the place of a pattern's root, as if the file had it there; undefined where the
 * registry has no such operator, or one of the caller's own.
 */
export function standardCall(
  graph: PlanGraph,
  root: Call,
  { type, opset, inputs, attributes = {} }: StandardNode
): Call | undefined {
  if (operatorOf(graph, type, opset) === undefined) return undefined
  const node = {
    ...root.node,
    dialect: 'onnx' as const,
    domain: 'ai.onnx',
    version: String(opset),
    type,
    inputs,
    outputs: root.outputs.slice(0, 1),
    attributes: new Map(Object.entries(attributes))
  }
  return altered(bindNode(node, graph.bound.registry), { node: root.node, maxRank: root.maxRank })
}

export const floatAttribute = (value: number): Attribute => ({ kind: 'float', value })
export const intAttribute = (value: number): Attribute => ({ kind: 'int', value: BigInt(value) })
export const textAttribute = (value: string): Attribute => ({ kind: 'string', value })

/** Whether a product scales and transposes nothing but its second factor, as ones of com.microsoft and of IR can. */
export function isPlainProduct({ known: { alpha, transposeA, movesA, movesB } }: Call): boolean {
  return alpha === 1 && transposeA !== true && movesA !== true && movesB !== true
}

/** An operator of a standard that is of this package; undefined where the registry has none. */
export function operatorOf(
  { bound: { registry } }: PlanGraph,
  type: string,
  opset: number,
  dialect: Dialect = 'onnx',
  domain = 'ai.onnx'
): Op | undefined {
  const op = registry.find(dialect, dialect === 'onnx' ? domain : 'openvino', type, opset)?.op
  return op && isBuiltIn(op) ? op : undefined
}

/** A parameter that is a number or a list of them, where it is known: from an attribute, or from a constant. */
export const numbersOf = (graph: PlanGraph, call: Call, name: string): readonly number[] | undefined =>
  numbersBy(call, name, id => {
    const value = knownTensor(graph, id)
    return value && [...toDoubles(value)]
  })

/** Whether a call is known to work along the last of so many axes. */
export function isAlongLast(graph: PlanGraph, call: Call, rank: number): boolean {
  const [axis] = numbersOf(graph, call, 'axis') ?? []
  return axis === -1 || axis === rank - 1
}

/** Whether a Transpose of a matrix is known to turn it: a list that is left out reverses the axes. */
export const turnsMatrix = (graph: PlanGraph, transpose: Call): boolean =>
  ['1,0', ''].includes(numbersOf(graph, transpose, 'order')?.join() ?? 'unknown')

/**
 * {@link numbersOf} by what is known of constants; none where an attribute is left out.
 * @param elementsOf the elements of a constant, where they are known
 */
export function numbersBy(
  call: Call,
  name: string,
  elementsOf: (id: ValueId) => readonly number[] | undefined
): readonly number[] | undefined {
  const source = call.dataDependent.find(parameter => parameter.name === name)?.source
  if (source === undefined) return [(call.known[name] ?? []) as number | readonly number[]].flat()
  const id = call.inputs[source.index]
  return id === undefined ? [(source.fallback?.value ?? []) as number | readonly number[]].flat() : elementsOf(id)
}
