import { describe, expect, test } from 'vitest'
import { NodewiseError } from '../../src/errors.ts'
import { CHAIN, findings, layer, load, net, nodeNamed, PARAMETER, RELU, RESULT } from './ir.ts'

const SIMPLE = net([PARAMETER, RELU, RESULT], CHAIN)

describe('a model', () => {
  const model = load(SIMPLE)

  test('has a node for every layer, in the order of the file, as the file writes it', () => {
    expect(findings(model)).toEqual([])
    expect(
      model.graph.nodes.map(node => [node.type, node.version, node.name, node.layer, node.index, node.domain])
    ).toEqual([
      ['Parameter', 'opset1', 'x', '0', 0, 'openvino'],
      ['ReLU', 'opset1', 'relu1', '1', 1, 'openvino'],
      ['Result', 'opset1', 'result2', '2', 2, 'openvino']
    ])
    expect(model.graph.nodes.map(node => [node.inputs, node.outputs])).toEqual([
      [[], ['0:0']],
      [['0:0'], ['1:0']],
      [['1:0'], []]
    ])
  })

  test('declares values as their output ports do, with the place of each dim', () => {
    const value = model.graph.values.get('1:0')
    expect(value).toMatchObject({
      id: '1:0',
      name: 'y',
      names: ['y'],
      declared: { kind: 'tensor', type: 'float32', dims: [2, 3] }
    })
    expect(SIMPLE.slice(value?.place.offset)).toMatch(/^<port id="1" precision="FP32" names="y">/)
    expect(value?.place).toMatchObject({
      layer: '1',
      port: '1',
      node: 'relu1',
      type: 'ReLU',
      version: 'opset1',
      file: 'model.xml'
    })
    expect(value?.dimPlaces?.map(place => SIMPLE.slice(place.offset).slice(0, 12))).toEqual([
      '<dim>2</dim>',
      '<dim>3</dim>'
    ])
  })

  test('keeps what input ports declare', () => {
    const [port] = nodeNamed(model, 'relu1').inputPorts ?? []
    expect(port).toMatchObject({ id: '0', declared: { kind: 'tensor', type: 'float32', dims: [2, 3] } })
    expect(SIMPLE.slice(port.dimPlaces[1].offset)).toMatch(/^<dim>3<\/dim><\/port><\/input><output><port id="1"/)
  })

  test('keeps attributes as text at the place of <data>', () => {
    const attribute = nodeNamed(model, 'x').attributes.get('shape')
    expect(attribute).toMatchObject({ kind: 'text', value: '2,3' })
    expect(attribute?.kind === 'text' && SIMPLE.slice(attribute.place.offset)).toMatch(/^<data shape/)
  })

  test('has its Parameters and Results as inputs and outputs', () => {
    expect(model.graph.inputs).toMatchObject([
      { name: 'x', aliases: [], value: '0:0', node: 0, declared: { kind: 'tensor', type: 'float32', dims: [2, 3] } }
    ])
    expect(model.graph.outputs).toMatchObject([{ name: 'y', aliases: ['result2'], value: '1:0', node: 2 }])
  })

  test('says what it is', () => {
    expect(model).toMatchObject({
      dialect: 'openvino',
      file: 'model.xml',
      irVersion: 11,
      notes: [],
      producer: '',
      weightBytes: 0,
      parameters: 0
    })
    expect(model.graph).toMatchObject({ name: 'test', path: '' })
    expect([
      ...load(
        net([
          layer(0, 'A', { version: 'opset8' }),
          layer(1, 'B', { version: 'extension' }),
          layer(2, 'C', { version: 'opset08' })
        ])
      ).opsets
    ]).toEqual([
      ['opset8', 8],
      ['extension', 0],
      ['opset08', 0]
    ])
  })

  test('turns places into lines and columns when asked', () => {
    expect(model.locate(model.graph.nodes[1].place)).toMatchObject({ line: 4, column: 1, node: 'relu1' })
  })
})

describe('versions', () => {
  const codeOf = (xml: string): string => {
    try {
      load(xml)
      return 'loads'
    } catch (error) {
      if (!(error instanceof NodewiseError)) throw error
      expect(error.place).toMatchObject({ line: 1, column: 1 })
      return `${error.code}: ${error.reason}`
    }
  }

  test.each(['10', '11', ' 11', '<NET>'])('%s is read', version => {
    expect(codeOf(version === '<NET>' ? '<NET version="11"/>' : net([], [], '', version))).toBe('loads')
  })

  test.each([
    ['7', 'older Inference Engine'],
    ['9', 'older'],
    ['12', 'newer'],
    ['11x', '"11x" is no IR version'],
    ['0x0b', 'no IR version'],
    ['', 'no IR version']
  ])('%s is refused', (version, reason) => {
    expect(codeOf(net([], [], '', version))).toMatch(/^unsupported-version: /)
    expect(codeOf(net([], [], '', version))).toMatch(reason)
  })

  test('no version is refused, and so is another root', () => {
    expect(codeOf('<net/>')).toBe('unsupported-version: <net> without a version; versions 10 and 11 are read')
    expect(codeOf('<html/>')).toBe('invalid-file: the root element is <html>, that of an OpenVINO IR is <net>')
  })

  test('a net without layers is a model without outputs', () => {
    expect(load('<net version="11"/>').graph).toMatchObject({ nodes: [], inputs: [], outputs: [], findings: [] })
  })
})

