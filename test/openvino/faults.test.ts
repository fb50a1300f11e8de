import { describe, expect, test } from 'vitest'
import type { NodewiseError } from '../../src/errors.ts'
import { CHAIN, findings, layer, load, net, PARAMETER, RELU, RESULT, textAt } from './ir.ts'

const ADD = layer(1, 'Add', { in: ['0', '1'], out: ['2:FP32'] })

/** The codes of a net's findings, and the element at the place of the first. */
function faults(
  layers: readonly string[],
  edges: readonly string[]
): { codes: string[]; at?: string; needed?: unknown } {
  const xml = net(layers, edges)
  const model = load(xml)
  const [first] = model.graph.findings
  return { codes: findings(model), ...(first && { at: textAt(model, xml), needed: first.onlyIfNeeded }) }
}

describe('edges', () => {
  test('go by the ids of ports, whose position counts', () => {
    const layers = [
      PARAMETER,
      layer(7, 'Split', { in: ['40'], out: ['3:FP32', '1:FP32'] }),
      layer(3, 'Add', { in: ['9', '5'], out: ['9:FP32'] })
    ]
    const model = load(net(layers, ['7:1>3:9', '7:3>3:5', '0:0>7:40']))
    expect(model.graph.nodes[2].inputs).toEqual(['1:1', '1:0'])
    expect(findings(model)).toEqual([])
  })

  test('may write ids with zeros and blanks', () => {
    expect(load(net([PARAMETER, RELU], [' 00 :0>1: 0 '])).graph.nodes[1].inputs).toEqual(['0:0'])
  })

  test.each([
    [
      'from a layer that is not there',
      ['5:0>1:0', '0:0>1:1'],
      ['unknown-layer'],
      '<edge from-layer="5" from-port="0" to-layer="1" to-port="0"/>',
      { node: 1 }
    ],
    [
      'from a port that is not there',
      ['0:7>1:0', '0:0>1:1'],
      ['unknown-port'],
      '<edge from-layer="0" from-port="7" to-layer="1" to-port="0"/>',
      { node: 1 }
    ],
    [
      'to a port that is not there',
      ['0:0>1:0', '0:0>1:7'],
      ['unknown-port', 'note missing-edge'],
      '<edge from-layer="0" from-port="0" to-layer="1" to-port="7"/>',
      { node: 1 }
    ],
    [
      'to a layer that is not there',
      ['0:0>1:0', '0:0>1:1', '0:0>5:0'],
      ['warning unknown-layer'],
      '<edge from-layer="0" from-port="0" to-layer="5" to-port="0"/>',
      undefined
    ],
    [
      'to a port that has one',
      ['0:0>1:0', '0:0>1:1', '0:0>1:0'],
      ['duplicate-edge'],
      '<edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>',
      { node: 1 }
    ],
    [
      'with an id that is no number',
      ['0:0>1:0', '0:0>1:1', '0:0x0>1:0'],
      ['bad-number'],
      '<edge from-layer="0" from-port="0x0" to-layer="1" to-port="0"/>',
      undefined
    ],
    [
      'with an id beyond 2^53',
      ['0:0>1:0', '0:0>1:1', '9007199254740993:0>1:0'],
      ['bad-number'],
      '<edge from-layer="9007199254740993" from-port="0" to-layer="1" to-port="0"/>',
      undefined
    ]
  ])('%s', (_, edges, codes, at, needed) => {
    expect(faults([PARAMETER, ADD], edges)).toEqual({ codes, at, needed })
  })

  test('a missing one is an error before a connected port, and a note at the end', () => {
    expect(faults([PARAMETER, ADD], ['0:0>1:1'])).toEqual({
      codes: ['missing-edge'],
      at: '<port id="0">',
      needed: { node: 1 }
    })
    expect(faults([PARAMETER, ADD], ['0:0>1:0'])).toEqual({
      codes: ['note missing-edge'],
      at: '<port id="1">',
      needed: undefined
    })
  })

  test('a Result needs one, and keeps its place among the outputs without it', () => {
    const xml = net([PARAMETER, RELU, layer(3, 'Result', { in: ['0:FP32[2]'] }), RESULT], CHAIN)
    const model = load(xml)
    expect(findings(model)).toEqual(['missing-edge'])
    expect(model.graph.outputs.map(({ name }) => name)).toEqual(['result3', 'y'])
    expect(model.graph.values.get(model.graph.outputs[0].value)?.declared).toEqual({
      kind: 'tensor',
      type: 'float32',
      dims: [2]
    })
    expect(findings(load(net([layer(0, 'Result')])))).toEqual(['missing-edge'])
  })

  test('a circle is found at the edge that runs against the file', () => {
    const layers = [
      PARAMETER,
      layer(1, 'Add', { in: ['0', '1'], out: ['2:FP32'] }),
      layer(2, 'Relu', { in: ['0'], out: ['1:FP32'] })
    ]
    expect(faults(layers, ['0:0>1:0', '1:2>2:0', '2:1>1:1'])).toEqual({
      codes: ['cycle'],
      at: '<edge from-layer="2" from-port="1" to-layer="1" to-port="1"/>',
      needed: { node: 1 }
    })
    expect(faults([layer(0, 'Relu', { in: ['0'], out: ['1:FP32'] })], ['0:1>0:0']).codes).toEqual(['cycle'])
  })
})

