import type { Place } from '../errors.ts'
import type { DeclaredType, Finding, Graph, GraphValue, Node, ValueId } from '../graph/graph.ts'
import type { FileContext, Problem } from './context.ts'
import type { GraphProto, NodeProto, SparseTensorProto, TensorProto, ValueInfoProto } from './schema.js'

/** The parts of a graph; a function is brought into this form too. */
export interface GraphParts {
  readonly name: string
  readonly doc?: string
  readonly inputs: readonly ValueInfoProto[]
  readonly outputs: readonly ValueInfoProto[]
  readonly valueInfo: readonly ValueInfoProto[]
  readonly nodes: readonly NodeProto[]
  readonly initializers: readonly TensorProto[]
  readonly sparseInitializers: readonly SparseTensorProto[]
}

/** A value; its id is its name. */
export class NamedValue implements GraphValue {
  readonly id: ValueId
  readonly name: string
  declared?: DeclaredType
  /** The node that makes it; undefined for inputs, initializers and names that nothing makes. */
  maker: Node | undefined = undefined
  private readonly graph: Place

  constructor(name: string, graph: Place) {
    this.id = name
    this.name = name
    this.graph = graph
  }

  get names(): readonly string[] {
    return [this.name]
  }
  get place(): Place {
    return { ...(this.maker?.place ?? this.graph), value: this.id }
  }
}

/** Names that the nodes of a graph can read: its own, and those of the graphs around it. */
export interface Scope {
  /**
   * By name. Nodes keep the string object of the value instead of their own equal one, so that later look-ups in maps
   * compare pointers, not texts.
   */
  readonly own: ReadonlyMap<string, NamedValue>
  readonly outer?: Scope
}

/** What surrounds a graph. */
export interface Setting {
  readonly context: FileContext
  /** Path of the graph, see {@link Graph.path}. */
  readonly path: string
  /** Operator set version by domain. */
  readonly opsets: ReadonlyMap<string, number>
  readonly inFunction: boolean
  readonly outer?: Scope
  /** Outputs of the node that the graph is a body of, which nothing in it can read. */
  readonly results?: Node['outputs']
  /** Findings of the graph are added here. */
  readonly findings: Finding[]
}

/** A graph, and the names that it reads from the graphs around it, in the order of their first use. */
export interface BuiltGraph {
  readonly graph: Graph
  readonly captured: readonly ValueId[]
}

/** State that building the parts of one graph shares. */
export interface Building extends Setting {
  /** Place of the graph itself. */
  readonly place: Place
  readonly scope: Scope
  /** Names that are read from the graphs around, in the order of their first use. */
  readonly captured: Set<string>
  /**
   * Builds a body of a node of the graph; `segment` is the last part of the body's path, as in `12:then_branch`.
   */
  body(proto: GraphProto, segment: string, of: Node): BuiltGraph
  report(problem: Problem, place: Place, onlyIfNeeded?: Finding['onlyIfNeeded']): void
}

/** Marks a finding that stops no run: it is of no node and of no value. */
export const STOPS_NOTHING: Finding['onlyIfNeeded'] = {}

/** Whether a name can be read in a scope. */
export const isVisible = (scope: Scope | undefined, name: string): boolean =>
  scope !== undefined && (scope.own.has(name) || isVisible(scope.outer, name))
