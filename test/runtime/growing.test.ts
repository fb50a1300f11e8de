import { beforeEach, describe, expect, test } from 'vitest'
import { InferenceSession, type SessionOptions, Tensor } from '../../src/index.ts'
import { defineOp } from '../../src/op-kit/define.ts'
import { heapStats } from '../../src/wasm/heap.ts'
import { floats, int64s, type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'
import { noise } from '../wasm/compare.ts'
import { DOMAIN, note, noted } from './noted.ts'

const SIZE = 32
let ran: string[] = []
const ops = ['Dims', 'Grown', 'Lent'].map(name => defineOp(noted(name, () => ran.push(name))))

const chain = (from: string, to: string, types: readonly string[]): object[] =>
  types.map((type, i) => node(type, [i === 0 ? from : `${to}${i}`], [i === types.length - 1 ? to : `${to}${i + 1}`]))

/**
 * A token goes through a few nodes, one of which reshapes it to dims that others have worked out, is put behind a
 * cache, and goes on together with the mean of that and a row of a table.
 */
const model: ModelParts = {
  domains: [DOMAIN],
  inputs: [
    port('token', 'float', ['batch', 1, SIZE]),
    port('cache', 'float', ['batch', 'past', SIZE]),
    port('row', 'int64', ['batch'])
  ],
  outputs: [port('y', 'float'), port('present', 'float'), port('heads', 'float')],
  initializers: [
    int64s('zero', [], [0]),
    int64s('first', [1], [0]),
    int64s('rest', [2], [4, SIZE / 4]),
    int64s('one', [1], [1]),
    floats('table', [3, SIZE], [...noise([3, SIZE], 7).data])
  ],
  nodes: [
    node('Shape', ['token'], ['dims']),
    note('Dims', 'dims', 'noted'),
    node('Gather', ['noted', 'first'], ['batches'], { axis: 0 }),
    node('Concat', ['batches', 'rest'], ['parted'], { axis: 0 }),
    ...chain('token', 'begun', ['Neg', 'Sigmoid', 'Tanh', 'Exp']),
    node('Reshape', ['begun', 'parted'], ['heads']),
    node('Concat', ['cache', 'begun'], ['present'], { axis: 1 }),
    note('Grown', 'present', 'grown'),
    node('ReduceMean', ['grown'], ['mean'], { axes: [1] }),
    node('Mul', ['mean', 'begun'], ['product']),
    node('Gather', ['table', 'row'], ['looked'], { axis: 0 }),
    node('Unsqueeze', ['looked', 'one'], ['column']),
    node('Add', ['product', 'column'], ['sum']),
    ...chain('sum', 'ended', ['Sin', 'Sigmoid', 'Cos']),
    note('Lent', 'ended', 'lent'),
    node('Neg', ['lent'], ['y'])
  ]
}
const session = (options: SessionOptions = {}): Promise<InferenceSession> =>
  InferenceSession.create(onnxBytes(model), { ops, threads: 1, ...options })

type Feeds = Record<'token' | 'cache' | 'row', Tensor>
const feedsOf = (past: number, batch = 1, row = past % 3): Feeds => ({
  token: noise([batch, 1, SIZE], past + 1),
  cache: noise([batch, past, SIZE], past + 100),
  row: new Tensor('int64', new Array<number>(batch).fill(row), [batch])
})
const contents = (outputs: Readonly<Record<string, Tensor>>): unknown[] =>
  Object.entries(outputs).map(([name, { type, dims, data }]) => [name, type, [...dims], [...(data as Float32Array)]])

/** What a session gives that has not run before. */
async function anew(feeds: Feeds): Promise<unknown[]> {
  const fresh = await session()
  const result = contents(await fresh.run(feeds))
  fresh.dispose()
  ran = []
  return result
}

/** Runs with caches of these lengths, each as in a session of its own. @returns which operators ran in each */
async function grow(of: InferenceSession, lengths: readonly number[], batch = 1): Promise<string[]> {
  const all: string[] = []
  for (const past of lengths) {
    const expected = await anew(feedsOf(past, batch))
    const outputs = await of.run(feedsOf(past, batch))
    all.push(ran.join(' '))
    expect(contents(outputs)).toEqual(expected)
    for (const { data } of Object.values(outputs)) (data as Float32Array).fill(9)
  }
  return all
}

const upTo = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i)
const ALL = 'Dims Grown Lent'
const REST = 'Grown Lent'

