import { fail } from '../../errors.ts'
import type { Model } from '../../graph/graph.ts'
import { producersOf } from '../../graph/sort.ts'
import type { Element } from '../tree.ts'
import { type Bin, layOut } from './constants.ts'
import { idsOf } from './ids.ts'
import { copyUnchanged, infoForm, writeLeaves } from './info.ts'
import { type WriteBody, writeLayer } from './layer.ts'
import { type Original, originalOf } from './original.ts'
import { copyPreProcess, writePreProcess } from './pre-process.ts'
import type { GraphWriter } from './writer.ts'
import { type Pair, XmlText } from './xml-text.ts'

/** The two files of an IR, in pieces that are made when they are asked for. */
export interface WrittenIr {
  /** Topology. */
  readonly xml: Iterable<Uint8Array>
  /** Constants. A piece may be overwritten when the next one is asked for. */
  readonly bin: Iterable<Uint8Array>
  /** Bytes of the `.bin`. */
  readonly binBytes: number
}

/** Characters of XML that are gathered before they are handed on. */
const PIECE = 1 << 16

/**
 * Writes a model of OpenVINO's dialect as IR of its version, as OpenVINO writes it. A model that was read keeps all
 * that its file has, but for comments and for bytes of the .bin that no constant uses.
 * @throws NodewiseError `type-not-allowed`, `invalid-graph`, `value-out-of-range` for what IR cannot say; what reading
 *   a constant throws
 */
export function writeOpenvino(model: Model): WrittenIr {
  if (model.dialect !== 'openvino') fail('bad-usage', 'only a model of OpenVINO can be written as IR')
  const bin = layOut(model.graph)
  return {
    xml: encoded(() => xmlOf(model, bin)),
    bin: { [Symbol.iterator]: () => bin.pieces()[Symbol.iterator]() },
    binBytes: bin.size
  }
}

function encoded(text: () => Iterable<string>): Iterable<Uint8Array> {
  return {
    *[Symbol.iterator]() {
      const encoder = new TextEncoder()
      for (const piece of text()) yield encoder.encode(piece)
    }
  }
}

function* xmlOf(model: Model, bin: Bin): Generator<string> {
  const original = originalOf(model)
  const out = new XmlText()
  const { graph, irVersion } = model
  const writer: GraphWriter = { out, graph, ids: idsOf(graph, original), bin, irVersion, original }
  const root = original?.xml.root
  if (irVersion === 0) yield* writeLayer(writer, graph.nodes[0], bodyWriter(writer))
  else {
    out.open('net', netPairs(model, original))
    yield* writeGraph(writer, root)
    writeRest(out, model, original, bin)
    out.close('net')
  }
  yield out.take()
}

function netPairs({ graph, irVersion }: Model, original: Original | undefined): Iterable<Pair> {
  if (original === undefined) return Object.entries({ name: graph.name, version: String(irVersion) })
  const { xml, model } = original
  const pairs = new Map(xml.attributePairs(xml.root))
  if (graph.name !== model.graph.name) pairs.set('name', graph.name)
  if (irVersion !== model.irVersion) pairs.set('version', String(irVersion))
  return pairs
}

/** Writes `<layers>` and `<edges>`. */
function* writeGraph(writer: GraphWriter, element: Element | undefined): Generator<string> {
  const { out, graph, original } = writer
  const sectionPairs = (tag: string): Iterable<Pair> => {
    const section = element === undefined ? undefined : original?.xml.child(element, tag)
    return section === undefined ? [] : (original?.xml.attributePairs(section) ?? [])
  }
  out.open('layers', sectionPairs('layers'))
  const writeBody = bodyWriter(writer)
  for (const node of graph.nodes) {
    yield* writeLayer(writer, node, writeBody)
    if (out.size >= PIECE) yield out.take()
  }
  out.close('layers')
  const before = element === undefined ? undefined : original?.xml.child(element, 'edges')
  if (writer.ids.areOriginal && original !== undefined) {
    if (before !== undefined) out.copy(original.xml, before)
    return
  }
  out.open('edges', sectionPairs('edges'))
  for (const edge of edgesOf(writer)) {
    out.leaf('edge', edge)
    if (out.size >= PIECE) yield out.take()
  }
  out.close('edges')
}

/** The edges of a graph, by producer, port and consumer, as OpenVINO sorts them. */
function edgesOf({ graph, ids }: GraphWriter): Pair[][] {
  const producers = producersOf(graph)
  const edges: { from: number; output: number; to: number; input: number }[] = []
  graph.nodes.forEach((node, to) =>
    node.inputs.forEach((id, input) => {
      const from = id === undefined ? undefined : producers.get(id)
      if (from !== undefined) edges.push({ from, output: graph.nodes[from].outputs.indexOf(id), to, input })
    })
  )
  const key = (index: number): number => Number(ids.layers[index])
  edges.sort((a, b) => key(a.from) - key(b.from) || a.output - b.output || key(a.to) - key(b.to) || a.input - b.input)
  return edges.map(({ from, output, to, input }) => [
    ['from-layer', ids.layers[from]],
    ['from-port', ids.outputs[from][output]],
    ['to-layer', ids.layers[to]],
    ['to-port', ids.inputs[to][input]]
  ])
}

const GRAPH_SECTIONS = new Set(['layers', 'edges'])

/** Returns the function that writes the bodies of a graph's layers. */
function bodyWriter(writer: GraphWriter): WriteBody {
  const { out, original } = writer
  return function* ({ tag, graph, ids }, element) {
    out.open(tag, element === undefined ? [] : original?.xml.attributePairs(element))
    yield* writeGraph({ ...writer, graph, ids }, element)
    if (element === undefined || original === undefined) out.leaf('rt_info')
    else
      for (const child of original.xml.children(element))
        if (!GRAPH_SECTIONS.has(original.xml.name(child))) out.copy(original.xml, child)
    out.close(tag)
  }
}

/** Elements of `<net>` whose leaves are metadata, and how their paths start. */
const METADATA: Readonly<Record<string, string>> = {
  rt_info: '',
  meta_data: '',
  quantization_parameters: 'quantization_parameters/'
}

/**
 * Writes what follows the edges: mean values, the elements of the file without metadata that is gone, then what is new.
 */
function writeRest(out: XmlText, { graph, metadata }: Model, original: Original | undefined, bin: Bin): void {
  const before = original?.model.metadata
  const isUnchanged = (path: string): boolean => before?.has(path) === true && before.get(path) === metadata.get(path)
  let added = new Map([...metadata].filter(([path]) => !isUnchanged(path)))
  if (original !== undefined) {
    const { xml } = original
    for (const child of xml.children(xml.root)) {
      const name = xml.name(child)
      if (GRAPH_SECTIONS.has(name)) continue
      if (name === 'pre-process') copyPreProcess(out, xml, child, graph, bin)
      else if (!(name in METADATA)) out.copy(xml, child)
      else {
        out.open(name, xml.attributePairs(child))
        copyUnchanged(out, xml, child, METADATA[name], isUnchanged)
        if (name === 'rt_info') {
          writeLeaves(out, added, infoForm)
          added = new Map()
        }
        out.close(name)
      }
    }
    if (added.size === 0) return
  } else writePreProcess(out, graph, bin)
  out.open('rt_info')
  writeLeaves(out, added, infoForm)
  out.close('rt_info')
}
