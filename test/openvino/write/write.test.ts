import { describe, expect, test } from 'vitest'
import type { Graph, Model, Node } from '../../../src/graph/graph.ts'
import { body, layer, load } from '../ir.ts'
import { digestOf, filesOf, writtenAgain } from './same.ts'

const net = (content: string, attributes = 'name="m" version="11"', after = ''): string =>
  `<?xml version="1.0"?>\n<net ${attributes}>\n${content}${after}</net>\n`

const input = (id: number, shape = '2', names = 'x'): string =>
  layer(id, 'Parameter', {
    name: `in${id}`,
    data: `shape="${shape}" element_type="f32"`,
    out: [`0:FP32[${shape}]`],
    names
  })
const constant = (id: number, type: string, shape: string, offset: number, size: number): string =>
  layer(id, 'Const', {
    data: `element_type="${type}" shape="${shape}" offset="${offset}" size="${size}"`,
    out: [`0:${type.toUpperCase()}${shape === '' ? '' : `[${shape}]`}`]
  })
const result = (id: number): string => layer(id, 'Result', { in: ['0:FP32[2]'] })

/** Two constants, added and returned. */
const twoConstants = (first: string, second: string): string =>
  net(
    body(
      [first, second, layer(2, 'Add', { in: ['0:FP32[2]', '1:FP32[2]'], out: ['2:FP32[2]'] }), result(3)],
      ['0:0>2:0', '1:0>2:1', '2:2>3:0']
    )
  )

/** The model without the file that it was read from, as one that was made. */
const made = ({ source: _, ...model }: Model): Model => model

describe('the .bin of a model', () => {
  test('has the bytes of equal constants once, whatever their types and shapes', () => {
    const model = load(
      twoConstants(constant(0, 'f32', '2', 0, 8), constant(1, 'i64', '', 8, 8)),
      Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8)
    )
    const { xml, bin } = filesOf(model)
    expect([...bin]).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(xml.match(/offset="0" size="8"/g)).toHaveLength(2)
  })

  test('tells large constants apart that differ in their last byte', () => {
    const size = 3 * 2 ** 20
    const bytes = new Uint8Array(3 * size).fill(7)
    bytes[2 * size - 1] = 8
    const layers = [0, 1, 2].map(id => constant(id, 'u8', String(size), id * size, size))
    const model = load(net(body([...layers, result(3)], ['0:0>3:0'])), bytes)
    const { xml, bin } = filesOf(model)
    expect(bin).toHaveLength(2 * size)
    expect(xml.match(/offset="\d+"/g)).toEqual(['offset="0"', `offset="${size}"`, 'offset="0"'])
    expect(bin[2 * size - 1]).toBe(8)
  })

  test('holds constants in the order of their layers, without what no layer names', () => {
    const model = load(
      twoConstants(constant(0, 'u8', '2', 5, 2), constant(1, 'u8', '3', 1, 3)),
      Uint8Array.of(9, 1, 2, 3, 9, 4, 5, 9)
    )
    expect([...filesOf(model).bin]).toEqual([4, 5, 1, 2, 3])
  })

  test.each([
    ['i4', '3', 2],
    ['u1', '11', 2],
    ['u3', '9', 6],
    ['u6', '5', 6],
    ['nf4', '3', 2],
    ['boolean', '3', 3],
    ['bf16', '1', 2]
  ])('keeps the elements of %s', (type, shape, size) => {
    const bytes = Uint8Array.from({ length: size }, (_, i) => (type === 'boolean' ? i % 2 : 0x10 * i + 1))
    const model = load(twoConstants(constant(0, type, shape, 0, size), constant(1, 'u8', '1', 0, 1)), bytes)
    expect(digestOf(writtenAgain(model))).toBe(digestOf(model))
    expect(writtenAgain(made(model)).graph.nodes[0].constant!.read()).toEqual(model.graph.nodes[0].constant!.read())
  })

  test('keeps strings, empty ones and those with zero bytes too', () => {
    const text = new TextEncoder().encode('aé\0')
    const header = new Int32Array([3, 0, 1, 1, text.length])
    const bytes = new Uint8Array([...new Uint8Array(header.buffer), ...text])
    const model = load(twoConstants(constant(0, 'string', '3', 0, bytes.length), constant(1, 'u8', '1', 0, 1)), bytes)
    const { data } = writtenAgain(model).graph.nodes[0].constant!.read()
    expect(data).toEqual(['a', '', 'é\0'])
  })

  test.each([
    [0, 4],
    [1, 5],
    [64, 5]
  ])('has for a constant without elements, of size %i, %i bytes in all with another', (size, all) => {
    const model = load(twoConstants(constant(0, 'f32', '0', 0, size), constant(1, 'f32', '', 0, 4)), new Uint8Array(4))
    expect(filesOf(model).bin).toHaveLength(all)
  })

  test('is never empty where there is a constant: OpenVINO takes that for a file that is missing', () => {
    expect(filesOf(load(net(body([constant(0, 'f32', '0', 0, 0)])), new Uint8Array(1))).bin).toHaveLength(1)
    expect(filesOf(load(net(body([input(0)])))).bin).toHaveLength(0)
  })

  test('must have a constant that is needed; one of a dead layer may be missing', () => {
    const dead = constant(0, 'f32', '2', 100, 8)
    const live = constant(1, 'f32', '2', 0, 8)
    const text = (source: number): string => net(body([dead, live, result(3)], [`${source}:0>3:0`]))
    const bytes = new Uint8Array(8)
    expect(filesOf(load(text(1), bytes)).xml).toContain('offset="100" size="8"')
    expect(() => filesOf(load(text(0), bytes))).toThrow(/beyond the 8 bytes/)
  })
})

