import { bind } from '../bind/bind.ts'
import { type Call, isCall } from '../bind/call.ts'
import type { Registry } from '../bind/registry.ts'
import { allGraphs, type DeclaredType, type Finding, type Graph, type Model, type ValueId } from '../graph/graph.ts'
import { inputFacts, type InputShapes } from '../infer/declared.ts'
import { typeText } from '../infer/types.ts'
import { printDim } from '../shapes/dim.ts'
import type { Fact } from '../shapes/fact.ts'
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

function absentAttributes({ node, rule }: Call): Finding[] {
  if (node.dialect !== 'openvino' || !rule) return NONE
  let findings = NONE
  for (const { name, expected, absent } of rule.attributes.values()) {
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
  return [...graph.values.values()]
    .filter(({ id }) => facts.has(id))
    .map(value => {
      const fact = facts.get(value.id)
      const node = makers.get(value.id)
      const note = notes.get(value.id)
      const declared = declaredDims(value.declared)
      return {
        name: value.name,
        id: value.id,
        graphPath: graph.path,
        ...(fact && described(fact, graph)),
        ...(declared && { declaredDims: declared }),
        ...(node !== undefined && { node }),
        ...(note !== undefined && { note })
      }
    })
}

function described(fact: Fact, graph: Graph): Pick<CheckedValue, 'type' | 'dims'> {
  const type = fact.kind === 'tensor' ? fact.type && dtypeName(fact.type, graph.dialect) : typeText(fact)
  const shape = fact.kind === 'tensor' ? fact.shape : undefined
  return {
    ...(type && { type }),
    ...(shape && { dims: shape.map(dim => (typeof dim === 'number' ? dim : printDim(dim))) })
  }
}

const declaredDims = (declared: DeclaredType | undefined): (number | string)[] | undefined =>
  declared?.kind === 'tensor'
    ? declared.dims?.map(dim => (typeof dim === 'number' ? dim : printDeclared(dim)))
    : undefined

const byPlace = (a: Finding, b: Finding): number =>
  (a.place.offset ?? -1) - (b.place.offset ?? -1) || (a.place.nodeIndex ?? -1) - (b.place.nodeIndex ?? -1)
