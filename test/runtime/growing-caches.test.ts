import { describe, expect, test } from 'vitest'
import { InferenceSession, type RunOptions, Tensor } from '../../src/index.ts'
import { storageOf } from '../../src/tensor/room.ts'
import { heapStats } from '../../src/wasm/heap.ts'
import { floats, node, onnxBytes, port } from '../fixtures/onnx.ts'
import { layer, load, net } from '../openvino/ir.ts'
import { differenceOf, noise } from '../wasm/compare.ts'

const [BEAMS, HEADS, SIZE] = [2, 3, 32]

/** Keys and values of earlier runs, joined with those of this one, and what attention makes of them. */
const model = onnxBytes({
  inputs: ['q', 'k', 'v', 'past_k', 'past_v'].map(name => port(name, 'float', ['b', HEADS, name, SIZE])),
  outputs: ['y', 'present_k', 'present_v'].map(name => port(name, 'float', ['b', HEADS, `rows of ${name}`, SIZE])),
  initializers: [floats('scale', [], [SIZE ** -0.5])],
  nodes: [
    node('Concat', ['past_k', 'k'], ['present_k'], { axis: -2 }),
    node('Concat', ['past_v', 'v'], ['present_v'], { axis: 2 }),
    node('Transpose', ['present_k'], ['columns'], { perm: [0, 1, 3, 2] }),
    node('MatMul', ['q', 'columns'], ['products']),
    node('Mul', ['products', 'scale'], ['scores']),
    node('Softmax', ['scores'], ['weights'], { axis: -1 }),
    node('MatMul', ['weights', 'present_v'], ['y'])
  ]
})
type Floats = Tensor<'float32'>
type Results = Record<'y' | 'present_k' | 'present_v', Floats>
type Caches = Record<'past_k' | 'past_v', Tensor>

const empty = (): Caches => ({ past_k: noise([1, HEADS, 0, SIZE], 0), past_v: noise([1, HEADS, 0, SIZE], 0) })
const cachesOf = ({ present_k, present_v }: Results): Caches => ({ past_k: present_k, past_v: present_v })
/** What a token, or a prompt of some rows, brings. */
const fresh = (seed: number, rows = 1): Record<'q' | 'k' | 'v', Tensor> => ({
  q: noise([1, HEADS, rows, SIZE], seed),
  k: noise([1, HEADS, rows, SIZE], seed + 100),
  v: noise([1, HEADS, rows, SIZE], seed + 200)
})
const copyOf = ({ data, dims }: Tensor): Floats => new Tensor('float32', (data as Float32Array).slice(), dims)
const expectSame = (found: Tensor, expected: Tensor, tolerance = 1e-6): void => {
  expect(found.dims).toEqual(expected.dims)
  expect(differenceOf(found, expected)).toBeLessThan(tolerance)
}

/** Results of a prompt of 20 and of tokens after it, copied. */
async function decode(session: InferenceSession, tokens: number, options: RunOptions = {}): Promise<Floats[]> {
  const all: Floats[] = []
  let held = empty()
  for (let i = 0; i <= tokens; i++) {
    const results: Results = await session.run({ ...fresh(i, i === 0 ? 20 : 1), ...held }, options)
    all.push(copyOf(results.y))
    held = cachesOf(results)
  }
  return [...all, ...Object.values(held).map(copyOf)]
}