describe('a model that was read', () => {
  test('keeps attributes and elements that are not known, wherever they are', () => {
    const ports = `<input><port id="0" precision="FP32" rank="one"><dim>2</dim>
      <rt_info><attribute name="layout" layout="[C]"/></rt_info></port></input>
      <output><port id="1" precision="FP32"><dim>2</dim></port></output>`
    const relu = `<layer id="1" name="r" type="Relu" version="opset1" color="red"><data odd="a &lt; b"/>
      <rt_info><attribute name="fused_names" version="0" value="p,q"/></rt_info>${ports}
      <note>text<deep a="1"/></note></layer>`
    const after = `<rt_info><conversion_parameters><framework value="onnx"/></conversion_parameters></rt_info>
      <pre-process reference-layer-name="in0"><channel id="0"><mean value="1"/></channel></pre-process><other/>`
    const content = body([input(0), relu, result(2)], ['0:0>1:0', '1:1>2:0'])
    const text = net(content, 'name="m" version="11" made_by="hand"', after)
    const { xml } = filesOf(load(text))
    for (const kept of [
      'made_by="hand"',
      'color="red"',
      'odd="a &lt; b"',
      'rank="one"',
      'layout="[C]"',
      'value="p,q"',
      '<note>text<deep a="1" />',
      '<framework value="onnx" />',
      '<mean value="1" />',
      '<other />'
    ])
      expect(xml).toContain(kept)
    expect(digestOf(writtenAgain(load(text)))).toBe(digestOf(load(text)))
  })

  test('keeps its faults', () => {
    const text = net(
      body(
        [input(0), input(0), layer(2, 'Relu', { in: ['0:F32[2]', '0:FP32[x]'], out: ['1[2]', '1:FP32'] }), result(3)],
        ['0:0>2:0', '7:0>2:0', '2:9>3:0', '2:1>8:0']
      )
    )
    const model = load(text)
    expect(model.graph.findings.length).toBeGreaterThan(5)
    expect(digestOf(writtenAgain(model))).toBe(digestOf(model))
  })

  test('keeps version 10, and a bare layer stays one', () => {
    expect(filesOf(load(net(body([input(0)]), 'name="old" version="10"'))).xml).toContain('version="10">')
    const { xml } = filesOf(load(layer(0, 'Relu', { in: ['0[2]'], out: ['1[2]'] })))
    expect(xml).not.toContain('<net')
    expect(xml).toContain('<layer id="0"')
  })

  test('comes out in the form of OpenVINO', () => {
    const { xml } = filesOf(load(net(body([input(0), result(1)], ['0:0>1:0']), undefined, '<rt_info/>')))
    expect(xml).toBe(`<?xml version="1.0"?>
<net name="m" version="11">
	<layers>
		<layer id="0" name="in0" type="Parameter" version="opset1">
			<data shape="2" element_type="f32" />
			<output>
				<port id="0" precision="FP32" names="x">
					<dim>2</dim>
				</port>
			</output>
		</layer>
		<layer id="1" name="result1" type="Result" version="opset1">
			<input>
				<port id="0" precision="FP32">
					<dim>2</dim>
				</port>
			</input>
		</layer>
	</layers>
	<edges>
		<edge from-layer="0" from-port="0" to-layer="1" to-port="0" />
	</edges>
	<rt_info />
</net>
`)
  })
})

