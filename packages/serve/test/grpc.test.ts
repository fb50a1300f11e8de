import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkSize } from '../src/grpc/wire.ts'
import type { RunningServer } from '../src/server.ts'
import { grpcClient, serve, temporaryFolder, TWICE, writeModels } from './harness.ts'

const folder = temporaryFolder()
let server: RunningServer
let rpc: ReturnType<typeof grpcClient>

beforeAll(async () => {
  const same = (type: string): string => `<ir_version: 10, opset_import: ["" : 21]>
same (${type}[n] x) => (${type}[n] y) { y = Identity(x) }`
  writeModels(folder.path, {
    'twice/1': TWICE,
    ...Object.fromEntries(['float16', 'int64', 'uint8', 'bool', 'string'].map(type => [`${type}/1`, same(type)]))
  })
  server = await serve(folder.path)
  await server.loaded
  rpc = grpcClient(server)
})

afterAll(async () => {
  rpc.client.close()
  await server.close(1000)
  folder[Symbol.dispose]()
})

const request = (model: string, datatype: string, shape: number[], more: object, contents?: object): object => ({
  model_name: model,
  inputs: [{ name: 'x', datatype, shape, ...(contents && { contents }) }],
  ...more
})
const floats = (...values: number[]): Buffer => Buffer.from(new Float32Array(values).buffer)
const raw = (answer: Record<string, never>): Buffer => Buffer.from((answer.raw_output_contents as Uint8Array[])[0])

describe('the service', () => {
  test('tells of the server and of models', async () => {
    expect(await rpc.call('ServerLive', {})).toMatchObject({ live: true })
    expect(await rpc.call('ServerReady', {})).toMatchObject({ ready: true })
    expect(await rpc.call('ServerMetadata', {})).toMatchObject({ name: 'nodewise' })
    expect(await rpc.call('ModelReady', { name: 'twice' })).toMatchObject({ ready: true })
    const { inputs, versions } = await rpc.call('ModelMetadata', { name: 'twice', version: '1' })
    expect(versions).toEqual(['1'])
    expect(JSON.parse(JSON.stringify(inputs))).toEqual([{ name: 'x', datatype: 'FP32', shape: ['-1', '3'] }])
    expect(await rpc.call('ModelConfig', { name: 'twice' })).toMatchObject({
      config: { name: 'twice', backend: 'nodewise' }
    })
    const { models } = await rpc.call('RepositoryIndex', { ready: true })
    expect(models).toContainEqual(expect.objectContaining({ name: 'twice', version: '1', state: 'READY' }))
  })

  test('takes raw and typed contents', async () => {
    const inRaw = await rpc.call(
      'ModelInfer',
      request('twice', 'FP32', [1, 3], { id: '7', raw_input_contents: [floats(1, 2, 3)] })
    )
    expect(inRaw).toMatchObject({ model_name: 'twice', model_version: '1', id: '7' })
    expect(raw(inRaw)).toEqual(floats(2, 4, 6))
    const typed = await rpc.call('ModelInfer', request('twice', 'FP32', [1, 3], {}, { fp32_contents: [1, 2, 3] }))
    expect(raw(typed)).toEqual(floats(2, 4, 6))
  })

  test.each<[string, string, string, unknown[], Buffer]>([
    [
      'int64',
      'INT64',
      'int64_contents',
      ['-9223372036854775808', 5],
      Buffer.from(new BigInt64Array([-(2n ** 63n), 5n]).buffer)
    ],
    ['uint8', 'UINT8', 'uint_contents', [0, 255], Buffer.from([0, 255])],
    ['bool', 'BOOL', 'bool_contents', [true, false], Buffer.from([1, 0])],
    ['string', 'BYTES', 'bytes_contents', [Buffer.from('ü')], Buffer.from([2, 0, 0, 0, 0xc3, 0xbc])]
  ])('has typed contents of %s', async (model, datatype, list, values, bytes) => {
    const answer = await rpc.call('ModelInfer', request(model, datatype, [values.length], {}, { [list]: values }))
    expect(raw(answer)).toEqual(bytes)
  })

  test('unloads and loads models, and counts what they did', async () => {
    const countOf = async (): Promise<number> => {
      const { model_stats } = await rpc.call('ModelStatistics', { name: 'twice' })
      return Number((model_stats as [{ inference_count: unknown }])[0].inference_count)
    }
    const before = await countOf()
    await rpc.call('ModelInfer', request('twice', 'FP32', [1, 3], { raw_input_contents: [floats(1, 2, 3)] }))
    expect(await countOf()).toBe(before + 1)
    await rpc.call('RepositoryModelUnload', { model_name: 'uint8' })
    await expect(rpc.call('ModelReady', { name: 'uint8' })).rejects.toMatchObject({ code: status.NOT_FOUND })
    await rpc.call('RepositoryModelLoad', { model_name: 'uint8' })
    expect(await rpc.call('ModelReady', { name: 'uint8' })).toMatchObject({ ready: true })
  })
})

