import { bindNode } from '../bind/bind.ts'
import { type Call, isCall, type Unbound } from '../bind/call.ts'
import { allowanceOf } from '../bind/expand.ts'
import { onnxSchema, openvinoSchema } from '../bind/schema.ts'
import { fail, NodewiseError, reasonOf } from '../errors.ts'
import { derive } from '../graph/derive.ts'
import type { Attribute, Constant, Graph, GraphValue, Model, Node, ValueId } from '../graph/graph.ts'
import { inferCall } from '../infer/infer.ts'
import { propagate, type Propagation } from '../infer/propagate.ts'
import { UNKNOWN_TENSOR } from '../shapes/fact.ts'
import { isFloat } from '../tensor/dtype.ts'
import { declarationOf, declaredIn } from './declare.ts'
import { type Change, nodeName, withBodies, withNodes } from './edits/nodes.ts'
import { NewParts } from './edits/parts.ts'
import { isSameParameter } from './equal.ts'
import { checkType, sayCall } from './say.ts'
import { type MadeValue, type Making, neededBy, Scope, valueOf } from './scope.ts'
import { GraphWriter, lacksInput } from './writer.ts'

/** A node that another operator set cannot say. */
export interface Unsaid {
  readonly node: string
  readonly reason: string
}

/**
 * Says nodes of a model in another operator set of its dialect, in place: a node that means the same there stays, any
 * other is said by the operator versions of that set and by rules, as in a conversion to the other dialect.
 */
export class Restating {
  readonly refused: Unsaid[] = []
  readonly changed: Change[] = []
  private readonly making: Making
  private readonly known: ReadonlyMap<Graph, Propagation>
  private readonly taken: Set<ValueId>

  constructor(
    model: Model,
    known: ReadonlyMap<Graph, Propagation>,
    parts: Pick<Making, 'opset' | 'registry' | 'conversions'>,
    taken: Set<ValueId>
  ) {
    const { dialect, file, limits, graph } = model
    this.known = known
    this.taken = taken
    this.making = {
      dialect,
      ...parts,
      file,
      allowance: allowanceOf(limits, graph.nodes.length),
      facts: new Map(),
      values: new Map(),
      domains: new Map([...model.opsets].filter(([domain]) => domain !== 'ai.onnx')),
      carried: new Map(),
      count: 0
    }
  }

  graph(graph: Graph, known = this.known.get(graph)): Graph {
    const items = new Map((known?.bound.items ?? []).map(item => [item.node, item]))
    const edit = new GraphEdit(graph, this.making, known, this.taken)
    for (const node of graph.nodes) {
      const item = items.get(node)
      const inner = withBodies(node, body => this.graph(body, this.factsOf(body, item, known)))
      const moved = this.moved(inner)
      if (moved === undefined) edit.keep(inner)
      else if (item !== undefined && isCall(item)) {
        if (edit.isSame(item, moved)) edit.keep(moved)
        else this.say(item, edit)
      } else if (known?.bound.constants.has(node.outputs[0] ?? '')) this.keepConstant(moved, known, edit)
      else this.refuse(node, item?.error.reason ?? 'it is not known what it computes')
    }
    return edit.finish()
  }

  /** What is known of a body; of one that never runs, such as a branch not taken, it is worked out here. */
  private factsOf(body: Graph, item: Call | Unbound | undefined, outer: Propagation | undefined) {
    const known = this.known.get(body)
    if (known || item === undefined || !isCall(item)) return known
    const bound = [...item.bodies.values()].find(one => one.graph === body)
    if (bound === undefined) return undefined
    const captured = new Map(bound.captures.map(id => [id, outer?.facts.get(id) ?? UNKNOWN_TENSOR]))
    return propagate(bound, { captured, depth: body.path.split('/').length })
  }

  /** Constant held floating-point numbers alone before opset 9: others become initializers, but for outputs. */
  private keepConstant(node: Node, known: Propagation, edit: GraphEdit): void {
    const { graph, constants } = known.bound
    const [output = ''] = node.outputs
    const constant = constants.get(output)
    const isOutput = graph.outputs.some(({ value }) => value === output)
    if (this.making.opset >= 9 || constant === undefined || isFloat(constant.type) || isOutput)
      return edit.keep(this.constant(node, known))
    edit.hold(output, constant)
    this.changed.push({ node: nodeName(node), how: `is an initializer in opset ${this.making.opset}` })
  }