describe('names', () => {
  const two = { out: ['1:FP32', '2:FP32'], in: ['0'] }

  test("of a value are its tensor names, else its layer's with the number of the output", () => {
    const model = load(
      net(
        [
          PARAMETER,
          layer(1, 'Split', two),
          '<layer id="2" name="n" type="A" version="opset1"><output>' +
            '<port id="0" precision="FP32" names="a\\,b,c"/></output></layer>'
        ],
        ['0:0>1:0']
      )
    )
    expect(model.graph.values.get('1:1')).toMatchObject({ name: 'split1.1', names: ['split1.1'] })
    expect(model.graph.values.get('2:0')).toMatchObject({ name: 'a,b', names: ['a,b', 'c'] })
  })

  test("of an output are output_names, else those of its tensor unless it is a Parameter's, else the Result's", () => {
    const result = (id: number, attributes?: string): string => layer(id, 'Result', { in: ['0'], attributes })
    const model = load(
      net(
        [PARAMETER, RELU, result(2, 'output_names="o,p"'), result(3), result(4, 'output_names=""')],
        ['0:0>1:0', '1:1>2:0', '1:1>3:0', '0:0>4:0']
      )
    )
    expect(model.graph.outputs.map(({ name, aliases }) => [name, ...aliases])).toEqual([
      ['o', 'p', 'y', 'result2'],
      ['y', 'result3'],
      ['result4']
    ])
  })

  test('of outputs differ', () => {
    const results = [2, 3, 4].map(id => layer(id, 'Result', { name: 'same', in: ['0'] }))
    const model = load(net([PARAMETER, RELU, ...results], ['0:0>1:0', '1:1>2:0', '1:1>3:0', '1:1>4:0']))
    expect(model.graph.outputs.map(({ name }) => name)).toEqual(['y', 'same', 'y (2)'])
  })

  test("of outputs in version 10 may be the layer's", () => {
    const layers = [PARAMETER, layer(1, 'Split', { ...two, name: 's' }), layer(2, 'Result', { in: ['0'] })]
    expect(load(net(layers, ['0:0>1:0', '1:2>2:0'], '', 10)).graph.outputs[0]).toMatchObject({
      name: 's.1',
      aliases: ['result2']
    })
    expect(load(net(layers, ['0:0>1:0', '1:2>2:0'], '', 11)).graph.outputs[0].name).toBe('result2')
  })

  test("of an input are the tensor's and the layer's", () => {
    const model = load(
      net([layer(0, 'Parameter', { name: 'in', data: 'shape="" element_type="f32"', out: ['0:FP32'], names: '/a,b' })])
    )
    expect(model.graph.inputs[0]).toMatchObject({ name: '/a', aliases: ['b', 'in'] })
  })
})

describe('a Parameter', () => {
  const parameter = (data: string | undefined, port = '0:FP32') =>
    load(net([layer(0, 'Parameter', { data, out: [port] })]))

  test('declares the input by <data>, intervals included, and the value by its port', () => {
    const model = parameter('shape="?,1..10,..5" element_type="I64"', '0:I64[-1,-1,-1]')
    expect(model.graph.inputs[0].declared).toEqual({
      kind: 'tensor',
      type: 'int64',
      dims: [null, { min: 1, max: 10 }, { min: 0, max: 5 }]
    })
    expect(model.graph.values.get('0:0')?.declared).toEqual({ kind: 'tensor', type: 'int64', dims: [null, null, null] })
  })

  test('without a shape is a scalar, without a type of any type', () => {
    expect(parameter('element_type="f32"').graph.inputs[0].declared).toEqual({
      kind: 'tensor',
      type: 'float32',
      dims: []
    })
    expect(parameter('shape="..."').graph.inputs[0].declared).toEqual({ kind: 'tensor' })
    expect(findings(parameter('shape="..."'))).toEqual([])
  })

  test.each([
    [undefined, 'missing-data'],
    ['shape="-3" element_type="f32"', 'bad-shape'],
    ['shape="1" element_type="FP32"', 'unknown-type']
  ])('with <data %s> has the fault %s', (data, code) => {
    expect(findings(parameter(data))).toEqual([code])
  })
})

