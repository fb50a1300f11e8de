import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { check, type Constant, InferenceSession, load, type LoadOptions, Tensor } from '../../src/index.ts'
import { Blocks } from '../../src/runtime/blocks.ts'
import { MemoryLimit } from '../../src/runtime/memory-limit.ts'
import { Budget } from '../../src/runtime/memory.ts'
import { Weights } from '../../src/runtime/weights.ts'
import { node, onnxBytes, port } from '../fixtures/onnx.ts'
import { layer, net } from '../openvino/ir.ts'

const ROWS = 20_000
const WIDTH = 64
const TABLE = ROWS * WIDTH * 4
const N = 300
const WEIGHTS = N * N * 4
const HALF = N * N * 2

/** A table whose elements are the number of their row, a matrix with 2 on its diagonal, the same in float16, a bias. */
function dataBytes(): Uint8Array {
  const bytes = new Uint8Array(TABLE + WEIGHTS + HALF + N * 4)
  new Float32Array(bytes.buffer, 0, TABLE / 4).forEach((_, i, all) => (all[i] = Math.floor(i / WIDTH)))
  const matrix = new Float32Array(bytes.buffer, TABLE, N * N)
  const half = new Uint16Array(bytes.buffer, TABLE + WEIGHTS, N * N)
  for (let i = 0; i < N; i++) {
    matrix[i * N + i] = 2
    half[i * N + i] = 0x4400
  }
  new Float32Array(bytes.buffer, TABLE + WEIGHTS + HALF, N).fill(0.5)
  return bytes
}
const data = dataBytes()

const external = (name: string, dims: readonly number[], offset: number, dataType = 1): object => ({
  name,
  dims,
  dataType,
  dataLocation: 1,
  externalData: [
    { key: 'location', value: 'w.bin' },
    { key: 'offset', value: String(offset) }
  ]
})

const model = onnxBytes({
  inputs: [port('ids', 'int64', ['n']), port('x', 'float', [1, N])],
  outputs: [port('rows', 'float'), port('y', 'float'), port('z', 'float')],
  nodes: [
    node('Gather', ['table', 'ids'], ['rows']),
    node('MatMul', ['x', 'w'], ['xw']),
    node('Add', ['xw', 'b'], ['y']),
    node('Cast', ['h'], ['wide'], { to: 1 }),
    node('MatMul', ['y', 'wide'], ['z'])
  ],
  initializers: [
    external('table', [ROWS, WIDTH], 0),
    external('w', [N, N], TABLE),
    external('h', [N, N], TABLE + WEIGHTS, 10),
    external('b', [N], TABLE + WEIGHTS + HALF)
  ]
})

interface Read {
  readonly offset: number
  readonly length: number
}

/** A caller's own reader that notes what is read, each time after a turn of the event loop. */
function reader(bytes: Uint8Array, reads: Read[], wait: () => Promise<void> = async () => undefined) {
  return {
    size: bytes.length,
    async read(offset: number, length: number) {
      reads.push({ offset, length })
      await wait()
      return bytes.slice(offset, offset + length)
    }
  }
}

const opened = (reads: Read[], options: LoadOptions = {}, wait?: () => Promise<void>): Promise<InferenceSession> =>
  InferenceSession.create(model, { ...options, externalData: [{ path: 'w.bin', data: reader(data, reads, wait) }] })

const ids = (...rows: readonly number[]): Tensor => new Tensor('int64', rows.map(BigInt))
const x = new Tensor('float32', new Float32Array(N).fill(1), [1, N])
const bytesOf = (reads: readonly Read[]): number => reads.reduce((sum, { length }) => sum + length, 0)

async function isRight(session: InferenceSession): Promise<void> {
  const { rows, y, z } = await session.run({ ids: ids(7, 19_999, 3), x })
  const found = rows.data as Float32Array
  expect([0, 1, 2].map(i => [found[i * WIDTH], found[i * WIDTH + WIDTH - 1]])).toEqual([
    [7, 7],
    [19_999, 19_999],
    [3, 3]
  ])
  expect([...(y.data as Float32Array)].every(value => value === 2.5)).toBe(true)
  expect([...(z.data as Float32Array)].every(value => value === 10)).toBe(true)
}