describe('a cache that Concat makes, and that the next run is given', () => {
  test('holds what it would hold if it were copied, whether or not it grows in place', async () => {
    const session = await InferenceSession.create(model)
    const plain = await decode(session, 60)
    const before = heapStats().used
    const grown = await decode(session, 60, { views: true })
    grown.forEach((tensor, i) => expectSame(tensor, plain[i]))
    // 80 rows lie in room for at most half as many more, beside what the last result takes.
    expect(heapStats().used - before).toBeLessThan(2 * HEADS * 160 * SIZE * 4)
    session.dispose()
    expect(heapStats().used).toBeLessThanOrEqual(before)
  })

  const names = ['q', 'k', 'v', 'mask']
  const readers = ['Softmax', 'Attention'].flatMap(by => names.map(name => [by, name] as const))
  test.each(readers)('is read as it is by %s that is given it as %s', async (by, name) => {
    const inputs = names.map(input => port(input, 'float', [1, HEADS, SIZE, SIZE]))
    const nodes = [
      node('Transpose', ['k'], ['columns'], { perm: [0, 1, 3, 2] }),
      node('MatMul', ['q', 'columns'], ['scores']),
      node('Add', ['scores', 'mask'], ['masked']),
      node('Softmax', ['masked'], ['weights'], { axis: -1 }),
      node('MatMul', ['weights', 'v'], ['y'])
    ]
    const attention = onnxBytes({
      ...{ opset: 23, inputs, outputs: [port('y', 'float')] },
      nodes: by === 'Attention' ? [node(by, names, ['y'])] : nodes
    })
    const maker = await InferenceSession.create(model)
    const run = (given: Record<string, Tensor>): Promise<Results> => maker.run(given, { views: true })
    const cacheOf = async (): Promise<Tensor> =>
      (await run({ ...fresh(2), ...cachesOf(await run({ ...fresh(1, SIZE - 1), ...empty() })) })).present_k
    const others = Object.fromEntries(names.map((input, i) => [input, noise([1, HEADS, SIZE, SIZE], i)]))
    const plain = await InferenceSession.create(attention)
    const expected = await plain.run<{ y: Floats }>({ ...others, [name]: copyOf(await cacheOf()) })
    const usual = await plain.run<{ y: Floats }>(others)
    // The first run picks the kernel.
    for (const isFirst of [true, false]) {
      const session = await InferenceSession.create(attention)
      if (!isFirst) await session.run(others)
      expectSame((await session.run<{ y: Floats }>({ ...others, [name]: await cacheOf() })).y, expected.y)
      expectSame((await session.run<{ y: Floats }>(others)).y, usual.y)
    }
  })

  test('is not copied for a token', async () => {
    const session = await InferenceSession.create(model)
    const rows = 2000
    let held: Caches = { past_k: noise([1, HEADS, rows, SIZE], 1), past_v: noise([1, HEADS, rows, SIZE], 2) }
    const storages = new Set<unknown>()
    for (let i = 0; i < 5; i++) {
      held = cachesOf(await session.run<Results>({ ...fresh(i), ...held }, { views: true }))
      storages.add(storageOf(held.past_k)).add(storageOf(held.past_v))
    }
    expect(storages.size).toBe(2)
    session.dispose()
  })

  test('stays what it is where several runs grow from it', async () => {
    const session = await InferenceSession.create(model)
    const start = await session.run<Results>({ ...fresh(1, 40), ...empty() }, { views: true })
    const caches = cachesOf(start)
    const own = cachesOf({ ...start, present_k: copyOf(start.present_k), present_v: copyOf(start.present_v) })
    // Neither of two runs at once sees the row of the other.
    const [a, b] = await Promise.all([2, 3].map(seed => session.run<Results>({ ...fresh(seed), ...cachesOf(start) })))
    const plain = await InferenceSession.create(model)
    for (const [seed, found] of [
      [2, a],
      [3, b]
    ] as const) {
      const expected = await plain.run<Results>({ ...fresh(seed), ...own })
      for (const name of ['y', 'present_k', 'present_v'] as const) expectSame(found[name], expected[name])
    }
    const first = await session.run<Results>({ ...fresh(4), ...caches }, { views: true })
    const kept = [copyOf(first.present_k), copyOf(first.present_v)]
    const [c, d] = [fresh(5), fresh(6)]
    const second = await session.run<Results>({ ...c, ...cachesOf(first) }, { views: true })
    const third = await session.run<Results>({ ...d, past_k: kept[0], past_v: kept[1] })
    const again = { past_k: kept[0], past_v: kept[1] }
    expectSame(second.y, (await plain.run<Results>({ ...c, ...again })).y)
    expectSame(third.y, (await plain.run<Results>({ ...d, ...again })).y)
    session.dispose()
  })

  test('is read as its holder has changed it', async () => {
    const session = await InferenceSession.create(model)
    const { present_k, present_v } = await session.run<Results>({ ...fresh(1, 40), ...empty() }, { views: true })
    present_k.data.fill(0.5)
    expect(present_k.size).toBe(HEADS * 40 * SIZE)
    const own = { past_k: copyOf(present_k), past_v: copyOf(present_v) }
    const expected = await (await InferenceSession.create(model)).run<Results>({ ...fresh(2), ...own })
    const found = await session.run<Results>({ ...fresh(2), past_k: present_k, past_v: present_v }, { views: true })
    expectSame(found.y, expected.y)
    expectSame(found.present_k, expected.present_k)
    session.dispose()
  })

  test('may be given to another session, and to a run without views', async () => {
    const [one, other] = [await InferenceSession.create(model), await InferenceSession.create(model)]
    const start = await one.run<Results>({ ...fresh(1, 40), ...empty() }, { views: true })
    const own = { past_k: copyOf(start.present_k), past_v: copyOf(start.present_v) }
    const there = await other.run<Results>({ ...fresh(2), ...cachesOf(start) }, { views: true })
    const here = await one.run<Results>({ ...fresh(2), ...cachesOf(start) })
    const expected = await one.run<Results>({ ...fresh(2), ...own })
    for (const name of ['y', 'present_k', 'present_v'] as const) {
      expectSame(here[name], expected[name])
      expectSame(there[name], expected[name])
    }
    one.dispose()
    expectSame(
      (await other.run<Results>({ ...fresh(3), ...cachesOf(there) })).y,
      (await other.run<Results>({ ...fresh(3), ...cachesOf(expected) })).y
    )
    other.dispose()
  })

  test('is joined as ever in a tensor of the caller', async () => {
    const session = await InferenceSession.create(model)
    const start = await session.run<Results>({ ...fresh(1, 40), ...empty() }, { views: true })
    const expected = await session.run<Results>({ ...fresh(2), ...cachesOf(start) })
    const target = noise([1, HEADS, 41, SIZE], 9)
    const fetches = { y: null, present_k: target, present_v: null }
    const found = await session.run({ ...fresh(2), ...cachesOf(start) }, fetches, { views: true })
    expect(found.present_k).toBe(target)
    expectSame(target, expected.present_k)
    expectSame(found.y, expected.y)
    session.dispose()
  })
})