beforeEach(() => {
  ran = []
})

describe('where some dims of the inputs change from run to run', () => {
  test('what the others decide is not computed again once two runs have shown which do', async () => {
    const of = await session()
    // The third run finds out what they decide.
    expect(await grow(of, upTo(5, 12))).toEqual([ALL, ALL, ALL, ...new Array<string>(4).fill(REST)])
    of.dispose()
  })

  test('also in any order, and anew where dims change that stayed', async () => {
    const of = await session()
    await grow(of, upTo(5, 9))
    expect(await grow(of, [40, 3, 0, 17])).toEqual([REST, REST, REST, REST])
    expect((await grow(of, upTo(2, 9), 2)).at(-1)).toBe(REST)
    expect(await grow(of, [9, 4])).toEqual([ALL, ALL])
    of.dispose()
  })

  test('steps between those that grow are recorded, in memory that goes when the session does', async () => {
    await grow(await session(), [1])
    const before = heapStats().blocks
    const of = await session()
    await grow(of, upTo(5, 7))
    const unrecorded = heapStats().blocks
    await grow(of, upTo(7, 10))
    const recorded = heapStats().blocks
    expect(recorded).toBeGreaterThan(unrecorded)
    await grow(of, upTo(10, 40))
    expect(heapStats().blocks).toBe(recorded)
    of.dispose()
    expect(heapStats().blocks).toBe(before)
  })

  test('a run with the dims of the one before is taken like others with these dims', async () => {
    const of = await session()
    await grow(of, upTo(5, 9))
    expect(await grow(of, [9, 9, 9, 9, 10, 11])).toEqual([REST, ALL, REST, REST, REST, REST])
    of.dispose()
  })

  test('runs at once, views, and tensors to write into hold what they hold else', async () => {
    const of = await session()
    await grow(of, upTo(5, 9))
    const all = [9, 3, 12, 9].map(past => feedsOf(past))
    const alone: unknown[][] = []
    for (const feeds of all) alone.push(await anew(feeds))
    expect((await Promise.all(all.map(feeds => of.run(feeds)))).map(contents)).toEqual(alone)
    for (const [i, feeds] of all.entries()) {
      expect(contents(await of.run(feeds, { views: true }))).toEqual(alone[i])
      const y = new Tensor('float32', new Float32Array(SIZE), [1, 1, SIZE])
      expect((await of.run(feeds, { y })).y).toBe(y)
      expect(contents({ y })).toEqual(alone[i].slice(0, 1))
    }
    of.dispose()
  })

  test('a step that fails names its place, and later runs go on', async () => {
    const of = await session()
    await grow(of, upTo(5, 9))
    const wrong = feedsOf(9, 1, 7)
    const failure = await anew(wrong).catch((error: unknown) => String(error))
    expect(failure).toContain('index 7')
    await expect(of.run(wrong).catch((error: unknown) => String(error))).resolves.toBe(failure)
    ran = []
    expect(await grow(of, upTo(10, 12))).toEqual([REST, REST])
    of.dispose()
  })

  test('all is computed once memory was needed for a run', async () => {
    const of = await session({ maxMemory: 18_000_000 })
    expect((await grow(of, upTo(5, 10))).at(-1)).toBe(REST)
    const used = heapStats().used
    const large = feedsOf(140_600)
    await of.run(large)
    expect(heapStats().used).toBeLessThan(used)
    ran = []
    expect(await grow(of, upTo(5, 10))).toEqual(new Array<string>(5).fill(ALL))
    of.dispose()
  })
})
