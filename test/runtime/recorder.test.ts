import { describe, expect, test } from 'vitest'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { randomSource } from '../../src/runtime/random.ts'
import { heapStats } from '../../src/wasm/heap.ts'
import { floats, int64s, type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'
import { layer, load, net } from '../openvino/ir.ts'

const random = randomSource(11)()
const floatBytes = (values: readonly number[]): Buffer => Buffer.from(Float32Array.from(values).buffer)
const numbers = (count: number): number[] => Array.from({ length: count }, () => random() * 4 - 2)

/** Elementwise nodes that lead from x to `last`, more of them than are recorded at least. */
const chain = ['Relu', 'Exp', 'Neg', 'Abs', 'Sqrt', 'Sigmoid', 'Tanh', 'Exp', 'Sin', 'Cos'].map((type, i, all) =>
  node(type, [i === 0 ? 'looked' : `c${i - 1}`], [i === all.length - 1 ? 'last' : `c${i}`])
)

/**
 * A chain, then elements of it that are picked by where x is not zero, so that their number is known only in a run, a
 * branch that reads the chain, which no plan of its own is made for since its condition has no declared dims, and an
 * output that the chain has made.
 */
const parts: ModelParts = {
  inputs: [port('x', 'float', [6]), port('rows', 'int64', [6]), port('go', 'bool')],
  outputs: [port('picked', 'float'), port('branched', 'float'), port('last', 'float'), port('same', 'float')],
  initializers: [floats('table', [4], numbers(4)), int64s('two', [1], [2])],
  nodes: [
    node('Gather', ['table', 'rows'], ['looked']),
    ...chain,
    node('ReduceMax', ['c3'], ['highest'], { keepdims: 0 }),
    node('NonZero', ['x'], ['where']),
    node('Transpose', ['where'], ['places']),
    node('GatherND', ['last', 'places'], ['found']),
    node('Add', ['found', 'highest'], ['picked']),
    node('If', ['go'], ['branched'], {
      then_branch: { graph: { inputs: [], outputs: [port('t', 'float')], nodes: [node('Neg', ['last'], ['t'])] } },
      else_branch: { graph: { inputs: [], outputs: [port('e', 'float')], nodes: [node('Add', ['c3', 'x'], ['e'])] } }
    }),
    node('Identity', ['x'], ['same'])
  ]
}
const feedsOf = (): Record<string, Tensor> => ({
  x: new Tensor(
    'float32',
    numbers(6).map(x => (x < 0 ? 0 : x)),
    [6]
  ),
  rows: new Tensor(
    'int64',
    Array.from({ length: 6 }, () => Math.floor(random() * 4)),
    [6]
  ),
  go: new Tensor('bool', [random() < 0.5], [])
})
const session = (): Promise<InferenceSession> => InferenceSession.create(onnxBytes(parts), { threads: 1 })
const contents = (outputs: Readonly<Record<string, Tensor>>): unknown[] =>
  Object.entries(outputs).map(([name, { type, dims, data }]) => [name, type, [...dims], [...(data as Float32Array)]])

/** What a session gives that has not run before. */
async function anew(feeds: Record<string, Tensor>): Promise<unknown[]> {
  const fresh = await session()
  const result = contents(await fresh.run(feeds))
  fresh.dispose()
  return result
}

describe('the first steps of a plan whose other steps cannot be repeated', () => {
  test('are recorded alone, and the others run on what they make', async () => {
    const of = await session()
    const blocks: number[] = []
    // The branches are recorded, too, once each has been taken three times.
    for (let i = 0; i < 24; i++) {
      const feeds = feedsOf()
      const outputs = await of.run(feeds)
      expect(contents(outputs)).toEqual(await anew(feeds))
      for (const { data } of Object.values(outputs)) (data as Float32Array).fill(9)
      blocks.push(heapStats().blocks)
    }
    expect(blocks[2]).toBeGreaterThan(blocks[1])
    expect(blocks[23]).toBeLessThanOrEqual(blocks[16])
    of.dispose()
    expect(heapStats().blocks).toBeLessThan(blocks[2])
  })

  test('fail with their place, as do the others, and later runs go on', async () => {
    const of = await session()
    for (let i = 0; i < 4; i++) await of.run(feedsOf())
    const wrong = { ...feedsOf(), rows: new Tensor('int64', [0, 1, 7, 1, 0, 0], [6]) }
    const failure = await anew(wrong).catch((error: unknown) => String(error))
    await expect(of.run(wrong).catch((error: unknown) => String(error))).resolves.toBe(failure)
    const feeds = feedsOf()
    expect(contents(await of.run(feeds))).toEqual(await anew(feeds))
  })

  test('serve runs at once, and give way to runs that lend views or write into tensors of the caller', async () => {
    const of = await session()
    for (let i = 0; i < 4; i++) await of.run(feedsOf())
    const all = [1, 2, 3, 4].map(() => feedsOf())
    const alone = await Promise.all(all.map(anew))
    expect((await Promise.all(all.map(feeds => of.run(feeds)))).map(contents)).toEqual(alone)
    for (const [i, feeds] of all.entries()) {
      expect(contents(await of.run(feeds, { views: true }))).toEqual(alone[i])
      const last = new Tensor('float32', new Float32Array(6), [6])
      expect((await of.run(feeds, { last })).last).toBe(last)
      expect(contents({ last })).toEqual(alone[i].slice(2, 3))
    }
  })
})

describe('a run of one gather', () => {
  const SIZE = 64
  const WIDTH = 256
  const table = numbers(SIZE * WIDTH)

  test.each([
    ['is recorded where its output fits into a cache', 512, true],
    ['is not where its output is larger, which goes to the array of the caller part by part', 513, false]
  ])('%s', async (_, count, isRecorded) => {
    const of = await InferenceSession.create(
      onnxBytes({
        inputs: [port('rows', 'int64', [count])],
        outputs: [port('found', 'float', [count, WIDTH])],
        initializers: [{ ...floats('table', [SIZE, WIDTH], []), rawData: new Uint8Array(floatBytes(table)) }],
        nodes: [node('Gather', ['table', 'rows'], ['found'])]
      }),
      { threads: 1 }
    )
    const held: number[] = []
    for (let i = 0; i < 4; i++) {
      const rows = Array.from({ length: count }, () => Math.floor(random() * SIZE))
      const { found } = await of.run({ rows: new Tensor('int64', rows, [count]) })
      const expected = rows.flatMap(row => table.slice(row * WIDTH, (row + 1) * WIDTH))
      expect(Buffer.compare(Buffer.from((found.data as Float32Array).buffer), floatBytes(expected))).toBe(0)
      held.push(heapStats().used)
    }
    expect(held[3] - held[1] > count * WIDTH).toBe(isRecorded)
    of.dispose()
  })
})

test('a model that only constants and dims decide gives the same in each run', async () => {
  const of = await InferenceSession.create(
    onnxBytes({
      inputs: [port('x', 'float', [2])],
      outputs: [port('sum', 'float', [1])],
      initializers: [floats('two', [1], [2])],
      nodes: [
        node('Shape', ['x'], ['dims']),
        node('Cast', ['dims'], ['length'], { to: 1 }),
        node('Add', ['length', 'two'], ['sum'])
      ]
    }),
    { threads: 1 }
  )
  for (let i = 0; i < 5; i++)
    expect(contents(await of.run({ x: new Tensor('float32', [i, i], [2]) }))[0]).toContainEqual([4])
})

test('limits of FakeQuantize that are inputs are read in every run', async () => {
  const count = 1 << 13
  const input = (id: number, name: string, shape: number): string =>
    layer(id, 'Parameter', { name, data: `shape="${shape}" element_type="f32"`, out: ['0:FP32'] })
  const xml = net(
    [
      ...[input(0, 'x', count), input(1, 'low', 1), input(2, 'high', 1)],
      layer(3, 'FakeQuantize', { data: 'levels="256"', in: ['0', '1', '2', '3', '4'], out: ['5:FP32'] }),
      layer(4, 'Result', { name: 'y', in: ['0'] })
    ],
    ['0:0>3:0', '1:0>3:1', '2:0>3:2', '1:0>3:3', '2:0>3:4', '3:5>4:0']
  )
  const of = new InferenceSession(load(xml), { threads: 1 })
  const x = new Tensor('float32', new Float32Array(count).fill(-10).fill(10, 5), [count])
  for (let limit = 1; limit < 7; limit++) {
    const { y } = await of.run({ x, low: new Tensor('float32', [-limit]), high: new Tensor('float32', [limit]) })
    expect([y.data[4], y.data[5]]).toEqual([-limit, limit])
  }
  of.dispose()
})