test('a Result in another spelling is no output, a PARAMETER is an input', () => {
  const model = load(
    net([PARAMETER.replace('"Parameter"', '"PARAMETER"'), layer(1, 'RESULT', { in: ['0'] })], ['0:0>1:0'])
  )
  expect(model.graph.inputs).toHaveLength(1)
  expect(model.graph.outputs).toHaveLength(0)
  expect(findings(model)).toEqual(['warning not-an-output'])
})

describe('what is beside the graph', () => {
  test('leaves of rt_info become metadata by path', () => {
    const leaves = '<a><b value="1"/><c>text</c></a><info name="odd name" value="2"/><__proto__ value="3"/>'
    const model = load(net([], [], `<rt_info><Runtime_version value="2026.4"/>${leaves}</rt_info>`))
    expect([...model.metadata]).toEqual([
      ['Runtime_version', '2026.4'],
      ['a/b', '1'],
      ['a/c', 'text'],
      ['odd name', '2'],
      ['__proto__', '3']
    ])
    expect(model.producer).toBe('OpenVINO Runtime 2026.4')
  })

  test('meta_data of version 10 is kept too', () => {
    const parameters = '<cli_parameters><data_type value="FP16"/><unset unset_cli_parameters="a, b"/></cli_parameters>'
    const model = load(net([], [], `<meta_data><MO_version value="2021.4"/>${parameters}</meta_data>`, 10))
    expect([...model.metadata]).toEqual([
      ['MO_version', '2021.4'],
      ['cli_parameters/data_type', 'FP16'],
      ['cli_parameters/unset', 'a, b']
    ])
    expect(model.producer).toBe('Model Optimizer 2021.4')
  })

  test('rt_info of a layer becomes attributes', () => {
    const fields = { fused_names: 'value="a,b"', layout: 'layout="[N,C]"', decompression: '' }
    const leaves = Object.entries(fields).map(([name, field]) => `<attribute name="${name}" version="0" ${field}/>`)
    const info = `<rt_info>${leaves.join('')}</rt_info>`
    const { attributes } = nodeNamed(load(net([layer(0, 'A', { data: 'axis="1"', more: info })])), 'a0')
    expect([...attributes].map(([name, attribute]) => [name, attribute.value])).toEqual([
      ['axis', '1'],
      ['rt_info.fused_names', 'a,b'],
      ['rt_info.layout', '[N,C]'],
      ['rt_info.decompression', '']
    ])
  })

  test('unknown elements are passed over with a word for each kind', () => {
    const model = load(
      net(
        [
          layer(0, 'A', { more: '<blobs/><blobs/>' }),
          layer(1, 'A', { more: '<blobs/>', out: ['0:FP32'] }).replace('</port>', '<x/></port>')
        ],
        [],
        '<statistics/>'
      )
    )
    expect(model.notes).toEqual([
      '<statistics> in <net> is not read',
      '<blobs> in <layer> is not read (3 times)',
      '<x> in <port> is not read'
    ])
    expect(findings(model)).toEqual([])
  })
})

describe('a bare layer', () => {
  const xml = layer(1, 'Gather', { name: 'gather', in: ['0[6]', '1[2]', '2'], out: ['2[2]'] })

  test('is a graph with this layer, its ports inputs and outputs', () => {
    const model = load(xml)
    expect(model).toMatchObject({
      irVersion: 0,
      notes: ['a bare <layer>, not a model: its ports are taken for inputs and outputs']
    })
    expect(findings(model)).toEqual([])
    expect(model.graph.inputs.map(({ name, declared }) => [name, declared])).toEqual([
      ['port 0', { kind: 'tensor', dims: [6] }],
      ['port 1', { kind: 'tensor', dims: [2] }],
      ['port 2', { kind: 'tensor' }]
    ])
    expect(model.graph.outputs).toMatchObject([{ name: 'gather', declared: { kind: 'tensor', dims: [2] } }])
    const [node] = model.graph.nodes
    expect(node.inputs).toEqual(model.graph.inputs.map(({ value }) => value))
    expect(node.outputs).toEqual([model.graph.outputs[0].value])
    expect([...model.graph.values.keys()]).toHaveLength(4)
  })

  test('may lack id and name, but not its type and version', () => {
    expect(findings(load('<layer type="Relu" version="opset1"/>'))).toEqual([])
    expect(findings(load('<layer id="0" name="a"/>'))).toEqual(['missing-attribute', 'missing-attribute'])
  })

  test('may be a Parameter or a Result', () => {
    expect(load(PARAMETER).graph).toMatchObject({ inputs: [{ name: 'x', node: 0 }], outputs: [{ name: 'x' }] })
    expect(load(RESULT).graph).toMatchObject({
      inputs: [{ name: 'port 0' }],
      outputs: [{ name: 'result2', node: 0, value: 'port:0' }],
      findings: []
    })
  })
})
