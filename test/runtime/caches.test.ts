import { describe, expect, test } from 'vitest'
import { InferenceSession, type RunOptions, Tensor } from '../../src/index.ts'
import { heapStats, isOnHeap } from '../../src/wasm/heap.ts'
import { node, onnxBytes, port } from '../fixtures/onnx.ts'
import { differenceOf, noise } from '../wasm/compare.ts'

const [HEADS, SHARED, SIZE, ROOM] = [4, 2, 64, 24]
const CACHE = [1, SHARED, ROOM, SIZE]

const model = onnxBytes({
  inputs: [
    port('q', 'float', [1, 's', HEADS * SIZE]),
    port('k', 'float', [1, 's', SHARED * SIZE]),
    port('v', 'float', [1, 's', SHARED * SIZE]),
    port('past_key', 'float', CACHE),
    port('past_value', 'float', CACHE),
    port('lengths', 'int32', [1]),
    port('total', 'int32', [])
  ],
  outputs: [port('y', 'float'), port('present_key', 'float'), port('present_value', 'float')],
  nodes: [
    node(
      'GroupQueryAttention',
      ['q', 'k', 'v', 'past_key', 'past_value', 'lengths', 'total'],
      ['y', 'present_key', 'present_value'],
      { num_heads: HEADS, kv_num_heads: SHARED },
      'com.microsoft'
    )
  ],
  domains: ['com.microsoft']
})
const zeros = (): Tensor<'float32'> => new Tensor('float32', new Float32Array(SHARED * ROOM * SIZE), CACHE)
/** What a token, or a prompt, brings: `rows` keys behind `past` others. */
const fresh = (past: number, rows: number): Record<string, Tensor> => ({
  q: noise([1, rows, HEADS * SIZE], past + 1),
  k: noise([1, rows, SHARED * SIZE], past + 2),
  v: noise([1, rows, SHARED * SIZE], past + 3),
  lengths: new Tensor('int32', [past + rows - 1], [1]),
  total: new Tensor('int32', [past + rows], [])
})
type Floats = Tensor<'float32'>
type Results = Record<'y' | 'present_key' | 'present_value', Floats>
const caches = ({ present_key, present_value }: Results): Record<string, Tensor> => ({
  past_key: present_key,
  past_value: present_value
})

/** Results of a prompt of 9 and of some tokens after it, each copied. */
async function decode(options: RunOptions, after?: (results: Results, before: Results | undefined) => void) {
  const session = await InferenceSession.create(model)
  const all: Floats[] = []
  let last: Results | undefined
  for (const [past, rows] of [
    [0, 9],
    [9, 1],
    [10, 1],
    [11, 3],
    [14, 1]
  ]) {
    const held = last ? caches(last) : { past_key: zeros(), past_value: zeros() }
    const results: Results = await session.run({ ...fresh(past, rows), ...held }, options)
    after?.(results, last)
    for (const tensor of Object.values(results)) all.push(new Tensor('float32', tensor.data.slice(), tensor.dims))
    last = results
  }
  session.dispose()
  return all
}

const expectSame = (found: readonly Tensor[], expected: readonly Tensor[]): void => {
  expect(found.length).toBe(expected.length)
  found.forEach((tensor, i) => expect(differenceOf(tensor, expected[i])).toBeLessThan(1e-6))
}

