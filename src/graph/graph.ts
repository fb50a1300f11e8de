import type { ErrorCode, Place } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import type { DType } from '../tensor/dtype.ts'
import type { Layout } from '../tensor/packing.ts'
import type { Tensor } from '../tensor/tensor.ts'
import type { Limits } from './limits.ts'

/** The two formats; they differ in operators, versions and names, not in what a graph is. */
export type Dialect = 'onnx' | 'openvino'

/**
 * Identifies a value within one graph. ONNX: the value's name. IR: `"layerIndex:outputPosition"`, since there names
 * need
 * not be unique. Use {@link Value.name} for people.
 */
export type ValueId = string

/** A dim as a file declares it: a size, a name, an interval (`max` may be Infinity), or null when unknown. */
export type DeclaredDim = number | string | DimInterval | null

export interface DimInterval {
  readonly min: number
  readonly max: number
}

/** The type that a file declares for a value. `type` or `dims` absent: not said (dims absent: unknown rank). */
export type DeclaredType =
  | { readonly kind: 'tensor'; readonly type?: DType; readonly dims?: readonly DeclaredDim[] }
  | { readonly kind: 'sequence'; readonly element: DeclaredType }
  | { readonly kind: 'optional'; readonly element: DeclaredType }
  /** Map, sparse tensor or opaque: loaded and shown, never run. */
  | { readonly kind: 'other'; readonly text: string }

/** One value: what a node output, graph input or initializer is called and declared to be. */
export interface GraphValue {
  readonly id: ValueId
  /** Name to print and to fetch by. */
  readonly name: string
  /** All names by which it is known (IR: tensor names of the port; the layer's name where there are none). */
  readonly names: readonly string[]
  /** What the file says about its type; absent when it says nothing. */
  declared?: DeclaredType
  readonly place: Place
  /** IR: place of each `<dim>` of the declaring port. */
  readonly dimPlaces?: readonly Place[]
}

/** A constant that lies somewhere until it is read. */
export interface Constant {
  readonly type: DType
  readonly dims: readonly number[]
  /** Bytes in the file (strings: of their text). */
  readonly byteLength: number
  readonly place: Place
  /**
   * Reads the elements; every call reads again, callers cache.
   * @throws NodewiseError `invalid-file`, `missing-file`, `outside-folder`
   */
  read(): Tensor
  /**
   * Checks, without reading them, that the elements are where the file says; absent where loading has made sure.
   * @throws NodewiseError what `read` would throw for it
   */
  verify?(): void
  /**
   * Where the elements lie raw and little-endian, for reading by the row; absent for typed fields, strings and sparse
   * tensors.
   */
  readonly raw?: ByteRange | undefined
}

/** Raw little-endian elements in a source of bytes. */
export interface ByteRange {
  readonly source: ByteSource
  readonly offset: number
  readonly length: number
  /**
   * Given where the bytes are not the elements as memory has them: sub-byte types, which lie so, and bool, of which any
   * byte but 0 is true.
   */
  readonly layout?: Layout
}

/** An attribute as the file writes it. IR attributes are all `text`; bodies of IR are `graph`. */
export type Attribute =
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'int'; readonly value: bigint }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'tensor'; readonly value: Constant }
  | { readonly kind: 'graph'; readonly value: Graph }
  | { readonly kind: 'type'; readonly value: DeclaredType }
  | { readonly kind: 'floats'; readonly value: readonly number[] }
  | { readonly kind: 'ints'; readonly value: readonly bigint[] }
  | { readonly kind: 'strings'; readonly value: readonly string[] }
  | { readonly kind: 'tensors'; readonly value: readonly Constant[] }
  | { readonly kind: 'graphs'; readonly value: readonly Graph[] }
  | { readonly kind: 'types'; readonly value: readonly DeclaredType[] }
  /** In a function body: the value comes from the call's attribute of this name. */
  | { readonly kind: 'reference'; readonly value: string }
  | { readonly kind: 'text'; readonly value: string; readonly place: Place }