/** A decoder in a loop: what attention gives is the next token, and the caches are carried. */
const looping = onnxBytes({
  inputs: [
    port('count', 'int64', []),
    port('start', 'float', [1, HEADS, 1, SIZE]),
    ...['past_k', 'past_v'].map(name => port(name, 'float', [1, HEADS, 'rows', SIZE]))
  ],
  outputs: ['k', 'v', 'token', 'tokens'].map(name => port(name, 'float')),
  nodes: [
    node('Loop', ['count', '', 'past_k', 'past_v', 'start'], ['k', 'v', 'token', 'tokens'], {
      body: {
        graph: {
          inputs: [
            port('i', 'int64', []),
            port('goes on', 'bool', []),
            ...['before_k', 'before_v'].map(name => port(name, 'float', [1, HEADS, 'before', SIZE])),
            port('q', 'float', [1, HEADS, 1, SIZE])
          ],
          outputs: [port('goes', 'bool', []), ...['after_k', 'after_v', 'y', 'each'].map(name => port(name, 'float'))],
          initializers: [floats('scale', [], [SIZE ** -0.5])],
          nodes: [
            node('Identity', ['goes on'], ['goes']),
            node('Neg', ['q'], ['new_v']),
            node('Concat', ['before_k', 'q'], ['after_k'], { axis: 2 }),
            node('Concat', ['before_v', 'new_v'], ['after_v'], { axis: 2 }),
            node('Transpose', ['after_k'], ['columns'], { perm: [0, 1, 3, 2] }),
            node('MatMul', ['q', 'columns'], ['products']),
            node('Mul', ['products', 'scale'], ['scores']),
            node('Softmax', ['scores'], ['weights'], { axis: -1 }),
            node('MatMul', ['weights', 'after_v'], ['y']),
            node('Identity', ['y'], ['each'])
          ]
        }
      }
    })
  ]
})

