import { describe, expect, test } from 'vitest'
import { InferenceSession, type RunOptions, type SessionOptions, Tensor } from '../../src/index.ts'
import { floats, node, onnxBytes, port } from '../fixtures/onnx.ts'

const ROWS = 300
const WIDTH = 64
const table = Array.from({ length: ROWS * WIDTH }, (_, i) => i)
const bytes = onnxBytes({
  inputs: [port('ids', 'int64', ['n'])],
  outputs: [port('rows', 'float', ['n', WIDTH])],
  initializers: [floats('table', [ROWS, WIDTH], table)],
  nodes: [node('Gather', ['table', 'ids'], ['rows'])]
})
const create = (options: SessionOptions = {}): Promise<InferenceSession> =>
  InferenceSession.create(bytes, { threads: 1, ...options })
const feeds = (count: number, first = 0): { ids: Tensor<'int64'> } => ({
  ids: new Tensor(
    'int64',
    Array.from({ length: count }, (_, i) => (first + i) % ROWS),
    [count]
  )
})
/** Whether these are so many rows of the table from `first` on. */
const hold = ({ data }: Tensor<'float32'>, count: number, first = 0): boolean =>
  data.length === count * WIDTH &&
  data.every((value, i) => value === ((first + Math.floor(i / WIDTH)) % ROWS) * WIDTH + (i % WIDTH))
const run = async (session: InferenceSession, count: number, first = 0, options: RunOptions = {}) =>
  (await session.run(feeds(count, first), options)).rows as Tensor<'float32'>

// 256 KB, runs of which are recorded, and 5 MB, which are not.
describe.each([1000, 20_000])('an output of %i rows that is given back', count => {
  test('is empty, and no view of it sees what later outputs hold, which are right', async () => {
    const session = await create()
    for (let first = 0; first < 6; first++) {
      const rows = await run(session, count, first)
      expect(hold(rows, count, first)).toBe(true)
      const { data } = rows
      const { buffer } = data
      const view = new Uint8Array(buffer, 16, 16)
      session.free(rows)
      expect([data.length, view.length, buffer.byteLength]).toEqual([0, 0, 0])
      // Twice does nothing.
      session.free(rows)
      const [next, other] = [await run(session, count, 7 + first), await run(session, count, first)]
      expect([data.length, view.length]).toEqual([0, 0])
      expect(next.data.buffer).not.toBe(other.data.buffer)
      expect(hold(next, count, 7 + first)).toBe(true)
      expect(hold(other, count, first)).toBe(true)
      session.free(next)
    }
    session.dispose()
  })

  test('does not change the outputs that are kept', async () => {
    const session = await create()
    const kept: Tensor<'float32'>[] = []
    for (let first = 0; first < 8; first++) {
      const rows = await run(session, count, first)
      if (first % 2 === 0) kept.push(rows)
      else session.free(rows)
    }
    kept.forEach((rows, i) => expect(hold(rows, count, 2 * i)).toBe(true))
    expect(new Set(kept.map(({ data }) => data.buffer)).size).toBe(kept.length)
    session.dispose()
  })
})

describe('what is given back is left as it is', () => {
  test('where it is no output of the session: an input, what was given to write into, another one’s', async () => {
    const [session, other] = [await create(), await create()]
    const given = feeds(10_000)
    const target = new Tensor('float32', new Float32Array(10_000 * WIDTH), [10_000, WIDTH])
    await session.run(given, { rows: target })
    const foreign = await run(other, 2000)
    for (const tensor of [given.ids, target, foreign]) {
      session.free(tensor)
      expect(tensor.data.length).toBe(tensor.dims.reduce((a, b) => a * b))
    }
    other.free(foreign)
    expect(foreign.data.length).toBe(0)
  })

  test('where it is small, was watched, while a run is under way, and once the session is disposed of', async () => {
    const session = await create()
    const small = await run(session, 10)
    const during = await run(session, 2000)
    const watched = await run(session, 2000, 0, { onStep: () => {} })
    const walk = session.walk(feeds(2000))
    await walk.next()
    session.free(during)
    await walk.return({})
    session.free(small)
    session.free(watched)
    const late = await run(session, 2000)
    session.dispose()
    session.free(late)
    expect(hold(small, 10)).toBe(true)
    for (const rows of [during, watched, late]) expect(hold(rows, 2000)).toBe(true)
  })
})

test('memory that has been given back counts, and goes where a run needs it', async () => {
  // Room for two outputs of 20,000 rows and what the session reads, not for the memory of a third.
  const bytesOfOutput = 20_000 * WIDTH * 4
  const session = await create({ maxMemory: Math.floor(2.5 * bytesOfOutput) })
  const several = [await run(session, 20_000), await run(session, 20_000, 1)]
  for (const rows of several) session.free(rows)
  expect(hold(await run(session, 30_000, 5), 30_000, 5)).toBe(true)
})
