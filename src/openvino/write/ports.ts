import type { DeclaredType, GraphValue, Node } from '../../graph/graph.ts'
import type { Element, XmlTree } from '../tree.ts'
import { portDims, precisionOf, tensorOf } from './attributes.ts'
import { type OriginalLayer, sameDeclared, sameList } from './original.ts'
import type { GraphWriter } from './writer.ts'
import type { Pair } from './xml-text.ts'

/** A port as it is to be written. */
interface PortText {
  readonly id: string
  readonly declared: DeclaredType | undefined
  /** Names of the tensor; undefined where they are those of the file, or where the port is an input. */
  readonly names?: readonly string[] | undefined
  /** Whether the port of the file says the same. */
  readonly isSame: boolean
}

/** Writes `<input>`. */
export function writeInputs(writer: GraphWriter, node: Node, layer: OriginalLayer | undefined): void {
  const ids = writer.ids.inputs[node.index]
  const ports = ids.map((id, i): PortText => {
    const source = node.inputs[i]
    const own = node.inputPorts?.at(i)
    const declared = own === undefined ? source && writer.graph.values.get(source)?.declared : own.declared
    const before = layer?.node.inputPorts?.at(i)
    return {
      id,
      declared: declared || undefined,
      isSame: before?.id === id && sameDeclared(declared || undefined, before.declared)
    }
  })
  writePorts(writer, 'input', ports, layer)
}

/** Writes `<output>`. */
export function writeOutputs(writer: GraphWriter, node: Node, layer: OriginalLayer | undefined): void {
  const ids = writer.ids.outputs[node.index]
  const ports = ids.map((id, i): PortText => {
    const value = valueAt(writer.graph.values, node, i)
    const before = layer && valueAt(layer.graph.values, layer.node, i)
    const hasNames = before !== undefined && value !== undefined && sameList(value.names, before.names)
    const isSame = hasNames && before.place.port === id && sameDeclared(value.declared, before.declared)
    return { id, declared: value?.declared, names: hasNames ? undefined : (value?.names ?? []), isSame }
  })
  writePorts(writer, 'output', ports, layer)
}

const valueAt = (values: ReadonlyMap<string, GraphValue>, node: Node, output: number): GraphValue | undefined => {
  const id = node.outputs.at(output)
  return id === undefined ? undefined : values.get(id)
}

function writePorts(
  { out, original }: GraphWriter,
  tag: 'input' | 'output',
  ports: readonly PortText[],
  layer: OriginalLayer | undefined
): void {
  const xml = original?.xml
  const section = layer && xml?.child(layer.element, tag)
  if (xml === undefined || section === undefined) {
    if (ports.length === 0) return
    out.open(tag)
    for (const port of ports) writePort(out, port)
    out.close(tag)
    return
  }
  const before = xml.children(section, 'port')
  out.open(tag, xml.attributePairs(section))
  for (const [i, port] of ports.entries()) {
    const element = before.at(i)
    if (element === undefined) writePort(out, port)
    else if (port.isSame) out.copy(xml, element)
    else writePort(out, port, xml, element)
  }
  for (const other of xml.children(section)) if (xml.name(other) !== 'port') out.copy(xml, other)
  out.close(tag)
}

const STATED = new Set(['id', 'precision', 'names'])

/** Writes a port; what else the port of the file has, is kept. */
function writePort(out: GraphWriter['out'], port: PortText, xml?: XmlTree, element?: Element): void {
  const has = (name: string): string | undefined => (element === undefined ? undefined : xml?.attribute(element, name))
  const type = tensorOf(port.declared).type
  const pairs: Pair[] = [['id', port.id]]
  // A type that is not known may stand there as a word that is none; it stays.
  const precision = type === undefined ? (has('precision') ?? 'UNSPECIFIED') : precisionOf(type)
  pairs.push(['precision', precision])
  const names = port.names === undefined ? has('names') : joinNames(port.names)
  if (names !== undefined && names !== '') pairs.push(['names', names])
  if (xml !== undefined && element !== undefined)
    pairs.push(...xml.attributePairs(element).filter(([name]) => !STATED.has(name)))
  out.open('port', pairs)
  for (const dim of portDims(port.declared)) out.leaf('dim', [], String(dim))
  if (xml !== undefined && element !== undefined)
    for (const child of xml.children(element)) if (xml.name(child) !== 'dim') out.copy(xml, child)
  out.close('port')
}

/** Names in one attribute: separated by commas, a comma within a name as `\,`. */
export const joinNames = (names: readonly string[]): string => names.map(name => name.replaceAll(',', '\\,')).join(',')
