import type { Place } from '../errors.ts'
import type { Attribute, Finding, ValueId } from '../graph/graph.ts'
import { exceed } from '../graph/limits.ts'
import { collectLeaves } from './info.ts'
import { trimBlanks, unsigned } from './numbers.ts'
import { type PortList, readPorts } from './ports.ts'
import { badNumber, type GraphScope, notePassedOver, quote, report } from './scope.ts'
import type { Element } from './tree.ts'

/** A `<layer>`, before it becomes a node. */
export interface Layer {
  readonly element: Element
  /** Index among the layers of its graph, in the order of the file. */
  readonly index: number
  readonly id: string
  /** The id as a number; undefined where it is none. */
  readonly key?: number | undefined
  readonly name: string
  readonly type: string
  readonly version: string
  readonly role: Role
  readonly inputs: PortList
  readonly outputs: PortList
  /** The value at each input; `connect` sets it. */
  readonly sources: (ValueId | undefined)[]
  /** The edge that leads to each input, even if it comes from a layer that does not exist; `connect` sets it. */
  readonly edges: (Element | undefined)[]
  readonly data?: Element | undefined
  readonly place: Place
  /**
   * For findings: a fault of a layer stops only runs that need the layer. Undefined for Parameters and Results, which
   * every run needs.
   */
  readonly needed: Finding['onlyIfNeeded']
}

/** What a layer is to its graph. OpenVINO knows `Result` and `Const` in this spelling only, other types in any case. */
export type Role = 'parameter' | 'result' | 'constant' | 'other'

/** Elements of the bodies that a layer may have, and of their port maps. */
export const BODIES = [
  { tag: 'body', portMap: 'port_map' },
  { tag: 'then_body', portMap: 'then_port_map' },
  { tag: 'else_body', portMap: 'else_port_map' }
] as const

/** Elements that a layer may have. */
export const LAYER_SECTIONS: ReadonlySet<string> = new Set([
  'data',
  'rt_info',
  'input',
  'output',
  'back_edges',
  ...BODIES.flatMap(({ tag, portMap }) => [tag, portMap])
])
const PORT_SECTION = new Set(['port'])
const MANDATORY = ['id', 'name', 'type', 'version'] as const

/**
 * Reads a `<layer>` without its edges. Faults become findings.
 * @throws NodewiseError `limit-exceeded` where the file has too many layers, those of bodies included
 */
export function readLayer(scope: GraphScope, element: Element, index: number): Layer {
  const { model } = scope
  const { xml } = model
  const idText = xml.attribute(element, 'id')
  const id = trimBlanks(idText ?? '')
  const type = xml.attribute(element, 'type') ?? ''
  const version = xml.attribute(element, 'version') ?? ''
  const name = xml.attribute(element, 'name') || `${type === '' ? 'layer' : type}_${id === '' ? index : id}`
  const place = layerPlace(scope, xml.offset(element), name, type, version, id)
  const role = roleOf(type)
  const needed = role === 'parameter' || role === 'result' ? undefined : { node: index }
  const owner = { place, needed }
  const { limits } = model
  if (++model.counts.layers > limits.nodes)
    exceed('nodes', limits, `the file has more than ${limits.nodes} layers`, model.locate(place))

  reportAttributes(scope, element, { role, type, place, needed })
  if (version !== '' && !model.opsets.has(version))
    model.opsets.set(version, Number(/^opset([1-9]\d{0,5})$/.exec(version)?.[1] ?? 0))

  notePassedOver(model, element, LAYER_SECTIONS)
  const input = xml.child(element, 'input')
  const output = xml.child(element, 'output')
  for (const section of [input, output]) if (section !== undefined) notePassedOver(model, section, PORT_SECTION)
  const inputs = readPorts(scope, owner, input, 'input')
  return {
    element,
    index,
    id,
    key: unsigned(idText),
    name,
    type,
    version,
    role,
    inputs,
    outputs: readPorts(scope, owner, output, 'output'),
    sources: inputs.ports.map(() => undefined),
    edges: inputs.ports.map(() => undefined),
    data: xml.child(element, 'data'),
    place,
    needed
  }
}

/** Reports attributes of a `<layer>` that are missing or wrong. */
function reportAttributes(
  scope: GraphScope,
  element: Element,
  { role, type, place, needed }: Pick<Layer, 'role' | 'type' | 'place' | 'needed'>
): void {
  const { xml, irVersion } = scope.model
  for (const attribute of MANDATORY) {
    const mayLack = irVersion === 0 && (attribute === 'id' || attribute === 'name')
    if (!mayLack && xml.attribute(element, attribute) === undefined)
      report(scope, 'error', 'missing-attribute', `a layer without ${attribute}`, place, needed)
  }
  if (role === 'other' && type.toLowerCase() === 'result')
    report(scope, 'warning', 'not-an-output', `${quote(type)} is no output: only "Result" is`, place)
  const id = xml.attribute(element, 'id')
  if (id !== undefined && unsigned(id) === undefined)
    report(scope, 'error', 'bad-number', badNumber('a layer', 'id', id), place, needed)
}

function layerPlace(
  scope: GraphScope,
  offset: number,
  node: string,
  type: string,
  version: string,
  layer: string
): Place {
  const {
    model: { file },
    path: graphPath
  } = scope
  return graphPath === ''
    ? { file, offset, node, type, version, layer }
    : { file, offset, graphPath, node, type, version, layer }
}

function roleOf(type: string): Role {
  if (type === 'Const') return 'constant'
  if (type === 'Result') return 'result'
  const lower = type.toLowerCase()
  return lower === 'parameter' ? 'parameter' : lower === 'constant' ? 'constant' : 'other'
}

/** The attributes of `<data>` as they are written, and leaves of the layer's `rt_info` as `rt_info.<path>`. */
export function readAttributes(scope: GraphScope, layer: Layer): Map<string, Attribute> {
  const { xml } = scope.model
  const attributes = new Map<string, Attribute>()
  if (layer.data !== undefined) {
    const place = { ...layer.place, offset: xml.offset(layer.data) }
    for (const [name, value] of xml.attributePairs(layer.data)) attributes.set(name, { kind: 'text', value, place })
  }
  const info = xml.child(layer.element, 'rt_info')
  if (info !== undefined) {
    const place = { ...layer.place, offset: xml.offset(info) }
    const leaves = new Map<string, string>()
    collectLeaves(xml, info, 'rt_info.', leaves)
    for (const [name, value] of leaves) attributes.set(name, { kind: 'text', value, place })
  }
  return attributes
}
