import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { check, compare, InferenceSession, load, type NodewiseError, propagate, Tensor } from '../../src/index.ts'
import { signalOf } from '../../src/runtime/drive.ts'
import { node, onnxBytes, port } from '../fixtures/onnx.ts'

const RELU = onnxBytes({
  inputs: [port('x', 'float', ['n'])],
  outputs: [port('y', 'float', ['n'])],
  nodes: [node('Relu', ['x'], ['y'])]
})
const feeds = { x: new Tensor('float32', [-1, 2]) }

test('an option of a session that does not exist is refused by name', async () => {
  const options = { thread: 2 } as object
  await expect(InferenceSession.create(RELU, options)).rejects.toMatchObject({
    code: 'bad-usage',
    message: 'there is no option "thread"; did you mean "threads"?'
  })
})

test('an option of a run that does not exist is refused by name', async () => {
  const session = await InferenceSession.create(RELU)
  const options = { outOfRnge: 'zero' } as object
  await expect(session.run(feeds, options)).rejects.toMatchObject({
    code: 'bad-usage',
    reason: 'there is no option "outOfRnge"; did you mean "outOfRange"?'
  })
})

test('so are those of load, check, propagate and compare, which do not take those of a session', async () => {
  const refused = (text: string): object => ({ code: 'bad-usage', reason: `there is no option ${text}` })
  const one = { thread: 2 } as object
  await expect(load(RELU, one)).rejects.toMatchObject(refused('"thread"'))
  await expect(load(RELU, { dataRot: '.' } as object)).rejects.toMatchObject(
    refused('"dataRot"; did you mean "dataRoot"?')
  )
  const model = await load(RELU)
  expect(() => check(model, one)).toThrow(expect.objectContaining(refused('"thread"')) as Error)
  expect(() => check(model, { strikt: true } as object)).toThrow(/"strikt"; did you mean "strict"\?/)
  expect(() => propagate(model, one)).toThrow(expect.objectContaining(refused('"thread"')) as Error)
  await expect(compare(model, model, feeds, one)).rejects.toMatchObject(refused('"thread"'))
})

test('a value that is none of the choices is refused, not taken for one of them', async () => {
  const exactly = { precision: 'exactly' } as object
  await expect(InferenceSession.create(RELU, exactly)).rejects.toMatchObject({
    code: 'bad-usage',
    message: 'precision is "exactly"; expected "fast" or "exact"'
  })
  const session = await InferenceSession.create(RELU)
  await expect(session.run(feeds, { outOfRange: 'errors' } as object)).rejects.toMatchObject({
    code: 'bad-usage',
    reason: 'outOfRange is "errors"; expected "error" or "zero"'
  })
})

test('a number that an option cannot have is refused', async () => {
  for (const options of [
    { threads: -1 },
    { threads: 0 },
    { threads: NaN },
    { threads: 1.5 },
    { intraOpNumThreads: -1 }
  ]) {
    const [[name, value]] = Object.entries(options)
    await expect(InferenceSession.create(RELU, options)).rejects.toMatchObject({
      code: 'bad-usage',
      message: `${name} is ${value}; expected a whole number of at least ${name === 'threads' ? 1 : 0}`
    })
  }
  for (const maxMemory of [NaN, -1, '1GB' as never])
    await expect(InferenceSession.create(RELU, { maxMemory })).rejects.toMatchObject({
      code: 'bad-usage',
      message: `maxMemory is ${maxMemory}; expected a number of bytes`
    })
  const session = await InferenceSession.create(RELU, { maxMemory: Infinity, intraOpNumThreads: 0 })
  for (const timeout of [NaN, '5' as never])
    await expect(session.run(feeds, { timeout })).rejects.toMatchObject({
      code: 'bad-usage',
      reason: `timeout is ${timeout}; expected a number of milliseconds`
    })
  await expect(session.run(feeds, { timeout: -1 })).rejects.toMatchObject({ code: 'aborted' })
  expect((await session.run(feeds, { timeout: Infinity })).y.dims).toEqual([2])
  await expect(session.run(feeds, { onStep: 5 as never })).rejects.toMatchObject({
    code: 'bad-usage',
    reason: 'onStep is a function, not number'
  })
})

