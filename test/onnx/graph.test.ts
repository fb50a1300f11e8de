import { describe, expect, test } from 'vitest'
import { allGraphs, bodiesOf, type Graph } from '../../src/graph/graph.ts'
import { codesOf, loadGraph, loadModel, tensorInfo, TYPE } from './encode.ts'

const node = (
  opType: string,
  input: readonly string[],
  output: readonly string[],
  bodies: Readonly<Record<string, object>> = {},
  more: object = {}
): object => ({
  opType,
  input,
  output,
  attribute: Object.entries(bodies).map(([name, g]) => ({ name, type: 5, g })),
  ...more
})
const floatTensor = (name: string): object => ({ name, dims: [1], dataType: TYPE.FLOAT, floatData: [1] })
const bodyAt = (graph: Graph, index: number): Graph => bodiesOf(graph.nodes[index])[0].graph

describe('a graph', () => {
  test('keeps its nodes as the file has them', () => {
    const graph = loadGraph({
      node: [node('Foo', ['x', '', 'y'], ['', 'z'], {}, { name: 'n', domain: 'my.domain' })],
      input: [tensorInfo('x'), tensorInfo('y')]
    })
    expect(graph.nodes[0]).toMatchObject({
      dialect: 'onnx',
      domain: 'my.domain',
      type: 'Foo',
      version: '',
      overload: '',
      name: 'n',
      index: 0,
      inputs: ['x', undefined, 'y'],
      outputs: [undefined, 'z'],
      captures: [],
      place: { file: 'model.onnx', graph: 'g', node: 'n', nodeIndex: 0, type: 'Foo' }
    })
  })

  test('gives nodes the version that their domain is imported in; the empty domain is ai.onnx', () => {
    const { graph, opsets } = loadModel({
      opsetImport: [
        { domain: 'ai.onnx', version: 13 },
        { domain: 'd', version: 2 }
      ],
      graph: {
        node: [
          node('A', [], ['a']),
          node('B', [], ['b'], {}, { domain: 'ai.onnx' }),
          node('C', [], ['c'], {}, { domain: 'd' })
        ]
      }
    })
    expect(graph.nodes.map(({ domain, version }) => `${domain} ${version}`)).toEqual([
      'ai.onnx 13',
      'ai.onnx 13',
      'd 2'
    ])
    expect(graph.nodes[0].place.version).toBe('ai.onnx 13')
    expect([...opsets]).toEqual([
      ['ai.onnx', 13],
      ['d', 2]
    ])
  })

  test('has a value for every input, initializer, output and value_info, by name', () => {
    const graph = loadGraph({
      input: [tensorInfo('x', TYPE.INT64, [1])],
      initializer: [floatTensor('w')],
      node: [node('Add', ['x', 'w'], ['__proto__']), node('Neg', ['__proto__'], ['y'])],
      valueInfo: [tensorInfo('__proto__', TYPE.FLOAT, [2]), tensorInfo('nothing')],
      output: [tensorInfo('y', TYPE.FLOAT, ['n'])]
    })
    expect(graph.findings).toEqual([])
    expect([...graph.values.keys()]).toEqual(['x', 'w', '__proto__', 'y', 'nothing'])
    expect(graph.values.get('x')).toMatchObject({
      id: 'x',
      name: 'x',
      names: ['x'],
      declared: { kind: 'tensor', type: 'int64', dims: [1] },
      place: { file: 'model.onnx', graph: 'g', value: 'x' }
    })
    expect(graph.values.get('__proto__')).toMatchObject({
      declared: { dims: [2] },
      place: { nodeIndex: 0, type: 'Add', value: '__proto__' }
    })
    expect(graph.values.get('y')?.declared).toEqual({ kind: 'tensor', type: 'float32', dims: ['n'] })
    expect(graph.outputs).toMatchObject([{ name: 'y', value: 'y', aliases: [], declared: { dims: ['n'] } }])
  })

  test('lists an input with a default both as input and as initializer', () => {
    const graph = loadGraph({ input: [tensorInfo('w')], initializer: [floatTensor('w')] })
    expect(graph.findings).toEqual([])
    expect(graph.inputs.map(({ name }) => name)).toEqual(['w'])
    expect(graph.initializers.has('w')).toBe(true)
  })
})

