import { bind, placeOf } from '../bind/bind.ts'
import { type BoundGraph, type Call, isCall } from '../bind/call.ts'
import { allowanceOf } from '../bind/expand.ts'
import type { Registry } from '../bind/registry.ts'
import { fail, NodewiseError, reasonOf } from '../errors.ts'
import type { Dialect, Model, Node, ValueId } from '../graph/graph.ts'
import { propagate, type Propagation } from '../infer/propagate.ts'
import type { BodyPlan, Conversions, Made, NewBody } from '../op-kit/conversion.ts'
import { type Fact, UNKNOWN_TENSOR } from '../shapes/fact.ts'
import { finishGraph, named, type OutputPort } from './finish.ts'
import { modelOf } from './model.ts'
import { convertInputs, convertOutputs, portsOfNoRank } from './ports.ts'
import { checkType, sayCall } from './say.ts'
import { type MadeValue, type Making, neededBy, type Refusal, Scope, valueOf } from './scope.ts'
import { type BodyMaker, GraphWriter } from './writer.ts'

/** Opsets that are written where nothing else is asked for, and those that nodes may need besides. */
const OPSETS = { onnx: [21, 23, 24], openvino: [15, 16, 17] } as const

/**
 * Says a model in the other dialect. Values keep their names, types and dims.
 * @param conversions what families of operators know of it besides their operator versions
 * @param opset ONNX: the opset to write. IR: the newest opset that layers may name
 * @throws NodewiseError `unsupported-op` where the other dialect cannot say nodes that outputs need; `details.nodes`
 *   lists each with the reason. `invalid-graph` for a model that is not sound
 */
export function inDialect(
  model: Model,
  to: Dialect,
  registry: Registry,
  conversions: Conversions,
  opset?: number
): Model {
  if (model.dialect === to) return model
  const fault = model.graph.findings.find(({ severity }) => severity === 'error')
  if (fault)
    throw new NodewiseError(
      fault.code === 'unknown-op' ? 'unsupported-op' : 'invalid-graph',
      fault.message,
      fault.place
    )
  const source = propagate(bind(model, registry))
  let least: Attempt | undefined
  for (const one of opset === undefined ? OPSETS[to] : [opset]) {
    const attempt = new Attempt(model, to, registry, conversions, one, source)
    if (attempt.refusals.length === 0) return attempt.model()
    // A newer opset is worth it only if it says more.
    if (least === undefined || attempt.refusals.length < least.refusals.length) least = attempt
  }
  return refuse(to, least?.refusals ?? [])
}

/** Nodes that a message names; `details` has them all. */
const MAX_NAMED = 100

const omitted = (count: number): string => (count > MAX_NAMED ? ` and ${count - MAX_NAMED} more` : '')

function refuse(to: Dialect, refusals: readonly Refusal[]): never {
  const nodes = refusals.map(({ node, reason, graphPath }) => ({
    node: node.name,
    type: node.type,
    ...(node.dialect === 'openvino' ? { layer: node.layer } : { nodeIndex: node.index }),
    ...(graphPath !== '' && { graphPath }),
    reason
  }))
  const [{ node, reason }] = refusals
  const others = refusals.slice(1).map(({ node: other }) => `${other.type} "${other.name}"`)
  const more = others.length > 0 ? `; nor can ${others.slice(0, MAX_NAMED).join(', ')}${omitted(others.length)}` : ''
  const target = to === 'onnx' ? 'ONNX' : 'OpenVINO IR'
  throw new NodewiseError('unsupported-op', `this cannot be said in ${target}: ${reason}${more}`, placeOf(node), {
    nodes
  })
}

/** Values of the source by id, as values of the new graph; those of graphs around too. */
type Environment = Map<ValueId, MadeValue>

/** A graph of the source, and the one that it becomes. */
interface Region {
  readonly facts: Propagation
  readonly scope: Scope
  readonly environment: Environment
}