describe('a model whose weights come asynchronously', () => {
  test('is opened with few bytes of them, checked, and run with those that it needs', async () => {
    const reads: Read[] = []
    const session = await opened(reads)
    // The start of the file, and the bias, which is small.
    expect(reads).toEqual([
      { offset: 0, length: 65_536 },
      { offset: TABLE + WEIGHTS + HALF, length: N * 4 }
    ])
    expect(check(session.model).findings).toEqual([])
    expect(reads.length).toBe(2)
    await isRight(session)
    expect(bytesOf(reads.slice(2))).toBeLessThan(WEIGHTS + HALF + 10 * WIDTH * 4)
    const { length } = reads
    await isRight(session)
    expect(reads.length).toBe(length)
  })

  test.each([
    ['in runs at once, which share what is on its way', undefined],
    ['where memory has room for one of them only', WEIGHTS + WEIGHTS + HALF + 100_000]
  ])('gives the same %s', async (_, maxMemory) => {
    const reads: Read[] = []
    const session = await InferenceSession.create(model, {
      externalData: [{ path: 'w.bin', data: reader(data, reads) }],
      ...(maxMemory !== undefined && { maxMemory })
    })
    await (maxMemory === undefined ? Promise.all([isRight(session), isRight(session)]) : isRight(session))
    expect(reads.filter(({ offset }) => offset === TABLE).length).toBe(1)
    await isRight(session)
  })

  test('is not read where memory has no room for it', async () => {
    const reads: Read[] = []
    const { graph } = await load(model, { externalData: [{ path: 'w.bin', data: reader(data, reads) }] })
    const before = reads.length
    const weights = new Weights(new Blocks({}))
    const [w] = [...graph.initializers.values()].filter(
      ({ dims, type }) => dims[0] === N && dims[1] === N && type === 'float32'
    )
    const fetched = (bytes: number): Promise<void> =>
      weights.fetch([w], new Budget(new MemoryLimit(bytes), weights), undefined)
    await expect(fetched(WEIGHTS - 1)).rejects.toMatchObject({ code: 'limit-exceeded' })
    expect([reads.length, weights.bytes]).toEqual([before, 0])
    await fetched(WEIGHTS)
    expect(weights.bytes).toBe(WEIGHTS)
  })

  test('is walked node by node', async () => {
    const session = await opened([])
    const seen: string[] = []
    for await (const { node: ran } of session.walk({ ids: ids(1), x })) seen.push(ran.type)
    expect(seen).toEqual(['Gather', 'MatMul', 'Add', 'Cast', 'MatMul'])
  })

  test('reads rows again only when they are not at hand, and the table whole where that is cheaper', async () => {
    const reads: Read[] = []
    const session = await opened(reads)
    const run = (...rows: readonly number[]): Promise<unknown> => session.run({ ids: ids(...rows), x }, ['rows'])
    await run(5000, 12_000)
    const before = reads.length
    await run(12_000, 5000, 5000)
    expect(reads.length).toBe(before)
    for (let i = 0; i < 10; i++) await run(...Array.from({ length: 100 }, (_, j) => 200 * j + i))
    const { length } = reads
    expect(reads.some(read => read.length > TABLE / 2)).toBe(true)
    await run(777, 888)
    expect(reads.length).toBe(length)
  })

  test('stops at once where its run is given up, and runs then', async () => {
    let release = (): void => undefined
    let isSlow = false
    const waiting = (): Promise<void> => (isSlow ? new Promise(resolve => (release = resolve)) : Promise.resolve())
    const session = await opened([], {}, waiting)
    isSlow = true
    const reason = new Error('enough')
    const controller = new AbortController()
    const run = session.run({ ids: ids(9000), x }, { signal: controller.signal })
    setTimeout(() => controller.abort(reason), 20)
    await expect(run).rejects.toMatchObject({ code: 'aborted', cause: reason })
    await expect(session.run({ ids: ids(9000), x }, { timeout: 20 })).rejects.toMatchObject({
      code: 'aborted',
      message: /more than 20 ms/
    })
    isSlow = false
    release()
    await isRight(session)
  })

  test('stops when its time is up, though a signal is given too and memory is collected meanwhile', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    let isSlow = false
    const session = await opened([], {}, () => (isSlow ? new Promise(() => undefined) : Promise.resolve()))
    isSlow = true
    const { signal } = new AbortController()
    const collecting = setInterval(collect, 10)
    const run = session.run({ ids: ids(9000), x }, { signal, timeout: 100 })
    await expect(run).rejects.toMatchObject({ code: 'aborted', message: /more than 100 ms/ })
    clearInterval(collecting)
  })

  test('leaves nothing behind where it is disposed of while it waits', async () => {
    const session = await opened([], {}, () => new Promise(resolve => setTimeout(resolve, 5)))
    const run = session.run({ ids: ids(1), x })
    await new Promise(resolve => setTimeout(resolve, 2))
    session.dispose()
    await run.catch(() => undefined)
    await expect(session.run({ ids: ids(1), x })).rejects.toMatchObject({ code: 'invalid-graph' })
  })

  test('names the node that a read fails for', async () => {
    let isBroken = false
    const session = await InferenceSession.create(model, {
      externalData: [
        {
          path: 'w.bin',
          data: {
            size: data.length,
            read: async (offset, length) => data.slice(offset, offset + (isBroken ? 1 : length))
          }
        }
      ]
    })
    isBroken = true
    await expect(session.run({ ids: ids(9000), x })).rejects.toMatchObject({
      code: 'invalid-file',
      message: /Gather "Gather_rows".*w\.bin: its reader gives 1 bytes where 256 were asked for/
    })
  })

  test('has its weights at hand where all is read at once; else reading one says how', async () => {
    const weights = async (options: LoadOptions): Promise<Constant> => {
      const { graph } = await load(model, { ...options, externalData: [{ path: 'w.bin', data: reader(data, []) }] })
      return graph.initializers.get('w')!
    }
    expect((await weights({ whole: true })).read().data[0]).toBe(2)
    const lazy = await weights({})
    expect(() => lazy.read()).toThrow(
      expect.objectContaining({ code: 'bad-usage', message: expect.stringContaining('whole: true') })
    )
  })
})

