import type { Place } from '../errors.ts'
import type { FindingCode, Graph, GraphPort, PortMap, PortMapEntry } from '../graph/graph.ts'
import type { Layer } from './layers.ts'
import { integer, unsigned } from './numbers.ts'
import { badNumber, type GraphScope, report } from './scope.ts'
import type { Element } from './tree.ts'

type Entry = { -readonly [K in keyof PortMapEntry]: PortMapEntry[K] }
type MapSide = PortMapEntry['side']

/** An entry as far as its ids are read, before they become indices. */
interface RawEntry {
  readonly element: Element
  readonly side: MapSide
  readonly external: number
}

/**
 * A body's `port_map` and `back_edges` as indices. `external_port_id` of an input is the index of the operator's input;
 * those of
 * outputs, sorted, are the operator's outputs 0, 1, 2 and so on (OpenVINO `xml_deserialize_util.cpp`). Of entries with
 * one external id
 * the first counts. Entries that lead nowhere are dropped and go to the findings.
 */
export function readPortMap(
  scope: GraphScope,
  layer: Layer,
  portMap: Element | undefined,
  backEdges: Element | undefined,
  body: Graph
): PortMap {
  const { xml } = scope.model
  const reader: Reader = {
    scope,
    layer,
    parameters: indicesOf(body, body.inputs),
    results: indicesOf(body, body.outputs)
  }
  const raw = xml.children(portMap).flatMap(element => readRaw(reader, element))
  const entries = [...inputEntries(reader, raw), ...outputEntries(reader, raw)]
  const sliced = new Set(
    entries.filter(entry => entry.side === 'input' && entry.axis !== undefined).map(entry => entry.bodyIndex)
  )
  const edges = xml.children(backEdges, 'edge').flatMap(element => {
    const fromResult = bodyIndex(reader, element, 'from-layer', 'Result')
    const toParameter = bodyIndex(reader, element, 'to-layer', 'Parameter')
    if (fromResult === undefined || toParameter === undefined) return []
    if (!sliced.has(toParameter)) return [{ fromResult, toParameter }]
    report(
      scope,
      'warning',
      'unused-back-edge',
      'a back edge to a Parameter that is sliced is left out',
      placeIn(reader, element)
    )
    return []
  })
  return { entries, backEdges: edges }
}

interface Reader {
  readonly scope: GraphScope
  readonly layer: Layer
  /** Index by layer id. */
  readonly parameters: ReadonlyMap<number, number>
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

function readRaw(reader: Reader, element: Element): RawEntry[] {
  const { xml } = reader.scope.model
  const side = xml.name(element)
  if (side !== 'input' && side !== 'output') return []
  const text = xml.attribute(element, 'external_port_id')
  const external = integer(text)
  if (external !== undefined) return [{ element, side, external }]
  return wrong(reader, element, 'bad-number', badNumber(`a port map ${side}`, 'external_port_id', text))
}

function inputEntries(reader: Reader, raw: readonly RawEntry[]): PortMapEntry[] {
  return withoutDuplicates(reader, raw, 'input').flatMap(({ element, external }) => {
    const connected = external >= 0
    const inputs = reader.layer.inputs.ports.length
    if (connected && external >= inputs) {
      return wrong(
        reader,
        element,
        'unknown-port',
        `external_port_id ${external}: the layer has ${inputs} inputs, counted from 0`
      )
    }
    return entryOf(reader, element, 'input', connected ? external : -1)
  })
}

function outputEntries(reader: Reader, raw: readonly RawEntry[]): PortMapEntry[] {
  const kept = withoutDuplicates(reader, raw, 'output')
  const order = kept.filter(entry => entry.external >= 0).sort((a, b) => a.external - b.external)
  const { ports } = reader.layer.outputs
  ports.slice(order.length).forEach(port => {
    report(
      reader.scope,
      'error',
      'unmapped-output',
      `output port ${port.label} is not in the port map`,
      port.place,
      reader.layer.needed
    )
  })
  const numbers = new Map(order.map((entry, index) => [entry, index]))
  return kept.flatMap(entry => {
    const number = numbers.get(entry) ?? -1
    if (number < ports.length) return entryOf(reader, entry.element, 'output', number)
    const message = `a port map output beyond the ${ports.length} output ports of the layer`
    report(reader.scope, 'warning', 'unknown-port', message, placeIn(reader, entry.element))
    return []
  })
}

/** Of the entries of one side with one external id (-1 too) the first; execution conditions have no id to compare. */
function withoutDuplicates(reader: Reader, raw: readonly RawEntry[], side: MapSide): RawEntry[] {
  const { xml } = reader.scope.model
  const seen = new Set<number>()
  return raw.filter(entry => {
    if (entry.side !== side) return false
    const key = Math.max(entry.external, -1)
    if (key < 0 && side === 'output' && xml.attribute(entry.element, 'purpose') === 'execution_condition') return true
    if (seen.has(key)) {
      wrong(
        reader,
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

function entryOf(reader: Reader, element: Element, side: MapSide, externalPort: number): PortMapEntry[] {
  const { xml } = reader.scope.model
  const index = bodyIndex(reader, element, 'internal_layer_id', side === 'input' ? 'Parameter' : 'Result')
  if (index === undefined) return []
  const entry: Entry = { side, externalPort, bodyIndex: index, place: placeIn(reader, element) }
  const purpose = xml.attribute(element, 'purpose')
  if (purpose === 'current_iteration' || purpose === 'execution_condition') entry.purpose = purpose
  if (xml.attribute(element, 'axis') === undefined) return [entry]

  const slice = {
    axis: number(reader, element, 'axis', unsigned),
    start: number(reader, element, 'start', integer, 0),
    end: number(reader, element, 'end', integer, -1),
    stride: number(reader, element, 'stride', integer, 1),
    partSize: number(reader, element, 'part_size', integer, 1)
  }
  return Object.values(slice).includes(undefined) ? [] : [{ ...entry, ...slice }]
}

function number(
  reader: Reader,
  element: Element,
  name: string,
  parse: (text: string) => number | undefined,
  missing?: number
): number | undefined {
  const text = reader.scope.model.xml.attribute(element, name)
  if (text === undefined) return missing
  const value = parse(text)
  if (value === undefined) wrong(reader, element, 'bad-number', badNumber('a port map entry', name, text))
  return value
}

/**
 * Index in the body of the Parameter or Result whose layer id an attribute holds; undefined, with a finding, when there
 * is none.
 */
function bodyIndex(
  reader: Reader,
  element: Element,
  attribute: string,
  type: 'Parameter' | 'Result'
): number | undefined {
  const text = reader.scope.model.xml.attribute(element, attribute)
  const id = unsigned(text)
  const index = id === undefined ? undefined : (type === 'Parameter' ? reader.parameters : reader.results).get(id)
  if (index !== undefined) return index
  if (id !== undefined)
    wrong(reader, element, 'unknown-layer', `${attribute} ${id}: the body has no ${type} with this id`)
  else wrong(reader, element, 'bad-number', badNumber('a port map entry or back edge', attribute, text))
  return undefined
}

const placeIn = (reader: Reader, element: Element): Place => ({
  ...reader.layer.place,
  offset: reader.scope.model.xml.offset(element)
})

function wrong(reader: Reader, element: Element, code: FindingCode, message: string): never[] {
  report(reader.scope, 'error', code, message, placeIn(reader, element), reader.layer.needed)
  return []
}
