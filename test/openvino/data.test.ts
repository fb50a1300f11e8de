import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { XMLParser } from 'fast-xml-parser'
import { describe, expect, test } from 'vitest'
import { NodewiseError } from '../../src/errors.ts'
import { bytesSource, fileSource } from '../../src/files/byte-source.ts'
import { bodiesOf, type DeclaredType, type Graph, graphAndBodies, type Model } from '../../src/graph/graph.ts'
import { loadOpenvino } from '../../src/openvino/load.ts'

const DATA = join(import.meta.dirname, '../../../shared/data')

const modelsUnder = (folder: string): string[] =>
  readdirSync(join(DATA, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => /(model|fragment)\.xml$/.test(name))
    .map(name => join(folder, name))
    .sort()

function load(name: string): Model {
  const path = join(DATA, name)
  const bin = path.replace(/\.xml$/, '.bin')
  return loadOpenvino(fileSource(path, name), {
    file: name,
    bin: () => (existsSync(bin) ? fileSource(bin) : undefined)
  })
}

/** What another reader of XML sees. */
interface RawPort {
  '@id': string
  '@precision'?: string
  dim?: string[]
}
interface RawPorts {
  port?: RawPort[]
}
interface RawLayer {
  '@id': string
  '@name': string
  '@type': string
  input?: RawPorts[]
  output?: RawPorts[]
  [body: string]: unknown
}
interface RawEdge {
  '@from-layer': string
  '@from-port': string
  '@to-layer': string
  '@to-port': string
}
interface RawGraph {
  layers?: { layer?: RawLayer[] }
  edges?: { edge?: RawEdge[] }
}

const LISTS = new Set(['layer', 'edge', 'port', 'dim', 'input', 'output'])
const reader = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  isArray: name => LISTS.has(name)
})

const portsOf = (layer: RawLayer, side: 'input' | 'output'): RawPort[] => layer[side]?.[0]?.port ?? []

function describeRaw(raw: RawGraph): unknown {
  const layers = raw.layers?.layer ?? []
  const byId = new Map(layers.map((layer, index) => [layer['@id'], index]))
  const positionOf = (layer: number, side: 'input' | 'output', id: string): number =>
    portsOf(layers[layer], side).findIndex(port => port['@id'] === id)
  const edges = (raw.edges?.edge ?? []).map(edge => {
    const from = byId.get(edge['@from-layer']) ?? -1
    const to = byId.get(edge['@to-layer']) ?? -1
    const output = positionOf(from, 'output', edge['@from-port'])
    const input = positionOf(to, 'input', edge['@to-port'])
    return `${from}:${output}>${to}:${input}`
  })
  const dims = (port: RawPort): string[] => (port.dim ?? []).map(dim => dim.trim())
  return {
    layers: layers.map(layer => [
      layer['@name'],
      layer['@type'],
      portsOf(layer, 'input').map(dims),
      portsOf(layer, 'output').map(dims)
    ]),
    edges: edges.sort(),
    bodies: layers.flatMap(layer =>
      ['body', 'then_body', 'else_body'].flatMap(tag => (tag in layer ? [describeRaw(layer[tag] as RawGraph)] : []))
    )
  }
}

function describeGraph(graph: Graph): unknown {
  const dims = (declared?: DeclaredType): string[] =>
    declared?.kind === 'tensor' ? (declared.dims ?? []).map(dim => String(dim ?? -1)) : []
  return {
    layers: graph.nodes.map(node => [
      node.name,
      node.type,
      node.inputPorts?.map(port => dims(port.declared)),
      node.outputs.map(id => dims(graph.values.get(id ?? '')?.declared))
    ]),
    edges: graph.nodes
      .flatMap(node => node.inputs.flatMap((id, input) => (id === undefined ? [] : [`${id}>${node.index}:${input}`])))
      .sort(),
    bodies: graph.nodes.flatMap(node => bodiesOf(node).map(body => describeGraph(body.graph)))
  }
}

describe.skipIf(!existsSync(DATA)).each(['openvino-op', 'openvino-zoo', 'gather', 'faults/openvino/bases'])(
  'every model under %s',
  folder => {
    test('loads as another reader of XML sees it, without a finding', () => {
      const names = modelsUnder(folder)
      expect(names.length).toBeGreaterThan(10)
      for (const name of names) {
        const model = load(name)
        for (const graph of graphAndBodies(model.graph)) expect(graph.findings, name).toEqual([])
        if (model.irVersion === 0) continue
        const raw = reader.parse(readFileSync(join(DATA, name))) as { net: RawGraph }
        expect(describeGraph(model.graph), name).toEqual(describeRaw(raw.net))
      }
    })

    test('has constants that can be read, but for a dead one beyond its file', () => {
      for (const name of modelsUnder(folder)) {
        for (const graph of graphAndBodies(load(name).graph)) {
          for (const { constant, name: node } of graph.nodes) {
            if (constant === undefined || node === 'dead_const') continue
            const tensor = constant.read()
            expect([tensor.type, tensor.dims], `${name} ${node}`).toEqual([constant.type, constant.dims])
          }
        }
      }
    })
  }
)