describe('bodies', () => {
  const inner = { name: 'inner', node: [node('Add', ['k', 'far'], ['q'])], output: [tensorInfo('q')] }
  const outer = {
    name: 'outer',
    node: [node('Neg', ['near'], ['k']), node('If', ['c'], ['r'], { then_branch: inner })],
    output: [tensorInfo('r')],
    initializer: [floatTensor('c')]
  }
  const graph = loadGraph({
    input: [tensorInfo('far'), tensorInfo('near')],
    node: [node('Noise', [], ['u']), node('If', ['u'], ['y'], { body: outer })],
    output: [tensorInfo('y')]
  })

  test('have the way into them as path', () => {
    expect(bodyAt(graph, 1).path).toBe('1:body')
    expect(bodyAt(bodyAt(graph, 1), 1).path).toBe('1:body/1:then_branch')
    expect(bodyAt(bodyAt(graph, 1), 1).nodes[0].place).toMatchObject({
      graph: 'inner',
      graphPath: '1:body/1:then_branch',
      nodeIndex: 0
    })
  })

  test('make their node capture what they read from outside, in the order of first use, through any depth', () => {
    expect(graph.findings).toEqual([])
    expect(graph.nodes[1].captures).toEqual(['near', 'far'])
    expect(bodyAt(graph, 1).nodes[1].captures).toEqual(['k', 'far'])
    expect(graph.nodes[1].inputs).toEqual(['u'])
  })

  test('read their own value of a name before that of a graph around them', () => {
    const shadowing = {
      name: 'b',
      node: [node('Neg', ['x'], ['t']), node('Neg', ['t'], ['x'])],
      output: [tensorInfo('x')]
    }
    const { nodes, findings } = loadGraph({
      input: [tensorInfo('x'), tensorInfo('t')],
      node: [node('If', ['x'], ['y'], { body: shadowing })]
    })
    expect(nodes[0].captures).toEqual([])
    expect(findings).toEqual([])
    // In the body, t waits for x and x for t.
    const codes = codesOf(bodiesOf(nodes[0])[0].graph.findings)
    expect(codes).toEqual(['shadowed-name', 'shadowed-name', 'cycle'])
  })

  test('may give a value of a graph around them as their output', () => {
    const { nodes } = loadGraph({
      input: [tensorInfo('x')],
      node: [node('If', ['x'], ['y'], { body: { name: 'b', output: [tensorInfo('x')] } })]
    })
    const { graph: body } = bodiesOf(nodes[0])[0]
    expect(nodes[0].captures).toEqual(['x'])
    expect(body.findings).toEqual([])
    expect(body.values.has('x')).toBe(false)
  })

  test('nested 32 deep load, and all of them are found', () => {
    let nested: object = { node: [node('Deepest', [], ['d'])] }
    for (let i = 0; i < 31; i++) nested = { node: [node('If', [], ['v'], { b: nested })] }
    expect([...allGraphs(loadModel({ graph: nested }))]).toHaveLength(32)
  })
})

