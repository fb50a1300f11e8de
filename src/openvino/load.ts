import { NodewiseError, type Place } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import type { Graph, Model } from '../graph/graph.ts'
import { defaultLimits, type Limits } from '../graph/limits.ts'
import { detectEncoding } from './encoding.ts'
import { readFragment, readGraph } from './graph.ts'
import { collectLeaves } from './info.ts'
import { unsigned } from './numbers.ts'
import { locator } from './position.ts'
import { withMeans } from './pre-process.ts'
import { type ModelScope, notePassedOver, quote } from './scope.ts'
import { Column, type Element, type XmlTree } from './tree.ts'
import { readXml } from './xml.ts'

export interface OpenvinoOptions {
  /** Name of the file, for messages and places. */
  readonly file: string
  /** Opens the .bin; called once, when a constant is first read. It returns undefined where there is no .bin. */
  readonly bin?: () => ByteSource | undefined
  readonly limits?: Limits
}

/**
 * Reads an OpenVINO IR of version 10 or 11, or a bare `<layer>`. Faults of its structure are not thrown: they become
 * `findings` of its graphs.
 * @throws NodewiseError `invalid-file` where it is no well-formed XML or no IR, `unsupported-version`, `limit-exceeded`
 */
export const loadOpenvino = (source: ByteSource, options: OpenvinoOptions): Model => loadWithTree(source, options).model

/** Reads a model as {@link loadOpenvino} does, and returns the elements of its file too. */
export function loadWithTree(source: ByteSource, options: OpenvinoOptions): { model: Model; xml: XmlTree } {
  const { file, limits = defaultLimits() } = options
  const encoding = detectEncoding(source, file)
  const locate = locator(source, file, encoding)
  const xml = readXml(source, file, encoding, locate, limits)
  const isFragment = xml.name(xml.root) === 'layer'
  const scope: ModelScope = {
    file,
    source,
    xml,
    locate,
    limits,
    bin: once(options.bin),
    irVersion: isFragment ? 0 : readVersion(xml, () => locate({ file, offset: xml.offset(xml.root) })),
    opsets: new Map(),
    notes: new Map(),
    dimOffsets: new Column(),
    portTypes: new Map(),
    weights: { bytes: 0, parameters: 0, regions: new Set() },
    counts: { layers: 0, findings: 0 }
  }
  const model = isFragment ? modelOf(scope, readFragment(scope, xml.root), new Map(), [FRAGMENT_NOTE]) : readNet(scope)
  return { model, xml }
}

const FRAGMENT_NOTE = 'a bare <layer>, not a model: its ports are taken for inputs and outputs'
const NET_SECTIONS = new Set(['layers', 'edges', 'rt_info', 'meta_data', 'quantization_parameters', 'pre-process'])

function readNet(model: ModelScope): Model {
  const { xml } = model
  const net = xml.root
  notePassedOver(model, net, NET_SECTIONS)
  const graph = readGraph(model, net, '', xml.attribute(net, 'name') ?? '')
  const metadata = readMetadata(xml, net)
  return modelOf(model, withMeans(model, net, graph), metadata, [])
}

function modelOf(model: ModelScope, graph: Graph, metadata: Map<string, string>, notes: readonly string[]): Model {
  const passedOver = [...model.notes].map(
    ([what, times]) => `${what} is not read${times > 1 ? ` (${times} times)` : ''}`
  )
  return {
    dialect: 'openvino',
    file: model.file,
    irVersion: model.irVersion,
    opsets: model.opsets,
    producer: producerOf(metadata),
    graph,
    functions: new Map(),
    metadata,
    weightBytes: model.weights.bytes,
    parameters: model.weights.parameters,
    notes: [...notes, ...passedOver],
    limits: model.limits,
    source: model.source,
    locate: model.locate
  }
}

function readVersion(xml: XmlTree, place: () => Place): number {
  const name = xml.name(xml.root)
  if (name.toLowerCase() !== 'net') {
    throw new NodewiseError(
      'invalid-file',
      `the root element is <${name.slice(0, 80)}>, that of an OpenVINO IR is <net>`,
      place()
    )
  }
  const text = xml.attribute(xml.root, 'version')
  const version = unsigned(text)
  if (version === 10 || version === 11) return version
  const refuse = (message: string): never => {
    throw new NodewiseError('unsupported-version', `${message}; versions 10 and 11 are read`, place())
  }
  if (text === undefined) return refuse('<net> without a version')
  if (version === undefined) return refuse(`${quote(text)} is no IR version`)
  if (version > 11) return refuse(`IR version ${version} is newer than this program`)
  const advice = 'whose layers have no opset: convert the original model again'
  return refuse(`IR version ${version} is of the older Inference Engine, ${advice}`)
}

/**
 * Leaves of the elements with metadata, by path. Only paths of `quantization_parameters` start with the element's name.
 */
function readMetadata(xml: XmlTree, net: Element): Map<string, string> {
  const metadata = new Map<string, string>()
  for (const [name, prefix] of [
    ['rt_info', ''],
    ['meta_data', ''],
    ['quantization_parameters', 'quantization_parameters/']
  ] as const) {
    for (const element of xml.children(net, name)) collectLeaves(xml, element, prefix, metadata)
  }
  return metadata
}

function producerOf(metadata: ReadonlyMap<string, string>): string {
  const runtime = metadata.get('Runtime_version') ?? metadata.get('OpenVINO Runtime')
  if (runtime !== undefined) return `OpenVINO Runtime ${runtime}`
  const optimizer = metadata.get('MO_version')
  return optimizer === undefined ? '' : `Model Optimizer ${optimizer}`
}

function once<T>(action: (() => T) | undefined): () => T | undefined {
  let done: { value: T } | undefined
  return () => action && (done ??= { value: action() }).value
}
