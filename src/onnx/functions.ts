import type { Place } from '../errors.ts'
import type { Finding, FindingCode, ModelFunction, Node } from '../graph/graph.ts'
import { graphAndBodies } from '../graph/graph.ts'
import { sortNodes } from '../graph/sort.ts'
import { readAttributes } from './attributes.ts'
import type { GraphParts } from './building.ts'
import { addFinding, type FileContext } from './context.ts'
import { buildGraph, partsOfGraph } from './graph.ts'
import { domainName, functionKey } from './nodes.ts'
import { readOpsets } from './opsets.ts'
import type { FunctionProto } from './schema.js'

/** How many inputs and outputs each function has, by its key. The first of several functions with one key counts. */
export function signaturesOf(protos: readonly FunctionProto[]): FileContext['signatures'] {
  const signatures = new Map<string, { inputs: number; outputs: number }>()
  for (const { domain, name, overload, input, output } of protos) {
    const key = functionKey(domainName(domain), name, overload)
    if (!signatures.has(key)) signatures.set(key, { inputs: input.length, outputs: output.length })
  }
  return signatures
}

/**
 * Builds the model-local functions. Of several with one key the first is kept; the others are reported in `findings`.
 */
export function buildFunctions(
  protos: readonly FunctionProto[],
  context: FileContext,
  findings: Finding[]
): Map<string, ModelFunction> {
  const functions = new Map<string, ModelFunction>()
  for (const proto of protos) {
    const fn = buildFunction(proto, context)
    const key = functionKey(fn.domain, fn.name, fn.overload)
    if (!functions.has(key)) functions.set(key, fn)
    else
      addFinding(
        findings,
        fault('duplicate-function', `function "${fn.name}" of domain "${fn.domain}" is defined twice`, fn, context),
        context
      )
  }
  reportRecursion(functions, context, findings)
  return functions
}

function buildFunction(proto: FunctionProto, context: FileContext): ModelFunction {
  const domain = domainName(proto.domain)
  const { name, overload } = proto
  const path = `function:${domain}::${name}${overload && `::${overload}`}`
  const findings: Finding[] = []
  const place: Place = { file: context.file, ...(name && { graph: name }), graphPath: path }
  const opsets = readOpsets(proto.opset_import, place, findings, context)
  const { graph } = buildGraph(partsOf(proto), { context, path, opsets, inFunction: true, findings })
  const defaults = readAttributes(proto.attribute_proto, {
    context,
    at: { place },
    inFunction: false,
    report: ({ code, severity = 'error', message }) =>
      addFinding(findings, { code, severity, message, place }, context),
    body: (body, segment) =>
      buildGraph(partsOfGraph(body), { context, path: `${path}/${segment}`, opsets, inFunction: false, findings }).graph
  })
  const attributes = [...new Set([...proto.attribute, ...defaults.keys()])]
  return { domain, name, overload, attributes, defaults, opsets, graph }
}

const partsOf = (proto: FunctionProto): GraphParts => ({
  name: proto.name,
  inputs: proto.input.map(untyped),
  outputs: proto.output.map(untyped),
  valueInfo: proto.value_info,
  nodes: proto.node,
  initializers: [],
  sparseInitializers: []
})

const untyped = (name: string): GraphParts['inputs'][number] => ({ name, type: null })

const fault = (code: FindingCode, message: string, { name, graph }: ModelFunction, { file }: FileContext): Finding => ({
  code,
  severity: 'error',
  message,
  place: { file, ...(name && { graph: name }), graphPath: graph.path }
})

/** Reports a function that calls itself, directly or through others: its calls could not be expanded. */
function reportRecursion(
  functions: ReadonlyMap<string, ModelFunction>,
  context: FileContext,
  findings: Finding[]
): void {
  const list = [...functions]
  const { cycle } = sortNodes({
    nodes: list.map(([key, fn]) => ({ outputs: [key], inputs: callsOf(fn), captures: [] }))
  })
  if (cycle === undefined) return
  const names = cycle.map(index => `"${list[index][1].name}"`)
  addFinding(
    findings,
    fault('cycle', `function ${[...names, names[0]].join(' calls ')}`, list[cycle[0]][1], context),
    context
  )
}

function callsOf(fn: ModelFunction): string[] {
  const keyOf = ({ domain, type, overload }: Node): string => functionKey(domain, type, overload)
  return [...graphAndBodies(fn.graph)].flatMap(graph => graph.nodes.map(keyOf))
}
