import type { Place } from '../errors.ts'
import type { Finding, FindingCode, ValueId } from '../graph/graph.ts'
import type { Layer } from './layers.ts'
import { unsigned } from './numbers.ts'
import type { Port } from './ports.ts'
import { badNumber, type GraphScope, placeOf, quote, report } from './scope.ts'
import type { Element } from './tree.ts'

/** Id of the value at an output: index of the layer in its graph, and index of the output port. */
export const valueId = (layer: number, output: number): ValueId => `${layer}:${output}`

/** The layer that makes a value, and the index of the output port; undefined where no layer makes it. */
export function producerOf(id: ValueId, layers: readonly Layer[]): { layer: Layer; output: number } | undefined {
  const [layer, output] = id.split(':').map(Number)
  return layers[layer] && { layer: layers[layer], output }
}

/** Sets `sources` and `edges` of the layers from the edges of the file. Edges that lead nowhere are reported. */
export function connect(scope: GraphScope, layers: readonly Layer[], edges: readonly Element[]): void {
  const byKey = layersByKey(scope, layers)
  for (const edge of edges) connectOne(scope, byKey, edge)
  for (const layer of layers) reportUnconnected(scope, layer)
}

/** Layers by id. The first of several layers with one id counts; the others are reported. */
function layersByKey(scope: GraphScope, layers: readonly Layer[]): Map<number, Layer> {
  const byKey = new Map<number, Layer>()
  for (const layer of layers) {
    if (layer.key === undefined) continue
    const first = byKey.get(layer.key)
    if (first === undefined) byKey.set(layer.key, layer)
    else
      report(
        scope,
        'error',
        'duplicate-id',
        `${quote(first.name)} has the id ${layer.id} already`,
        layer.place,
        first.needed
      )
  }
  return byKey
}

const ENDS = ['from-layer', 'from-port', 'to-layer', 'to-port'] as const

function connectOne(scope: GraphScope, byKey: ReadonlyMap<number, Layer>, edge: Element): void {
  const { xml } = scope.model
  const [fromKey, fromPort, toKey, toPort] = ENDS.map(name => unsigned(xml.attribute(edge, name)))
  const wrong = (
    code: FindingCode,
    message: string,
    needed?: Finding['onlyIfNeeded'],
    severity: Finding['severity'] = 'error'
  ): void => report(scope, severity, code, message, edgePlace(scope, edge), needed)
  if (fromKey === undefined || fromPort === undefined || toKey === undefined || toPort === undefined) {
    const end = ENDS.find(name => unsigned(xml.attribute(edge, name)) === undefined) ?? ''
    return wrong('bad-number', badNumber('an edge', end, xml.attribute(edge, end)))
  }
  const to = byKey.get(toKey)
  if (to === undefined)
    return wrong('unknown-layer', `an edge to layer ${toKey}, which does not exist`, undefined, 'warning')
  const input = to.inputs.find(toPort)
  if (input < 0)
    return wrong('unknown-port', `an edge to port ${toPort} of layer ${toKey}, which has no such input`, to.needed)
  if (to.edges[input] !== undefined)
    return wrong('duplicate-edge', `a second edge to port ${toPort} of layer ${toKey}`, to.needed)
  to.edges[input] = edge
  const from = byKey.get(fromKey)
  if (from === undefined)
    return wrong('unknown-layer', `an edge from layer ${fromKey}, which does not exist`, to.needed)
  const output = from.outputs.find(fromPort)
  if (output < 0)
    return wrong(
      'unknown-port',
      `an edge from port ${fromPort} of layer ${fromKey}, which has no such output`,
      to.needed
    )
  to.sources[input] = valueId(from.index, output)
}

function edgePlace(scope: GraphScope, edge: Element): Place {
  const { xml } = scope.model
  return {
    ...placeOf(scope, edge),
    layer: xml.attribute(edge, 'to-layer') ?? '',
    port: xml.attribute(edge, 'to-port') ?? ''
  }
}

/** Reports inputs without an edge. OpenVINO ignores those after the last connected input and refuses the others. */
function reportUnconnected(scope: GraphScope, layer: Layer): void {
  const { ports } = layer.inputs
  let isRequired = layer.role === 'result'
  for (let i = ports.length - 1; i >= 0; i--) {
    const port = ports[i]
    if (layer.edges[i] !== undefined) isRequired = true
    else if (!isRequired)
      report(scope, 'note', 'missing-edge', `input port ${port.label} has no edge and is left out`, port.place)
    else if (isFirstOfId(layer, port)) {
      report(scope, 'error', 'missing-edge', `input port ${port.label} has no edge`, port.place, layer.needed)
    }
  }
  if (layer.role === 'result' && ports.length === 0)
    report(scope, 'error', 'missing-edge', 'a Result without an input port', layer.place)
}

/** Whether edges can reach a port: not where a port before it has its id, which has a finding already. */
const isFirstOfId = ({ inputs }: Layer, port: Port): boolean =>
  port.key === undefined || inputs.ports[inputs.find(port.key)] === port
