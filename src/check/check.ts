import { bind } from '../bind/bind.ts'
import { type Call, isCall } from '../bind/call.ts'
import { declaredFact } from '../bind/declared.ts'
import { createRegistry } from '../bind/registry.ts'
import { fail } from '../errors.ts'
import { allGraphs, type DeclaredDim, type DeclaredType, type Finding, type Graph, type Model, type ValueId } from '../graph/graph.ts'
import type { Op } from '../ops/define.ts'
import { ALL_OPS } from '../ops/index.ts'
import { printDim } from '../shapes/dim.ts'
import type { Fact, TensorFact } from '../shapes/fact.ts'
import { dtypeName } from '../tensor/dtype.ts'
import { printDeclared } from './compare.ts'
import { precisionNotes } from './precision.ts'
import type { CheckedValue, CheckResult } from './result.ts'
import { withDeadLayers } from './structure.ts'
import { checkGraph, type GraphCheck } from './walk.ts'

export interface CheckOptions {
  /** Dims of inputs by name, instead of what the file declares; text is a name that all dims of that name share. */
  readonly inputShapes?: ReadonlyMap<string, readonly DeclaredDim[]>
  readonly ops?: readonly Op[]
  /** Also note declarations that say less than what is known. */
  readonly strict?: boolean
}

/**
 * Holds what a model declares against what follows from its inputs, constants and attributes.
 * @throws NodewiseError `unexpected-input` when `inputShapes` names no input, `limit-exceeded` from expansion of functions
 */
export function check(model: Model, options: CheckOptions = {}): CheckResult {
  const bound = bind(model, createRegistry([...ALL_OPS, ...options.ops ?? []]))
  const result = checkGraph(bound, { inputs: inputFacts(model, options.inputShapes) })
  const found: Collected = { findings: [...allGraphs(model)].flatMap(graph => graph.findings), values: [], unverified: 0 }
  collect(result, found)
  // What is not proved may be so only because of a fault.
  if (!found.findings.some(({ severity }) => severity === 'error')) addPrecision(result, options.strict === true, found.findings)
  const { values, unverified } = found
  const located = withDeadLayers(model, found.findings).sort(byPlace).map(finding => ({ ...finding, place: model.locate(finding.place) }))
  return {
    findings: located,
    values,
    summary: {
      errors: located.filter(({ severity }) => severity === 'error').length,
      warnings: located.filter(({ severity }) => severity === 'warning').length,
      nodes: [...allGraphs(model)].reduce((sum, graph) => sum + graph.nodes.length, 0),
      values: values.length,
      unknownShapes: values.filter(({ dims }) => dims === undefined).length,
      unverified
    }
  }
}

function inputFacts(model: Model, shapes: CheckOptions['inputShapes']): Map<ValueId, Fact> {
  const facts = new Map<ValueId, Fact>()
  for (const [name, dims] of shapes ?? []) {
    const port = model.graph.inputs.find(input => input.name === name) ?? model.graph.inputs.find(input => input.aliases.includes(name))
    if (!port) fail('unexpected-input', `the model has no input "${name}"; it has ${model.graph.inputs.map(input => `"${input.name}"`).join(', ') || 'none'}`)
    const declared = port.declared ?? model.graph.values.get(port.value)?.declared
    const type = declared?.kind === 'tensor' ? declared.type : undefined
    facts.set(port.value, declaredFact({ kind: 'tensor', dims, ...(type && { type }) }, true))
  }
  return facts
}

interface Collected {
  readonly findings: Finding[]
  readonly values: CheckedValue[]
  unverified: number
}

function collect(result: GraphCheck, into: Collected): void {
  const { bound } = result
  for (const finding of result.findings) into.findings.push(finding)
  for (const item of bound.items) if (isCall(item)) into.findings.push(...absentAttributes(item))
  for (const value of listValues(bound.graph, result.values, result.notes)) into.values.push(value)
  into.unverified += result.unverified
  for (const body of result.bodies) collect(body, into)
}

function addPrecision(result: GraphCheck, strict: boolean, findings: Finding[]): void {
  for (const finding of precisionNotes(result, strict)) findings.push(finding)
  for (const body of result.bodies) addPrecision(body, strict, findings)
}

function absentAttributes({ node, rule }: Call): Finding[] {
  if (node.dialect !== 'openvino' || !rule) return []
  return [...rule.attributes.values()]
    .filter(({ name, expected, absent }) => expected && absent && !node.attributes.has(name))
    .map(({ name, absent }) => ({
      code: 'missing-attribute',
      severity: 'note' as const,
      message: `attribute "${name}" is missing; OpenVINO takes "${absent?.kind === 'text' ? absent.value : ''}"`,
      place: node.place
    }))
}

/** Types that a file declares for values which nothing makes (left over by tools that rewrite graphs) are no values. */
function listValues(graph: Graph, facts: ReadonlyMap<ValueId, Fact>, notes: ReadonlyMap<ValueId, string>): CheckedValue[] {
  const makers = new Map<ValueId, string>()
  for (const node of graph.nodes) for (const id of node.outputs) if (id !== undefined) makers.set(id, node.name)
  return [...graph.values.values()].filter(({ id }) => facts.has(id)).map(value => {
    const fact = facts.get(value.id)
    const node = makers.get(value.id)
    const note = notes.get(value.id)
    const declared = declaredDims(value.declared)
    return {
      name: value.name,
      id: value.id,
      graphPath: graph.path,
      ...(fact?.kind === 'tensor' ? described(fact, graph) : {}),
      ...(declared && { declaredDims: declared }),
      ...(node !== undefined && { node }),
      ...(note !== undefined && { note })
    }
  })
}

const described = ({ type, shape }: TensorFact, graph: Graph): Pick<CheckedValue, 'type' | 'dims'> => ({
  ...(type && { type: dtypeName(type, graph.dialect) }),
  ...(shape && { dims: shape.map(dim => typeof dim === 'number' ? dim : printDim(dim)) })
})

const declaredDims = (declared: DeclaredType | undefined): (number | string)[] | undefined =>
  declared?.kind === 'tensor' ? declared.dims?.map(dim => typeof dim === 'number' ? dim : printDeclared(dim)) : undefined

const byPlace = (a: Finding, b: Finding): number =>
  (a.place.offset ?? -1) - (b.place.offset ?? -1) || (a.place.nodeIndex ?? -1) - (b.place.nodeIndex ?? -1)