describe('a structural fault is a finding:', () => {
  const only = (graph: object): object => {
    const { findings } = loadGraph(graph)
    expect(findings).toHaveLength(1)
    return findings[0]
  }

  test('an input that nothing makes', () => {
    expect(only({ node: [node('Neg', ['no', 'nor', 'no'], ['y'])] })).toMatchObject({
      code: 'missing-producer',
      severity: 'error',
      message: 'it reads "no", which nothing makes (nor 2 more of its inputs)',
      onlyIfNeeded: { node: 0 },
      place: { nodeIndex: 0, type: 'Neg', value: 'no' }
    })
  })

  test('an input that only a value_info knows', () => {
    expect(only({ node: [node('Neg', ['no'], ['y'])], valueInfo: [tensorInfo('no')] })).toMatchObject({
      code: 'missing-producer'
    })
  })

  test('an input of a body that nothing around makes, told once and in the body', () => {
    const { nodes, findings } = loadGraph({
      node: [node('If', [], ['y'], { body: { name: 'b', node: [node('Neg', ['no'], ['z'])] } })]
    })
    expect(findings).toEqual([])
    expect(nodes[0].captures).toEqual([])
    expect(bodiesOf(nodes[0])[0].graph.findings).toMatchObject([
      { code: 'missing-producer', place: { graphPath: '0:body', graph: 'b' } }
    ])
  })

  test('a value of one body is not visible in another', () => {
    const { nodes } = loadGraph({
      node: [node('If', [], ['y'], { a: { node: [node('N', [], ['v'])] }, b: { node: [node('M', ['v'], ['w'])] } })]
    })
    expect(bodiesOf(nodes[0]).map(({ graph }) => codesOf(graph.findings))).toEqual([[], ['missing-producer']])
  })

  test('an output that nothing makes', () => {
    expect(only({ output: [tensorInfo('y')] })).toMatchObject({
      code: 'missing-producer',
      onlyIfNeeded: { value: 'y' },
      place: { value: 'y' }
    })
  })

  test.each([
    ['two nodes', { node: [node('N', [], ['v']), node('M', [], ['v'])] }, { nodeIndex: 1, value: 'v' }],
    ['one node twice', { node: [node('N', [], ['v', 'v'])] }, { nodeIndex: 0 }],
    ['a node and an input', { input: [tensorInfo('v')], node: [node('N', [], ['v'])] }, { nodeIndex: 0 }],
    ['a node and an initializer', { initializer: [floatTensor('v')], node: [node('N', [], ['v'])] }, { nodeIndex: 0 }],
    ['two inputs', { input: [tensorInfo('v'), tensorInfo('v')] }, { value: 'v' }],
    ['two initializers', { initializer: [floatTensor('v'), floatTensor('v')] }, { value: 'v' }]
  ])('%s that make the same name', (_, graph, place) => {
    const finding = only(graph)
    expect(finding).toMatchObject({ code: 'duplicate-name', severity: 'error', place })
    expect(finding).not.toHaveProperty('onlyIfNeeded')
  })

  test('a name that hides one outside, a warning', () => {
    const { nodes } = loadGraph({
      input: [tensorInfo('x')],
      node: [
        node('N', ['x'], ['z']),
        node('If', [], ['y'], { body: { input: [tensorInfo('x')], node: [node('N', ['x'], ['z'])] } })
      ]
    })
    expect(bodiesOf(nodes[1])[0].graph.findings).toMatchObject([
      { code: 'shadowed-name', severity: 'warning', place: { value: 'x' } },
      { code: 'shadowed-name', place: { value: 'z' } }
    ])
  })

  test('no name of an output of the node that the body belongs to', () => {
    const { nodes } = loadGraph({
      input: [tensorInfo('x')],
      node: [node('If', [], ['y'], { body: { node: [node('N', ['x'], ['y'])], output: [tensorInfo('y')] } })]
    })
    expect(bodiesOf(nodes[0])[0].graph.findings).toEqual([])
  })

  test('a cycle, with the nodes on it', () => {
    expect(only({ node: [node('N', ['b'], ['a']), node('M', ['a'], ['b'])] })).toMatchObject({
      code: 'cycle',
      message: 'it waits for its own output: node 0 N reads node 1 M reads node 0',
      place: { nodeIndex: 0 }
    })
  })

  test('a cycle through a body', () => {
    expect(
      only({ node: [node('If', [], ['a'], { body: { node: [node('N', ['b'], ['z'])] } }), node('M', ['a'], ['b'])] })
    ).toMatchObject({ code: 'cycle' })
  })

  test('nodes out of order, which stop no run', () => {
    expect(only({ input: [tensorInfo('x')], node: [node('N', ['b'], ['a']), node('M', ['x'], ['b'])] })).toMatchObject({
      code: 'not-sorted',
      severity: 'error',
      message: 'it reads "b", which node 1 makes later',
      onlyIfNeeded: {},
      place: { nodeIndex: 0, value: 'b' }
    })
  })

  test('a body out of order with the node that it captures from', () => {
    expect(
      only({ node: [node('If', [], ['a'], { body: { node: [node('N', ['b'], ['z'])] } }), node('M', [], ['b'])] })
    ).toMatchObject({ code: 'not-sorted', place: { nodeIndex: 0, value: 'b' } })
  })

  test('a domain that is not imported', () => {
    expect(only({ node: [node('N', [], ['a'], {}, { domain: 'd' })] })).toMatchObject({
      code: 'missing-opset',
      onlyIfNeeded: { node: 0 },
      place: { nodeIndex: 0 }
    })
  })

  test("ONNX Runtime's own domain is only a warning where it is not imported: as there, its version 1 is taken", () => {
    const { graph } = loadModel({ graph: { node: [node('N', [], ['a'], {}, { domain: 'com.microsoft' })] } })
    expect(graph.nodes).toMatchObject([{ domain: 'com.microsoft', version: '1' }])
    expect(graph.findings).toMatchObject([
      {
        code: 'missing-opset',
        severity: 'warning',
        message:
          'the model imports no operator set of its domain "com.microsoft"; version 1 is taken, as ONNX Runtime does'
      }
    ])
  })

  test('no import at all, told once', () => {
    expect(
      loadModel({ opsetImport: [], graph: { node: [node('N', [], ['a']), node('M', [], ['b'])] } }).graph.findings
    ).toMatchObject([{ code: 'missing-opset', message: 'no operator set is imported' }])
  })

  test('a domain that is imported twice: an error in two versions, else a note', () => {
    const imports = (a: number, b: number): object[] => [
      { domain: '', version: a },
      { domain: 'ai.onnx', version: b }
    ]
    const different = loadModel({ opsetImport: imports(11, 13) })
    expect(different.graph.findings).toMatchObject([{ code: 'duplicate-opset', severity: 'error' }])
    expect(different.opsets.get('ai.onnx')).toBe(11)
    expect(loadModel({ opsetImport: imports(13, 13) }).graph.findings).toMatchObject([
      { code: 'duplicate-opset', severity: 'note' }
    ])
  })

  test('types declared twice that contradict each other; then neither stands', () => {
    const graph = {
      input: [tensorInfo('x')],
      node: [node('N', ['x'], ['v'])],
      valueInfo: [tensorInfo('v', TYPE.FLOAT, [2]), tensorInfo('v', TYPE.FLOAT, [3]), tensorInfo('v', TYPE.FLOAT, [4])]
    }
    expect(only(graph)).toMatchObject({
      code: 'contradicting-types',
      severity: 'error',
      onlyIfNeeded: {},
      place: { nodeIndex: 0, value: 'v' }
    })
    expect(loadGraph(graph).values.get('v')?.declared).toBeUndefined()
  })

  test('types declared twice that agree are none', () => {
    expect(
      loadGraph({
        input: [tensorInfo('x', TYPE.FLOAT, ['n'])],
        valueInfo: [tensorInfo('x', TYPE.FLOAT, [2]), tensorInfo('x', TYPE.FLOAT, [2])]
      }).findings
    ).toEqual([])
  })

  test.each([
    [{ input: [tensorInfo('')] }, 'error'],
    [{ output: [tensorInfo('')] }, 'error'],
    [{ initializer: [floatTensor('')] }, 'warning']
  ])('a missing name: %j', (graph, severity) => {
    expect(only(graph)).toMatchObject({ code: 'missing-name', severity })
  })
})
