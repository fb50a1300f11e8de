import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { XMLValidator } from 'fast-xml-parser'
import { describe, expect, test } from 'vitest'
import { floats, node, onnxBytes, port } from '../../fixtures/onnx.ts'
import { layer, net } from '../../openvino/ir.ts'
import { MODELS, nodewise, nodewiseJson, temporaryFolder } from '../command.ts'

const folder = temporaryFolder()
const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

const withBody = file(
  'body.onnx',
  onnxBytes({
    inputs: [port('c', 'bool', []), port('x', 'float', ['n', 2])],
    outputs: [port('y', 'float', ['n', 2])],
    nodes: [
      node('If', ['c'], ['y'], {
        then_branch: { graph: { outputs: [port('t', 'float')], nodes: [node('Relu', ['x'], ['t'])] } },
        else_branch: {
          graph: { outputs: [port('e', 'float')], nodes: [node('Neg', ['x'], ['m']), node('NoSuchOp', ['m'], ['e'])] }
        }
      })
    ]
  })
)

/** An IR of a table of bytes, 1 MiB, that is converted before rows are looked up. */
function converted(): string {
  const [height, width] = [1024, 1024]
  const bin = new Uint8Array(height * width + 8)
  file('converted.bin', bin)
  const table = `element_type="u8" shape="${height},${width}" offset="0" size="${height * width}"`
  const axis = `element_type="i64" shape="" offset="${height * width}" size="8"`
  return file(
    'converted.xml',
    net(
      [
        layer(0, 'Const', { data: table, out: [`0:U8[${height},${width}]`] }),
        layer(1, 'Convert', {
          name: 'convert',
          data: 'destination_type="f32"',
          in: ['0'],
          out: [`1:FP32[${height},${width}]`]
        }),
        layer(2, 'Parameter', { name: 'ids', data: 'shape="?" element_type="i64"', out: ['0:I64[-1]'] }),
        layer(3, 'Const', { data: axis, out: ['0:I64'] }),
        layer(4, 'Gather', {
          name: 'lookup',
          version: 'opset8',
          data: 'batch_dims="0"',
          in: ['0', '1', '2'],
          out: ['4:FP32[-1,-1]']
        }),
        layer(5, 'Result', { in: ['0'] })
      ],
      ['0:0>1:0', '1:1>4:0', '2:0>4:1', '3:0>4:2', '4:4>5:0']
    )
  )
}

