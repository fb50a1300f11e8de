import { fail, placing } from '../errors.ts'
import type { ByteSource } from '../files/byte-source.ts'
import { allGraphs, type Constant, type Finding, type Model } from '../graph/graph.ts'
import { defaultLimits, type Limits } from '../graph/limits.ts'
import { elementCount } from '../tensor/tensor.ts'
import type { FileContext } from './context.ts'
import { decode } from './decode.ts'
import { lazySource } from './external.ts'
import { buildFunctions, signaturesOf } from './functions.ts'
import { buildGraph, partsOfGraph } from './graph.ts'
import { isSet, numberOf } from './numbers.ts'
import { readOpsets } from './opsets.ts'
import { setOrigin } from './origin.ts'
import type { ModelProto } from './schema.js'
import { UNKNOWN } from './skim.ts'

export { externalOpener } from './external.ts'

export interface OnnxOptions {
  /** Name of the file, for places and messages. */
  readonly file: string
  /**
   * Opens a file of external data by its location as the model writes it, and decides what may be opened (see
   * `externalOpener`). Without it, reading a tensor of such a file fails.
   */
  readonly openExternal?: (location: string) => ByteSource
  /** Ask for these files while the model is read, and not when they are. */
  readonly openEarly?: boolean
  readonly limits?: Limits
  /** Read doc strings too. */
  readonly docs?: boolean
  /** As that of the model, where the bytes were made of a text, whose lines it knows. */
  readonly locate?: Model['locate']
}

/** Versions of the file format that are read. 3 is the first one that imports operator sets. */
const MIN_IR_VERSION = 3
const MAX_IR_VERSION = 14

/**
 * Reads an ONNX model without its weights. Faults of its structure are not thrown: they become `findings` of its
 * graphs.
 * @throws NodewiseError `invalid-file` when the bytes are no ONNX model, `unsupported-version` for IR versions other
 *   than 3 to 14, `limit-exceeded` when the model is nested too deep or has too many parts
 */
export const loadOnnx = (source: ByteSource, options: OnnxOptions): Model =>
  placing({ file: options.file }, () => modelOf(source, options))

function modelOf(source: ByteSource, options: OnnxOptions): Model {
  if (source.size === 0) fail('invalid-file', 'the file is empty')
  const { file, limits = defaultLimits(), docs = false, locate } = options
  const { message: proto, payloads, dropped } = decode(source, 'ModelProto', limits, docs)
  const irVersion = irVersionOf(proto)
  if (proto.graph === null) fail('invalid-file', 'the model has no graph')
  const external = externalSources(options)
  const context: FileContext = {
    file,
    source,
    payloads,
    external: external.open,
    limits,
    signatures: signaturesOf(proto.functions),
    counts: { findings: 0 }
  }
  const findings: Finding[] = []
  const opsets = readOpsets(proto.opset_import, { file }, findings, context)
  const functions = buildFunctions(proto.functions, context, findings)
  const { graph } = buildGraph(partsOfGraph(proto.graph), { context, path: '', opsets, inFunction: false, findings })
  const model: Model = {
    dialect: 'onnx',
    file,
    irVersion,
    opsets,
    producer: `${proto.producer_name} ${proto.producer_version}`.trim(),
    modelVersion: numberOf(proto.model_version),
    domain: proto.domain,
    ...(proto.doc_string !== '' && { doc: proto.doc_string }),
    graph,
    functions,
    metadata: new Map(proto.metadata_props.map(({ key, value }) => [key, value])),
    weightBytes: 0,
    parameters: 0,
    notes: notesOf(dropped),
    limits,
    locate: locate ?? (place => place)
  }
  const weighed = { ...model, ...weightsOf(model) }
  setOrigin({ model: weighed, source, external: external.open, hasExternal: external.any })
  return weighed
}

function irVersionOf(proto: ModelProto): number {
  if (!isSet(proto, 'ir_version')) fail('invalid-file', 'it is no ONNX model: it states no IR version')
  const version = numberOf(proto.ir_version)
  if (version < MIN_IR_VERSION || version > MAX_IR_VERSION) {
    const supported = `versions ${MIN_IR_VERSION} to ${MAX_IR_VERSION} are supported`
    fail('unsupported-version', `it has IR version ${version}; ${supported}`, { version })
  }
  return version
}

/** Opens external files; all tensors of one file share a `ByteSource`. */
function externalSources({ openExternal, openEarly = false }: OnnxOptions): {
  readonly open: FileContext['external']
  readonly any: () => boolean
} {
  const sources = new Map<string, ByteSource>()
  const open =
    openExternal ??
    (location =>
      fail('missing-file', `its elements are in "${location}", and a model given as bytes has no folder to find it in`))
  return {
    open: location => {
      const source = sources.get(location) ?? (openEarly ? open(location) : lazySource(location, () => open(location)))
      sources.set(location, source)
      return source
    },
    any: () => sources.size > 0
  }
}

function weightsOf(model: Model): { weightBytes: number; parameters: number } {
  let weightBytes = 0
  let parameters = 0
  for (const { byteLength, dims } of constantsOf(model)) {
    weightBytes += byteLength
    parameters += elementCount(dims)
  }
  return { weightBytes, parameters }
}

function* constantsOf(model: Model): Generator<Constant> {
  for (const graph of allGraphs(model)) {
    yield* graph.initializers.values()
    for (const node of graph.nodes) {
      if (node.type !== 'Constant') continue
      for (const attribute of node.attributes.values()) if (attribute.kind === 'tensor') yield attribute.value
    }
  }
}

/** Notes on the dropped fields that a user may miss. */
const NOTES: Readonly<Record<string, string>> = {
  'ModelProto.training_info': 'information on training is ignored',
  'ModelProto.configuration': 'configurations of devices are ignored',
  'NodeProto.device_configurations': 'configurations of devices on nodes are ignored',
  'GraphProto.quantization_annotation': 'quantization annotations are ignored'
}

function notesOf(dropped: ReadonlyMap<string, number>): string[] {
  return [...dropped].flatMap(([field, count]) => {
    const [message, name] = field.split('.')
    const note = NOTES[field] ?? (name === UNKNOWN ? `a field of ${message} is not known and ignored` : undefined)
    return note === undefined ? [] : [count === 1 ? note : `${note} (${count} times)`]
  })
}
