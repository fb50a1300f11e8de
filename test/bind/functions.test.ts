import { describe, expect, test } from 'vitest'
import { bind } from '../../src/bind/bind.ts'
import { createRegistry } from '../../src/bind/registry.ts'
import type { Model } from '../../src/graph/graph.ts'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { int64s, node, onnxBytes, onnxModel, port } from '../fixtures/onnx.ts'
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
})
