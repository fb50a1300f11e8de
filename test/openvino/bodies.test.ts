import { describe, expect, test } from 'vitest'
import type { Graph, Node, PortMap } from '../../src/graph/graph.ts'
import { body, findings, layer, load, net } from './ir.ts'

const parameter = (id: number): string =>
  layer(id, 'Parameter', { data: 'shape="" element_type="f32"', out: ['0:FP32'] })
const result = (id: number): string => layer(id, 'Result', { in: ['0:FP32'] })
const BODY = `<body>${body(
  [parameter(5), parameter(3), result(9), result(4), layer(6, 'Add', { in: ['0', '1'], out: ['2:FP32'] })],
  ['5:0>6:0', '3:0>6:1', '6:2>9:0', '6:2>4:0']
)}</body>`

function loop(portMap: string, backEdges = ''): { node: Node; map: PortMap; codes: string[]; xml: string } {
  const more = `<port_map>${portMap}</port_map><back_edges>${backEdges}</back_edges>${BODY}`
  const xml = net(
    [parameter(0), layer(1, 'Loop', { version: 'opset5', in: ['0', '1', '2'], out: ['7:FP32', '8:FP32'], more })],
    ['0:0>1:0', '0:0>1:1', '0:0>1:2']
  )
  const model = load(xml)
  const node = model.graph.nodes[1]
  const map = node.portMaps?.get('body')
  if (map === undefined) throw new Error('no port map')
  return { node, map, codes: findings(model), xml }
}

const bodyOf = (node: Node, name = 'body'): Graph => {
  const attribute = node.attributes.get(name)
  if (attribute?.kind !== 'graph') throw new Error(`no ${name}`)
  return attribute.value
}

/** Entries of a port map: `external>body layer` and further attributes. */
const entry = (side: 'input' | 'output', ids: string, more = ''): string => {
  const [external, internal] = ids.split('>')
  return `<${side} external_port_id="${external}" internal_layer_id="${internal}" ${more}/>`
}

const OUTPUTS = entry('output', '7>9') + entry('output', '8>4')

describe('a body', () => {
  test('is a graph with ids of its own, found by its path', () => {
    const { node } = loop(OUTPUTS)
    const graph = bodyOf(node)
    expect(graph).toMatchObject({ path: '1:body', name: '', findings: [] })
    expect(graph.nodes.map(({ type, inputs }) => [type, ...inputs])).toEqual([
      ['Parameter'],
      ['Parameter'],
      ['Result', '4:0'],
      ['Result', '4:0'],
      ['Add', '0:0', '1:0']
    ])
    expect(graph.nodes[4].place).toMatchObject({ graphPath: '1:body', layer: '6' })
    expect(graph.values.get('4:0')?.place).toMatchObject({ graphPath: '1:body', port: '2' })
    expect(node.captures).toEqual([])
  })

  test('may hold bodies', () => {
    const inner = layer(2, 'If', {
      more: `<then_body>${body([result(0)])}</then_body><else_body>${body([])}</else_body>`
    })
    const model = load(net([parameter(0), layer(1, 'Loop', { more: `<body>${body([parameter(0), inner])}</body>` })]))
    const nested = bodyOf(bodyOf(model.graph.nodes[1]).nodes[1], 'then_body')
    expect(nested).toMatchObject({
      path: '1:body/1:then_body',
      findings: [{ code: 'missing-edge', place: { graphPath: '1:body/1:then_body' } }]
    })
    expect(findings(model)).toEqual([])
  })

  test('of an If has a map for each branch', () => {
    const branch = (id: number): string => body([parameter(id), result(id + 1)], [`${id}:0>${id + 1}:0`])
    const maps = (id: number, input: number): string =>
      entry('input', `${input}>${id}`) + entry('output', `3>${id + 1}`)
    const more = `<else_port_map>${maps(7, 2)}</else_port_map><then_port_map>${maps(4, 1)}</then_port_map>
      <then_body>${branch(4)}</then_body><else_body>${branch(7)}</else_body>`
    const model = load(
      net(
        [parameter(0), layer(1, 'If', { in: ['0', '1', '2'], out: ['3:FP32'], more })],
        ['0:0>1:0', '0:0>1:1', '0:0>1:2']
      )
    )
    const entries = (name: string) =>
      model.graph.nodes[1].portMaps
        ?.get(name)
        ?.entries.map(({ side, externalPort, bodyIndex }) => [side, externalPort, bodyIndex])
    expect(entries('then_body')).toEqual([
      ['input', 1, 0],
      ['output', 0, 0]
    ])
    expect(entries('else_body')).toEqual([
      ['input', 2, 0],
      ['output', 0, 0]
    ])
    expect(findings(model)).toEqual([])
  })

  test('reads its constants from the same .bin', () => {
    const constant = layer(0, 'Const', { data: 'element_type="u8" shape="1" offset="2" size="1"', out: ['0:U8'] })
    const model = load(
      net([layer(0, 'TensorIterator', { more: `<body>${body([constant])}</body>` })]),
      Uint8Array.of(1, 2, 3)
    )
    expect([...(bodyOf(model.graph.nodes[0]).nodes[0].constant?.read().data ?? [])]).toEqual([3])
    expect(model).toMatchObject({ weightBytes: 1, parameters: 1 })
  })

  test('may not be nested without end', () => {
    const bodyOfDepth = (depth: number): string => `<body><layers>${nested(depth - 1)}</layers></body>`
    const nested = (depth: number): string =>
      depth === 0 ? '' : layer(0, 'TensorIterator', { more: bodyOfDepth(depth) })
    expect(load(net([nested(30)])).graph.nodes).toHaveLength(1)
    expect(() => load(net([nested(40)]))).toThrow('nested deeper')
  })
})

