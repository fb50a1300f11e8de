import { bytesSource } from '../../../src/files/byte-source.ts'
import type { Attribute, Constant, Graph, GraphPort, Model, Node } from '../../../src/graph/graph.ts'
import { loadOpenvino } from '../../../src/openvino/load.ts'
import { writeOpenvino } from '../../../src/openvino/write/write.ts'

/**
 * What a model says, without the places of the file: two models with equal results are equal. Constants are their
 * elements.
 */
export const contentOf = (model: Model): unknown => ({
  irVersion: model.irVersion,
  opsets: [...model.opsets],
  producer: model.producer,
  metadata: [...model.metadata],
  notes: model.notes,
  parameters: model.parameters,
  graph: graphContent(model.graph)
})

const graphContent = (graph: Graph): unknown => ({
  name: graph.name,
  path: graph.path,
  inputs: graph.inputs.map(portContent),
  outputs: graph.outputs.map(portContent),
  nodes: graph.nodes.map(nodeContent),
  values: [...graph.values].map(([id, { name, names, declared, place }]) => [id, name, names, declared, place.port]),
  findings: graph.findings.map(({ code, severity, message, place }) => [
    code,
    severity,
    message,
    place.node,
    place.port
  ])
})

const portContent = ({ name, aliases, value, declared, node }: GraphPort): unknown => [
  name,
  aliases,
  value,
  declared,
  node
]

const nodeContent = (node: Node): unknown => {
  const { type, version, name, layer, inputs, outputs, attributes, inputPorts, portMaps, constant } = node
  return {
    head: [type, version, name, layer],
    inputs,
    outputs,
    attributes: [...attributes]
      .filter(([key]) => constant === undefined || (key !== 'offset' && key !== 'size'))
      .map(([key, value]) => [key, attributeContent(value)]),
    ports: inputPorts?.map(({ id, declared }) => [id, declared]),
    maps:
      portMaps &&
      [...portMaps].map(([tag, { entries, backEdges }]) => [
        tag,
        entries.map(({ place: _, ...entry }) => entry),
        backEdges
      ]),
    constant: constant && constantContent(constant)
  }
}

const attributeContent = (attribute: Attribute): unknown =>
  attribute.kind === 'graph' ? graphContent(attribute.value) : 'value' in attribute ? attribute.value : undefined

function constantContent(constant: Constant): unknown {
  const { type, dims } = constant
  try {
    const { data } = constant.read()
    return {
      type,
      dims,
      data: Array.isArray(data) ? data : Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('latin1')
    }
  } catch (error) {
    return { type, dims, error: (error as { code: string }).code }
  }
}

/** The content of a model as text, which is compared faster than objects are. */
export const digestOf = (model: Model): string =>
  JSON.stringify(
    contentOf(model),
    (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value === Infinity ? 'Infinity' : value),
    1
  )

/** The files of a model as they are written. */
export function filesOf(model: Model): { xml: string; bin: Uint8Array } {
  const { xml, bin, binBytes } = writeOpenvino(model)
  const bytes = gather(bin)
  if (bytes.length !== binBytes) throw new Error(`${bytes.length} bytes were written, ${binBytes} were announced`)
  return { xml: new TextDecoder().decode(gather(xml)), bin: bytes }
}

/** The model that is read from what is written of a model. */
export function writtenAgain(model: Model): Model {
  const { xml, bin } = filesOf(model)
  return loadOpenvino(bytesSource('model.xml', new TextEncoder().encode(xml)), {
    file: 'model.xml',
    bin: () => bytesSource('model.bin', bin)
  })
}

/** Pieces may be one buffer, so each is copied when it comes. */
const gather = (pieces: Iterable<Uint8Array>): Uint8Array =>
  new Uint8Array(Buffer.concat(Array.from(pieces, piece => Buffer.from(piece))))
