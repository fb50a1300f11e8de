import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { heapStats } from '../../src/wasm/heap.ts'
import { node, onnxBytes, port } from '../fixtures/onnx.ts'

const COUNT = 5000
const create = (): Promise<InferenceSession> =>
  InferenceSession.create(
    onnxBytes({
      inputs: [port('x', 'float', ['n'])],
      outputs: [port('y', 'float', ['n'])],
      nodes: [node('Abs', ['x'], ['y'])]
    })
  )
const feeds = (value: number): { x: Tensor<'float32'> } => ({
  x: new Tensor('float32', new Float32Array(COUNT).fill(value), [COUNT])
})
const lent = async (session: InferenceSession, value: number): Promise<Tensor<'float32'>> =>
  (await session.run(feeds(value), { views: true })).y as Tensor<'float32'>
/** Whether memory of the heap would be given to somebody else. */
async function isFree({ data }: Tensor<'float32'>): Promise<boolean> {
  const other = await create()
  const taken = Array.from({ length: 30 }, () => other.allocate('float32', [COUNT]))
  other.dispose()
  return taken.some(tensor => tensor.data.byteOffset === data.byteOffset)
}

test('what a view was freed for is not taken back with the views', async () => {
  const session = await create()
  await lent(session, -1)
  const view = await lent(session, -1)
  session.free(view)
  const all = Array.from({ length: 30 }, () => session.allocate('float32', [COUNT]))
  const own = all.find(({ data }) => data.byteOffset === view.data.byteOffset)!
  own.data.fill(3)
  for (const value of [-2, -4, -5]) expect((await lent(session, value)).data[0]).toBe(-value)
  expect(own.data.every(value => value === 3)).toBe(true)
  expect(await isFree(own)).toBe(false)
  session.dispose()
})

test("a tensor of the caller's that a run with views wrote into stays his", async () => {
  const session = await create()
  const own = session.allocate('float32', [COUNT])
  await session.run(feeds(-3), { y: own }, { views: true })
  for (const value of [-2, -4]) expect((await lent(session, value)).data[0]).toBe(-value)
  expect(own.data.every(value => value === 3)).toBe(true)
  expect(await isFree(own)).toBe(false)
  const { blocks } = heapStats()
  session.free(own)
  expect(heapStats().blocks).toBe(blocks - 1)
  session.dispose()
})

test('a view keeps its session from being collected', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const view = await lent(await create(), -2)
  for (let i = 0; i < 5; i++) {
    collect()
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  expect(await isFree(view)).toBe(false)
  expect(view.data.every(value => value === 2)).toBe(true)
})

test.each([
  ['', {}],
  [', where steps are watched', { onStep: () => undefined }]
])('a view that a run with views writes into is valid%s', async (_, options) => {
  const session = await create()
  const view = await lent(session, -1)
  const { y } = await session.run(feeds(-2), { y: view }, { views: true, ...options })
  expect(y).toBe(view)
  expect(await isFree(view)).toBe(false)
  expect(view.data.every(value => value === 2)).toBe(true)
  await lent(session, -3)
  expect(await isFree(view)).toBe(true)
  session.dispose()
})

test('an input that is an output is apart from what another output is written into', async () => {
  const session = await InferenceSession.create(
    onnxBytes({
      inputs: [port('x', 'float', ['n'])],
      outputs: [port('same', 'float', ['n']), port('y', 'float', ['n'])],
      nodes: [node('Identity', ['x'], ['same']), node('Neg', ['x'], ['y'])]
    })
  )
  const { y: x } = await session.run(feeds(-1), ['y'], { views: true })
  const { same, y } = await session.run({ x }, { same: null, y: x }, { views: true })
  expect([same, y].map(({ data }) => data[0])).toEqual([1, -1])
  session.dispose()
})