/** A conversion to one opset. */
class Attempt {
  readonly refusals: readonly Refusal[]
  private readonly source: Model
  private readonly making: Making
  private readonly root: Scope
  private readonly outputs: readonly MadeValue[]
  /** ONNX: what goes on to the next run. */
  private readonly carried: readonly { readonly port: OutputPort; readonly value: MadeValue }[]
  constructor(
    source: Model,
    dialect: Dialect,
    registry: Registry,
    conversions: Conversions,
    opset: number,
    facts: Propagation
  ) {
    this.source = source
    this.making = {
      dialect,
      registry,
      conversions,
      opset,
      file: source.file,
      allowance: allowanceOf(source.limits, source.graph.nodes.length),
      facts: new Map(),
      values: new Map(),
      domains: new Map(),
      carried: new Map(),
      count: 0
    }
    this.root = new Scope(this.making)
    const region: Region = { facts, scope: this.root, environment: new Map() }
    const w = this.writer('', region)
    convertInputs(source, facts, region.environment, this.root, w)
    this.nodes(region)
    this.outputs = convertOutputs(source, id => this.valueAt(id, region), w)
    // A variable that no node reads is not reported.
    this.carried = [...this.making.carried].flatMap(([name, { input, next }]) =>
      input && next ? [{ port: { name: `${name}/next`, aliases: [] }, value: next }] : []
    )
    this.refusals = this.refused()
  }

  model(): Model {
    const outputs = [...this.outputs, ...this.carried.map(({ value }) => value)]
    const ports = [...this.source.graph.outputs, ...this.carried.map(({ port }) => port)]
    const graph = finishGraph(this.root, outputs, ports)
    return modelOf(this.source, named(graph, this.making.values), this.making)
  }

  /** All that outputs need and that cannot be said, those of bodies too. */
  private refused(): Refusal[] {
    const { refusals } = neededBy(
      [...this.outputs, ...this.carried.map(({ value }) => value), ...this.root.sinks],
      this.root
    )
    const open = portsOfNoRank(this.source, this.root.inputs, this.outputs)
    return [...refusals, ...open].sort((a, b) => a.node.index - b.node.index)
  }

  private nodes(region: Region): void {
    const { facts } = region
    const failures = new Map(facts.failures.map(({ node, error }) => [node, error]))
    for (const item of facts.bound.items) {
      const failure = failures.get(item.node)
      const inputs = (): (MadeValue | undefined)[] =>
        item.node.inputs.map(id => (id === undefined ? undefined : this.valueAt(id, region)))
      if (failure || !isCall(item)) {
        const error = failure ?? (item as { error: NodewiseError }).error
        this.refuse(item.node, error.reason, inputs(), region)
      } else this.call(item, inputs(), region)
    }
  }

  private call(call: Call, inputs: readonly (MadeValue | undefined)[], region: Region): void {
    const { facts, scope } = region
    const results = call.outputs.map(id =>
      id === undefined ? UNKNOWN_TENSOR : (facts.facts.get(id) ?? UNKNOWN_TENSOR)
    )
    try {
      const w = this.writer(call.node.name, region, call)
      const values = sayCall(call, inputs, results, this.making.conversions, w)
      call.outputs.forEach((id, i) => {
        if (id === undefined) return
        const made = values[i] ?? fail('unsupported-op', `nothing gives output ${i}`)
        checkType(made.fact, results[i])
        this.keep(id, valueOf(made), region)
      })
      if (this.making.dialect === 'openvino' && call.op.name === 'Assign')
        scope.sinks.push(...values.flatMap(value => (value ? valueOf(value) : [])))
    } catch (error) {
      if (!(error instanceof NodewiseError) && !(error instanceof RangeError)) throw error
      this.refuse(call.node, reasonOf(error), inputs, region)
    }
  }

  private refuse(node: Node, reason: string, inputs: readonly (MadeValue | undefined)[], region: Region): void {
    const { facts, bound } = region.facts
    const refusal: Refusal = { node, reason, graphPath: bound.graph.path }
    const needs = inputs.filter(input => input !== undefined)
    for (const id of node.outputs)
      if (id !== undefined)
        this.keep(
          id,
          region.scope.value(facts.get(id) ?? UNKNOWN_TENSOR, { kind: 'refused', refusal, inputs: needs }),
          region
        )
  }