describe('a port map', () => {
  test('has indices for ids: inputs as they are, outputs in the order of their ids', () => {
    const { map, codes } = loop(entry('output', '8>9') + entry('input', '2>3') + entry('output', '7>4'))
    expect(codes).toEqual([])
    expect(map.entries.map(({ side, externalPort, bodyIndex }) => [side, externalPort, bodyIndex])).toEqual([
      ['input', 2, 1],
      ['output', 1, 0],
      ['output', 0, 1]
    ])
  })

  test('slices along an axis, with defaults', () => {
    const slice = 'axis="0" start="-1" end="0" stride="-2" part_size="2"'
    const { map } = loop(entry('input', '2>3', 'axis="1"') + entry('output', '7>9', slice) + entry('output', '8>4'))
    expect(map.entries[0]).toMatchObject({ axis: 1, start: 0, end: -1, stride: 1, partSize: 1 })
    expect(map.entries[1]).toMatchObject({ axis: 0, start: -1, end: 0, stride: -2, partSize: 2 })
    expect(map.entries[2]).not.toHaveProperty('axis')
  })

  test('has the iteration and the condition of a Loop, which are not connected', () => {
    const iteration = entry('input', '-1>3', 'purpose="current_iteration"')
    const { map, codes } = loop(iteration + OUTPUTS + entry('output', '-1>4', 'purpose="execution_condition"'))
    expect(codes).toEqual([])
    expect(map.entries[0]).toMatchObject({ externalPort: -1, bodyIndex: 1, purpose: 'current_iteration' })
    expect(map.entries[3]).toMatchObject({ externalPort: -1, bodyIndex: 1, purpose: 'execution_condition' })
  })

  test('has back edges from Results to Parameters, but not to sliced ones', () => {
    const merged = loop(
      `<input external_port_id="2" internal_layer_id="3"/>${OUTPUTS}`,
      '<edge from-layer="4" to-layer="3"/>'
    )
    expect([merged.map.backEdges, merged.codes]).toEqual([[{ fromResult: 1, toParameter: 1 }], []])
    const sliced = loop(
      `<input external_port_id="2" internal_layer_id="3" axis="0"/>${OUTPUTS}`,
      '<edge from-layer="4" to-layer="3"/>'
    )
    expect([sliced.map.backEdges, sliced.codes]).toEqual([[], ['warning unused-back-edge']])
  })

  test.each([
    ['names a body layer that is not there', '<input external_port_id="2" internal_layer_id="4321"/>', 'unknown-layer'],
    ['names a body layer of the wrong kind', '<input external_port_id="2" internal_layer_id="9"/>', 'unknown-layer'],
    ['names an input that is not there', '<input external_port_id="3" internal_layer_id="3"/>', 'unknown-port'],
    [
      'names an input twice',
      '<input external_port_id="2" internal_layer_id="3"/><input external_port_id="2" internal_layer_id="5"/>',
      'duplicate-port'
    ],
    ['has no external id', '<input internal_layer_id="3"/>', 'bad-number'],
    ['has no body layer', '<input external_port_id="2"/>', 'bad-number'],
    ['has a negative axis', '<input external_port_id="2" internal_layer_id="3" axis="-2"/>', 'bad-number'],
    [
      'has a stride that is no number',
      '<input external_port_id="2" internal_layer_id="3" axis="0" stride="x"/>',
      'bad-number'
    ]
  ])('that %s has a finding there', (_, wrong, code) => {
    const { codes, xml } = loop(wrong + OUTPUTS)
    expect(codes).toEqual([code])
    const finding = load(xml).graph.findings[0]
    expect(xml.slice(finding.place.offset)).toMatch(/^<input (ext|int)ernal/)
    expect(finding.onlyIfNeeded).toEqual({ node: 1 })
  })

  test('must name every output of the layer', () => {
    expect(loop('<output external_port_id="7" internal_layer_id="9"/>').codes).toEqual(['unmapped-output'])
    expect(loop(`${OUTPUTS}<output external_port_id="9" internal_layer_id="9"/>`).codes).toEqual([
      'warning unknown-port'
    ])
  })

  test('with a back edge to nowhere has a finding there', () => {
    expect(loop(OUTPUTS, '<edge from-layer="4321" to-layer="3"/>').codes).toEqual(['unknown-layer'])
    expect(loop(OUTPUTS, '<edge from-layer="4" to-layer="9"/>').codes).toEqual(['unknown-layer'])
  })
})