describe('layers and ports', () => {
  test('a second layer with an id is reported, and edges go to the first', () => {
    const layers = [PARAMETER, RELU, layer(1, 'Other', { out: ['1:FP32'] }), RESULT]
    expect(faults(layers, CHAIN)).toEqual({
      codes: ['duplicate-id'],
      at: layers[2].split(/(?<=>)/)[0],
      needed: { node: 1 }
    })
    expect(load(net(layers, CHAIN)).graph.nodes[3].inputs).toEqual(['1:0'])
  })

  test('a second port with an id is reported once', () => {
    expect(faults([PARAMETER, layer(1, 'Add', { in: ['0', '0'], out: ['2:FP32'] })], ['0:0>1:0']).codes).toEqual([
      'duplicate-port',
      'note missing-edge'
    ])
    const many = Array.from({ length: 20 }, (_, i) => `${i % 19}:FP32`)
    expect(faults([layer(0, 'Split', { out: many })], []).codes).toEqual(['duplicate-port'])
  })

  test.each(['id', 'name', 'type', 'version'])('a layer without %s', name => {
    expect(faults([layer(5, 'A').replace(new RegExp(`${name}="[^"]*"`), '')], []).codes).toEqual(['missing-attribute'])
  })

  test.each(['0x10', '2.5', '', '1e3', '-1', '9007199254740992'])('a layer or port with the id %j', id => {
    expect(faults([layer(id, 'A')], []).codes).toEqual(['bad-number'])
    expect(
      faults([layer(0, 'A').replace('</layer>', `<output><port id="${id}" precision="FP32"/></output></layer>`)], [])
        .codes
    ).toEqual(['bad-number'])
  })

  test('an output port needs a precision that is one, an input port does not', () => {
    expect(faults([layer(0, 'A', { out: ['0'] })], []).codes).toEqual(['missing-attribute'])
    expect(faults([layer(0, 'A', { out: ['0:INT64'] })], [])).toEqual({
      codes: ['unknown-type'],
      at: '<port id="0" precision="INT64">',
      needed: { node: 0 }
    })
    expect(faults([layer(0, 'A', { in: ['0:INT64'] })], []).codes).toEqual([
      'warning unknown-type',
      'note missing-edge'
    ])
    expect(faults([layer(0, 'A', { out: ['0:UNSPECIFIED'] })], []).codes).toEqual([])
  })

  test.each(['1..4', '-2', '?', '2.5', 'x', '18446744073709551616'])('a dim %j is unknown', dim => {
    const xml = net([layer(0, 'A', { out: [`0:FP32[7,${dim}]`] })])
    const model = load(xml)
    expect(findings(model)).toEqual(['bad-dim'])
    expect(textAt(model, xml)).toBe('<dim>')
    expect(model.graph.values.get('0:0')?.declared).toEqual({ kind: 'tensor', type: 'float32', dims: [7, null] })
  })

  test('all dims of equal ports are reported, each at its place', () => {
    const xml = net([layer(0, 'A', { out: ['0:FP32[x]', '1:FP32[x]'] })])
    const model = load(xml)
    const places = model.graph.findings.map(({ place }) => [place.port, place.offset])
    expect(places).toEqual([
      ['0', xml.indexOf('<dim>')],
      ['1', xml.lastIndexOf('<dim>')]
    ])
  })

  test('a port without dims is a scalar or of unknown rank', () => {
    expect(load(net([layer(0, 'A', { out: ['0:FP32'] })])).graph.values.get('0:0')?.declared).toEqual({
      kind: 'tensor',
      type: 'float32'
    })
  })

  test('names of JavaScript objects are names like others', () => {
    const names = ['__proto__', 'constructor', 'toString']
    const model = load(
      net(
        names.map((name, id) =>
          layer(id, name, { name, version: name, data: `${name}="1"`, out: ['0:FP32'], names: name })
        )
      )
    )
    expect(findings(model)).toEqual([])
    for (const node of model.graph.nodes) expect([...node.attributes.keys()]).toEqual([node.name])
    expect([...model.opsets.keys()]).toEqual(names)
  })
})

test('messages stay on one line, however names and ids are', () => {
  const breaks = '&#10;&#13;'.repeat(99)
  const port = (attributes: string): string => `<port ${attributes}/>`
  const model = load(
    net([
      layer(0, 'A', { name: breaks }),
      layer(0, 'B'),
      layer(1, 'C', {
        more: `<input>${port(`id="${breaks}"`)}</input><output>${port(`id="1" precision="${breaks}"`)}</output>`
      })
    ])
  )
  expect(findings(model)).toEqual(['bad-number', 'unknown-type', 'duplicate-id', 'note missing-edge'])
  for (const { message } of model.graph.findings) {
    expect(message).not.toMatch(/[\r\n]/)
    expect(message.length).toBeLessThan(400)
  }
})

test('a file with more faults than any model has is refused', () => {
  const port = `<port id="0" precision="FP32">${'<dim>x</dim>'.repeat(100_001)}</port>`
  expect(() =>
    load(net([`<layer id="0" name="a" type="A" version="opset1"><output>${port}</output></layer>`]))
  ).toThrow(expect.objectContaining({ code: 'limit-exceeded' }) as NodewiseError)
})