/** An input port of an IR layer, as the file declares it; the position in the list counts, ids are labels. */
export interface InputPort {
  readonly id: string
  readonly declared: DeclaredType
  readonly place: Place
  readonly dimPlaces: readonly Place[]
}

/**
 * One entry of an IR `port_map`. `externalPort` is the op's input index, for outputs the op's output index; -1: not
 * connected.
 */
export interface PortMapEntry {
  readonly side: 'input' | 'output'
  readonly externalPort: number
  /** Index among the body's Parameters (inputs) or Results (outputs). */
  readonly bodyIndex: number
  readonly axis?: number | undefined
  readonly start?: number | undefined
  readonly end?: number | undefined
  readonly stride?: number | undefined
  readonly partSize?: number | undefined
  readonly purpose?: 'current_iteration' | 'execution_condition'
  readonly place: Place
}

/** `port_map` and `back_edges` of an IR body, ids turned into indices. */
export interface PortMap {
  readonly entries: readonly PortMapEntry[]
  readonly backEdges: readonly { readonly fromResult: number; readonly toParameter: number }[]
}

/** One node (ONNX) or layer (IR; Parameter, Result and Const are nodes too), as the file writes it. */
export interface Node {
  readonly dialect: Dialect
  /** ONNX domain (`ai.onnx` for the empty one); `openvino` for IR. */
  readonly domain: string
  readonly type: string
  /** ONNX: the opset import of the domain in force, as a number in text. IR: the layer's `version` (`opset8`). */
  readonly version: string
  /** ONNX: overload of a model-local function; else empty. */
  readonly overload: string
  readonly name: string
  /** Index in its graph's list of nodes. */
  readonly index: number
  /** One id an input; undefined where an optional input is left out or an IR port has no edge. */
  readonly inputs: readonly (ValueId | undefined)[]
  /** One id an output; undefined where an optional output is left out. */
  readonly outputs: readonly (ValueId | undefined)[]
  readonly attributes: ReadonlyMap<string, Attribute>
  /** Ids of enclosing graphs' values that this node's bodies read. */
  readonly captures: readonly ValueId[]
  /** IR: the declared input ports, by position. */
  readonly inputPorts?: readonly InputPort[]
  /** IR: port maps by body (`body`, `then_body`, `else_body`). */
  readonly portMaps?: ReadonlyMap<string, PortMap>
  /** IR: the layer's id. */
  readonly layer?: string
  /** IR: the constant of a Const layer. */
  readonly constant?: Constant
  readonly place: Place
}

/**
 * Stable names of findings: those of failures and those that no run stops at under that name. `docs/checking.md`
 * explains each.
 */
export type FindingCode =
  | ErrorCode
  | 'bad-dim'
  | 'bad-number'
  | 'bad-shape'
  | 'constant-literal'
  | 'constant-size'
  | 'contradicting-types'
  | 'cycle'
  | 'dead-layer'
  | 'duplicate-attribute'
  | 'duplicate-edge'
  | 'duplicate-function'
  | 'duplicate-id'
  | 'duplicate-name'
  | 'duplicate-opset'
  | 'duplicate-port'
  | 'external-data'
  | 'invalid-attribute'
  | 'invalid-dim'
  | 'invalid-sparse'
  | 'loose-declaration'
  | 'missing-data'
  | 'missing-edge'
  | 'missing-name'
  | 'missing-opset'
  | 'missing-port'
  | 'missing-producer'
  | 'negative-dim'
  | 'not-an-output'
  | 'not-sorted'
  | 'pre-process'
  | 'shadowed-name'
  | 'tensor-segment'
  | 'unknown-layer'
  | 'unknown-op'
  | 'unknown-port'
  | 'unknown-type'
  | 'unmapped-output'
  | 'unproven-declaration'
  | 'unused-back-edge'

/** Something wrong or odd that reading found; `check` lists it, `run` throws the first error. */
export interface Finding {
  readonly code: FindingCode
  readonly severity: 'error' | 'warning' | 'note'
  readonly message: string
  readonly declared?: string
  readonly inferred?: string
  readonly place: Place
  /** Set when only a run that needs this node or value is stopped by it (a dead layer harms nobody). */
  readonly onlyIfNeeded?: { readonly node?: number; readonly value?: ValueId }
}

