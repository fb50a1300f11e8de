import type { ErrorCode, Place } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import type { DType } from '../tensor/dtype.ts'
import type { Layout } from '../tensor/packing.ts'
import type { KeyType, Tensor } from '../tensor/tensor.ts'
import type { Limits } from './limits.ts'

/** The format of a model. The formats differ in operators, versions and names, not in what a graph is. */
export type Dialect = 'onnx' | 'openvino'

/**
 * Identifies a value within one graph. ONNX: the name of the value. IR: `"layerIndex:outputPosition"`, since names need
 * not be unique there. For people there is {@link GraphValue.name}.
 */
export type ValueId = string

/** A dim as a file declares it: a size, a name, an interval (`max` may be Infinity), or null when unknown. */
export type DeclaredDim = number | string | DimInterval | null

export interface DimInterval {
  readonly min: number
  readonly max: number
}

/**
 * The type that a file declares for a value. `type` is absent where it is not declared, `dims` where the rank is not.
 */
export type DeclaredType =
  | { readonly kind: 'tensor'; readonly type?: DType; readonly dims?: readonly DeclaredDim[] }
  | { readonly kind: 'sequence'; readonly element: DeclaredType }
  | { readonly kind: 'optional'; readonly element: DeclaredType }
  | { readonly kind: 'map'; readonly keyType: KeyType; readonly valueType?: DType }
  /** A sparse tensor, an opaque type or a map of other keys or values, as text: shown and never computed. */
  | { readonly kind: 'other'; readonly text: string }

/** A value of a graph: its names, and what the file declares of it. */
export interface GraphValue {
  readonly id: ValueId
  /** Name to print, and to fetch the value by. */
  readonly name: string
  /** All names of the value. IR: tensor names of its port, or the name of its layer where there are none. */
  readonly names: readonly string[]
  /** The declared type; absent where the file declares none. */
  declared?: DeclaredType
  readonly place: Place
  /** IR: place of each `<dim>` of the port that declares the value. */
  readonly dimPlaces?: readonly Place[]
}

/** A constant. Its elements stay in the file until they are read. */
export interface Constant {
  readonly type: DType
  readonly dims: readonly number[]
  /** Bytes that the elements take in the file (strings: their text only). */
  readonly byteLength: number
  readonly place: Place
  /**
   * Reads the elements. Each call reads them again: callers keep the result.
   * @throws NodewiseError `invalid-file`, `missing-file`, `outside-folder`
   */
  read(): Tensor
  /**
   * Checks that the elements are where the file says, without reading them. Absent where loading has checked that.
   * @throws NodewiseError as `read`
   */
  verify?(): void
  /**
   * Where the elements are, raw and little-endian, so that rows of a table can be read alone. Absent for elements in
   * typed fields, for strings and for sparse tensors.
   */
  readonly raw?: ByteRange | undefined
  /** Made of another constant: it is not held where memory is needed, since it can be made again. */
  readonly isDerived?: true
  /** Where each element is made of the same one of another constant, so that they need no memory but their own. */
  readonly inPlace?: InPlace
}

/** How elements are made in place. */
export interface InPlace {
  /** Whose elements they are made of: it has the same type and dims. */
  readonly of: Constant
  /**
   * Changes the elements of `of` to those of the constant.
   * @throws NodewiseError what reading another constant throws
   */
  readonly change: (data: Tensor['data']) => void
}

/**
 * IR: the mean values of an input, from `<pre-process>`. They have the type of the input, and dims that broadcast to
 * its dims.
 */
export interface InputMean extends Constant {
  /** The mean image of each channel in the .bin; absent where the XML has one number for each channel. */
  readonly images?: readonly Constant[]
}