test('A reader that gives bytes and no promises is read where they are needed, synchronously', async () => {
  const reads: Read[] = []
  const read = (offset: number, length: number): Uint8Array => {
    reads.push({ offset, length })
    return data.subarray(offset, offset + length)
  }
  const session = await InferenceSession.create(model, {
    externalData: [{ path: 'w.bin', data: { size: data.length, read } }]
  })
  expect(session.model.graph.initializers.get('w')?.read().data[0]).toBe(2)
  await isRight(session)
})

test('A file of an ONNX model itself may come asynchronously, too', async () => {
  const table = Float32Array.from({ length: 60_000 }, (_, i) => i)
  const words = Array.from({ length: 3000 }, (_, i) => `word ${i}`)
  const bytes = onnxBytes({
    inputs: [port('ids', 'int64'), port('k', 'string')],
    outputs: [port('rows', 'float'), port('classes', 'int64'), port('typed', 'float')],
    nodes: [
      node('Gather', ['table', 'ids'], ['rows']),
      // A list of attributes that is left in the file.
      node('LabelEncoder', ['k'], ['classes'], { classes_strings: { strings: words } }, 'ai.onnx.ml'),
      node('Gather', ['typed_table', 'ids'], ['typed'])
    ],
    domains: ['ai.onnx.ml'],
    initializers: [
      { name: 'table', dims: [60_000, 1], dataType: 1, rawData: new Uint8Array(table.buffer) },
      { name: 'typed_table', dims: [60_000], dataType: 1, floatData: [...table] }
    ]
  })
  const reads: Read[] = []
  const session = await InferenceSession.create(reader(bytes, reads), { name: 'mine.onnx' })
  expect(session.model.file).toBe('mine.onnx')
  const { rows, classes, typed } = await session.run({
    ids: ids(59_999, 2),
    k: new Tensor('string', ['word 2999', 'none'])
  })
  expect([...(rows.data as Float32Array)]).toEqual([59_999, 2])
  expect([...(typed.data as Float32Array)]).toEqual([59_999, 2])
  expect(classes.data).toEqual(BigInt64Array.of(2999n, -1n))
})

test('An IR may come asynchronously, with its strings and packed weights', async () => {
  const text = new TextEncoder().encode('abc')
  const strings = Uint8Array.of(2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, ...text)
  const bin = new Uint8Array(100_000 + 32)
  bin.fill(0x21, 0, 100_000)
  bin.set(strings, 100_000)
  const xml = net(
    [
      layer(0, 'Const', {
        data: 'element_type="u4" shape="1000,200" offset="0" size="100000"',
        out: ['0:U4[1000,200]']
      }),
      layer(1, 'Convert', { data: 'destination_type="f32"', in: ['0[1000,200]'], out: ['1:FP32[1000,200]'] }),
      layer(2, 'Result', { in: ['0[1000,200]'], name: 'numbers' }),
      layer(3, 'Const', { data: 'element_type="string" shape="2" offset="100000" size="19"', out: ['0:STRING[2]'] }),
      layer(4, 'Result', { in: ['0[2]'], name: 'words' })
    ],
    ['0:0>1:0', '1:1>2:0', '3:0>4:0']
  )
  const reads: Read[] = []
  const session = await InferenceSession.create({
    xml: reader(new TextEncoder().encode(xml), []),
    bin: reader(bin, reads)
  })
  const [numbers, words] = Object.values(await session.run({}))
  expect([...(numbers.data as Float32Array)].slice(0, 4)).toEqual([1, 2, 1, 2])
  expect(words.data).toEqual(['a', 'bc'])
})

test('Weights of a run that is given up are read once by a run that begins then', async () => {
  const reads: Read[] = []
  let release: (() => void)[] = []
  let isSlow = false
  const wait = (): Promise<void> =>
    isSlow ? new Promise(resolve => (release = [...release, resolve])) : Promise.resolve()
  const session = await opened(reads, {}, wait)
  isSlow = true
  const controller = new AbortController()
  const run = session.run({ x, ids: ids(1) }, ['y'], { signal: controller.signal })
  await new Promise(resolve => setTimeout(resolve, 5))
  controller.abort()
  // The next run begins before whoever reads has heard of it.
  const failure = await run.catch((error: unknown) => error)
  const last = session.run({ x, ids: ids(1) }, ['y'])
  await new Promise(resolve => setTimeout(resolve, 5))
  isSlow = false
  for (const end of release) end()
  expect((await last).y.data[0]).toBe(2.5)
  expect(failure).toMatchObject({ code: 'aborted' })
  expect(reads.filter(({ offset }) => offset === TABLE).length).toBe(2)
})
