import { bindNode } from '../bind/bind.ts'
import type { BoundGraph, Call } from '../bind/call.ts'
import { trimmed } from '../bind/functions.ts'
import { onnxSchema, openvinoSchema, type OpSchema } from '../bind/schema.ts'
import { fail } from '../errors.ts'
import { constantAtHand } from '../graph/constant.ts'
import type { Attribute, Constant, Node, PortMap } from '../graph/graph.ts'
import { inferCall } from '../infer/infer.ts'
import { factBody, propagate } from '../infer/propagate.ts'
import type { BodyPlan, Made, NewAttributes, NewBody, NewNode, Writer } from '../op-kit/conversion.ts'
import type { Body, Op, Parameters } from '../op-kit/define.ts'
import type { Written } from '../op-kit/source-types.ts'
import { type Fact, knownValue, tensorFact } from '../shapes/fact.ts'
import { type DType, is64BitInteger } from '../tensor/dtype.ts'
import { listOf } from '../tensor/elements.ts'
import { type Tensor, withDims } from '../tensor/tensor.ts'
import { attributeOf, isSameAttribute } from './attributes.ts'
import type { NodeWriter } from './node-writer.ts'
import { sayCall } from './say.ts'
import { type MadeValue, type NewNodeEntry, type Scope, valueOf } from './scope.ts'
import { callOf, sayByVersion } from './versions.ts'

/** The opset of nodes that {@link Writer.standard} says in IR. */
const STANDARD_OPSET = 21

/** What a writer needs of whoever converts the source: its bodies, and new ones. */
export interface BodyMaker {
  convert(name: string, plan: BodyPlan, outer: Scope): NewBody
  make(name: string, build: (inner: Writer) => readonly Made[], outer: Scope): NewBody
}

/** The writer that rules get: it adds nodes to one graph, for one call of the source. */
export class GraphWriter implements NodeWriter {
  private readonly scope: Scope
  private readonly bodies: BodyMaker
  /** Name of the source's node, after which new nodes are called. */
  private readonly name: string

  constructor(scope: Scope, name: string, bodies: BodyMaker) {
    this.scope = scope
    this.name = name
    this.bodies = bodies
  }

  get dialect(): Writer['dialect'] {
    return this.scope.making.dialect
  }

  get opset(): number {
    return this.scope.making.opset
  }

  node(type: string, inputs: readonly (Made | undefined)[], attributes?: NewAttributes, how?: NewNode): Made {
    return this.nodes(type, inputs, attributes, how)[0]
  }

  nodes(
    type: string,
    inputs: readonly (Made | undefined)[],
    attributes: NewAttributes = {},
    how: NewNode = {}
  ): readonly Made[] {
    return this.add(type, inputs, attributes, how).values
  }

  /** Adds a node; also returns it as a call, so that its parameters can be compared. */
  add(
    type: string,
    inputs: readonly (Made | undefined)[],
    attributes: NewAttributes,
    how: NewNode
  ): { values: readonly MadeValue[]; call: Call } {
    const { scope } = this
    const { making } = scope
    const given = trimmed(inputs.map(input => input && scope.reach(valueOf(input))))
    if (this.dialect === 'openvino' && given.includes(undefined))
      fail('unsupported-op', `an input of ${type} is left out before others, which IR cannot say`)
    const { version, schema } = this.versionOf(type, how)
    if (lacksInput(schema, given))
      fail('unsupported-op', `${type} of opset ${version} requires an input that is left out`)
    refuseTypes(type, version, schema, given)
    const node: Node = {
      dialect: this.dialect,
      domain: this.dialect === 'openvino' ? 'openvino' : (how.domain ?? 'ai.onnx'),
      type,
      version,
      overload: '',
      name: this.name,
      index: making.count++,
      inputs: given.map(value => value?.id),
      outputs: Array.from({ length: how.outputs ?? 1 }, () => scope.newId()),
      attributes: this.attributesOf(attributes, schema, how.isExplicit),
      captures: [],
      place: { file: making.file, node: this.name, type },
      ...(how.portMaps && { portMaps: portMapsOf(how) })
    }
    const captured = new Set<MadeValue>()
    const call = bindNode(node, making.registry, making.allowance)
    for (const bound of call.bodies.values())
      for (const id of bound.captures) {
        const value = scope.making.values.get(id)
        if (value) captured.add(value)
      }
    const complete: Node = { ...node, captures: [...captured].map(({ id }) => id) }
    const facts = inferCall(
      call,
      given.map(value => value?.fact),
      bound => this.bodyFacts(bound)
    )
    const entry: NewNodeEntry = {
      node: complete,
      order: node.index,
      inputs: given,
      captured: [...captured]
    }
    scope.nodes.push(entry)
    const values = node.outputs.map((id, i) => scope.value(facts[i], { kind: 'node', node: entry }, id))
    return { values, call }
  }