/** A graph input or output: which value it is and under which name callers know it. */
export interface GraphPort {
  readonly name: string
  /** Other names that select it (IR: layer name, tensor names). */
  readonly aliases: readonly string[]
  readonly value: ValueId
  /** What the file declares here; for outputs beside the value's own declaration. */
  readonly declared?: DeclaredType
  readonly place: Place
  /** IR: index of the Parameter or Result node. */
  readonly node?: number
}

/** One graph: a model's main graph, a body, or a function's body. Faithful to the file. */
export interface Graph {
  readonly dialect: Dialect
  readonly name: string
  /** The way into this graph (`''` for the main one), as in {@link Place.graphPath}. */
  readonly path: string
  readonly inputs: readonly GraphPort[]
  readonly outputs: readonly GraphPort[]
  readonly nodes: readonly Node[]
  readonly values: ReadonlyMap<ValueId, GraphValue>
  /** ONNX initializers (sparse ones too); empty for IR, where constants are Const nodes. */
  readonly initializers: ReadonlyMap<ValueId, Constant>
  readonly findings: readonly Finding[]
}

/** A model-local function of ONNX. Its body's inputs and outputs are in `graph`. */
export interface ModelFunction {
  readonly domain: string
  readonly name: string
  readonly overload: string
  /** Attribute names without a default, then those with one. */
  readonly attributes: readonly string[]
  readonly defaults: ReadonlyMap<string, Attribute>
  readonly opsets: ReadonlyMap<string, number>
  readonly graph: Graph
}

/** What a file holds. */
export interface Model {
  readonly dialect: Dialect
  /** Name of the file, for messages. */
  readonly file: string
  readonly irVersion: number
  /**
   * ONNX: version by domain (`ai.onnx` for the empty one). IR: every `version` seen, with 0 for names that are no
   * opset.
   */
  readonly opsets: ReadonlyMap<string, number>
  readonly producer: string
  readonly graph: Graph
  /** By `domain::name::overload`. */
  readonly functions: ReadonlyMap<string, ModelFunction>
  /** ONNX `metadata_props`; IR: leaves of the net's `rt_info` by path. */
  readonly metadata: ReadonlyMap<string, string>
  /** Bytes of all constants in the file. */
  readonly weightBytes: number
  /** Elements of all constants. */
  readonly parameters: number
  /** Things read and ignored, a sentence each. */
  readonly notes: readonly string[]
  /** What it was allowed, and is when its functions are written out. */
  readonly limits: Limits
  /** The place with `line` and `column` worked out from `offset` (XML only; others are returned as they are). */
  readonly locate: (place: Place) => Place
}

/** Every graph of a model: main, bodies at any depth, functions. */
export function* allGraphs(model: Model): Generator<Graph> {
  yield* graphAndBodies(model.graph)
  for (const fn of model.functions.values()) yield* graphAndBodies(fn.graph)
}

/** A graph and the bodies below it. */
export function* graphAndBodies(graph: Graph): Generator<Graph> {
  yield graph
  for (const node of graph.nodes)
    if (node.attributes.size > 0) for (const body of bodiesOf(node)) yield* graphAndBodies(body.graph)
}

/** A body and the attribute that holds it. */
export interface NodeBody {
  readonly attribute: string
  readonly graph: Graph
}

const NO_BODIES: readonly NodeBody[] = []

/** The bodies of a node. */
export function bodiesOf(node: Node): readonly NodeBody[] {
  // Asked of every node, and few have any.
  if (!hasBodies(node)) return NO_BODIES
  const bodies: NodeBody[] = []
  for (const [attribute, value] of node.attributes) {
    if (value.kind === 'graph') bodies.push({ attribute, graph: value.value })
    else if (value.kind === 'graphs') for (const graph of value.value) bodies.push({ attribute, graph })
  }
  return bodies
}

function hasBodies(node: Node): boolean {
  for (const { kind } of node.attributes.values()) if (kind === 'graph' || kind === 'graphs') return true
  return false
}
