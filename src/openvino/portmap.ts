import type { Place } from '../errors.ts'
import type { FindingCode, Graph, GraphPort, PortMap, PortMapEntry } from '../graph/graph.ts'
import type { Layer } from './layers.ts'
import { integer, unsigned } from './numbers.ts'
import { badNumber, type GraphScope, report } from './scope.ts'
import type { Element } from './tree.ts'

type Entry = { -readonly [K in keyof PortMapEntry]: PortMapEntry[K] }
type MapSide = PortMapEntry['side']

/** An entry of a port map with the id that the file has, not yet an index. */
interface RawEntry {
  readonly element: Element
  readonly side: MapSide
  readonly external: number
}

/**
 * Reads the `port_map` and `back_edges` of a body, and turns ids into indices. As in OpenVINO
 * (`xml_deserialize_util.cpp`), `external_port_id` of an input is the index of the layer's input, and the entries of
 * outputs in the order of their `external_port_id` are the layer's outputs 0, 1, 2 and so on. The first of several
 * entries with one external id counts. Entries that lead nowhere are reported and left out.
 */
export function readPortMap(
  scope: GraphScope,
  layer: Layer,
  portMap: Element | undefined,
  backEdges: Element | undefined,
  body: Graph
): PortMap {
  const { xml } = scope.model
  const context: MapContext = {
    scope,
    layer,
    parameters: indicesOf(body, body.inputs),
    results: indicesOf(body, body.outputs)
  }
  const raw = xml.children(portMap).flatMap(element => readRaw(context, element))
  const entries = [...inputEntries(context, raw), ...outputEntries(context, raw)]
  const sliced = new Set(
    entries.filter(entry => entry.side === 'input' && entry.axis !== undefined).map(entry => entry.bodyIndex)
  )
  const edges = xml.children(backEdges, 'edge').flatMap(element => {
    const fromResult = bodyIndex(context, element, 'from-layer', 'Result')
    const toParameter = bodyIndex(context, element, 'to-layer', 'Parameter')
    if (fromResult === undefined || toParameter === undefined) return []
    if (!sliced.has(toParameter)) return [{ fromResult, toParameter }]
    report(
      scope,
      'warning',
      'unused-back-edge',
      'a back edge to a Parameter that is sliced is left out',
      placeIn(context, element)
    )
    return []
  })
  return { entries, backEdges: edges }
}

/** What reading a port map needs to know. */
interface MapContext {
  readonly scope: GraphScope
  /** The layer with the body. */
  readonly layer: Layer
  /** Indices of the body's Parameters by layer id. */
  readonly parameters: ReadonlyMap<number, number>
  /** Indices of the body's Results by layer id. */
  readonly results: ReadonlyMap<number, number>
}

function indicesOf(body: Graph, ports: readonly GraphPort[]): Map<number, number> {
  const indices = new Map<number, number>()
  ports.forEach((port, index) => {
    const id = port.node === undefined ? undefined : unsigned(body.nodes[port.node].layer)
    if (id !== undefined && !indices.has(id)) indices.set(id, index)
  })
  return indices
}

function readRaw(context: MapContext, element: Element): RawEntry[] {
  const { xml } = context.scope.model
  const side = xml.name(element)
  if (side !== 'input' && side !== 'output') return []
  const text = xml.attribute(element, 'external_port_id')
  const external = integer(text)
  if (external !== undefined) return [{ element, side, external }]
  return wrong(context, element, 'bad-number', badNumber(`a port map ${side}`, 'external_port_id', text))
}

function inputEntries(context: MapContext, raw: readonly RawEntry[]): PortMapEntry[] {
  return withoutDuplicates(context, raw, 'input').flatMap(({ element, external }) => {
    const connected = external >= 0
    const inputs = context.layer.inputs.ports.length
    if (connected && external >= inputs) {
      return wrong(
        context,
        element,
        'unknown-port',
        `external_port_id ${external}: the layer has ${inputs} inputs, counted from 0`
      )
    }
    return entryOf(context, element, 'input', connected ? external : -1)
  })
}

