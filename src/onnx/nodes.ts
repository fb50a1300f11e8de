import type { Place } from '../errors.ts'
import type { Attribute, Node, ValueId } from '../graph/graph.ts'
import { readAttributes } from './attributes.ts'
import { isVisible, type Building } from './building.ts'
import type { NodeProto } from './schema.js'

/** ONNX's own domain has two spellings; everywhere in this program it is `ai.onnx`. */
export const domainName = (domain: string): string => domain === '' ? 'ai.onnx' : domain

/** Shared by all nodes that have none. */
const NO_ATTRIBUTES: ReadonlyMap<string, Attribute> = new Map()
const NO_CAPTURES: readonly ValueId[] = []

/** Builds a node and the bodies in its attributes. */
export function buildNode(proto: NodeProto, index: number, building: Building): Node {
  const { scope, captured, opsets } = building
  const domain = domainName(proto.domain)
  const version = opsets.get(domain)?.toString() ?? ''
  const place = placeOf(proto, index, domain, version, building.place)
  // Where nothing is imported at all, that is one finding of the model.
  if (version === '' && opsets.size > 0) {
    const message = `the model imports no operator set of its domain "${domain}"`
    building.report({ code: 'missing-opset', message }, place, { node: index })
  }
  const inputs = inputsOf(proto, place, building)
  const captures = new Set<ValueId>()
  const attributes = proto.attribute.length === 0 ? NO_ATTRIBUTES : attributesOf(proto, index, place, building, captures)
  for (const name of captures) if (!scope.own.has(name)) captured.add(name)
  return {
    dialect: 'onnx',
    domain,
    type: proto.op_type,
    version,
    overload: proto.overload,
    name: proto.name,
    index,
    inputs,
    outputs: proto.output.map(nameOrNothing),
    attributes,
    captures: captures.size === 0 ? NO_CAPTURES : [...captures],
    place
  }
}

function attributesOf(proto: NodeProto, index: number, place: Place, building: Building, captures: Set<ValueId>): Map<string, Attribute> {
  return readAttributes(proto.attribute, {
    context: building.context,
    place,
    inFunction: building.inFunction,
    report: problem => building.report(problem, place, { node: index }),
    body(bodyProto, step) {
      const body = building.body(bodyProto, `${index}:${step}`)
      for (const name of body.captured) captures.add(name)
      return body.graph
    }
  })
}

const nameOrNothing = (name: string): ValueId | undefined => name === '' ? undefined : name

function placeOf(proto: NodeProto, index: number, domain: string, version: string, graph: Place): Place {
  const place: Place = { ...graph }
  if (proto.name !== '') place.node = proto.name
  place.nodeIndex = index
  place.type = proto.op_type
  if (version !== '') place.version = `${domain} ${version}`
  return place
}

/** The inputs; notes those that come from the graphs around, and reports those that nothing makes. */
function inputsOf(proto: NodeProto, place: Place, { scope, captured, report }: Building): (ValueId | undefined)[] {
  const missing: string[] = []
  for (const name of proto.input) {
    if (name === '' || scope.own.has(name)) continue
    if (isVisible(scope.outer, name)) captured.add(name)
    else missing.push(name)
  }
  if (missing.length > 0) {
    const [value] = missing
    const more = missing.length > 1 ? ` (nor ${missing.length - 1} more of its inputs)` : ''
    const message = `it reads "${value}", which nothing makes${more}`
    report({ code: 'missing-producer', message }, { ...place, value }, { node: place.nodeIndex })
  }
  return proto.input.map(nameOrNothing)
}