  /** Constant with the one attribute that all versions have, where another is too new. */
  private constant(node: Node, { bound }: Propagation): Node {
    const schema = onnxSchema(node.domain, node.type, this.making.opset)
    const constant = bound.constants.get(node.outputs[0] ?? '')
    if (constant === undefined || [...node.attributes.keys()].every(name => schema?.attributes.has(name))) return node
    return derive(node, { attributes: new Map<string, Attribute>([['value', { kind: 'tensor', value: constant }]]) })
  }

  private refuse(node: Node, reason: string): void {
    this.refused.push({ node: nodeName(node), reason })
  }

  /** A node that names the new operator set; undefined where it is of a set of its own, or need not. */
  private moved(node: Node): Node | undefined {
    const { dialect, opset } = this.making
    if (dialect === 'onnx') return node.domain === 'ai.onnx' ? derive(node, { version: String(opset) }) : undefined
    const own = Number(/^opset(\d+)$/.exec(node.version)?.[1] ?? 0)
    return own > opset ? derive(node, { version: `opset${opset}` }) : undefined
  }

  private say(call: Call, edit: GraphEdit): void {
    try {
      edit.say(call)
      this.changed.push({ node: nodeName(call.node), how: `is said in opset ${this.making.opset}` })
    } catch (error) {
      if (!(error instanceof NodewiseError) && !(error instanceof RangeError)) throw error
      this.refuse(call.node, reasonOf(error))
    }
  }
}

/** Whether two versions of an operator take the same parameters from attributes alone, which are then compared. */
const haveSameSources = (a: Call, b: Call): boolean =>
  a.op === b.op &&
  a.opVersion.in === b.opVersion.in &&
  [a, b].every(({ opVersion: { bind } }) => Object.values(bind).every(({ kind }) => !['input', 'body'].includes(kind)))

/**
 * Whether one source reads a parameter from the same attributes for two versions of an operator: what it makes of them,
 * such as a function, need not be comparable.
 */
function isReadAlike(name: string, a: Call, b: Call): boolean {
  const { [name]: source } = a.opVersion.bind
  if (source !== b.opVersion.bind[name] || (source.kind !== 'attribute' && source.kind !== 'derive')) return false
  const attributes = [a, b].flatMap(({ schema }) => [...(schema?.attributes.keys() ?? [])])
  return attributes.every(attribute => {
    if (a.node.attributes.has(attribute)) return true
    const [absent, other] = [a, b].map(({ schema }) => schema?.attributes.get(attribute)?.absent)
    return isSameParameter(absent, other)
  })
}

/** A graph some of whose nodes are replaced. */
class GraphEdit {
  private readonly graph: Graph
  private readonly making: Making
  private readonly known: Propagation | undefined
  private readonly scope: Scope
  private readonly parts: NewParts
  private readonly inputs = new Map<ValueId, MadeValue>()
  /** Values of the file that are other values now. */
  private readonly renamed = new Map<ValueId, ValueId>()
  private readonly constants = new Map<ValueId, Constant>()
  /** Passing ids of the scope, as ids of the graph. */
  private readonly ids = new Map<ValueId, ValueId>()
  private readonly nodes: Node[] = []
  private isChanged = false

  constructor(graph: Graph, making: Making, known: Propagation | undefined, taken: Set<ValueId>) {
    this.graph = graph
    this.making = making
    this.known = known
    this.scope = new Scope(making)
    this.parts = new NewParts(graph, taken)
  }

  keep(node: Node): void {
    const isRenamed = node.inputs.some(id => id !== undefined && this.renamed.has(id))
    const inputs = node.inputs.map(id => (id === undefined ? undefined : (this.renamed.get(id) ?? id)))
    this.nodes.push(isRenamed ? derive(node, { inputs }) : node)
    if (this.graph.nodes[node.index] !== this.nodes.at(-1)) this.isChanged = true
  }

  /** A constant takes the place of the node that makes a value. */
  hold(id: ValueId, constant: Constant): void {
    this.constants.set(id, constant)
    this.isChanged = true
  }

  /** Whether a node means in the new operator set what it means in its own. */
  isSame(call: Call, moved: Node): boolean {
    try {
      const { dialect, opset, registry, allowance } = this.making
      const schema =
        dialect === 'onnx'
          ? onnxSchema(moved.domain, moved.type, opset)
          : openvinoSchema(moved.type, moved.version)?.schema
      if (schema === undefined || schema.deprecated || schema.isExtra || lacksInput(schema, moved.inputs)) return false
      const other = bindNode(moved, registry, allowance)
      if (other.opVersion !== call.opVersion && !haveSameSources(call, other)) return false
      const differs = ([name, value]: readonly [string, unknown]): boolean =>
        !isSameParameter(other.known[name], value) && !isReadAlike(name, call, other)
      if (Object.entries(call.known).some(differs)) return false
      if (other.bodies.size > 0) return true
      inferCall(
        other,
        moved.inputs.map(id => (id === undefined ? undefined : this.factOf(id))),
        () => fail('internal', 'a node without bodies has one')
      )
      return true
    } catch (error) {
      if (error instanceof NodewiseError) return false
      throw error
    }
  }