  private bodyFacts(bound: BoundGraph): Body {
    const { facts } = this.scope.making
    const depth = this.scope.depth
    return factBody(
      bound,
      depth,
      id => facts.get(id),
      given => propagate(bound, { ...given, depth: depth + 1 }).facts
    )
  }

  private versionOf(
    type: string,
    { since, domain = 'ai.onnx' }: NewNode
  ): { version: string; schema: OpSchema | undefined } {
    const { making } = this.scope
    if (this.dialect === 'onnx') {
      const opset = domain === 'ai.onnx' ? making.opset : (making.domains.get(domain) ?? 1)
      if (domain !== 'ai.onnx') making.domains.set(domain, opset)
      const schema = onnxSchema(domain, type, opset)
      if (schema === undefined || schema.isExtra) fail('unsupported-op', `${domain} ${opset} has no operator ${type}`)
      if (schema.deprecated) fail('unsupported-op', `${type} is deprecated from version ${schema.version} on`)
      return { version: String(opset), schema }
    }
    if (since !== undefined && since > making.opset)
      fail('unsupported-op', `${type} needs opset${since}; opset${making.opset} is written`)
    for (let opset = since ?? making.opset; opset > 0; opset--) {
      const found = openvinoSchema(type, `opset${opset}`)
      if (found === undefined) continue
      const own = `opset${found.schema.version}`
      const version = openvinoSchema(type, own)?.schema === found.schema ? own : `opset${opset}`
      return { version, schema: found.schema }
    }
    return fail('unsupported-op', `OpenVINO's opset${making.opset} has no operator ${type}`)
  }

  private attributesOf(given: NewAttributes, schema: OpSchema | undefined, isExplicit = false): Map<string, Attribute> {
    const attributes = new Map<string, Attribute>()
    for (const [name, value] of Object.entries(given)) {
      if (value === undefined) continue
      if (isBody(value)) {
        attributes.set(name, { kind: 'graph', value: value.graph })
        continue
      }
      const attribute = attributeOf(this.dialect, name, value, schema)
      const absent = schema?.attributes.get(name)?.absent
      // ONNX leaves defaults out, OpenVINO writes them all.
      if (this.dialect === 'onnx' && !isExplicit && absent && isSameAttribute(absent, attribute)) continue
      attributes.set(name, attribute)
    }
    if (this.dialect === 'openvino')
      for (const [name, { expected, absent }] of schema?.attributes ?? [])
        if (expected && absent && !attributes.has(name)) attributes.set(name, absent)
    return attributes
  }

  op(
    op: Op,
    operands: Readonly<Record<string, Made | readonly Made[] | undefined>>,
    params: Parameters,
    outputs = 1
  ): readonly Made[] {
    return sayByVersion(callOf(op, operands, params, outputs), this)
  }

  standard(
    type: string,
    inputs: readonly (Made | undefined)[],
    attributes: NewAttributes = {},
    outputs = 1
  ): readonly Made[] {
    if (this.dialect === 'onnx') return this.nodes(type, inputs, attributes, { outputs })
    const { making } = this.scope
    const given = trimmed(inputs)
    const version = String(STANDARD_OPSET)
    const schema = onnxSchema('ai.onnx', type, STANDARD_OPSET)
    const written = Object.entries(attributes).flatMap(([name, value]): [string, Attribute][] =>
      value === undefined || isBody(value) ? [] : [[name, attributeOf('onnx', name, value, schema)]]
    )
    const node: Node = {
      dialect: 'onnx',
      domain: 'ai.onnx',
      type,
      version,
      overload: '',
      name: this.name,
      index: making.count++,
      inputs: given.map(value => value?.id),
      outputs: Array.from({ length: outputs }, () => this.scope.newId()),
      attributes: new Map(written),
      captures: [],
      place: { file: making.file, node: this.name, type }
    }
    const call = bindNode(node, making.registry, making.allowance)
    const results = inferCall(
      call,
      given.map(value => value?.fact),
      () => fail('internal', 'a node without bodies has one')
    )
    const values = sayCall(call, given, results, making.conversions, this)
    return values.map((value, i) => value ?? fail('unsupported-op', `nothing gives output ${i} of ${type}`))
  }

