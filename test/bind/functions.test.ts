import { describe, expect, test } from 'vitest'
import { bind } from '../../src/bind/bind.ts'
import { createRegistry } from '../../src/bind/registry.ts'
import type { Model } from '../../src/graph/graph.ts'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { type GraphParts, int64s, node, onnxBytes, onnxModel, port } from '../fixtures/onnx.ts'
import { errorOf } from '../ops/harness.ts'

const DOMAIN = 'my.functions'
const fn = (name: string, input: string[], output: string[], nodes: object[], attribute: string[] = []): object => ({
  name,
  domain: DOMAIN,
  input,
  output,
  node: nodes,
  attribute,
  opsetImport: [
    { domain: '', version: 17 },
    { domain: DOMAIN, version: 1 }
  ]
})

const call = (name: string, inputs: string[], outputs: string[], attributes = {}): object =>
  node(name, inputs, outputs, attributes, DOMAIN)
const table = new Tensor('float32', [0, 1, 2, 3, 4, 5], [3, 2])

describe('a model-local function', () => {
  const pick = fn(
    'Pick',
    ['table', 'ids'],
    ['rows'],
    [node('Gather', ['table', 'ids'], ['rows'], { axis: { ref: 'axis' } })],
    ['axis']
  )

  test("is expanded at each call, with the call's attributes", async () => {
    const session = await InferenceSession.create(
      onnxBytes({
        domains: [DOMAIN],
        functions: [pick],
        inputs: [port('t', 'float', [3, 2]), port('i', 'int64', [1])],
        outputs: [port('a', 'float'), port('b', 'float')],
        nodes: [call('Pick', ['t', 'i'], ['a'], { axis: 0 }), call('Pick', ['t', 'i'], ['b'], { axis: 1 })]
      })
    )
    const { a, b } = await session.run({ t: table, i: new Tensor('int64', [1n], [1]) })
    expect([...a.data]).toEqual([2, 3])
    expect([...b.data]).toEqual([1, 3, 5])
  })

  test('takes the default of an attribute that the call leaves out', async () => {
    const session = await InferenceSession.create(
      onnxBytes({
        domains: [DOMAIN],
        functions: [pick],
        inputs: [port('t', 'float', [3, 2]), port('i', 'int64', [1])],
        outputs: [port('a', 'float')],
        nodes: [call('Pick', ['t', 'i'], ['a'])]
      })
    )
    expect([...(await session.run({ t: table, i: new Tensor('int64', [2n], [1]) })).a.data]).toEqual([4, 5])
  })

  test('keeps its inner values apart from those of the model and of other calls', async () => {
    const twice = fn(
      'Twice',
      ['table', 'ids'],
      ['out'],
      [call('Pick', ['table', 'ids'], ['rows'], { axis: 0 }), call('Pick', ['rows', 'ids'], ['out'], { axis: 0 })]
    )
    const session = await InferenceSession.create(
      onnxBytes({
        domains: [DOMAIN],
        functions: [pick, twice],
        inputs: [port('rows', 'float', [3, 2]), port('ids', 'int64', [1])],
        outputs: [port('y', 'float')],
        nodes: [call('Twice', ['rows', 'ids'], ['y'])]
      })
    )
    expect([...(await session.run({ rows: table, ids: new Tensor('int64', [0n], [1]) })).y.data]).toEqual([0, 1])
  })

  test('that calls itself is refused at a depth of 32', async () => {
    const model = await onnxModel({
      domains: [DOMAIN],
      functions: [fn('Endless', ['x'], ['y'], [call('Endless', ['x'], ['y'])])],
      inputs: [port('x', 'float', [1])],
      outputs: [port('y', 'float')],
      nodes: [call('Endless', ['x'], ['y'])]
    })
    expect(errorOf(() => bind(model, createRegistry([]))).code).toBe('limit-exceeded')
  })

  const doubling = (levels: number): Promise<Model> =>
    onnxModel({
      domains: [DOMAIN],
      functions: Array.from({ length: levels }, (_, i) =>
        fn(
          `F${i}`,
          ['x'],
          ['y'],
          i === 0
            ? [node('Identity', ['x'], ['y'])]
            : [call(`F${i - 1}`, ['x'], ['h']), call(`F${i - 1}`, ['h'], ['y'])]
        )
      ),
      inputs: [port('x', 'float', [1])],
      outputs: [port('y', 'float')],
      nodes: [call(`F${levels - 1}`, ['x'], ['y'])]
    })

  test('that doubles at each of 30 levels is refused before it takes memory', async () => {
    const model = await doubling(30)
    expect(errorOf(() => bind(model, createRegistry([]))).code).toBe('limit-exceeded')
  })

  test('that doubles at each of 16 levels is refused: so small a file does not justify 32,768 nodes', async () => {
    const model = await doubling(16)
    expect(errorOf(() => bind(model, createRegistry([])))).toMatchObject({
      code: 'limit-exceeded',
      message: expect.stringContaining('32768')
    })
  })

  test('that doubles at each of 14 levels is refused for the memory that its names take', async () => {
    const model = await doubling(14)
    expect(
      errorOf(() => bind({ ...model, limits: { ...model.limits, structureBytes: 2 ** 31 } }, createRegistry([])))
    ).toMatchObject({ code: 'limit-exceeded', details: { limit: 'structureBytes' } })
  })

  test('that doubles at each of 10 levels is expanded', async () => {
    const model = await doubling(10)
    expect(bind(model, createRegistry([])).graph.nodes).toHaveLength(512)
  })

  test('an index error inside it names the way in', async () => {
    const session = await InferenceSession.create(
      onnxBytes({
        domains: [DOMAIN],
        functions: [pick],
        inputs: [port('t', 'float', [3, 2])],
        initializers: [int64s('i', [1], [7])],
        outputs: [port('a', 'float')],
        nodes: [call('Pick', ['t', 'i'], ['a'])]
      })
    )
    await expect(session.run({ t: table })).rejects.toMatchObject({
      code: 'index-out-of-range',
      place: { graphPath: '0:Pick', type: 'Gather' }
    })
  })

  const x = new Tensor('float32', [1, -2], [2])
  const yes = new Tensor('bool', [true], [])
  const vector = (name: string): object => port(name, 'float', [2])

  test('has bodies that read its values, also where a body declares their types', async () => {
    const branch = (type: string, declared: string): { graph: GraphParts } => ({
      graph: { outputs: [vector(type)], nodes: [node(type, ['inner'], [type])], values: [vector(declared)] }
    })
    const choose = fn(
      'Choose',
      ['x', 'condition'],
      ['y'],
      [
        node('Neg', ['x'], ['inner']),
        node('If', ['condition'], ['y'], {
          then_branch: branch('Abs', 'inner'),
          else_branch: branch('Sqrt', 'x')
        })
      ]
    )
    const session = await InferenceSession.create(
      onnxBytes({
        domains: [DOMAIN],
        functions: [choose],
        inputs: [vector('x'), port('c', 'bool', [])],
        outputs: [vector('y')],
        nodes: [call('Choose', ['x', 'c'], ['y'])]
      })
    )
    expect([...(await session.run({ x, c: yes })).y.data]).toEqual([1, 2])
  })

  test('reads an input that the call leaves out as left out', async () => {
    const bounded = fn('Bounded', ['x', 'low', 'high'], ['y'], [node('Clip', ['x', 'low', 'high'], ['y'])])
    const session = await InferenceSession.create(
      onnxBytes({
        domains: [DOMAIN],
        functions: [bounded],
        inputs: [vector('x'), port('bound', 'float', [])],
        outputs: [vector('a'), vector('b')],
        nodes: [call('Bounded', ['x', 'bound'], ['a']), call('Bounded', ['x', '', 'bound'], ['b'])]
      })
    )
    const { a, b } = await session.run({ x, bound: new Tensor('float32', [0], []) })
    expect([a, b].map(({ data }) => [...data])).toEqual([
      [1, 0],
      [0, -2]
    ])
  })

  test('may hand an input on as an output, and one value as two outputs', async () => {
    const session = await InferenceSession.create(
      onnxBytes({
        domains: [DOMAIN],
        functions: [fn('Both', ['x', 'left out'], ['y', 'x', 'y', 'left out'], [node('Neg', ['x'], ['y'])])],
        inputs: [vector('x')],
        outputs: [vector('a'), vector('b'), vector('c')],
        nodes: [call('Both', ['x'], ['a', 'b', 'c', ''])]
      })
    )
    const { a, b, c } = await session.run({ x })
    expect([a, b, c].map(({ data }) => [...data])).toEqual([
      [-1, 2],
      [1, -2],
      [-1, 2]
    ])
  })

  const body = (nodes: object[], output: string): { graph: GraphParts } => ({
    graph: { outputs: [vector(output)], nodes }
  })
  const branches = { then_branch: { ref: 'body' }, else_branch: { ref: 'body' } }

  test('takes a body from its call, which reads values of the caller', async () => {
    const maybe = fn('Maybe', ['x'], ['y'], [node('If', ['x'], ['y'], branches)], ['body'])
    const session = await InferenceSession.create(
      onnxBytes({
        domains: [DOMAIN],
        functions: [maybe],
        inputs: [vector('x'), port('c', 'bool', [])],
        outputs: [vector('y')],
        // The call stands first: it has to wait for what its body reads.
        nodes: [
          call('Maybe', ['c'], ['y'], { body: body([node('Neg', ['h'], ['r'])], 'r') }),
          node('Abs', ['x'], ['h'])
        ]
      })
    )
    expect([...(await session.run({ x, c: yes })).y.data]).toEqual([-1, -2])
  })

  test('that takes a body which calls it, and so on, eight times, is refused', async () => {
    const ifs = Array.from({ length: 8 }, (_, i) => node('If', ['c'], [`y${i}`], branches))
    let inner = body([node('Neg', ['x'], ['r'])], 'r')
    for (let i = 0; i < 8; i++) inner = body([call('Many', ['c'], ['r'], { body: inner })], 'r')
    const model = await onnxModel({
      domains: [DOMAIN],
      functions: [fn('Many', ['c'], ['y0'], ifs, ['body'])],
      inputs: [vector('x'), port('c', 'bool', [])],
      outputs: [vector('y')],
      nodes: [call('Many', ['c'], ['y'], { body: inner })]
    })
    expect(errorOf(() => bind(model, createRegistry([])))).toMatchObject({
      code: 'limit-exceeded',
      details: { limit: 'nodes' }
    })
  })
})