/** Kinds of seeded faults that the file shows without any knowledge of operators. */
const STRUCTURAL = new Set([
  'dim_malformed',
  'precision_unknown',
  'precision_missing',
  'param_shape_malformed',
  'const_shape_vs_size',
  'const_size_too_small',
  'edge_from_port_unknown',
  'edge_to_port_unknown',
  'edge_unknown_layer',
  'edge_missing',
  'edge_duplicate_source',
  'edge_repeated',
  'edge_cycle',
  'input_port_missing',
  'output_port_missing',
  'duplicate_layer_id',
  'duplicate_port_id',
  'layer_attr_missing',
  'result_without_edge',
  'data_missing',
  'body_edge_missing',
  'body_result_without_edge',
  'body_map_layer_unknown',
  'body_map_port_unknown',
  'body_back_edge_unknown'
])

interface Fault {
  id: string
  base: string
  kind: string
  file: string
  patch: { file: string }[]
}
interface FaultTools {
  patched(data: Uint8Array, edits: object[]): Uint8Array
  judge(fault: Fault, findings: readonly object[]): { best: boolean; cascade: boolean }
}

describe.skipIf(!existsSync(DATA))('seeded faults', () => {
  const folder = join(DATA, 'faults/openvino')
  const index = existsSync(DATA) ? (JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as Fault[]) : []

  test('of the structure are found at the best place, without a cascade', async () => {
    const tools = (await import(join(DATA, 'faults/apply_fault.mjs'))) as FaultTools
    const structural = index.filter(({ kind }) => STRUCTURAL.has(kind))
    expect(new Set(structural.map(({ kind }) => kind))).toEqual(STRUCTURAL)
    for (const { id, file } of structural) {
      const fault = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Fault
      const clean = readFileSync(join(folder, 'bases', fault.base, 'model.xml'))
      const xml = tools.patched(
        clean,
        fault.patch.filter(edit => edit.file === 'model.xml')
      )
      const model = loadOpenvino(bytesSource('model.xml', xml), { file: 'model.xml' })
      const found = [...graphAndBodies(model.graph)].flatMap(graph => graph.findings)
      const located = found.map(finding => ({ ...finding, place: model.locate(finding.place) }))
      expect([id, tools.judge(fault, located)]).toMatchObject([id, { best: true, cascade: false }])
    }
  })
})

describe.skipIf(!existsSync(DATA))('damaged copies of real models', () => {
  const names = [
    'special_loop',
    'special_xml_quirks',
    'special_if_branches',
    'special_const_strings',
    'special_v10_fp16_cnn'
  ]
  const files = existsSync(DATA)
    ? names.map(name =>
        ['xml', 'bin'].map(end => new Uint8Array(readFileSync(join(DATA, 'openvino-zoo', name, `model.${end}`))))
      )
    : []
  let seed = 7
  const random = (below: number): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }

  test('load, or are refused at a line and column; so are their constants', () => {
    for (let run = 0; run < 2000; run++) {
      const [clean, bin] = files[run % files.length]
      const xml = run % 3 === 0 ? clean.slice(0, random(clean.length)) : clean.slice()
      const flips = run % 3 === 0 ? 0 : 1 + random(3)
      for (let i = 0; i < flips; i++) xml[random(xml.length)] = run % 3 === 1 ? random(256) : 48 + random(10)
      const refused = (action: () => unknown): void => {
        try {
          action()
        } catch (error) {
          if (!(error instanceof NodewiseError)) throw error
          expect(error.place.line).toBeGreaterThan(0)
          expect(error.place.column).toBeGreaterThan(0)
        }
      }
      refused(() => {
        const cut = bin.slice(0, random(2 * bin.length))
        const model = loadOpenvino(bytesSource('m.xml', xml), { file: 'm.xml', bin: () => bytesSource('m.bin', cut) })
        for (const graph of graphAndBodies(model.graph)) {
          for (const finding of graph.findings) expect(model.locate(finding.place).line).toBeGreaterThan(0)
          for (const port of [...graph.inputs, ...graph.outputs]) expect(graph.values.has(port.value)).toBe(true)
          for (const { constant } of graph.nodes) if (constant !== undefined) refused(() => constant.read())
        }
      })
    }
  })
})
