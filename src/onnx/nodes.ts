import type { Place } from '../errors.ts'
import type { Attribute, Graph, Node, ValueId } from '../graph/graph.ts'
import { type AttributeContext, readAttributes } from './attributes.ts'
import { type Building, isVisible } from './building.ts'
import type { FileContext, Problem } from './context.ts'
import type { GraphProto, NodeProto } from './schema.js'

/** The name of a domain: ONNX's own domain may be written as an empty text, and is `ai.onnx` throughout Nodewise. */
export const domainName = (domain: string): string => (domain === '' ? 'ai.onnx' : domain)

/** The key of a function in {@link Model.functions}. */
export const functionKey = (domain: string, name: string, overload: string): string => `${domain}::${name}::${overload}`

/** Shared by all nodes that have no attributes or captures. */
const NO_ATTRIBUTES: ReadonlyMap<string, Attribute> = new Map()
const NO_CAPTURES: readonly ValueId[] = []

/**
 * Versions of domains that count where a model does not import them, as in ONNX Runtime. That takes the newest version
 * of all domains it knows; of its own there is only one. tf2onnx relies on it: it writes the Range of a loop so.
 */
const UNIMPORTED: ReadonlyMap<string, number> = new Map([['com.microsoft', 1]])

/** A node. Its place is computed on demand: a large file has many nodes and few faults. */
class FileNode implements Node {
  readonly dialect = 'onnx'
  readonly domain: string
  readonly type: string
  readonly version: string
  readonly overload: string
  readonly name: string
  readonly index: number
  readonly inputs: (ValueId | undefined)[]
  readonly outputs: readonly (ValueId | undefined)[]
  readonly doc?: string
  attributes = NO_ATTRIBUTES
  captures = NO_CAPTURES
  private readonly graph: Place

  constructor(proto: NodeProto, index: number, domain: string, version: string, graph: Place) {
    this.domain = domain
    this.type = proto.op_type
    this.version = version
    this.overload = proto.overload
    this.name = proto.name
    this.index = index
    this.inputs = proto.input.includes('') ? proto.input.map(nameOrNothing) : proto.input
    this.outputs = proto.output.includes('') ? proto.output.map(nameOrNothing) : proto.output
    if (proto.doc_string !== '') this.doc = proto.doc_string
    this.graph = graph
  }

  get place(): Place {
    const { name, index, type, domain, version } = this
    const place: Place = { ...this.graph }
    if (name !== '') place.node = name
    place.nodeIndex = index
    place.type = type
    if (version !== '') place.version = `${domain} ${version}`
    return place
  }
}

/** Builds a node and the bodies in its attributes. */
export function buildNode(proto: NodeProto, index: number, building: Building): Node {
  const { scope, captured, opsets } = building
  const domain = domainName(proto.domain)
  const imported = opsets.get(domain)
  const version = (imported ?? (opsets.size > 0 ? UNIMPORTED.get(domain) : undefined))?.toString() ?? ''
  const node = new FileNode(proto, index, domain, version, building.place)
  // A model that imports no operator set at all has one finding for that, not one a node.
  if (imported === undefined && opsets.size > 0) {
    const problem = `the model imports no operator set of its domain "${domain}"`
    if (version === '') building.report({ code: 'missing-opset', message: problem }, node.place, { node: index })
    else {
      const message = `${problem}; version ${version} is taken, as ONNX Runtime does`
      building.report({ code: 'missing-opset', severity: 'warning', message }, node.place, { node: index })
    }
  }
  if (building.context.signatures.size > 0) checkCall(proto, node, building)
  resolveInputs(node, building)
  if (proto.attribute.length > 0) {
    const reading = new AttributesOf(node, building)
    node.attributes = readAttributes(proto.attribute, reading)
    if (reading.captures) {
      node.captures = [...reading.captures]
      for (const name of node.captures) if (!scope.own.has(name)) captured.add(name)
    }
  }
  return node
}

/** Reports a call of a model-local function with more inputs or outputs than the function has; fewer are allowed. */
function checkCall({ input, output }: NodeProto, node: Node, { context, report }: Building): void {
  const signature = context.signatures.get(functionKey(node.domain, node.type, node.overload))
  if (signature === undefined) return
  const { inputs, outputs } = signature
  const needed = { node: node.index }
  if (input.length > inputs)
    report(
      { code: 'wrong-input-count', message: `${input.length} inputs are given; the function has ${inputs}` },
      node.place,
      needed
    )
  if (output.length > outputs)
    report(
      { code: 'wrong-output-count', message: `${output.length} outputs are listed; the function has ${outputs}` },
      node.place,
      needed
    )
}

/** Reads the attributes of a node, and notes what the bodies among them capture. */
class AttributesOf implements AttributeContext {
  readonly at: Node
  /** Names that the node's bodies read from the graphs around them. */
  captures?: Set<ValueId>
  private readonly building: Building

  constructor(node: Node, building: Building) {
    this.at = node
    this.building = building
  }

  get context(): FileContext {
    return this.building.context
  }
  get inFunction(): boolean {
    return this.building.inFunction
  }

  readonly report = (problem: Problem): void => this.building.report(problem, this.at.place, { node: this.at.index })

  body(proto: GraphProto, segment: string): Graph {
    const body = this.building.body(proto, `${this.at.index}:${segment}`, this.at)
    for (const name of body.captured) (this.captures ??= new Set()).add(name)
    return body.graph
  }
}

const nameOrNothing = (name: string): ValueId | undefined => (name === '' ? undefined : name)

/**
 * Replaces the names of inputs by the string objects of the graph's scope (see `Scope.own`), notes names that are
 * captured from the graphs around, and reports names that nothing makes.
 */
function resolveInputs(node: FileNode, { scope, captured, report }: Building): void {
  let missing: string[] | undefined
  for (let i = 0; i < node.inputs.length; i++) {
    const name = node.inputs[i]
    if (name === undefined) continue
    const own = scope.own.get(name)
    if (own !== undefined) node.inputs[i] = own.id
    else if (isVisible(scope.outer, name)) captured.add(name)
    else (missing ??= []).push(name)
  }
  if (missing === undefined) return
  const [value] = missing
  const more = missing.length > 1 ? ` (nor ${missing.length - 1} more of its inputs)` : ''
  const message = `it reads "${value}", which nothing makes${more}`
  report({ code: 'missing-producer', message }, { ...node.place, value }, { node: node.index })
}
