import { describe, expect, test } from 'vitest'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { elementCount } from '../../src/tensor/tensor.ts'
import { node, onnxBytes, port } from '../fixtures/onnx.ts'
import { adding, HEAVY } from './heavy.ts'

/** Turns of the event loop that pass before a run is told to stop. A run that does not let go ends with fewer. */
const TURNS = 5

/** Turns that may pass until it has stopped: one in which the signal is seen, some for promises on the way. */
const PATIENCE = 3

/** As many elements as a model gets at most, every one another. */
const numbers = new Float32Array(Math.max(...Object.values(HEAVY).map(({ dims }) => elementCount(dims))))
for (let i = 0; i < numbers.length; i++) numbers[i] = (Math.imul(i, 0x9e3779b9) >>> 8) / 2 ** 24

const mixed = (dims: readonly number[]): Tensor => new Tensor('float32', numbers.subarray(0, elementCount(dims)), dims)

describe('an AbortSignal stops a run', () => {
  test.each(Object.entries(HEAVY))(
    'of %s',
    async (_, { parts, dims }) => {
      const session = await InferenceSession.create(onnxBytes(parts))
      const x = mixed(dims)
      const controller = new AbortController()
      let turns = 0
      const count = (): void => {
        if (++turns === TURNS) controller.abort()
        turn = setImmediate(count)
      }
      let turn = setImmediate(count)
      await expect(session.run({ x }, undefined, { signal: controller.signal })).rejects.toMatchObject({
        code: 'aborted'
      })
      clearImmediate(turn)
      expect(turns - TURNS).toBeGreaterThanOrEqual(0)
      expect(turns - TURNS).toBeLessThanOrEqual(PATIENCE)
    },
    60_000
  )
})

describe('a session', () => {
  const sum = onnxBytes({
    inputs: [port('x', 'float', [2 ** 16])],
    outputs: [port('y', 'float')],
    nodes: [node('MatMul', ['x', 'x'], ['dot']), node('Softmax', ['x'], ['soft']), node('Add', ['dot', 'soft'], ['y'])]
  })
  const feed = (i: number): { x: Tensor } => ({
    x: new Tensor('float32', new Float32Array(2 ** 16).fill(i / 256), [2 ** 16])
  })
  const firstOf = (value: unknown): number => (value as Tensor<'float32'>).data[0]

  test('gives 16 runs at once what it gives each alone', async () => {
    const session = await InferenceSession.create(sum)
    const alone: number[] = []
    for (let i = 0; i < 16; i++) alone.push(firstOf((await session.run(feed(i))).y))
    const together = await Promise.all(Array.from({ length: 16 }, (_, i) => session.run(feed(i))))
    expect(together.map(({ y }) => firstOf(y))).toEqual(alone)
    expect(alone[3]).toBeCloseTo(9 + 2 ** -16, 5)
  })

  test('is as good as new after runs that were aborted while others went on', async () => {
    const session = await InferenceSession.create(onnxBytes(adding('trips')))
    const started = (trips: number, signal?: AbortSignal): ReturnType<typeof session.run> =>
      session.run(
        { x: new Tensor('float32', [2]), trips: new Tensor('int64', [BigInt(trips)], []) },
        undefined,
        signal && { signal }
      )
    const controller = new AbortController()
    const runs = Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? started(1000) : started(1e9, controller.signal)))
    setTimeout(() => controller.abort(), 50)
    const ended = await Promise.allSettled(runs)
    expect(ended.map(run => (run.status === 'fulfilled' ? firstOf(run.value.y) : run.reason.code))).toEqual(
      runs.map((_, i) => (i % 2 === 0 ? 2002 : 'aborted'))
    )
    expect(firstOf((await started(3)).y)).toBe(8)
  })

  test('can be disposed of during a run, which ends well; later ones are refused', async () => {
    const session = await InferenceSession.create(sum)
    const run = session.run(feed(3))
    session.dispose()
    session.dispose()
    expect(firstOf((await run).y)).toBeCloseTo(9 + 2 ** -16, 5)
    await expect(session.run(feed(3))).rejects.toThrow('disposed')
  })

  test('leaves the event loop its turns while it works', async () => {
    const session = await InferenceSession.create(onnxBytes(adding('')))
    const controller = new AbortController()
    const run = session.run({ x: new Tensor('float32', [1]) }, undefined, { signal: controller.signal })
    let turns = 0
    const clock = setInterval(() => {
      if (++turns === 5) controller.abort()
    }, 5)
    await expect(run).rejects.toMatchObject({ code: 'aborted' })
    clearInterval(clock)
    expect(turns).toBeGreaterThanOrEqual(5)
  })
})
