import { describe, expect, test } from 'vitest'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { RecordedInput } from '../../src/runtime/recorded-input.ts'
import { heapStats } from '../../src/wasm/heap.ts'
import { int64s, type ModelParts, node, onnxBytes, port } from '../fixtures/onnx.ts'
import { noise } from '../wasm/compare.ts'

const [HEADS, SIZE] = [4, 64]
const line = [1, HEADS, 1, SIZE]
const dimsOf = (rows: number): Record<'cache' | 'image', number[]> => ({
  cache: [1, HEADS, rows, SIZE],
  image: [HEADS * rows, SIZE]
})

/** Large inputs that a kernel reads where they lie: caches that a decoder extends, and one that gets other dims. */
const partsOf = (rows: number): ModelParts => ({
  inputs: [
    port('keys', 'float', dimsOf(rows).cache),
    port('values', 'float', dimsOf(rows).cache),
    port('k', 'float', line),
    port('v', 'float', line),
    port('image', 'float', dimsOf(rows).image)
  ],
  outputs: ['allKeys', 'allValues', 'weighted', 'lit'].map(name => port(name, 'float')),
  initializers: [int64s('dims', [3], [HEADS, rows, SIZE])],
  nodes: [
    node('Concat', ['keys', 'k'], ['allKeys'], { axis: 2 }),
    node('Concat', ['values', 'v'], ['allValues'], { axis: 2 }),
    node('Softmax', ['allKeys'], ['weights'], { axis: 3 }),
    node('Mul', ['weights', 'allValues'], ['weighted']),
    node('Reshape', ['image', 'dims'], ['planes']),
    node('Sigmoid', ['planes'], ['lit'])
  ]
})
const ROWS = 40
const feedsOf = (seed: number, rows = ROWS): Record<'keys' | 'values' | 'k' | 'v' | 'image', Tensor> => ({
  keys: noise(dimsOf(rows).cache, seed),
  values: noise(dimsOf(rows).cache, seed + 20),
  k: noise(line, seed + 40),
  v: noise(line, seed + 60),
  image: noise(dimsOf(rows).image, seed + 80)
})
const session = (rows = ROWS): Promise<InferenceSession> =>
  InferenceSession.create(onnxBytes(partsOf(rows)), { threads: 1 })
const contents = (outputs: Readonly<Record<string, Tensor>>): unknown[] =>
  Object.entries(outputs).map(([name, { dims, data }]) => [name, [...dims], (data as Float32Array).slice()])

async function anew(feeds: Record<string, Tensor>): Promise<unknown[]> {
  const fresh = await session()
  const result = contents(await fresh.run(feeds))
  fresh.dispose()
  return result
}

describe('large inputs of a recording', () => {
  test('are those of each run, and stay as they are', async () => {
    const of = await session()
    for (let i = 0; i < 7; i++) {
      const feeds = feedsOf(i)
      const outputs = await of.run(feeds)
      expect(contents(outputs), `run ${i}`).toEqual(await anew(feeds))
      for (const { data } of Object.values(outputs)) (data as Float32Array).fill(9)
      expect(contents(feeds)).toEqual(contents(feedsOf(i)))
    }
    of.dispose()
  })

  test('do not count as copied where one kernel reads them, which does not ask where they lie', async () => {
    // Three inputs of 2 MiB: copies of all of them would be too much for a recording.
    const rows = 2048
    // What a session holds is what it frees: blocks of other tests may be collected at any other time.
    const heldAfter = async (runs: number): Promise<number> => {
      const of = await session(rows)
      for (let i = 0; i < runs; i++) await of.run(feedsOf(i, rows))
      const { blocks } = heapStats()
      of.dispose()
      return blocks - heapStats().blocks
    }
    expect(await heldAfter(4)).toBeGreaterThan(await heldAfter(2))
  })

  test('may be memory of the session, and arrays in other runs', async () => {
    const of = await session()
    const { cache } = dimsOf(ROWS)
    const own = of.allocate('float32', cache)
    own.data.set(noise(cache, 3).data)
    for (let i = 0; i < 6; i++) {
      const feeds = { ...feedsOf(i), keys: i % 2 === 0 ? own : noise(cache, 3) }
      const same = { ...feedsOf(i), keys: noise(cache, 3) }
      expect(contents(await of.run(feeds)), `run ${i}`).toEqual(await anew(same))
    }
    of.dispose()
  })
})

describe('what stays in its place', () => {
  const numbers = (...values: number[]): Tensor => new Tensor('float32', values, [values.length])
  const given = numbers(1, 2)
  const inputOf = (stays: boolean): { input: RecordedInput; data: Tensor['data'] } => {
    const place = numbers(0, 0)
    return { input: new RecordedInput(0, given, place, stays), data: place.data }
  }

  test('is not copied again for the same call', () => {
    const { input, data } = inputOf(true)
    data.fill(7 as never)
    expect(input.take(given, true)).toBe(true)
    expect([...data]).toEqual([7, 7])
    input.take(given)
    expect([...data]).toEqual([1, 2])
  })

  test('gives way to another tensor', () => {
    const { input, data } = inputOf(true)
    input.take(numbers(3, 4), true)
    expect([...data]).toEqual([3, 4])
    input.take(given, true)
    expect([...data]).toEqual([1, 2])
    expect(input.take(numbers(3), true)).toBe(false)
  })

  test('is nothing where later values may have the place', () => {
    const { input, data } = inputOf(false)
    data.fill(7 as never)
    input.take(given, true)
    expect([...data]).toEqual([1, 2])
  })
})
