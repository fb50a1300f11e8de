import type { Place } from '../errors.ts'
import type { Attribute, Graph, Node, ValueId } from '../graph/graph.ts'
import { type AttributeContext, readAttributes } from './attributes.ts'
import { type Building, isVisible } from './building.ts'
import type { FileContext, Problem } from './context.ts'
import type { GraphProto, NodeProto } from './schema.js'

/** ONNX's own domain has two spellings; everywhere in this program it is `ai.onnx`. */
export const domainName = (domain: string): string => (domain === '' ? 'ai.onnx' : domain)

/** The key of a function in {@link Model.functions}. */
export const functionKey = (domain: string, name: string, overload: string): string => `${domain}::${name}::${overload}`

/** Shared by all nodes that have none. */
const NO_ATTRIBUTES: ReadonlyMap<string, Attribute> = new Map()
const NO_CAPTURES: readonly ValueId[] = []

/** A node. Its place is made when it is asked for: a large file has many nodes and few faults. */
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
  attributes = NO_ATTRIBUTES
  captures = NO_CAPTURES
  /** Place of the graph. */
  private readonly around: Place

  constructor(proto: NodeProto, index: number, domain: string, version: string, around: Place) {
    this.domain = domain
    this.type = proto.op_type
    this.version = version
    this.overload = proto.overload
    this.name = proto.name
    this.index = index
    this.inputs = proto.input.includes('') ? proto.input.map(nameOrNothing) : proto.input
    this.outputs = proto.output.includes('') ? proto.output.map(nameOrNothing) : proto.output
    this.around = around
  }

  get place(): Place {
    const { name, index, type, domain, version } = this
    const place: Place = { ...this.around }
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
  const version = opsets.get(domain)?.toString() ?? ''
  const node = new FileNode(proto, index, domain, version, building.place)
  // Where nothing is imported at all, that is one finding of the model.
  if (version === '' && opsets.size > 0) {
    const message = `the model imports no operator set of its domain "${domain}"`
    building.report({ code: 'missing-opset', message }, node.place, { node: index })
  }
  if (building.context.signatures.size > 0) checkCall(proto, node, building)
  tieInputs(node, building)
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

/** A call may leave out inputs and outputs of its function at the end, and give no more than it has. */
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

/** What reading a node's attributes needs of it. */
class AttributesOf implements AttributeContext {
  readonly at: Node
  /** Names that the node's bodies read from outside. */
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

  body(proto: GraphProto, step: string): Graph {
    const body = this.building.body(proto, `${this.at.index}:${step}`)
    for (const name of body.captured) (this.captures ??= new Set()).add(name)
    return body.graph
  }
}

const nameOrNothing = (name: string): ValueId | undefined => (name === '' ? undefined : name)

/**
 * Ties inputs to the names that the graph makes, notes those that come from the graphs around, and reports those that
 * nothing makes.
 */
function tieInputs(node: FileNode, { scope, captured, report }: Building): void {
  let missing: string[] | undefined
  for (let i = 0; i < node.inputs.length; i++) {
    const name = node.inputs[i]
    if (name === undefined) continue
    const own = scope.own.get(name)
    if (own !== undefined) node.inputs[i] = own
    else if (isVisible(scope.outer, name)) captured.add(name)
    else (missing ??= []).push(name)
  }
  if (missing === undefined) return
  const [value] = missing
  const more = missing.length > 1 ? ` (nor ${missing.length - 1} more of its inputs)` : ''
  const message = `it reads "${value}", which nothing makes${more}`
  report({ code: 'missing-producer', message }, { ...node.place, value }, { node: node.index })
}
