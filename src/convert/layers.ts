import { fail } from '../errors.ts'
import type { Attribute, DeclaredType, Graph, GraphPort, GraphValue, InputPort, Node, ValueId } from '../graph/graph.ts'
import { partialShape } from '../openvino/write/attributes.ts'
import { DTYPES } from '../tensor/dtype.ts'
import { declarationOf, declaredIn } from './declare.ts'
import { Names, nodeName } from './names.ts'
import type { MadeValue, NewNodeEntry, Scope } from './scope.ts'

/** A layer before it has its place in the list. */
interface Layer {
  readonly type: string
  readonly version: string
  readonly name: string
  readonly inputs: readonly (MadeValue | undefined)[]
  readonly outputs: readonly MadeValue[]
  readonly attributes: ReadonlyMap<string, Attribute>
  readonly entry?: NewNodeEntry
  readonly constant?: Node['constant']
}

/** Layers of an IR: Parameters, constants, the nodes in their order, and Results. */
export function layersOf(
  scope: Scope,
  nodes: readonly NewNodeEntry[],
  needed: ReadonlySet<MadeValue>,
  outputs: readonly MadeValue[],
  ports: readonly Pick<GraphPort, 'name' | 'aliases'>[] | undefined
): Pick<Graph, 'inputs' | 'outputs' | 'nodes' | 'values'> {
  const names = new Names()
  const layers: Layer[] = [
    ...scope.inputs.map(value => parameter(value, names)),
    ...[...needed].flatMap(value => (value.scope === scope ? constant(value, names) : [])),
    ...nodes.map(entry => ordinary(entry, scope, names)),
    ...outputs.map((value, i) => result(value, ports?.[i].name, names))
  ]
  const ids = new Map<MadeValue, ValueId>()
  layers.forEach((layer, index) => layer.outputs.forEach((value, i) => ids.set(value, `${index}:${i}`)))
  const built = layers.map((layer, index) => nodeOf(layer, index, ids, scope))
  const values = new Map<ValueId, GraphValue>()
  layers.forEach(layer => layer.outputs.forEach((value, i) => addValue(values, value, ids, layer, i)))
  const first = layers.length - outputs.length
  return {
    nodes: built,
    values,
    inputs: scope.inputs.map((value, node) => {
      const names = values.get(ids.get(value)!)!.names
      return { name: names[0], aliases: names.slice(1), ...shared(value, ids, scope), node }
    }),
    outputs: outputs.map((value, i) => ({
      name: ports?.[i].name ?? layers[first + i].name,
      aliases: [layers[first + i].name].filter(name => name !== ports?.[i].name),
      ...shared(value, ids, scope),
      node: first + i
    }))
  }
}

const shared = (
  value: MadeValue,
  ids: ReadonlyMap<MadeValue, ValueId>,
  scope: Scope
): Pick<GraphPort, 'value' | 'declared' | 'place'> => {
  const declared = typeInIr(value)
  return { value: ids.get(value)!, ...(declared && { declared }), place: { file: scope.making.file } }
}

/** What IR can declare of a value. */
const typeInIr = (value: MadeValue): DeclaredType | undefined => declaredIn('openvino', declarationOf(value.fact))

function addValue(
  values: Map<ValueId, GraphValue>,
  value: MadeValue,
  ids: ReadonlyMap<MadeValue, ValueId>,
  layer: Layer,
  position: number
): void {
  const id = ids.get(value)!
  const own = layer.outputs.length > 1 ? `${layer.name}.${position}` : layer.name
  const names = value.names.length > 0 ? value.names : [own]
  const declared = typeInIr(value)
  values.set(id, { id, name: names[0], names, ...(declared && { declared }), place: {} })
}

function parameter(value: MadeValue, names: Names): Layer {
  const declared = typeInIr(value)
  if (declared?.kind !== 'tensor') fail('unsupported-op', 'an input is no tensor; IR has nothing else')
  return {
    type: 'Parameter',
    version: 'opset1',
    name: names.unique(value.names.at(0) ?? 'Parameter'),
    inputs: [],
    outputs: [value],
    attributes: texts({
      shape: partialShape(declared.dims),
      element_type: declared.type === undefined ? 'dynamic' : nameOf(declared.type)
    })
  }
}

function constant(value: MadeValue, names: Names): Layer[] {
  const { origin } = value
  if (origin.kind !== 'constant') return []
  return [
    {
      type: 'Const',
      version: 'opset1',
      name: names.unique(value.names.at(0) ?? 'Constant'),
      inputs: [],
      outputs: [value],
      attributes: texts({ element_type: nameOf(origin.constant.type), shape: origin.constant.dims.join(', ') }),
      constant: origin.constant
    }
  ]
}

function ordinary(entry: NewNodeEntry, scope: Scope, names: Names): Layer {
  const { node, inputs } = entry
  const outputs = node.outputs.map(id => scope.making.values.get(id!)!)
  const { type, version, attributes } = node
  const name = names.unique(nodeName(node, scope.making.values))
  return { type, version, name, inputs, outputs, attributes, entry }
}

const result = (value: MadeValue, name: string | undefined, names: Names): Layer => ({
  type: 'Result',
  version: 'opset1',
  name: names.unique(`${name ?? value.names.at(0) ?? 'Result'}/sink_port_0`),
  inputs: [value],
  outputs: [],
  attributes: new Map()
})

const nameOf = (type: keyof typeof DTYPES): string =>
  DTYPES[type].openvino ?? fail('unsupported-op', `OpenVINO has no type ${type}`)

const texts = (attributes: Readonly<Record<string, string>>): Map<string, Attribute> =>
  new Map(Object.entries(attributes).map(([name, value]) => [name, { kind: 'text', value, place: {} }]))

function nodeOf(layer: Layer, index: number, ids: ReadonlyMap<MadeValue, ValueId>, scope: Scope): Node {
  const { file } = scope.making
  const place = {
    file,
    node: layer.name,
    type: layer.type,
    layer: String(index),
    ...(scope.path && { graphPath: scope.path })
  }
  return {
    dialect: 'openvino',
    domain: 'openvino',
    type: layer.type,
    version: layer.version,
    overload: '',
    name: layer.name,
    index,
    inputs: layer.inputs.map(value => value && ids.get(value)),
    outputs: layer.outputs.map(value => ids.get(value)),
    attributes: layer.attributes,
    captures: [],
    inputPorts: layer.inputs.map((value, i): InputPort => ({
      id: String(i),
      declared: (value && typeInIr(value)) ?? { kind: 'tensor' },
      place,
      dimPlaces: []
    })),
    layer: String(index),
    place,
    ...(layer.entry?.node.portMaps && { portMaps: layer.entry.node.portMaps }),
    ...(layer.constant && { constant: layer.constant })
  }
}