function outputEntries(context: MapContext, raw: readonly RawEntry[]): PortMapEntry[] {
  const kept = withoutDuplicates(context, raw, 'output')
  const order = kept.filter(entry => entry.external >= 0).sort((a, b) => a.external - b.external)
  const { ports } = context.layer.outputs
  ports.slice(order.length).forEach(port => {
    report(
      context.scope,
      'error',
      'unmapped-output',
      `output port ${port.label} is not in the port map`,
      port.place,
      context.layer.needed
    )
  })
  const numbers = new Map(order.map((entry, index) => [entry, index]))
  return kept.flatMap(entry => {
    const number = numbers.get(entry) ?? -1
    if (number < ports.length) return entryOf(context, entry.element, 'output', number)
    const message = `a port map output beyond the ${ports.length} output ports of the layer`
    report(context.scope, 'warning', 'unknown-port', message, placeIn(context, entry.element))
    return []
  })
}

/**
 * The entries of one side; of several with one external id only the first. Outputs that are the execution condition all
 * have the id -1 and are kept.
 */
function withoutDuplicates(context: MapContext, raw: readonly RawEntry[], side: MapSide): RawEntry[] {
  const { xml } = context.scope.model
  const seen = new Set<number>()
  return raw.filter(entry => {
    if (entry.side !== side) return false
    const key = Math.max(entry.external, -1)
    if (key < 0 && side === 'output' && xml.attribute(entry.element, 'purpose') === 'execution_condition') return true
    if (seen.has(key)) {
      wrong(
        context,
        entry.element,
        'duplicate-port',
        `a second port map ${side} with external_port_id ${entry.external}: the first counts`
      )
      return false
    }
    seen.add(key)
    return true
  })
}

function entryOf(context: MapContext, element: Element, side: MapSide, externalPort: number): PortMapEntry[] {
  const { xml } = context.scope.model
  const index = bodyIndex(context, element, 'internal_layer_id', side === 'input' ? 'Parameter' : 'Result')
  if (index === undefined) return []
  const entry: Entry = { side, externalPort, bodyIndex: index, place: placeIn(context, element) }
  const purpose = xml.attribute(element, 'purpose')
  if (purpose === 'current_iteration' || purpose === 'execution_condition') entry.purpose = purpose
  if (xml.attribute(element, 'axis') === undefined) return [entry]

  const slice = {
    axis: number(context, element, 'axis', unsigned),
    start: number(context, element, 'start', integer, 0),
    end: number(context, element, 'end', integer, -1),
    stride: number(context, element, 'stride', integer, 1),
    partSize: number(context, element, 'part_size', integer, 1)
  }
  return Object.values(slice).includes(undefined) ? [] : [{ ...entry, ...slice }]
}

function number(
  context: MapContext,
  element: Element,
  name: string,
  parse: (text: string) => number | undefined,
  missing?: number
): number | undefined {
  const text = context.scope.model.xml.attribute(element, name)
  if (text === undefined) return missing
  const value = parse(text)
  if (value === undefined) wrong(context, element, 'bad-number', badNumber('a port map entry', name, text))
  return value
}

/**
 * Index among the body's Parameters or Results of the one whose layer id an attribute holds; undefined, with a finding,
 * where there is none.
 */
function bodyIndex(
  context: MapContext,
  element: Element,
  attribute: string,
  type: 'Parameter' | 'Result'
): number | undefined {
  const text = context.scope.model.xml.attribute(element, attribute)
  const id = unsigned(text)
  const index = id === undefined ? undefined : (type === 'Parameter' ? context.parameters : context.results).get(id)
  if (index !== undefined) return index
  if (id !== undefined)
    wrong(context, element, 'unknown-layer', `${attribute} ${id}: the body has no ${type} with this id`)
  else wrong(context, element, 'bad-number', badNumber('a port map entry or back edge', attribute, text))
  return undefined
}

const placeIn = (context: MapContext, element: Element): Place => ({
  ...context.layer.place,
  offset: context.scope.model.xml.offset(element)
})

function wrong(context: MapContext, element: Element, code: FindingCode, message: string): never[] {
  report(context.scope, 'error', code, message, placeIn(context, element), context.layer.needed)
  return []
}