describe('a cache with room', () => {
  test('is extended in place where the session has lent it', async () => {
    const plain = await decode({})
    const { used } = heapStats()
    let extended = 0
    const lent = await decode({ views: true }, (results, before) => {
      if (!before || !isOnHeap(before.present_key.data)) return
      expect(results.present_key.data).toBe(before.present_key.data)
      expect(results.present_value.data).toBe(before.present_value.data)
      extended++
    })
    expect(extended).toBe(4)
    expectSame(lent, plain)
    expect(heapStats().used).toBe(used)
  })

  test('is extended in place where the caller wants the result there', async () => {
    const plain = await decode({})
    const session = await InferenceSession.create(model)
    const [key, value] = [zeros(), zeros()]
    const all: Floats[] = []
    for (const [past, rows] of [
      [0, 9],
      [9, 1]
    ]) {
      const feeds = { ...fresh(past, rows), past_key: key, past_value: value }
      const { y } = await session.run(feeds, { y: null, present_key: key, present_value: value })
      all.push(...[y as Floats, key, value].map(tensor => new Tensor('float32', tensor.data.slice(), tensor.dims)))
    }
    expectSame(all, plain.slice(0, 6))
  })

  test("stays what it is where it is the caller's own", async () => {
    const session = await InferenceSession.create(model)
    const [past_key, past_value] = [zeros(), zeros()]
    for (const views of [false, true]) {
      const { present_key } = await session.run({ ...fresh(0, 3), past_key, past_value }, { views })
      expect(present_key.data).not.toBe(past_key.data)
      expect(past_key.data.every(element => element === 0)).toBe(true)
    }
  })

  test.each(['twice', 'in part as well'])('is not extended in place where it is fed %s', async how => {
    const session = await InferenceSession.create(model)
    const first: Results = await session.run(
      { ...fresh(0, 9), past_key: zeros(), past_value: zeros() },
      { views: true }
    )
    const { data } = first.present_key
    // Rows that the next run writes over, if it writes in place.
    const part = data.subarray(9 * SIZE, (9 + SHARED) * SIZE)
    const k = new Tensor('float32', part, [1, 1, SHARED * SIZE])
    const given =
      how === 'twice'
        ? { ...fresh(9, 1), past_key: first.present_key, past_value: first.present_key }
        : { ...fresh(9, 1), k, ...caches(first) }
    const copies = Object.fromEntries(
      Object.entries(given).map(([name, tensor]) => [name, new Tensor(tensor.type, tensor.data.slice(), tensor.dims)])
    )
    const found: Results = await session.run(given, { views: true })
    const results = Object.values(found).map(tensor => new Tensor('float32', tensor.data.slice(), tensor.dims))
    expectSame(results, Object.values(await session.run(copies)))
    expect(found.present_key.data.byteOffset).not.toBe(data.byteOffset)
  })
})

test('a buffer of DecoderMaskedMultiHeadAttention is extended in place where the caller wants it', async () => {
  const [heads, size, rows] = [2, 8, 6]
  const dims = [1, heads, rows, size]
  const session = await InferenceSession.create(
    onnxBytes({
      inputs: [
        ...['q', 'k', 'v'].map(name => port(name, 'float', [1, 1, heads * size])),
        ...['past_key', 'past_value'].map(name => port(name, 'float', dims)),
        port('past', 'int32', [1])
      ],
      outputs: ['y', 'present_key', 'present_value'].map(name => port(name, 'float')),
      nodes: [
        node(
          'DecoderMaskedMultiHeadAttention',
          ['q', 'k', 'v', '', '', 'past_key', 'past_value', 'past'],
          ['y', 'present_key', 'present_value'],
          { num_heads: heads, past_present_share_buffer: 1 },
          'com.microsoft'
        )
      ],
      domains: ['com.microsoft']
    })
  )
  const feeds = Object.fromEntries(['q', 'k', 'v'].map((name, i) => [name, noise([1, 1, heads * size], i + 1)]))
  const past = new Tensor('int32', [4], [1])
  const [key, value] = [noise(dims, 8), noise(dims, 9)]
  const plain = await session.run({ ...feeds, past, past_key: key, past_value: value })
  expect(key.data).toEqual(noise(dims, 8).data)
  const fetches = { y: null, present_key: key, present_value: value }
  const { y } = await session.run({ ...feeds, past, past_key: key, past_value: value }, fetches)
  expectSame([y, key, value], [plain.y, plain.present_key, plain.present_value] as Floats[])
  expect(differenceOf(key, noise(dims, 8))).toBeGreaterThan(0)
})