describe('inspect', () => {
  test('says in JSON what is in an ONNX file, nodes of bodies included', async () => {
    const { status, json } = await nodewiseJson(['inspect', withBody, '--json'])
    expect(status).toBe(0)
    expect(json).toMatchObject({
      format: 'onnx',
      irVersion: 9,
      opsets: { 'ai.onnx': 17 },
      inputs: [
        { name: 'c', type: 'bool', dims: [] },
        { name: 'x', type: 'float32', dims: ['n', 2] }
      ],
      outputs: [{ name: 'y', type: 'float32', dims: ['n', 2] }],
      nodes: 4,
      ops: { If: 1, Neg: 1, NoSuchOp: 1, Relu: 1 },
      parameters: 0,
      weightBytes: 0
    })
    expect(json.unsupported).toContain('NoSuchOp')
    expect(json.unsupported).not.toContain('Relu')
  })

  test("says in JSON what is in an IR, with OpenVINO's names of types, without its .bin", async () => {
    const model = file('alone.xml', readFileSync(join(MODELS, 'palette.xml')))
    const { status, json } = await nodewiseJson(['inspect', model, '--json'])
    expect(status).toBe(0)
    expect(json).toMatchObject({
      format: 'openvino',
      irVersion: 11,
      inputs: [{ name: 'ids', type: 'i64', dims: ['?'] }],
      outputs: [
        { name: 'name', type: 'string', dims: ['?'] },
        { name: 'rgb', type: 'u8', dims: ['?', 3] }
      ],
      nodes: 8,
      ops: { Const: 3, Gather: 2, Parameter: 1, Result: 2 },
      unsupported: [],
      parameters: 25,
      weightBytes: 86
    })
  })

  test('prints the same for people', async () => {
    const { status, stdout } = await nodewise(['inspect', withBody])
    expect(status).toBe(0)
    expect(stdout).toMatch(/nodes +4, those of 2 bodies included/)
    expect(stdout).toMatch(/inputs\n {2}c +bool +\[\]\n {2}x +float32 +\[n, 2\]\n/)
    expect(stdout).toMatch(/1 {2}NoSuchOp {2}\(cannot be run\)/)
    expect(stdout).not.toContain('\u001b')
  })

  test('draws the graph with its bodies as frames: dot', async () => {
    const { stdout } = await nodewise(['inspect', withBody, '--graph', 'dot'])
    expect(stdout).toMatch(/^digraph model \{\n[^]*\n\}\n$/)
    expect(stdout.match(/subgraph cluster_/g)).toHaveLength(2)
    expect(stdout.match(/\{/g)?.length).toBe(stdout.match(/\}/g)?.length)
    expect(stdout).toContain('float32 [n, 2]')
  })

  test('draws the graph with its bodies as frames: mermaid', async () => {
    const { stdout } = await nodewise(['inspect', withBody, '--graph', 'mermaid'])
    expect(stdout).toMatch(/^flowchart TD\n/)
    expect(stdout.match(/^ *subgraph /gm)).toHaveLength(2)
    expect(stdout.match(/^ *end$/gm)).toHaveLength(2)
  })

  test('keeps names of a file from breaking out of a drawing', async () => {
    const model = file(
      'quotes.onnx',
      onnxBytes({
        inputs: [port('a"] ; x', 'float')],
        outputs: [port('y', 'float')],
        nodes: [node('Relu', ['a"] ; x'], ['y'])]
      })
    )
    expect((await nodewise(['inspect', model, '--graph', 'dot'])).stdout).toContain('a\\"] ; x')
    expect((await nodewise(['inspect', model, '--graph', 'mermaid'])).stdout).not.toContain('a"')
  })

  test('fails with exit code 2 where there is no model', async () => {
    expect(await nodewise(['inspect', join(folder, 'none.onnx')])).toEqual({
      status: 2,
      stdout: '',
      stderr: `${join(folder, 'none.onnx')}: does not exist\n`
    })
    const text = file('text.txt', 'no model')
    expect(await nodewiseJson(['inspect', text, '--json'])).toMatchObject({
      status: 2,
      json: { error: { code: 'invalid-file', place: { file: text } } }
    })
  })

  describe('--text', () => {
    const onnx = file(
      'text.onnx',
      onnxBytes({
        inputs: [port('x', 'float', [20])],
        outputs: [port('y', 'float', [20])],
        initializers: [floats('w', [20], new Array<number>(20).fill(1)), floats('two', [1], [2])],
        nodes: [node('Mul', ['x', 'w'], ['a']), node('Add', ['a', 'two'], ['y'])]
      })
    )

    test('prints the whole model without large weights', async () => {
      const { stdout } = await nodewise(['inspect', onnx, '--text'])
      expect(stdout).toContain('float[20] w = ...')
      expect(stdout).toContain('float[1] two = {2}')
      expect(stdout).toContain('y = Add (a, two)')
    })

    test('prints an IR in the same form, bodies and how they are connected included', async () => {
      await nodewise(['convert', onnx, join(folder, 'text.xml')])
      const { stdout } = await nodewise(['inspect', join(folder, 'text.xml'), '--text'])
      expect(stdout).toContain('(float[20] x) => (float[20] y)')
      expect(stdout).toContain('y = opset1.Add <auto_broadcast: string = "numpy"> (a, two)')
      const text = `< ir_version: 8, opset_import: ["" : 17] > g (int64 n, float[1] x) => (float[1] y) <bool c = {1}>
        { y = Loop (n, c, x) <body = b (int64 i, bool p, float[1] s) => (bool q, float[1] t)
          { q = Identity (p) t = Add (s, s) }> }`
      writeFileSync(join(folder, 'loop.onnxtxt'), text)
      await nodewise(['convert', join(folder, 'loop.onnxtxt'), join(folder, 'loop.xml')])
      const { json } = await nodewiseJson(['inspect', join(folder, 'loop.xml'), '--text', '--json'])
      expect(json.modelText).toMatch(
        /opset5\.Loop [^]*<body_ports: strings = \["input -1: [^"]* purpose=current_iteration"/
      )
      expect(json.modelText).toMatch(/body: graph = body \(/)
    })
  })

  describe('--plan', () => {
    const weights = new Array<number>(4).fill(1)
    const planned = file(
      'planned.onnx',
      onnxBytes({
        inputs: [port('x', 'float', [2, 4])],
        outputs: [port('y', 'float', [2, 4])],
        initializers: [floats('w', [4], weights), floats('twos', [1], [2])],
        nodes: [
          node('Add', ['twos', 'twos'], ['fours']),
          node('Neg', ['x'], ['unread']),
          node('Mul', ['x', 'w'], ['a']),
          node('Add', ['a', 'fours'], ['b']),
          node('Relu', ['b'], ['y'])
        ]
      })
    )

    test('says in JSON which steps a run has, what was left out, and what it takes', async () => {
      const { status, json } = await nodewiseJson(['inspect', planned, '--plan', '--json'])
      expect(status).toBe(0)
      expect(json).toMatchObject({ format: 'onnx', nodes: 5 })
      expect(json.plan).toEqual({
        steps: [
          { op: 'Mul', nodes: ['Mul_a'], outputs: ['float32[2, 4]'] },
          { op: 'Add', nodes: ['Add_b'], outputs: ['float32[2, 4]'], inPlace: 'always' },
          { op: 'Relu', nodes: ['Relu_y'], outputs: ['float32[2, 4]'] }
        ],
        folded: ['Add_fours'],
        pruned: ['Neg_unread'],
        memory: { peakBytes: 64, peakStep: 2, isLowerBound: false, constantBytes: 20, tableBytes: 0 }
      })
    })

    test('prints the same for people, and that unknown dims make it a lower bound', async () => {
      const { status, stdout } = await nodewise(['inspect', planned, '--plan'])
      expect(status).toBe(0)
      expect(stdout).toMatch(/1 +Add +Add_b +float32\[2, 4\] +in place\n/)
      expect(stdout).toMatch(/folded +1 node: Add_fours\n +pruned +1 node: Neg_unread\n/)
      expect(stdout).toMatch(/results +64 bytes at once, at step 2\n/)
      const open = file(
        'open.onnx',
        onnxBytes({
          inputs: [port('x', 'float', ['n'])],
          outputs: [port('y', 'float')],
          nodes: [node('Neg', ['x'], ['a']), node('Abs', ['a'], ['b']), node('Neg', ['b'], ['y'])]
        })
      )
      const { stdout: text } = await nodewise(['inspect', open, '--plan'])
      expect(text).toMatch(/results +at least 0 bytes at once/)
      expect(text).toMatch(/1 +Abs .* in place where dims agree/)
    })

    test('shows the nodes that were fused into one step', async () => {
      const { json } = await nodewiseJson(['inspect', converted(), '--plan', '--json'])
      expect(json.plan).toMatchObject({
        steps: [{ op: 'Gather', nodes: ['convert', 'lookup'], fused: 'convert rows' }],
        memory: { tableBytes: 2 ** 20, constantBytes: 8 }
      })
    })

    test('shows the steps of bodies below the step that runs them', async () => {
      const loop = file(
        'loop.onnx',
        onnxBytes({
          inputs: [port('c', 'bool', []), port('x', 'float', [2])],
          outputs: [port('y', 'float', [2])],
          nodes: [
            node('If', ['c'], ['y'], {
              then_branch: { graph: { outputs: [port('t', 'float')], nodes: [node('Relu', ['x'], ['t'])] } },
              else_branch: { graph: { outputs: [port('e', 'float')], nodes: [node('Neg', ['x'], ['e'])] } }
            })
          ]
        })
      )
      const { json } = await nodewiseJson(['inspect', loop, '--plan', '--json'])
      expect(json.plan).toMatchObject({
        steps: [{ op: 'If', bodies: [{ steps: [{ op: 'Relu' }] }, { steps: [{ op: 'Neg' }] }] }],
        memory: { isLowerBound: true }
      })
      expect((await nodewise(['inspect', loop, '--plan'])).stdout).toMatch(/0\.1\.0 +Neg/)
    })

    test('fails where a run would fail before its first step', async () => {
      expect(await nodewiseJson(['inspect', withBody, '--plan', '--json'])).toMatchObject({
        json: { error: { code: 'unsupported-op' } }
      })
    })
  })
})

describe('inspect lists', () => {
  const listed = file(
    'listed.onnx',
    onnxBytes({
      inputs: [port('ids', 'int64', ['n'])],
      initializers: [floats('table', [4, 2], [0, 1, 2, 3, 4, 5, 6, 7])],
      outputs: [port('y', 'float')],
      nodes: [
        node('Gather', ['table', 'ids'], ['rows'], { axis: 0 }),
        { ...node('Relu', ['rows'], ['y']), docString: 'as in\nthe paper' }
      ]
    })
  )

  test('nodes with what is inferred of their values', async () => {
    const { stdout } = await nodewise(['inspect', listed, '--nodes'])
    expect(stdout).toBe(`node 0  Gather "Gather_rows"  (ai.onnx 17)
  <- table: float32 [4, 2]
  <- ids: int64 [n]
  -> rows: float32 [n, 2]

node 1  Relu "Relu_y"  (ai.onnx 17)
  <- rows: float32 [n, 2]
  -> y: float32 [n, 2]
     as in
     the paper

2 nodes
`)
  })

  test('attributes, of the nodes whose name or operator is like a pattern', async () => {
    const { stdout } = await nodewise(['inspect', listed, '--attributes', '--filter', 'Gath*'])
    expect(stdout).toContain('     axis = 0\n')
    expect(stdout).toMatch(/\n\n1 node\n$/)
    const { json } = await nodewiseJson(['inspect', listed, '--nodes', '--filter', '*_y', '--json'])
    expect(json.nodeList).toMatchObject([{ index: '1', op: 'Relu', outputs: [{ name: 'y', dims: ['n', 2] }] }])
  })

  test('weights, and statistics of their elements', async () => {
    expect((await nodewise(['inspect', listed, '--weights'])).stdout).toBe(
      'table  float32  [4, 2]  32\n\n1 weight, 32 bytes\n'
    )
    const { json } = await nodewiseJson(['inspect', listed, '--statistics', '--json'])
    expect(json.weights).toMatchObject([
      { name: 'table', statistics: { min: 0, max: 7, mean: 3.5, std: Math.sqrt(5.25), zeros: 1, nans: 0 } }
    ])
  })

  test('weights of an IR whose .bin is not there, with the reason', async () => {
    const model = file('binless.xml', readFileSync(join(MODELS, 'palette.xml')))
    const { json } = await nodewiseJson(['inspect', model, '--statistics', '--json'])
    expect(json.weights).toContainEqual(expect.objectContaining({ problem: expect.stringMatching(/bin/) as string }))
  })

  test.each(['Gather_rows', 'rows', '0'])('one node with its neighbours, asked for as %s', async name => {
    const { stdout } = await nodewise(['inspect', listed, '--node', name])
    expect(stdout).toBe(`node 0  Gather "Gather_rows"  (ai.onnx 17)
  <- table: float32 [4, 2]  from initializer "table"
  <- ids: int64 [n]  from graph input "ids"
  -> rows: float32 [n, 2]  to Relu "Relu_y"
     axis = 0
`)
  })

  test('no node that there is not', async () => {
    expect(await nodewise(['inspect', listed, '--node', 'Gather_row'])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('did you mean "Gather_rows"?') as string
    })
  })
})