describe('a cache that a loop carries', () => {
  const feeds = (rows: number, count: number) => ({
    count: new Tensor('int64', [count], []),
    start: noise([1, HEADS, 1, SIZE], 1),
    past_k: noise([1, HEADS, rows, SIZE], 2),
    past_v: noise([1, HEADS, rows, SIZE], 3)
  })

  test('holds what it would hold if it were copied', async () => {
    const exact = await InferenceSession.create(looping, { precision: 'exact' })
    const session = await InferenceSession.create(looping)
    await session.run(feeds(3, 1))
    const { used } = heapStats()
    for (const views of [false, true])
      for (const [rows, count] of [
        [0, 90],
        [70, 1],
        [100, 40],
        [5, 0]
      ]) {
        const expected = await exact.run(feeds(rows, count))
        const found = await session.run(feeds(rows, count), { views })
        // What is rounded for a token, all that follow are made of.
        for (const name of ['k', 'v', 'token', 'tokens']) expectSame(found[name], expected[name], 1e-5)
      }
    await session.run(feeds(3, 1), { views: true })
    session.dispose()
    exact.dispose()
    expect(heapStats().used).toBeLessThanOrEqual(used)
  })

  test('may be given to the next run', async () => {
    const session = await InferenceSession.create(looping)
    const all = await session.run(feeds(50, 20))
    for (const options of [{}, { views: true }]) {
      let held: Record<string, Tensor> = { past_k: feeds(50, 0).past_k, past_v: feeds(50, 0).past_v }
      let start: Tensor = feeds(50, 0).start
      for (let i = 0; i < 4; i++) {
        const count = new Tensor('int64', [5], [])
        const { k, v, token } = await session.run({ count, start, ...held }, options)
        held = { past_k: k, past_v: v }
        start = copyOf(token)
      }
      expectSame(held.past_k, all.k)
      expectSame(held.past_v, all.v)
      expectSame(start, all.token)
    }
    session.dispose()
  })
})

const state = (id: string): string => `variable_id="${id}" variable_type="f32" variable_shape="?,${HEADS},?,${SIZE}"`
const DIMS = `shape="${BEAMS},${HEADS},?,${SIZE}" element_type="f32"`

/** Two variables whose beams are chosen, joined with what is given, and kept; dims of one before say its positions. */
const stateful = net(
  [
    ...['q', 'k', 'v'].map((name, i) => layer(i, 'Parameter', { name, data: DIMS, out: ['0:FP32'] })),
    layer(3, 'Parameter', { name: 'beams', data: `shape="${BEAMS}" element_type="i32"`, out: ['0:I32'] }),
    layer(4, 'Const', { data: 'offset="0" size="4" shape="" element_type="i32"', out: ['0:I32'] }),
    ...[5, 6].flatMap(at => [
      layer(at, 'ReadValue', { version: 'opset6', data: state(`v${at}`), out: ['0:FP32'] }),
      layer(at + 10, 'Gather', {
        version: 'opset8',
        data: 'batch_dims="0"',
        in: ['0', '1', '2'],
        out: ['3:FP32']
      }),
      layer(at + 20, 'Concat', { data: 'axis="-2"', in: ['0', '1'], out: ['2:FP32'] }),
      layer(at + 30, 'Assign', { version: 'opset6', data: `variable_id="v${at}"`, in: ['0'], out: ['1:FP32'] })
    ]),
    layer(40, 'ScaledDotProductAttention', {
      version: 'opset13',
      data: 'causal="false"',
      in: ['0', '1', '2'],
      out: ['3:FP32']
    }),
    layer(41, 'Result', { name: 'y', in: ['0'] }),
    layer(42, 'ShapeOf', { version: 'opset3', data: 'output_type="i64"', in: ['0'], out: ['1:I64'] }),
    layer(43, 'Result', { name: 'before', in: ['0'] })
  ],
  [
    ...[5, 6].flatMap(at => [
      `${at}:0>${at + 10}:0`,
      `3:0>${at + 10}:1`,
      `4:0>${at + 10}:2`,
      `${at + 10}:3>${at + 20}:0`,
      `${at - 4}:0>${at + 20}:1`,
      `${at + 20}:2>${at + 30}:0`,
      `${at + 20}:2>40:${at - 4}`
    ]),
    '0:0>40:0',
    '40:3>41:0',
    '15:3>42:0',
    '42:1>43:0'
  ]
)