test('arguments of a run that are no inputs, no names and no options are refused', async () => {
  const session = await InferenceSession.create(RELU)
  const refused = async (reason: string, ...given: unknown[]): Promise<void> => {
    const run = session.run.bind(session) as (...given: unknown[]) => Promise<unknown>
    await expect(run(...given)).rejects.toMatchObject({ code: 'bad-usage', reason, place: { file: 'model' } })
  }
  const inputs = 'the inputs of a run are an object of values by name, not'
  await refused(`${inputs} null`, null)
  await refused(`${inputs} undefined`)
  await refused(`${inputs} number`, 5)
  await refused('a run takes what it is to fetch, or options, not null', feeds, null)
  await refused('a run takes what it is to fetch, or options, not string', feeds, 'y')
  for (const name of [undefined, 1n, Symbol('y')])
    await refused(`names of values are to be fetched, not ${typeof name}`, feeds, ['y', name])
  await refused('options are an object, not null', feeds, ['y'], null)
  const walk = session.walk(null as never)
  await expect(walk.next()).rejects.toMatchObject({ code: 'bad-usage', reason: `${inputs} null` })
})

test('options that are no object are refused; limits that are undefined are left out', async () => {
  for (const options of [null, 5, { limits: null }, { limits: 5 }, { network: null }]) {
    const refused = { code: 'bad-usage', reason: expect.stringMatching(/^options are an object, not /) as string }
    await expect(load(RELU, options as never)).rejects.toMatchObject(refused)
    await expect(InferenceSession.create(RELU, options as never)).rejects.toMatchObject(refused)
  }
  expect((await load(RELU, { limits: { nodes: undefined } as object })).limits.nodes).toBe(1_000_000)
  for (const source of [{ xml: null }, { xml: RELU, bin: null }])
    await expect(load(source as never)).rejects.toMatchObject({
      code: 'bad-usage',
      reason: expect.stringMatching(/^a file is a path/) as string
    })
  await expect(load(RELU, { externalData: [null] as never })).rejects.toMatchObject({ code: 'bad-usage' })
})

test('a session takes the options of load', async () => {
  const session = await InferenceSession.create(RELU, { docs: true, name: 'relu', limits: { nodes: 1 }, threads: 1 })
  expect(session.inputNames).toEqual(['x'])
})

test('dims of inputs for a check are a Map, or an object', async () => {
  const model = await load(RELU)
  const dimsOf = (inputShapes: NonNullable<Parameters<typeof check>[1]>['inputShapes']): unknown =>
    check(model, { ...(inputShapes && { inputShapes }) }).values.find(({ name }) => name === 'y')?.dims
  expect([dimsOf({ x: [3] }), dimsOf(new Map([['x', [3]]])), dimsOf(undefined)]).toEqual([[3], [3], ['n']])
})

test('options of onnxruntime are taken', async () => {
  const session = await InferenceSession.create(RELU, {
    executionProviders: ['wasm'],
    graphOptimizationLevel: 'all',
    intraOpNumThreads: 1,
    logSeverityLevel: 3
  })
  const { y } = await session.run(feeds, ['y'], { tag: 'first', logSeverityLevel: 3 })
  expect(y.data).toEqual(new Float32Array([0, 2]))
})

test('a session is not made of nothing', async () => {
  await expect(InferenceSession.create(undefined as never)).rejects.toMatchObject({
    code: 'bad-usage',
    message: 'a model is a path, a URL, bytes, or { xml, bin }'
  })
})

test('the reason of a signal is the cause of the error', async () => {
  const session = await InferenceSession.create(RELU)
  const error = await session.run(feeds, { signal: AbortSignal.abort('enough') }).catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'aborted', cause: 'enough' })
})

test('a run that takes longer than its timeout is given up', async () => {
  const { HEAVY } = await import('./heavy.ts')
  const { parts, dims } = HEAVY['an endless Loop']
  const session = await InferenceSession.create(onnxBytes(parts))
  const [name] = session.inputNames
  const size = dims.reduce((product, dim) => product * dim, 1)
  const x = new Tensor('float32', new Float32Array(size), dims)
  const error = (await session.run({ [name]: x }, { timeout: 100 }).catch((reason: unknown) => reason)) as NodewiseError
  expect(error).toMatchObject({ code: 'aborted', reason: 'the run took more than 100 ms (timeout)' })
})

test('a timeout that no timer waits for does not end a wait at once', async () => {
  for (const timeout of [3e9, 2 ** 33, Infinity]) {
    const signal = signalOf({ timeout })()
    await wait(20)
    expect(signal?.aborted).toBe(false)
  }
})
