import { bind } from '../bind/bind.ts'
import { type Call, isCall } from '../bind/call.ts'
import type { Registry } from '../bind/registry.ts'
import { allGraphs, type DeclaredType, type Finding, type Model, type ValueId } from '../graph/graph.ts'
import { inputFacts, type InputShapes } from '../infer/declared.ts'
import { typeText } from '../infer/types.ts'
import { type Dim, printDim } from '../shapes/dim.ts'
import { refuseUnknownOptions } from '../suggest.ts'
import { dtypeName } from '../tensor/dtype.ts'
import { printDeclared } from './compare.ts'
import { precisionNotes } from './precision.ts'
import type { CheckedValue, CheckResult } from './result.ts'
import { withDeadLayers } from './structure.ts'
import { checkGraph, type GraphCheck } from './walk.ts'

export interface CheckOptions {
  /** Dims of inputs by name, in place of the declared ones. A dim may be a name; dims of the same name are equal. */
  readonly inputShapes?: InputShapes
  /** Also note declarations that are less precise than what is inferred. */
  readonly strict?: boolean
}

const KNOWN: ReadonlySet<string> = new Set<keyof CheckOptions>(['inputShapes', 'strict'])

/**
 * Compares the types and dims that a model declares with those that follow from its inputs, constants and attributes.
 * @param registry the operators that the model may use
 * @throws NodewiseError `unexpected-input` where `inputShapes` has a name that is no input, `limit-exceeded` from the
 *   expansion of functions, `bad-usage` for an option that does not exist
 */
export function check(model: Model, registry: Registry, options: CheckOptions = {}): CheckResult {
  refuseUnknownOptions(options, KNOWN)
  const bound = bind(model, registry)
  const result = checkGraph(bound, { inputs: inputFacts(model, options.inputShapes) })
  const graphs = [...allGraphs(model)]
  const checks = [...checksOf(result)]
  const findings = [...graphs.flatMap(graph => graph.findings), ...checks.flatMap(ownFindings)]
  // With an error in the model, notes that something is unproven may be a consequence of the error.
  const isClean = !findings.some(({ severity }) => severity === 'error')
  const notes = isClean ? checks.flatMap(each => precisionNotes(each, options.strict === true)) : []
  const located = withDeadLayers(model, [...findings, ...notes])
    .sort(byPlace)
    .map(finding => ({ ...finding, place: model.locate(finding.place) }))
  let values: CheckedValue[] | undefined
  return {
    findings: located,
    // Computed on demand: few callers need the list, and it is as long as the model.
    get values() {
      return (values ??= checks.flatMap(listValues))
    },
    summary: {
      errors: located.filter(({ severity }) => severity === 'error').length,
      warnings: located.filter(({ severity }) => severity === 'warning').length,
      nodes: graphs.reduce((sum, graph) => sum + graph.nodes.length, 0),
      ...countValues(checks),
      unverified: checks.reduce((sum, { unverified }) => sum + unverified, 0)
    }
  }
}

/** The check of a graph and those of the bodies below it. */
function* checksOf(check: GraphCheck): Generator<GraphCheck> {
  yield check
  for (const body of check.bodies) yield* checksOf(body)
}

const ownFindings = ({ findings, bound }: GraphCheck): Finding[] => [
  ...findings,
  ...bound.items.flatMap(item => (isCall(item) ? absentAttributes(item) : NONE))
]

const NONE: Finding[] = []

function absentAttributes({ node, schema }: Call): Finding[] {
  if (node.dialect !== 'openvino' || !schema) return NONE
  let findings = NONE
  for (const { name, expected, absent } of schema.attributes.values()) {
    if (!expected || !absent || node.attributes.has(name)) continue
    const message = `attribute "${name}" is missing; OpenVINO takes "${absent.kind === 'text' ? absent.value : ''}"`
    findings = [...findings, { code: 'missing-attribute', severity: 'note', message, place: node.place }]
  }
  return findings
}

/** How many values {@link listValues} lists, and how many of them have an unknown rank. */
function countValues(checks: readonly GraphCheck[]): { values: number; unknownShapes: number } {
  let values = 0
  let unknownShapes = 0
  for (const {
    bound: { graph },
    values: facts
  } of checks) {
    for (const id of graph.values.keys()) {
      const fact = facts.get(id)
      if (fact === undefined) continue
      values++
      if (fact.kind === 'tensor' && fact.shape === undefined) unknownShapes++
    }
  }
  return { values, unknownShapes }
}

/**
 * The values of a graph that have a fact. Others are only names with a declared type, which tools that rewrite graphs
 * leave over.
 */
function listValues({ bound: { graph }, values: facts, notes }: GraphCheck): CheckedValue[] {
  const makers = new Map<ValueId, string>()
  for (const node of graph.nodes) for (const id of node.outputs) if (id !== undefined) makers.set(id, node.name)
  const printed = new Map<Dim, number | string>()
  const list: CheckedValue[] = []
  for (const { id, name, declared } of graph.values.values()) {
    const fact = facts.get(id)
    if (fact === undefined) continue
    // Fields are set one by one: objects put together by spreads take five times as long, and there is one a value.
    const value: Writable<CheckedValue> = { name, id, graphPath: graph.path }
    const type = fact.kind === 'tensor' ? fact.type && dtypeName(fact.type, graph.dialect) : typeText(fact)
    if (type) value.type = type
    const dims = fact.kind === 'tensor' ? fact.shape?.map(dim => dimText(dim, printed)) : undefined
    if (dims) value.dims = dims
    const said = declaredDims(declared)
    if (said) value.declaredDims = said
    const node = makers.get(id)
    if (node !== undefined) value.node = node
    const note = notes.get(id)
    if (note !== undefined) value.note = note
    list.push(value)
  }
  return list
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** A dim as {@link CheckedValue} has it. Values share symbols, so each is printed once. */
function dimText(dim: Dim, printed: Map<Dim, number | string>): number | string {
  if (typeof dim === 'number') return dim
  let text = printed.get(dim)
  if (text === undefined) printed.set(dim, (text = printDim(dim)))
  return text
}

const declaredDims = (declared: DeclaredType | undefined): (number | string)[] | undefined =>
  declared?.kind === 'tensor'
    ? declared.dims?.map(dim => (typeof dim === 'number' ? dim : printDeclared(dim)))
    : undefined

const byPlace = (a: Finding, b: Finding): number =>
  (a.place.offset ?? -1) - (b.place.offset ?? -1) || (a.place.nodeIndex ?? -1) - (b.place.nodeIndex ?? -1)
