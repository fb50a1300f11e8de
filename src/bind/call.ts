import type { NodewiseError } from '../errors.ts'
import type { Constant, Graph, Node, ValueId } from '../graph/graph.ts'
import type { AnyOpVersion, Op, OperandKind, ShapeContext } from '../op-kit/define.ts'
import type { InputSource } from '../op-kit/sources.ts'
import type { DType } from '../tensor/dtype.ts'
import type { Registry } from './registry.ts'
import type { OpSchema } from './schema.ts'

/** An operand of a call: at which input position it is (variadic: where it starts). */
export interface Operand {
  readonly name: string
  readonly kind: OperandKind
  readonly index: number
}

export interface DataDependentParameter {
  readonly name: string
  readonly source: InputSource<unknown>
}

/** A node with its operator: what every later stage works on, and what a shape rule may ask about it. */
export interface Call extends ShapeContext {
  readonly node: Node
  readonly op: Op
  readonly opVersion: AnyOpVersion
  readonly inputs: readonly (ValueId | undefined)[]
  readonly outputs: readonly (ValueId | undefined)[]
  readonly operands: readonly Operand[]
  /** Parameters known from attributes. */
  readonly known: Readonly<Record<string, unknown>>
  readonly dataDependent: readonly DataDependentParameter[]
  /** Bodies by parameter name. */
  readonly bodies: ReadonlyMap<string, BoundGraph>
  readonly schema?: OpSchema | undefined
  /** Dims that its outputs may have, see `Limits.rank`. */
  readonly maxRank: number
  /** IR: types that an input may have, by position. */
  readonly inputTypes: readonly { readonly index: number; readonly name: string; readonly types: readonly DType[] }[]
}

/**
 * A call with other parts. Its properties are in the order of `bindNode`: all that is asked of calls while they run is
 * fastest where they have one form, and engines give an object that begins with a spread a form of its own.
 */
export function altered(call: Call, changes: Partial<Call>): Call {
  const parts = { ...call, ...changes }
  const { node, op, opVersion, dialect, version, inputs, outputs, outputCount } = parts
  const { operands, known, dataDependent, bodies, inputTypes, schema, maxRank } = parts
  return {
    node,
    op,
    opVersion,
    dialect,
    version,
    inputs,
    outputs,
    outputCount,
    operands,
    known,
    dataDependent,
    bodies,
    inputTypes,
    schema,
    maxRank
  }
}

/** A node that has no operator here, or whose attributes or inputs are wrong. */
export interface Unbound {
  readonly node: Node
  readonly error: NodewiseError
}

/** A graph ready to be worked on: function calls expanded, nodes in an order in which producers come first. */
export interface BoundGraph {
  readonly graph: Graph
  /** Calls and unbound nodes in topological order; Parameters, Results and constants are not among them. */
  readonly items: readonly (Call | Unbound)[]
  /** Initializers, Const layers and Constant nodes. */
  readonly constants: ReadonlyMap<ValueId, Constant>
  /** Enclosing graph's values that this body reads. */
  readonly captures: readonly ValueId[]
  /** The operators that it was bound with. */
  readonly registry: Registry
}

export const isCall = (item: Call | Unbound): item is Call => 'op' in item
export const isUnbound = (item: Call | Unbound): item is Unbound => 'error' in item

/** Whether a test holds for a call of a graph, or of a body in it. */
export function someCall({ items }: BoundGraph, test: (call: Call) => boolean): boolean {
  for (const item of items) {
    if (!isCall(item)) continue
    if (test(item)) return true
    for (const body of item.bodies.values()) if (someCall(body, test)) return true
  }
  return false
}

/** Whether an operator keeps state from run to run; for a call with bodies ask {@link someCall} too. */
export const isStateful = ({ op }: Call): boolean => op.impure === 'state'
