import { describe, expect, test } from 'vitest'
import { bytesSource } from '../../src/files/byte-source.ts'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { heapStats } from '../../src/wasm/heap.ts'
import { floats, int64s, node, port } from '../fixtures/onnx.ts'
import { type Counting, counting, external, onnx, random, tableBytes } from './table-models.ts'

const ROWS = 16384
const WIDTH = 64

/** Elementwise nodes that lead from `from` to `to`. */
const chain = (from: string, to: string): object[] =>
  ['Relu', 'Exp', 'Neg', 'Abs', 'Sqrt', 'Sigmoid', 'Tanh', 'Sin', 'Cos'].map((type, i, all) =>
    node(type, [i === 0 ? from : `${to}${i - 1}`], [i === all.length - 1 ? to : `${to}${i}`])
  )

/**
 * A table in the file, of which rows are looked up by indices that are made of an input. These are read before they are
 * shifted, and once more where they may be written over.
 * @param last nodes after the others, which make the output `end`
 */
const modelOf = (last: readonly object[]): { weights: Counting; make: () => InferenceSession } => {
  const weights = counting(bytesSource('w.bin', tableBytes(ROWS * WIDTH)))
  const parts = {
    inputs: [port('ids', 'int64', [3]), port('x', 'float', [WIDTH])],
    outputs: [port('end', 'float'), port('looked', 'float'), port('spread', 'float')],
    initializers: [external([ROWS, WIDTH]), int64s('one', [1], [1]), floats('small', [1], [1e-4])],
    nodes: [
      node('Add', ['ids', 'one'], ['next']),
      node('Cast', ['next'], ['before'], { to: 1 }),
      node('Mul', ['next', 'next'], ['squares']),
      node('Abs', ['next'], ['indices']),
      node('Gather', ['table', 'indices'], ['looked']),
      node('Mul', ['looked', 'small'], ['scaled']),
      ...chain('x', 'c'),
      node('Add', ['scaled', 'c'], ['sum']),
      node('Cast', ['squares'], ['after'], { to: 1 }),
      node('Add', ['before', 'after'], ['spread']),
      ...last
    ]
  }
  return { weights, make: () => new InferenceSession(onnx(parts, weights), { threads: 1 }) }
}
const models: Record<string, readonly object[]> = {
  'all others are recorded': chain('sum', 'end'),
  'a step cannot be repeated': [
    node('NonZero', ['c'], ['where']),
    node('Transpose', ['where'], ['places']),
    node('Transpose', ['sum'], ['turned']),
    node('GatherND', ['turned', 'places'], ['found']),
    node('Add', ['found', 'before'], ['end'])
  ]
}

const feedsOf = (seed: number): Record<string, Tensor> => ({
  ids: new Tensor('int64', random(3, ROWS - 1, seed).map(BigInt), [3]),
  x: new Tensor('float32', random(WIDTH, 7, seed), [WIDTH])
})
const contents = (outputs: Readonly<Record<string, Tensor>>): unknown[] =>
  Object.entries(outputs).map(([name, { type, dims, data }]) => [name, type, [...dims], [...(data as Float32Array)]])

describe.each(Object.entries(models))('lookups in a table of the file, where %s', (_, last) => {
  const { weights, make } = modelOf(last)
  /** What a session gives that has not run before. */
  const anew = async (feeds: Record<string, Tensor>): Promise<unknown[]> => {
    const fresh = make()
    const result = contents(await fresh.run(feeds))
    fresh.dispose()
    return result
  }

  test('are made in each run, before steps that are recorded', async () => {
    const session = make()
    const blocks: number[] = []
    for (let i = 0; i < 8; i++) {
      const feeds = feedsOf(i + 1)
      weights.bytes = 0
      const outputs = await session.run(feeds)
      // Rows that are near are read together.
      expect(weights.bytes).toBeGreaterThanOrEqual(3 * 4 * WIDTH)
      expect(weights.bytes).toBeLessThan(ROWS * WIDTH)
      expect(contents(outputs)).toEqual(await anew(feeds))
      for (const { data } of Object.values(outputs)) (data as Float32Array).fill(9)
      blocks.push(heapStats().blocks)
    }
    expect(blocks[2]).toBeGreaterThan(blocks[1])
    expect(blocks[7]).toBeLessThanOrEqual(blocks[2])
    session.dispose()
    expect(heapStats().blocks).toBeLessThan(blocks[2])
  })

  test('fail with their place, and later runs go on, also some at once', async () => {
    const session = make()
    for (let i = 0; i < 4; i++) await session.run(feedsOf(i + 1))
    const wrong = { ...feedsOf(1), ids: new Tensor('int64', [0n, BigInt(ROWS), 1n], [3]) }
    const failure = await make().run(wrong).catch(String)
    expect(failure).toContain('indices')
    expect(await session.run(wrong).catch(String)).toBe(failure)
    const all = [1, 2, 3].map(feedsOf)
    const alone = await Promise.all(all.map(anew))
    expect((await Promise.all(all.map(feeds => session.run(feeds)))).map(contents)).toEqual(alone)
  })
})
