import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { defineOp, InferenceSession, NodewiseError, shapes, Tensor, type Value } from '../../src/index.ts'
import { floats, type GraphParts, node, onnxBytes, port } from '../fixtures/onnx.ts'

const DOMAIN = 'my.domain'
const log: string[] = []

/** Doubles its input elsewhere, and waits until that is done; fails there for a negative number. */
const elsewhere = defineOp({
  name: 'Elsewhere',
  operands: { x: 'tensor' },
  onnx: [{ domain: DOMAIN, since: 1, bind: {} }],
  shape: ({ x }) => [shapes.tensorFact(x.type, x.shape)],
  *run({ x }, _, call) {
    const out = call.rawOutput().data as Float32Array
    let isDone = false
    try {
      log.push('start')
      yield wait(5).then(() => {
        if ((x.data[0] as number) < 0) throw new NodewiseError('value-out-of-range', 'lost')
        out.set((x.data as Float32Array).map(value => 2 * value))
        isDone = true
      })
    } finally {
      log.push(isDone ? 'done' : 'left')
    }
  }
})

const own = (input: string, output: string): object => node('Elsewhere', [input], [output], {}, DOMAIN)
const create = (parts: GraphParts): Promise<InferenceSession> =>
  InferenceSession.create(onnxBytes({ domains: [DOMAIN], inputs: [port('x', 'float', [2])], ...parts }), {
    ops: [elsewhere]
  })
const y = [port('y', 'float')]
const two = { outputs: y, nodes: [own('x', 'm'), own('m', 'y')] }
const x = (...values: number[]): Tensor => new Tensor('float32', values)
const numbers = (value: Value | undefined): number[] => [...((value as Tensor).data as Float32Array)]

describe('a step that yields a promise', () => {
  test('is waited for, and the event loop goes on meanwhile', async () => {
    const session = await create(two)
    let ticks = 0
    const timer = setInterval(() => ticks++, 1)
    const runs = await Promise.all([session.run({ x: x(1, 2) }), session.run({ x: x(3, 4) })])
    clearInterval(timer)
    expect(runs.map(run => numbers(run.y))).toEqual([
      [4, 8],
      [12, 16]
    ])
    expect(ticks).toBeGreaterThan(0)
  })

  test('is waited for within a body, and in a walk', async () => {
    const session = await create({
      outputs: y,
      initializers: [
        { name: 'three', dims: [], dataType: 7, int64Data: [3] },
        { name: 'go', dims: [], dataType: 9, int32Data: [1] }
      ],
      nodes: [
        node('Loop', ['three', 'go', 'x'], ['y'], {
          body: {
            graph: {
              inputs: [port('i', 'int64', []), port('c', 'bool', []), port('v', 'float')],
              outputs: [port('more', 'bool', []), port('next', 'float')],
              nodes: [node('Identity', ['c'], ['more']), own('v', 'next')]
            }
          }
        })
      ]
    })
    expect(numbers((await session.run({ x: x(1, 2) })).y)).toEqual([8, 16])
    const walk = session.walk({ x: x(1, 2) })
    const seen: string[] = []
    let step = await walk.next()
    for (; !step.done; step = await walk.next()) seen.push(step.value.node.type)
    expect(numbers(step.value.y)).toEqual([8, 16])
    expect(seen.filter(type => type === 'Elsewhere')).toHaveLength(3)
  })

  test('fails where the promise does, with the place of its node, and may clean up', async () => {
    const session = await create(two)
    log.length = 0
    const failure = { code: 'value-out-of-range', place: { node: 'Elsewhere_m' } }
    await expect(session.run({ x: x(-1, 2) })).rejects.toMatchObject(failure)
    await expect(session.walk({ x: x(-1, 2) }).next()).rejects.toMatchObject(failure)
    expect(log).toEqual(['start', 'left', 'start', 'left'])
    expect(numbers((await session.run({ x: x(1, 2) })).y)).toEqual([4, 8])
  })

  test('is the last one of a run that is aborted', async () => {
    const session = await create(two)
    log.length = 0
    const stop = new AbortController()
    const running = session.run({ x: x(1, 2) }, { signal: stop.signal })
    stop.abort()
    await expect(running).rejects.toMatchObject({ code: 'aborted' })
    expect(log).toEqual(['start', 'done'])
  })

  test('is not folded: inference does not wait', async () => {
    const session = await create({ ...two, inputs: [], initializers: [floats('x', [2], [1, 2])] })
    expect(numbers((await session.run({})).y)).toEqual([4, 8])
  })
})

describe('an operator of JavaScript, which may return anything,', () => {
  const ownOf = (run: (out: Float32Array) => unknown): ReturnType<typeof defineOp> =>
    defineOp({
      name: 'Elsewhere',
      operands: { x: 'tensor' },
      onnx: [{ domain: DOMAIN, since: 1, bind: {} }],
      shape: ({ x: { type, shape } }) => [shapes.tensorFact(type, shape)],
      run: (_, __, call) => run(call.rawOutput().data as Float32Array) as undefined
    })
  const run = async (by: (out: Float32Array) => unknown): Promise<Record<string, Tensor>> =>
    (await InferenceSession.create(bytes, { ops: [ownOf(by)] })).run({ x: x(1, 2) })
  const bytes = onnxBytes({ domains: [DOMAIN], inputs: [port('x', 'float', [2])], ...two })

  test('is refused where it returns a promise, with the place of its node', async () => {
    const refusal = { code: 'bad-usage', place: { node: 'Elsewhere_m' }, message: /generator that yields the promise/ }
    await expect(run(async out => void out.fill(3))).rejects.toMatchObject(refusal)
    const failing = async (): Promise<never> => {
      throw new Error('nobody hears this')
    }
    await expect(run(failing)).rejects.toMatchObject(refusal)
    await wait(1)
  })

  test.each([(out: Float32Array) => out.fill(3), (out: Float32Array) => out.fill(3).length])(
    'has ended where it returns something else, %s',
    async by => {
      expect(numbers((await run(by)).y)).toEqual([3, 3])
    }
  )
})
