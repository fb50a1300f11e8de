import { expect, test } from 'vitest'
import { check, compare, InferenceSession, load, type NodewiseError, propagate, Tensor } from '../../src/index.ts'
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
