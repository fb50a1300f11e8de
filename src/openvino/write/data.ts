import type { Attribute, Node } from '../../graph/graph.ts'
import { DTYPES } from '../../tensor/dtype.ts'
import { parseStaticShape } from '../shapes.ts'
import { attributeText, partialShape, tensorOf, typeName } from './attributes.ts'
import { attributeForm, copyUnchanged, writeLeaves } from './info.ts'
import { type OriginalLayer, refuse } from './original.ts'
import type { GraphWriter } from './writer.ts'
import type { Pair } from './xml-text.ts'

const INFO = 'rt_info.'

/** Writes `<data>`, and `<rt_info>` with what is known of it. */
export function writeData(writer: GraphWriter, node: Node, layer: OriginalLayer | undefined): void {
  const { out, original } = writer
  const xml = original?.xml
  const before = layer && xml?.child(layer.element, 'data')
  const written = new Set(before === undefined ? [] : xml?.attributePairs(before).map(([name]) => name))
  const pairs = new Map<string, string | number>()
  const info = new Map<string, string>()
  for (const [name, attribute] of node.attributes) {
    if (attribute.kind === 'graph' || attribute.kind === 'graphs') continue
    if (name.startsWith(INFO) && !written.has(name)) info.set(name, textOf(attribute))
    else pairs.set(name, textOf(attribute))
  }
  const complete = completed(writer, node, pairs)
  if (before !== undefined && xml !== undefined) out.copy(xml, before, complete)
  else if (pairs.size > 0) out.leaf('data', complete)
  writeInfo(writer, layer, info)
}

const textOf = (attribute: Attribute): string =>
  attribute.kind === 'text' ? attribute.value : attributeText(attribute)

/** The attributes with those that the model knows otherwise: place and type of a constant, declaration of an input. */
function completed(writer: GraphWriter, node: Node, pairs: Map<string, string | number>): Iterable<Pair> {
  const slot = node.constant && writer.bin.slotOf(node.constant)
  if (node.constant !== undefined && slot !== undefined) {
    const { type, dims } = node.constant
    const given = pairs.get('shape')
    const said = given === undefined ? undefined : parseStaticShape(String(given))
    const isSaid = said !== undefined && said.problem === undefined && said.dims.join() === dims.join()
    pairs.set('element_type', DTYPES[type].openvino ?? '')
    pairs.set('shape', isSaid ? (given ?? '') : dims.join(', '))
    pairs.set('offset', slot.offset)
    pairs.set('size', slot.size)
  } else if (node.type === 'Const' && !pairs.has('offset')) {
    refuse(node, 'a Const without a constant')
  } else if (node.type === 'Parameter' && writer.original?.layerOf(node) === undefined) {
    const port = writer.graph.inputs.find(input => input.node === node.index)
    const { type, dims } = tensorOf(port?.declared)
    if (!pairs.has('shape')) pairs.set('shape', partialShape(dims))
    if (!pairs.has('element_type')) pairs.set('element_type', typeName(type))
  }
  return pairs
}

function writeInfo(
  { out, original }: GraphWriter,
  layer: OriginalLayer | undefined,
  info: ReadonlyMap<string, string>
): void {
  const element = layer && original?.xml.child(layer.element, 'rt_info')
  if (element === undefined && info.size === 0) return
  const isUnchanged = (path: string): boolean => {
    const before = layer?.node.attributes.get(path)
    return before?.kind === 'text' && before.value === info.get(path)
  }
  out.open('rt_info', element === undefined ? [] : original?.xml.attributePairs(element))
  if (element !== undefined && original !== undefined) copyUnchanged(out, original.xml, element, INFO, isUnchanged)
  const added = [...info].filter(([path]) => !isUnchanged(path))
  writeLeaves(out, new Map(added.map(([path, value]) => [path.slice(INFO.length), value])), attributeForm)
  out.close('rt_info')
}