  private factOf(id: ValueId) {
    return this.known?.facts.get(id) ?? UNKNOWN_TENSOR
  }

  private inputOf(id: ValueId): MadeValue {
    const known = this.inputs.get(id)
    if (known) return known
    const made = this.scope.value(this.factOf(id), { kind: 'input' }, this.renamed.get(id) ?? id)
    this.inputs.set(id, made)
    return made
  }

  /** @throws NodewiseError `unsupported-op` */
  say(call: Call): void {
    const { node } = call
    const inputs = node.inputs.map(id => (id === undefined ? undefined : this.inputOf(id)))
    const results = node.outputs.map(id => (id === undefined ? UNKNOWN_TENSOR : this.factOf(id)))
    const { dialect, conversions } = this.making
    const bodies = (name: string): never => fail('unsupported-op', `the body ${name}`)
    const w = new GraphWriter(this.scope, node.name, { convert: bodies, make: bodies })
    const rules = conversions.rules.filter(({ isWithin }) => isWithin)
    const said = sayCall(call, inputs, results, { ...conversions, rules }, w)
    const outputs = new Map<ValueId, MadeValue>()
    node.outputs.forEach((id, i) => {
      if (id === undefined) return
      const made = valueOf(said[i] ?? fail('unsupported-op', `nothing gives output ${i}`))
      checkType(made.fact, results[i])
      const isTaken = made.origin.kind !== 'node' || [...outputs.values()].includes(made) || this.ids.has(made.id)
      if (dialect === 'openvino' && isTaken) this.renamed.set(id, this.idOf(made, node))
      else outputs.set(id, isTaken ? valueOf(w.node('Identity', [made])) : made)
    })
    for (const [id, made] of outputs) this.ids.set(made.id, id)
    this.add(node, neededBy([...outputs.values()], this.scope))
  }

  private add(replaced: Node, { nodes, values }: ReturnType<typeof neededBy>): void {
    this.isChanged = true
    for (const value of values) {
      const { origin } = value
      if (origin.kind === 'constant') this.constants.set(this.idOf(value, replaced), origin.constant)
    }
    const { name, outputs } = replaced
    const idsOf = (ids: readonly (ValueId | undefined)[]): (ValueId | undefined)[] =>
      ids.map(id => (id === undefined ? undefined : this.idOf(this.making.values.get(id)!, replaced)))
    let isReplaced = false
    for (const { node } of nodes) {
      const { type, version, domain, attributes } = node
      const parts = { type, version, domain, attributes, inputs: idsOf(node.inputs), outputs: idsOf(node.outputs) }
      const isOwn = parts.outputs.some(id => id !== undefined && outputs.includes(id))
      // What else the file says of the node, such as its doc string, stays with that which takes its place.
      if (isOwn && !isReplaced && node.dialect === 'onnx') this.nodes.push(derive(replaced, parts))
      else this.nodes.push(this.parts.node({ ...parts, name: isOwn || name === '' ? name : `${name}/${type}` }))
      isReplaced ||= isOwn
    }
  }

  /** The id in the graph of a value of the scope. */
  private idOf({ id, origin, fact }: MadeValue, { name, outputs }: Node): ValueId {
    if (origin.kind === 'input') return id
    const known = this.ids.get(id)
    if (known !== undefined) return known
    const base = name === '' ? (outputs.find(output => output !== undefined) ?? '') : name
    const kind = origin.kind === 'node' ? origin.node.node.type : 'constant'
    const fresh = this.parts.value(`${base}/${kind}`, declaredIn(this.making.dialect, declarationOf(fact)))
    this.ids.set(id, fresh)
    return fresh
  }

  finish(): Graph {
    if (!this.isChanged) return this.graph
    const values = new Map<ValueId, GraphValue>([...this.graph.values, ...this.parts.values])
    if (this.making.dialect === 'onnx') {
      const initializers = new Map([...this.graph.initializers, ...this.constants])
      return withNodes(this.graph, this.nodes, { initializers, values })
    }
    const constants = [...this.constants].map(([id, constant]) => this.parts.layer('Const', id, [], [id], { constant }))
    const outputs = this.graph.outputs.map(port => {
      const value = this.renamed.get(port.value)
      return value === undefined ? port : derive(port, { value })
    })
    return withNodes(this.graph, [...constants, ...this.nodes], { values, outputs })
  }
}