describe('a model that was edited', () => {
  const text = net(
    body(
      [
        input(0),
        layer(1, 'Relu', {
          name: 'r',
          in: ['0:FP32[2]'],
          out: ['1:FP32[2]'],
          names: 'y',
          attributes: 'color="red"',
          more: '<rt_info><attribute name="a" version="1" x="1"/><attribute name="b" version="0" value="2"/></rt_info>'
        }),
        result(2)
      ],
      ['0:0>1:0', '1:1>2:0']
    )
  )
  const edited = (change: (node: Node, graph: Graph) => Partial<Node>): Model => {
    const model = load(text)
    const { graph } = model
    return { ...model, graph: { ...graph, nodes: graph.nodes.map(node => ({ ...node, ...change(node, graph) })) } }
  }

  test('says what it says, and keeps what it does not describe', () => {
    const { xml } = filesOf(edited(({ name }) => (name === 'r' ? { type: 'Sigmoid', name: 's' } : {})))
    expect(xml).toContain('<layer id="1" name="s" type="Sigmoid" version="opset1" color="red">')
    expect(xml).toContain('<attribute name="a" version="1" x="1" />')
  })

  test('has edges for the inputs as they are now', () => {
    const { xml } = filesOf(edited(({ name }) => (name === 'result2' ? { inputs: ['0:0'] } : {})))
    expect(xml).toContain('<edge from-layer="0" from-port="0" to-layer="2" to-port="0" />')
    expect(xml).not.toContain('<edge from-layer="1"')
  })

  test('has other entries of rt_info where they are others', () => {
    const { xml } = filesOf(
      edited(({ name, attributes, place }) => {
        if (name !== 'r') return {}
        const changed = new Map(attributes)
        changed.delete('rt_info.b')
        return { attributes: changed.set('rt_info.decompression', { kind: 'text', value: '', place }) }
      })
    )
    expect(xml).toContain('<attribute name="a" version="1" x="1" />')
    expect(xml).not.toContain('name="b"')
    expect(xml).toContain('<attribute name="decompression" version="0" />')
  })

  test('has declared dims as they are now', () => {
    const model = load(text)
    model.graph.values.get('1:0')!.declared = {
      kind: 'tensor',
      type: 'float16',
      dims: [null, 'n', { min: 1, max: 4 }, 5]
    }
    const { xml } = filesOf(model)
    expect(xml.replace(/\s+/g, ' ')).toContain(
      '<port id="1" precision="FP16" names="y"> <dim>-1</dim> <dim>-1</dim> <dim>-1</dim> <dim>5</dim> </port>'
    )
  })
})

describe('a model that was made', () => {
  const content = body([input(5, '1', 'a'), input(6, '1', 'b'), result(7)], ['5:0>7:0'])
  const iterator = `<port_map><input external_port_id="0" internal_layer_id="5" axis="0"/>
    <output external_port_id="1" internal_layer_id="7" axis="0"/></port_map>
    <back_edges><edge from-layer="7" to-layer="6"/></back_edges><body>${content}</body>`
  const ports = { in: ['0:FP32[4]'], out: ['1:FP32[4]'], names: 'y' }
  const layers = [input(0, '4'), layer(1, 'TensorIterator', { ...ports, more: iterator }), result(2)]
  const loop = net(body(layers, ['0:0>1:0', '1:1>2:0']))

  test('is written from what it says alone, bodies included', () => {
    const model = made(load(loop))
    expect(digestOf(writtenAgain(model))).toBe(digestOf(writtenAgain(writtenAgain(model))))
    const node = writtenAgain(model).graph.nodes[1]
    expect(node.portMaps).toEqual(
      new Map([
        [
          'body',
          {
            entries: [
              expect.objectContaining({ side: 'input', externalPort: 0, bodyIndex: 0, axis: 0, start: 0, end: -1 }),
              expect.objectContaining({
                side: 'output',
                externalPort: 0,
                bodyIndex: 0,
                axis: 0,
                stride: 1,
                partSize: 1
              })
            ],
            backEdges: [{ fromResult: 0, toParameter: 1 }]
          }
        ]
      ])
    )
  })

  test('gives layers without an id, or with that of another, one of their own', () => {
    const model = made(load(loop))
    const nodes = model.graph.nodes.map(({ layer: id, ...node }, i) =>
      i === 0 ? node : { ...node, layer: '1', was: id }
    )
    const again = writtenAgain({ ...model, graph: { ...model.graph, nodes } })
    expect(again.graph.nodes.map(node => node.layer)).toEqual(['2', '1', '3'])
    expect(again.graph.nodes.map(node => node.inputs)).toEqual([[], ['0:0'], ['1:0']])
  })

  test('declares an input as its graph does', () => {
    const model = made(load(loop))
    const { graph } = model
    const declared = {
      kind: 'tensor',
      type: 'float16',
      dims: [null, 3, { min: 2, max: Infinity }, { min: 0, max: 9 }]
    } as const
    const nodes = graph.nodes.map((node, i) => (i === 0 ? { ...node, attributes: new Map() } : node))
    const inputs = graph.inputs.map(port => ({ ...port, declared }))
    expect(filesOf({ ...model, graph: { ...graph, nodes, inputs } }).xml).toContain(
      '<data shape="?,3,2..,..9" element_type="f16" />'
    )
  })

  test('refuses what IR cannot say', () => {
    const model = made(load(loop))
    const withNode = (change: Partial<Node>): Model => ({
      ...model,
      graph: { ...model.graph, nodes: model.graph.nodes.map((node, i) => (i === 1 ? { ...node, ...change } : node)) }
    })
    expect(() => filesOf(withNode({ inputs: [undefined, '0:0'] }))).toThrow(/input 0 is left out/)
    expect(() => filesOf(withNode({ name: 'a\u0001' }))).toThrow(/U\+0001/)
    expect(filesOf(withNode({ name: 'a\n"<&>\t' })).xml).toContain('name="a&#10;&quot;&lt;&amp;>&#9;"')
  })
})