  reshape(value: Made, dims: readonly number[]): Made {
    const shape = this.constant('int64', dims)
    return this.dialect === 'onnx'
      ? this.node('Reshape', [value, shape])
      : this.node('Reshape', [value, shape], { special_zero: true }, { since: 1 })
  }

  constant(
    type: DType,
    data: readonly (number | bigint | boolean | string)[],
    dims: readonly number[] = [data.length]
  ): Made {
    const elements = data.map(item => (is64BitInteger(type) ? BigInt(item) : item))
    const tensor = withDims(listOf(type, elements), dims)
    const constant = this.constantAtHand(tensor)
    const key =
      data.length > 16
        ? undefined
        : `${type} ${dims.join()} ${data.map(item => (Object.is(item, -0) ? '-0' : `${item}`)).join('\0')}`
    return this.scope.constant(constant, tensorFact(type, dims, tensor), key)
  }

  private constantAtHand(tensor: Tensor): Constant {
    return constantAtHand(tensor, { file: this.scope.making.file, node: this.name })
  }

  keep(constant: Constant): Made {
    return this.scope.constant(constant)
  }

  scalar(type: DType, value: number | bigint | boolean | string): Made {
    return this.constant(type, [value], [])
  }

  cast(value: Made, type: DType): Made {
    if (value.fact.kind === 'tensor' && value.fact.type === type) return value
    return this.dialect === 'onnx'
      ? this.node('Cast', [value], { to: { dtype: type } })
      : this.node('Convert', [value], { destination_type: { dtype: type } }, { since: 1 })
  }

  input(fact: Fact, name?: string): Made {
    return this.scope.input(fact, name === undefined ? [] : [name])
  }

  constantOf(value: Made): Constant | undefined {
    const { origin, fact } = valueOf(value)
    if ('constant' in origin) return origin.constant
    const known = fact.kind === 'tensor' ? knownValue(fact) : undefined
    return known && this.constantAtHand(known)
  }

  carried(name: string, fact: Fact, first: Constant): Made {
    const { root, making } = this.scope
    const entry = making.carried.get(name) ?? {}
    making.carried.set(name, entry)
    if (entry.input === undefined) {
      entry.input = root.input(fact, [name])
      root.defaults.set(entry.input, first)
    }
    return this.scope.reach(entry.input)
  }

  carriesOn(name: string, value: Made): void {
    const { carried } = this.scope.making
    if (this.scope.parent !== undefined) fail('unsupported-op', `a body assigns the variable "${name}"`)
    carried.set(name, { ...carried.get(name), next: valueOf(value) })
  }

  body(name: string, plan: BodyPlan): NewBody {
    return this.bodies.convert(name, plan, this.scope)
  }

  block(name: string, build: (inner: Writer) => readonly Made[]): NewBody {
    return this.bodies.make(name, build, this.scope)
  }
}

/**
 * Refuses inputs of types that an operator version of ONNX does not have: those that came later have no casts either.
 * @throws NodewiseError `unsupported-op`
 */
function refuseTypes(
  type: string,
  version: string,
  schema: OpSchema | undefined,
  inputs: readonly (MadeValue | undefined)[]
): void {
  const ports = schema?.inputs ?? []
  inputs.forEach((input, i) => {
    const own = input?.fact.kind === 'tensor' ? input.fact.type : undefined
    const port = ports.at(Math.min(i, ports.length - 1))
    if (own !== undefined && port !== undefined && !port.types.has(own))
      fail('unsupported-op', `${type} of opset ${version} takes no ${own}`)
  })
}

const isBody = (value: Written | NewBody | undefined): value is NewBody =>
  typeof value === 'object' && !Array.isArray(value) && 'graph' in value

/**
 * Whether an operator version requires an input that a node leaves out. Nodewise reads such nodes where another version
 * gives them a meaning; `onnx.checker` and ONNX Runtime do not.
 */
export const lacksInput = (schema: OpSchema | undefined, inputs: readonly unknown[]): boolean =>
  schema?.inputs?.some(({ kind }, i) => kind === 'single' && inputs[i] === undefined) ?? false

const portMapsOf = ({ portMaps, backEdges = [] }: NewNode): Map<string, PortMap> =>
  new Map(
    [...(portMaps ?? [])].map(([body, entries]) => [body, { entries, backEdges: body === 'body' ? backEdges : [] }])
  )