describe('a cache in variables', () => {
  /** Rows of beams. */
  const rows = (seed: number, count: number): Floats => noise([BEAMS, HEADS, count, SIZE], seed)
  const tokens = (seed: number, count = 1) => ({
    q: rows(seed, 1),
    k: rows(seed + 100, count),
    v: rows(seed + 200, count)
  })
  const ORDERS = [
    [0, 1],
    [0, 1],
    [1, 0],
    [0, 1],
    [1, 1],
    [0, 1],
    [0, 0],
    [-1, 0]
  ]

  test.each(['fast', 'exact'] as const)('follows its beams, precision %s', async precision => {
    const session = new InferenceSession(load(stateful, new Uint8Array(4)), { precision })
    const { used } = heapStats()
    for (let round = 0; round < 2; round++) {
      let known: { k: Float32Array[][]; v: Float32Array[][] } = { k: [[], []], v: [[], []] }
      for (const [i, order] of [[0, 1], ...ORDERS].entries()) {
        const given = tokens(i, i === 0 ? 30 : 1)
        const { y } = await session.run({ ...given, beams: new Tensor('int32', order, [BEAMS]) })
        const next = (name: 'k' | 'v'): Float32Array[][] =>
          order.map((from, beam) => [...known[name].at(from)!, beamOf(given[name], beam)])
        known = { k: next('k'), v: next('v') }
        expectSame(y, attended(given.q, known))
      }
      session.resetState()
    }
    session.dispose()
    expect(heapStats().used).toBe(used)
  })

  test('is not copied for a token while its beams stay', async () => {
    const session = new InferenceSession(load(stateful, new Uint8Array(4)))
    const step = async (order: readonly number[]): Promise<number> => {
      await session.run({ ...tokens(1), beams: new Tensor('int32', order, [BEAMS]) })
      return heapStats().used
    }
    const beams = new Tensor('int32', [0, 1], [BEAMS])
    const first = await session.run({ ...tokens(0, 40), beams })
    expect(first.y.dims).toEqual([BEAMS, HEADS, 1, SIZE])
    const { before } = await session.run({ ...tokens(1), beams })
    expect([...before.data]).toEqual([BEAMS, HEADS, 40, SIZE].map(BigInt))
    const used = await step([0, 1])
    for (let i = 0; i < 4; i++) expect(await step([0, 1])).toBe(used)
    const apart = await step([1, 0])
    for (let i = 0; i < 4; i++) expect(await step([0, 1])).toBe(apart)
    session.dispose()
  })

  const beamOf = ({ data, dims }: Floats, beam: number): Float32Array => {
    const size = dims.slice(1).reduce((a, b) => a * b)
    return data.slice(beam * size, (beam + 1) * size)
  }

  /** Attention in double precision. @param known what each run gave of a beam, `[heads, rows, size]` */
  function attended({ data: q }: Floats, known: { k: Float32Array[][]; v: Float32Array[][] }): Floats {
    const y = new Float32Array(BEAMS * HEADS * SIZE)
    for (let at = 0; at < BEAMS * HEADS; at++) {
      const [beam, head] = [Math.floor(at / HEADS), at % HEADS]
      const rowsOf = (name: 'k' | 'v'): Float32Array[] =>
        known[name][beam].flatMap(part => {
          const count = part.length / HEADS / SIZE
          return Array.from({ length: count }, (_, i) => part.subarray((head * count + i) * SIZE).subarray(0, SIZE))
        })
      const scores = rowsOf('k').map(key => key.reduce((sum, x, i) => sum + x * q[at * SIZE + i], 0) / Math.sqrt(SIZE))
      const weights = scores.map(score => Math.exp(score - Math.max(...scores)))
      const total = weights.reduce((a, b) => a + b)
      rowsOf('v').forEach((value, row) => value.forEach((x, i) => (y[at * SIZE + i] += (x * weights[row]) / total)))
    }
    return new Tensor('float32', y, [BEAMS, HEADS, 1, SIZE])
  }
})