describe('what is wrong is refused with a status', () => {
  test.each<[string, object, number, string]>([
    ['an unknown model', request('absent', 'FP32', [0], {}), status.NOT_FOUND, 'unknown-model'],
    ['no contents', request('twice', 'FP32', [1, 3], {}), status.INVALID_ARGUMENT, 'bad-request'],
    [
      'too many contents',
      request('twice', 'FP32', [1, 3], { raw_input_contents: [floats(1, 2, 3), floats(1)] }),
      status.INVALID_ARGUMENT,
      'bad-request'
    ],
    [
      'both kinds of contents',
      request('twice', 'FP32', [1, 1], { raw_input_contents: [floats(1)] }, { fp32_contents: [1] }),
      status.INVALID_ARGUMENT,
      'bad-request'
    ],
    [
      'an element that does not fit',
      request('uint8', 'UINT8', [1], {}, { uint_contents: [256] }),
      status.INVALID_ARGUMENT,
      'bad-request'
    ],
    [
      'other dims',
      request('twice', 'FP32', [1, 1], { raw_input_contents: [floats(1)] }),
      status.INVALID_ARGUMENT,
      'shape-mismatch'
    ],
    [
      '16-bit floats in typed contents',
      request('float16', 'FP16', [1], {}, { fp32_contents: [1] }),
      status.INVALID_ARGUMENT,
      'bad-request'
    ],
    [
      'typed contents beyond the limit',
      request('int64', 'INT64', [100_000], {}, { int64_contents: new Array(100_000).fill(1) }),
      status.RESOURCE_EXHAUSTED,
      'body-too-large'
    ]
  ])('%s', async (_, message, code, own) => {
    const refused = rpc.call('ModelInfer', message)
    await expect(refused).rejects.toMatchObject({ code })
    const error = (await refused.catch((one: unknown) => one)) as { metadata: { get(name: string): unknown[] } }
    expect(error.metadata.get('nodewise-code')).toEqual([own])
  })

  test('messages beyond the limit', async () => {
    const message = request('twice', 'FP32', [1, 3], { raw_input_contents: [Buffer.alloc(2 ** 20)] })
    await expect(rpc.call('ModelInfer', message)).rejects.toMatchObject({ code: status.RESOURCE_EXHAUSTED })
  })

  test('bytes that are no request, before they are decoded', () => {
    for (const bytes of [[0x2a], [0x2a, 0xff], [0x07], [0x2a, 2, 0x2a, 5], new Array<number>(12).fill(0xff)])
      expect(() => checkSize(Buffer.from(bytes), 1000), String(bytes)).toThrow('no ModelInferRequest')
    const parts = Buffer.alloc(2_000_004, Buffer.from([0x3a, 0]))
    expect(() => checkSize(parts, 1000)).toThrow('up to 1000000 parts')
  })
})

interface StreamAnswer {
  readonly error_message: string
  readonly infer_response: { readonly id: string }
}

/** Sends requests in a stream, one right after the other; what comes until it ends. */
async function answersTo({ client }: typeof rpc, requests: readonly object[]): Promise<StreamAnswer[]> {
  const stream = (client as unknown as { ModelStreamInfer(): NodeJS.ReadWriteStream }).ModelStreamInfer()
  const answers: StreamAnswer[] = []
  const over = new Promise(resolve => stream.on('data', answer => answers.push(answer as never)).on('end', resolve))
  for (const one of requests) stream.write(one as never)
  stream.end()
  await over
  return answers
}

const fifty = (bytesOf: (i: number) => Buffer): object[] =>
  Array.from({ length: 50 }, (_, i) =>
    request('twice', 'FP32', [1, 3], { id: String(i), raw_input_contents: [bytesOf(i)] })
  )

test('a stream answers in order, and goes on after a request that fails', async () => {
  const answers = await answersTo(
    rpc,
    fifty(i => (i === 7 ? floats(1) : floats(i, 0, 0)))
  )
  expect(answers.map(({ infer_response }) => infer_response.id)).toEqual(
    Array.from({ length: 50 }, (_, i) => String(i))
  )
  expect(answers.flatMap(({ error_message }, i) => (error_message === '' ? [] : [i]))).toEqual([7])
})

test('a stream that comes alone waits where the queue of its model is full, and is not refused', async () => {
  const small = await serve(folder.path, { maxQueue: 1 })
  await small.loaded
  const client = grpcClient(small)
  const answers = await answersTo(
    client,
    fifty(i => floats(i, 0, 0))
  )
  client.client.close()
  await small.close(1000)
  expect(answers.map(({ error_message }) => error_message)).toEqual(new Array(50).fill(''))
})