describe('inspect of many', () => {
  test('has every file, and goes on after one that cannot be read', async () => {
    const models = [join(MODELS, 'palette.onnx'), join(folder, 'nowhere.onnx'), join(MODELS, 'palette.xml')]
    const { status, json, stderr } = await nodewiseJson(['inspect', ...models, '--json'])
    expect(status).toBe(2)
    expect(stderr).toMatch(/^\S+nowhere.onnx: /)
    expect(json).toMatchObject({
      files: [{ format: 'onnx' }, { error: { code: 'missing-file' } }, { format: 'openvino' }],
      summary: { files: 3, failed: 1 }
    })
  })

  test('says above the parts of each model whose they are', async () => {
    const models = ['palette.onnx', 'palette.xml'].map(name => join(MODELS, name))
    const titles = models.map(path => expect.stringContaining(`\n${path}\n\n`) as string)
    const { stdout } = await nodewise(['inspect', ...models, '--weights'])
    expect([`\n${stdout}`, stdout]).toEqual(titles)
  })
})

describe('inspect --graph svg', () => {
  test('is a picture of all nodes and values, bodies in frames', async () => {
    const { stdout } = await nodewise(['inspect', withBody, '--graph', 'svg'])
    expect(XMLValidator.validate(stdout)).toBe(true)
    const texts = [...stdout.matchAll(/<text[^>]*>([^<]*)/g)].map(([, text]) => text)
    expect(texts).toEqual(expect.arrayContaining(['If', 'Relu', 'Neg', 'NoSuchOp', 'float32 [n, 2]', 'y']))
    expect(stdout.match(/class="frame"/g)).toHaveLength(2)
    expect(stdout).not.toMatch(/NaN|undefined/)
  })

  test('goes into a file, alone', async () => {
    const path = join(folder, 'graph.svg')
    expect(await nodewise(['inspect', withBody, '--graph', 'svg', '-o', path])).toMatchObject({ status: 0, stdout: '' })
    expect(readFileSync(path, 'utf8')).toMatch(/^<svg [^]*<\/svg>\n$/)
    expect((await nodewise(['inspect', withBody, '--graph', 'svg', '--plan'])).stderr).toContain('contradicts --plan')
    const png = await nodewise(['inspect', withBody, '--graph', 'svg', '-o', join(folder, 'graph.png')])
    expect(png).toMatchObject({ status: 2, stderr: expect.stringContaining('-o model.svg draws one') as string })
    expect(existsSync(join(folder, 'graph.png'))).toBe(false)
  })
})
