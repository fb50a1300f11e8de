import type { Place } from '../errors.ts'
import type { Finding, Graph, ValueId } from '../graph/graph.ts'
import type { FileContext, Problem } from './context.ts'
import type { GraphProto, NodeProto, SparseTensorProto, TensorProto, ValueInfoProto } from './schema.js'

/** What a graph and the body of a function have in common. */
export interface GraphParts {
  readonly name: string
  readonly inputs: readonly ValueInfoProto[]
  readonly outputs: readonly ValueInfoProto[]
  readonly valueInfo: readonly ValueInfoProto[]
  readonly nodes: readonly NodeProto[]
  readonly initializers: readonly TensorProto[]
  readonly sparseInitializers: readonly SparseTensorProto[]
}

/** Names that a graph's nodes can read: its own, and those of the graphs around it. */
export interface Scope {
  /**
   * By themselves: nodes take the very string under which a name is made, which then is found without comparing texts.
   */
  readonly own: ReadonlyMap<string, string>
  readonly outer?: Scope
}

/** Where a graph stands. */
export interface Setting {
  readonly context: FileContext
  /** The way into the graph, see {@link Graph.path}. */
  readonly path: string
  /** Operator set version by domain. */
  readonly opsets: ReadonlyMap<string, number>
  readonly inFunction: boolean
  readonly outer?: Scope
  /** Where the graph's findings go. */
  readonly findings: Finding[]
}

/** A graph and the names that it reads from the graphs around it, in the order of their first use. */
export interface BuiltGraph {
  readonly graph: Graph
  readonly captured: readonly ValueId[]
}

/** What building the parts of one graph shares. */
export interface Building extends Setting {
  /** Place of the graph itself. */
  readonly place: Place
  readonly scope: Scope
  /** Names read from the graphs around, in order. */
  readonly captured: Set<string>
  /** Builds a body of one of its nodes; `step` is the body's part of the path, as in `12:then_branch`. */
  body(proto: GraphProto, step: string): BuiltGraph
  report(problem: Problem, place: Place, onlyIfNeeded?: Finding['onlyIfNeeded']): void
}

/** Marks a finding that stops no run: a run needs no node and no value for it. */
export const STOPS_NOTHING: Finding['onlyIfNeeded'] = {}

/** Whether a name can be read in a scope. */
export const isVisible = (scope: Scope | undefined, name: string): boolean =>
  scope !== undefined && (scope.own.has(name) || isVisible(scope.outer, name))