/** A range of a file that holds raw little-endian elements. */
export interface ByteRange {
  readonly source: ByteSource
  readonly offset: number
  readonly length: number
  /**
   * Set where the bytes differ from the elements in memory: for types of less than a byte, which are packed in this
   * layout, and for bool, where any byte but 0 is true.
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
  /** `numbers`: the same, cut to safe integers, where they are at hand without a bigint for each. */
  | { readonly kind: 'ints'; readonly value: readonly bigint[]; readonly numbers?: readonly number[] }
  | { readonly kind: 'strings'; readonly value: readonly string[] }
  | { readonly kind: 'tensors'; readonly value: readonly Constant[] }
  | { readonly kind: 'graphs'; readonly value: readonly Graph[] }
  | { readonly kind: 'types'; readonly value: readonly DeclaredType[] }
  /**
   * In a function: the value is that of the attribute of this name of the function's call. `of` is the type that the
   * file states, in lower case, where it does.
   */
  | { readonly kind: 'reference'; readonly value: string; readonly of?: string }
  | { readonly kind: 'text'; readonly value: string; readonly place: Place }

/** An input port of an IR layer as the file declares it. The position in the list counts; edges alone use the id. */
export interface InputPort {
  readonly id: string
  readonly declared: DeclaredType
  readonly place: Place
  readonly dimPlaces: readonly Place[]
}

/** One entry of an IR `port_map`. */
export interface PortMapEntry {
  readonly side: 'input' | 'output'
  /** Index of the layer's input or output (see `side`); -1 where the body's Parameter or Result is not connected. */
  readonly externalPort: number
  /** Index among the Parameters of the body for an input, among its Results for an output. */
  readonly bodyIndex: number
  readonly axis?: number | undefined
  readonly start?: number | undefined
  readonly end?: number | undefined
  readonly stride?: number | undefined
  readonly partSize?: number | undefined
  readonly purpose?: 'current_iteration' | 'execution_condition'
  readonly place: Place
}

/** `port_map` and `back_edges` of an IR body, with indices in place of layer ids. */
export interface PortMap {
  readonly entries: readonly PortMapEntry[]
  readonly backEdges: readonly { readonly fromResult: number; readonly toParameter: number }[]
}

/** A node of ONNX or a layer of IR (Parameter, Result and Const too), as the file has it. */
export interface Node {
  readonly dialect: Dialect
  /** ONNX domain (`ai.onnx` for the empty one); `openvino` for IR. */
  readonly domain: string
  readonly type: string
  /** ONNX: the imported version of the domain's operator set (`17`). IR: the layer's `version` (`opset8`). */
  readonly version: string
  /** ONNX: overload of the model-local function that is called; otherwise empty. */
  readonly overload: string
  readonly name: string
  /** Index in the graph's list of nodes. */
  readonly index: number
  /** An id for each input; undefined where an optional input is left out or an IR port has no edge. */
  readonly inputs: readonly (ValueId | undefined)[]
  /** An id for each output; undefined where an optional output is left out. */
  readonly outputs: readonly (ValueId | undefined)[]
  readonly attributes: ReadonlyMap<string, Attribute>
  /** Ids of the values of enclosing graphs that the bodies of this node read. */
  readonly captures: readonly ValueId[]
  /** IR: the declared input ports, by position. */
  readonly inputPorts?: readonly InputPort[]
  /** IR: port maps by body (`body`, `then_body`, `else_body`). */
  readonly portMaps?: ReadonlyMap<string, PortMap>
  /** IR: the layer's id. */
  readonly layer?: string
  /** ONNX: its doc string, where they were read (`LoadOptions.docs`). */
  readonly doc?: string
  /** IR: the constant of a Const layer. */
  readonly constant?: Constant
  readonly place: Place
}

/** Codes of findings: those of failures, and those below that are only findings. `docs/checking.md` explains each. */
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

/** Something wrong or odd in a model. `check` lists all findings; a run throws the first error. */
export interface Finding {
  readonly code: FindingCode
  readonly severity: 'error' | 'warning' | 'note'
  readonly message: string
  readonly declared?: string
  readonly inferred?: string
  readonly place: Place
  /** Set where the finding stops only runs that need this node or value; without node and value it stops none. */
  readonly onlyIfNeeded?: { readonly node?: number; readonly value?: ValueId }
}

/** A graph input or output: which value it is, and its names. */
export interface GraphPort {
  readonly name: string
  /** Other names that select it (IR: layer name, tensor names). */
  readonly aliases: readonly string[]
  readonly value: ValueId
  /** The type declared for the input or output. An output's value may have a declared type of its own. */
  readonly declared?: DeclaredType
  readonly place: Place
  /** IR: index of the Parameter or Result node. */
  readonly node?: number
  /** IR: what is subtracted from a value that is given for the input. */
  readonly mean?: InputMean
}

/** A graph as the file has it: the main graph of a model, the body of a node, or that of a function. */
export interface Graph {
  readonly dialect: Dialect
  readonly name: string
  /** ONNX: its doc string, where they were read. */
  readonly doc?: string
  /** Path to this graph, as in {@link Place.graphPath}; empty for the main graph. */
  readonly path: string
  readonly inputs: readonly GraphPort[]
  readonly outputs: readonly GraphPort[]
  readonly nodes: readonly Node[]
  readonly values: ReadonlyMap<ValueId, GraphValue>
  /** ONNX initializers (sparse ones too); empty for IR, where constants are Const nodes. */
  readonly initializers: ReadonlyMap<ValueId, Constant>
  readonly findings: readonly Finding[]
}

/** What the file declares of an input or output of a graph: of the port itself, else of its value. */
export const declaredOf = ({ values }: Graph, { declared, value }: GraphPort): DeclaredType | undefined =>
  declared ?? values.get(value)?.declared

/** A model-local function of ONNX. Its inputs and outputs are those of `graph`. */
export interface ModelFunction {
  readonly domain: string
  readonly name: string
  readonly overload: string
  /** Names of the attributes, first those without a default. */
  readonly attributes: readonly string[]
  readonly defaults: ReadonlyMap<string, Attribute>
  readonly opsets: ReadonlyMap<string, number>
  readonly graph: Graph
}

/** A model as its file has it. */
export interface Model {
  readonly dialect: Dialect
  /** Name of the file, for messages. */
  readonly file: string
  readonly irVersion: number
  /**
   * ONNX: version by domain (`ai.onnx` for the empty one). IR: number by `version` of layers (8 for `opset8`, else 0).
   */
  readonly opsets: ReadonlyMap<string, number>
  readonly producer: string
  /** ONNX: the version of the model itself, as its maker counts; 0 where it is not given. */
  readonly modelVersion?: number
  /** ONNX: the domain of the model itself. */
  readonly domain?: string
  /** ONNX: its doc string, where they were read. */
  readonly doc?: string
  readonly graph: Graph
  /** By `domain::name::overload`. */
  readonly functions: ReadonlyMap<string, ModelFunction>
  /** ONNX: `metadata_props`. IR: leaves of `rt_info` by their path. */
  readonly metadata: ReadonlyMap<string, string>
  /** Bytes of all constants in the file. */
  readonly weightBytes: number
  /** Elements of all constants. */
  readonly parameters: number
  /** What the file has and Nodewise ignores, one sentence for each kind. */
  readonly notes: readonly string[]
  /** Limits that the model was loaded with. They hold for the expansion of its functions too. */
  readonly limits: Limits
  /**
   * The file that the model was read from. A writer of the same dialect takes from it what the model does not describe.
   * A conversion to another dialect leaves it out.
   */
  readonly source?: ByteSource
  /** The place with `line` and `column`, where the file has lines and the place tells them. */
  readonly locate: (place: Place) => Place
}

/** Whether a node is a layer of IR that stands for an input or an output of its graph. */
export const isPortLayer = ({ dialect, type }: Node): boolean =>
  dialect === 'openvino' && (type === 'Parameter' || type === 'Result')

/** Every graph of a model: the main graph, functions, and bodies at any depth. */
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

/**
 * Values of a graph itself: its inputs, its initializers, and what its nodes make. {@link Graph.values} of a body may
 * have more: a file may declare there the types of values that the body reads from the graphs around it.
 */
export function ownValues({ inputs, initializers, nodes }: Graph): Set<ValueId | undefined> {
  const own = new Set<ValueId | undefined>(initializers.keys())
  for (const { value } of inputs) own.add(value)
  for (const { outputs } of nodes) for (const id of outputs) own.add(id)
  return own
}

/** A body and the attribute that holds it. */
export interface NodeBody {
  readonly attribute: string
  readonly graph: Graph
}

const NO_BODIES: readonly NodeBody[] = []

/** The bodies of a node. */
export function bodiesOf(node: Node): readonly NodeBody[] {
  // Called for every node; few have bodies, so the common case makes no array.
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
