import type { DeclaredType, GraphPort, GraphValue, ValueId } from '../graph/graph.ts'
import { producerOf, valueId } from './edges.ts'
import type { Layer } from './layers.ts'
import { Port, PortValue } from './ports.ts'
import { type GraphScope, quote, report } from './scope.ts'
import { parsePartialShape, splitNames } from './shapes.ts'
import { typeFromName } from './types.ts'

/** Maximum of names that an output takes over from its tensor, since any number of outputs may share one tensor. */
const MAX_NAMES = 8

/**
 * Inputs of a graph: its Parameters, in the order of the file. `declared` of an input is what `<data>` states; what the
 * output port of the Parameter states is `declared` of the value.
 */
export function inputPorts(
  scope: GraphScope,
  layers: readonly Layer[],
  values: ReadonlyMap<ValueId, GraphValue>
): GraphPort[] {
  const name = namer()
  return layers
    .filter(layer => layer.role === 'parameter')
    .flatMap(layer => {
      const value = values.get(valueId(layer.index, 0))
      const declared = declaredParameter(scope, layer)
      if (value === undefined) {
        report(scope, 'error', 'missing-port', 'a Parameter without an output port', layer.place)
        return []
      }
      const place =
        layer.data === undefined ? layer.place : { ...layer.place, offset: scope.model.xml.offset(layer.data) }
      return [{ ...name([...value.names, layer.name]), value: value.id, declared, place, node: layer.index }]
    })
}

/**
 * The type in the `<data>` of a Parameter. As in OpenVINO 2026.4 it is a scalar without a shape, of any type without
 * one.
 */
function declaredParameter(scope: GraphScope, layer: Layer): DeclaredType {
  const { xml } = scope.model
  if (layer.data === undefined) {
    report(scope, 'error', 'missing-data', 'a Parameter without <data>', layer.place)
    return { kind: 'tensor' }
  }
  const place = { ...layer.place, offset: xml.offset(layer.data) }
  const shapeText = xml.attribute(layer.data, 'shape') ?? ''
  const shape = parsePartialShape(shapeText)
  if (shape.problem !== undefined)
    report(scope, 'error', 'bad-shape', `shape ${quote(shapeText)} of a Parameter: ${shape.problem}`, place)
  const typeText = xml.attribute(layer.data, 'element_type') ?? 'dynamic'
  const type = typeFromName(typeText)
  if (type === undefined) report(scope, 'error', 'unknown-type', `${quote(typeText)} is no element type`, place)
  return {
    kind: 'tensor',
    ...(type !== undefined && type !== 'dynamic' && { type }),
    ...(shape.problem === undefined && shape.dims && { dims: shape.dims })
  }
}

/**
 * Outputs of a graph: its Results, in the order of the file. The name of an output is the first of these that there is:
 * `output_names` of the Result; a name of the tensor, unless a Parameter makes it; in IR version 10 the name of the
 * layer that makes the tensor; the name of the Result. A Result without an edge has a value that no layer makes.
 */
export function outputPorts(
  scope: GraphScope,
  layers: readonly Layer[],
  values: Map<ValueId, GraphValue>
): GraphPort[] {
  const { xml, irVersion } = scope.model
  const name = namer()
  return layers
    .filter(layer => layer.role === 'result')
    .map(layer => {
      const source = layer.sources[0]
      const value = (source === undefined ? undefined : values.get(source)) ?? unmadeValue(scope, layer, values)
      const producer = producerOf(value.id, layers)
      const names = splitNames(xml.attribute(layer.element, 'output_names'))
      if (producer !== undefined && producer.layer.role !== 'parameter') {
        const {
          name: layerName,
          outputs: { ports }
        } = producer.layer
        names.push(...ports[producer.output].names.slice(0, MAX_NAMES))
        if (irVersion === 10) names.push(ports.length > 1 ? `${layerName}.${producer.output}` : layerName)
      }
      const declared = layer.inputs.ports.at(0)?.declared
      return {
        ...name([...names, layer.name]),
        value: value.id,
        ...(declared && { declared }),
        place: layer.place,
        node: layer.index
      }
    })
}

/** The value of a Result without an edge. */
function unmadeValue(scope: GraphScope, layer: Layer, values: Map<ValueId, GraphValue>): GraphValue {
  const { place } = layer
  const port =
    layer.inputs.ports.at(0) ??
    new Port('', { kind: 'tensor' }, [], place, place.offset ?? 0, scope.model.dimOffsets, 0)
  const value = new PortValue(`nothing:${layer.index}`, layer.name, [layer.name], port)
  values.set(value.id, value)
  return value
}

/** The input ports of a bare layer as graph inputs, called `port <id>`. */
export function fragmentInputs(layer: Layer, values: Map<ValueId, GraphValue>): GraphPort[] {
  const name = namer()
  return layer.inputs.ports.map((port, position) => {
    const names = name([`port ${port.id}`])
    const value = new PortValue(`port:${position}`, names.name, [names.name], port)
    values.set(value.id, value)
    layer.sources[position] = value.id
    return { ...names, value: value.id, declared: port.declared, place: port.place }
  })
}

/** The output ports of a bare layer as graph outputs. */
export function fragmentOutputs(layer: Layer, values: ReadonlyMap<ValueId, GraphValue>): GraphPort[] {
  const name = namer()
  return layer.outputs.ports.flatMap((port, position) => {
    const value = values.get(valueId(layer.index, position))
    return value === undefined
      ? []
      : [{ ...name(value.names), value: value.id, declared: port.declared, place: port.place }]
  })
}

/**
 * Returns a function that names graph inputs or outputs so that no two have the same name: by the first of the names
 * that is free, else by the first one with a number. The other names become aliases.
 */
function namer(): (names: readonly string[]) => { name: string; aliases: string[] } {
  const taken = new Set<string>()
  const copies = new Map<string, number>()
  const numbered = (base: string): string => {
    const copy = (copies.get(base) ?? 1) + 1
    copies.set(base, copy)
    const name = `${base} (${copy})`
    return taken.has(name) ? numbered(base) : name
  }
  return names => {
    const name = names.find(candidate => !taken.has(candidate)) ?? numbered(names[0])
    taken.add(name)
    return { name, aliases: [...new Set(names)].filter(other => other !== name) }
  }
}