  /** Notes which new value a value of the source is, and gives it the source's names. */
  private keep(id: ValueId, made: MadeValue, { facts, environment }: Region): void {
    environment.set(id, made)
    const names = facts.bound.graph.values.get(id)?.names
    if (made.names.length === 0 && names) made.names = names
  }

  private valueAt(id: ValueId, region: Region): MadeValue {
    const { facts, scope, environment } = region
    const known = environment.get(id)
    if (known) return known
    const constant = facts.bound.constants.get(id)
    if (constant === undefined) return fail('invalid-graph', `nothing makes the value "${id}"`)
    const fact = facts.facts.get(id)
    try {
      const made = scope.constant(constant, fact)
      this.keep(id, made, region)
      return made
    } catch (error) {
      // Initializers of ONNX have no node: the refusal names one that reads it.
      const { nodes } = facts.bound.graph
      const node = nodes.find(({ outputs }) => outputs.includes(id)) ?? nodes.find(({ inputs }) => inputs.includes(id))
      if (!(error instanceof NodewiseError) || node === undefined) throw error
      const refusal: Refusal = { node, reason: error.reason, graphPath: facts.bound.graph.path }
      const made = scope.value(fact ?? UNKNOWN_TENSOR, { kind: 'refused', refusal, inputs: [], constant })
      this.keep(id, made, region)
      return made
    }
  }

  private writer(name: string, region: Region, call?: Call): GraphWriter {
    const bodies: BodyMaker = {
      convert: (parameter, plan, outer) =>
        this.body(call?.bodies.get(parameter), plan, { ...region, scope: outer }, parameter),
      make: (parameter, build, outer) => {
        const inner = this.inside(outer, parameter)
        return this.finished(inner, build(new GraphWriter(inner, name, bodies)))
      }
    }
    return new GraphWriter(region.scope, name, bodies)
  }

  private body(bound: BoundGraph | undefined, plan: BodyPlan, outer: Region, parameter: string): NewBody {
    if (bound === undefined) fail('missing-attribute', `the body ${parameter} is missing`)
    const captured = new Map<ValueId, Fact>(bound.captures.map(id => [id, outer.facts.facts.get(id) ?? UNKNOWN_TENSOR]))
    const facts = outer.facts.bodies.get(bound) ?? propagate(bound, { captured, depth: outer.scope.depth + 1 })
    const inner = this.inside(outer.scope, parameter)
    const own: Region = { facts, scope: inner, environment: new Map() }
    for (const id of bound.captures) own.environment.set(id, this.valueAt(id, outer))
    const w = this.writer('', own)
    plan.inputs(w).forEach((made, i) => {
      if (made) this.keep(bound.graph.inputs[i].value, valueOf(made), own)
    })
    this.nodes(own)
    const results = bound.graph.outputs.map(({ value }) => this.valueAt(value, own))
    return this.finished(inner, plan.outputs(results, w), parameter)
  }

  /** The scope of a body. */
  private inside(scope: Scope, parameter: string): Scope {
    const path = `${scope.path === '' ? '' : `${scope.path}/`}${this.making.count}:${parameter}`
    return new Scope(this.making, scope, path)
  }

  private finished(inner: Scope, results: readonly Made[], parameter = ''): NewBody {
    const outputs = results.map(made => inner.reach(valueOf(made)))
    const { refusals } = neededBy([...outputs, ...inner.sinks], inner)
    for (const refusal of refusals)
      throw new NodewiseError(
        'unsupported-op',
        `${parameter}: ${refusal.node.type} "${refusal.node.name}": ${refusal.reason}`
      )
    const graph = finishGraph(inner, outputs)
    const imports = [...inner.imports].map(([from, to]) => ({ outer: from, parameter: inner.inputs.indexOf(to) }))
    return { graph, imports }
  }
}
