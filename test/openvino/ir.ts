import { bytesSource } from '../../src/files/byte-source.ts'
import type { Graph, Model, Node } from '../../src/graph/graph.ts'
import { loadOpenvino } from '../../src/openvino/load.ts'

/** Loads IR from text (or bytes) and, if given, the bytes of its .bin. */
export function load(xml: string | Uint8Array, bin?: Uint8Array): Model {
  const bytes = typeof xml === 'string' ? new TextEncoder().encode(xml) : xml
  return loadOpenvino(bytesSource('model.xml', bytes), {
    file: 'model.xml',
    bin: () => bin && bytesSource('model.bin', bin)
  })
}

/** A port: `0:FP32[2,3]`, `0:FP32` without dims, `1[4]` without a precision; a fourth part in quotes gives names. */
export function port(text: string, names?: string): string {
  const [, id, precision, dims] = /^(\S*?)(?::(\w*))?(?:\[(.*)\])?$/.exec(text) ?? []
  const given = Object.entries({ id, precision, names }).filter(([, value]) => value !== undefined)
  const attributes = given.map(([name, value]) => `${name}="${value}"`).join(' ')
  const content = (dims ?? '')
    .split(',')
    .filter(dim => dim !== '')
    .map(dim => `<dim>${dim}</dim>`)
    .join('')
  return `<port ${attributes}>${content}</port>`
}

export interface LayerText {
  readonly name?: string
  readonly version?: string
  readonly data?: string | undefined
  readonly in?: readonly string[]
  readonly out?: readonly string[]
  readonly names?: string
  readonly more?: string
  readonly attributes?: string | undefined
}

/** A layer with ports in the notation of {@link port}. */
export function layer(id: number | string, type: string, parts: LayerText = {}): string {
  const section = (tag: string, ports: readonly string[] | undefined): string =>
    ports === undefined
      ? ''
      : `<${tag}>${ports.map(text => port(text, tag === 'output' ? parts.names : undefined)).join('')}</${tag}>`
  const name = parts.name ?? `${type.toLowerCase()}${id}`
  const head = `id="${id}" name="${name}" type="${type}" version="${parts.version ?? 'opset1'}"`
  const data = parts.data === undefined ? '' : `<data ${parts.data}/>`
  const content = data + section('input', parts.in) + section('output', parts.out) + (parts.more ?? '')
  return `<layer ${head}${parts.attributes ? ` ${parts.attributes}` : ''}>${content}</layer>`
}

/** An edge `from:port>to:port`. */
export function edge(text: string): string {
  const [fromLayer, fromPort, toLayer, toPort] = text.split(/[:>]/)
  return `<edge from-layer="${fromLayer}" from-port="${fromPort}" to-layer="${toLayer}" to-port="${toPort}"/>`
}

/** `<layers>` and `<edges>`, on lines of their own. */
export const body = (layers: readonly string[], edges: readonly string[] = []): string =>
  `<layers>\n${layers.join('\n')}\n</layers>\n<edges>\n${edges.map(edge).join('\n')}\n</edges>\n`

export const net = (
  layers: readonly string[],
  edges: readonly string[] = [],
  more = '',
  version: string | number = 11
): string => `<net name="test" version="${version}">\n${body(layers, edges)}${more}</net>\n`

/** x → Relu → y, a model without faults. */
export const PARAMETER = layer(0, 'Parameter', {
  name: 'x',
  data: 'shape="2,3" element_type="f32"',
  out: ['0:FP32[2,3]'],
  names: 'x'
})
export const RELU = layer(1, 'ReLU', { in: ['0:FP32[2,3]'], out: ['1:FP32[2,3]'], names: 'y' })
export const RESULT = layer(2, 'Result', { in: ['0:FP32[2,3]'] })
export const CHAIN = ['0:0>1:0', '1:1>2:0']

/** `code at element` of each finding, with the severity unless it is an error. */
export function findings(model: Model, graph: Graph = model.graph): string[] {
  return graph.findings.map(({ code, severity }) => (severity === 'error' ? code : `${severity} ${code}`))
}

/** Text of the file from a finding's place on. */
export function textAt(model: Model, xml: string, index = 0): string {
  const { offset } = model.graph.findings[index].place
  return new TextDecoder().decode(new TextEncoder().encode(xml).subarray(offset)).split(/(?<=>)/)[0]
}

export function nodeNamed(model: Model, name: string, graph: Graph = model.graph): Node {
  const node = graph.nodes.find(candidate => candidate.name === name)
  if (node === undefined) throw new Error(`no node ${name}`)
  return node
}
