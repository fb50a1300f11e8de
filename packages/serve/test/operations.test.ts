import { copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { get as getOverTls } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { clock, linesOfTurn } from '../src/log.ts'
import { main } from '../src/main.ts'
import { readArguments } from '../src/options.ts'
import { CERTIFICATE, KEY } from './certificate.ts'
import { ask, bytesOf, grpcClient, input, serve, temporaryFolder, TWICE, writeModels } from './harness.ts'
import { inThisThread } from './in-this-thread.ts'

const ENDLESS = `<ir_version: 8, opset_import: ["" : 17]>
endless (float[n] x) => (float[n] y) {
  count = Constant<value = int64 {1000000000000}>()
  go = Constant<value = bool {1}>()
  y = Loop(count, go, x) <body = step (int64 i, bool c, float[n] a) => (bool d, float[n] b) {
    d = Identity(c)
    b = Add(a, a)
  }>
}`
const x = { inputs: [input('x', 'FP32', [1, 3], [1, 2, 3])] }
const doubled = (answer: { json: Record<string, never> }): unknown =>
  (answer.json.outputs as [{ data: unknown }])[0].data

describe('a run that does not end', () => {
  test('is stopped by a deadline and by its client, and others are answered then', async () => {
    using folder = temporaryFolder()
    writeModels(folder.path, { 'endless/1': ENDLESS })
    const server = await serve(folder.path)
    await server.loaded
    const one = { inputs: [input('x', 'FP32', [1], [0])] }
    const path = 'v2/models/endless/infer'
    const late = await ask(server, path, one, { 'x-request-timeout-ms': '40' })
    expect([late.status, late.json.code]).toEqual([504, 'deadline-exceeded'])
    expect((await ask(server, path, { ...one, parameters: { timeout: 40_000 } })).status).toBe(504)
    const client = grpcClient(server)
    await expect(
      client.call('ModelInfer', {
        model_name: 'endless',
        inputs: [{ name: 'x', datatype: 'FP32', shape: [1] }],
        raw_input_contents: [Buffer.alloc(4)],
        parameters: { timeout: { int64_param: 40_000 } }
      })
    ).rejects.toMatchObject({ code: 4 })
    client.client.close()
    const [{ queue }] = server.models.loaded
    await queue.drained()
    const left = new AbortController()
    const url = `http://127.0.0.1:${server.httpPort}/${path}`
    const gone = fetch(url, { method: 'POST', body: JSON.stringify(one), signal: left.signal }).catch(() => 'gone')
    await expect.poll(() => queue.isIdle).toBe(false)
    left.abort()
    expect(await gone).toBe('gone')
    await expect.poll(() => queue.statistics.failures.get('CANCELED')).toBe(1)
    await queue.drained()
    await server.close(100)
  })
})

describe('access', () => {
  test('needs a token where there are tokens, but for health', async () => {
    using folder = temporaryFolder()
    writeModels(folder.path, { 'twice/1': TWICE })
    const server = await serve(folder.path, { tokens: ['secret', 'other'] })
    await server.loaded
    expect((await ask(server, 'v2/health/live')).status).toBe(200)
    for (const headers of [{}, { authorization: 'Bearer wrong' }, { authorization: 'secret' }] as Record<
      string,
      string
    >[]) {
      const answer = await ask(server, 'v2/models/twice/infer', x, headers)
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    }
    const headers = { authorization: 'Bearer other' }
    expect(doubled(await ask(server, 'v2/models/twice/infer', x, headers))).toEqual([2, 4, 6])
    const client = grpcClient(server)
    await expect(client.call('ModelMetadata', { name: 'twice' })).rejects.toMatchObject({ code: 16 })
    expect(await client.call('ServerReady', {})).toMatchObject({ ready: true })
    expect(await client.call('ModelMetadata', { name: 'twice' }, headers)).toMatchObject({ name: 'twice' })
    client.client.close()
    await server.close(1000)
  })

  test('is encrypted where there is a certificate', async () => {
    using folder = temporaryFolder()
    writeModels(folder.path, { 'twice/1': TWICE })
    const tls = { cert: Buffer.from(CERTIFICATE), key: Buffer.from(KEY) }
    const server = await serve(folder.path, { tls })
    const status = await new Promise(resolve =>
      getOverTls(
        { port: server.httpPort, host: '127.0.0.1', path: '/v2', ca: CERTIFICATE, servername: 'localhost' },
        response => {
          response.resume()
          resolve(response.statusCode)
        }
      )
    )
    expect(status).toBe(200)
    await expect(ask(server, 'v2')).rejects.toThrow()
    await server.close(1000)
  })

  test('to loading models is refused where requests may not control them', async () => {
    using folder = temporaryFolder()
    writeModels(folder.path, { 'twice/1': TWICE })
    const server = await serve(folder.path, { mayControl: false })
    await server.loaded
    expect((await ask(server, 'v2/repository/models/twice/unload', {})).status).toBe(501)
    await server.close(1000)
  })
})

describe('models', () => {
  test('are loaded anew when their file changes, kept when it is broken, and unloaded when it is gone', async () => {
    using folder = temporaryFolder()
    writeModels(folder.path, { 'twice/1': TWICE })
    const server = await serve(folder.path, { watch: 10 })
    await server.loaded
    const answer = async (): Promise<unknown> => doubled(await ask(server, 'v2/models/twice/infer', x))
    expect(await answer()).toEqual([2, 4, 6])
    const replace = (bytes: Buffer | string): void => {
      writeFileSync(join(folder.path, 'new'), bytes)
      renameSync(join(folder.path, 'new'), join(folder.path, 'twice/1/model.onnx'))
    }
    replace(bytesOf(TWICE.replace('Add', 'Mul')))
    await expect.poll(answer).toEqual([1, 4, 9])
    replace('no model')
    await new Promise(resolve => setTimeout(resolve, 60))
    expect(await answer()).toEqual([1, 4, 9])
    mkdirSync(join(folder.path, 'twice/2'))
    writeFileSync(join(folder.path, 'twice/2/model.onnx'), bytesOf(TWICE))
    await expect.poll(answer).toEqual([2, 4, 6])
    rmSync(join(folder.path, 'twice'), { recursive: true })
    await expect.poll(async () => (await ask(server, 'v2/models/twice')).status).toBe(404)
    await server.close(1000)
  })

  test('that are idle are put away beyond the memory of models, and come back when they are asked', async () => {
    using folder = temporaryFolder()
    const large = (name: string): string => `<ir_version: 8, opset_import: ["" : 17]>
${name} (float[n, 3] x) => (float[n, 3] y) <float[3] b = {1, 1, 1}> { y = Add(x, b) }`
    writeModels(folder.path, { 'a/1': large('a'), 'b/1': large('b') })
    const server = await serve(folder.path, { modelMemory: 12 })
    await server.loaded
    const running = (): string[] => server.models.loaded.flatMap(({ name, size }) => (size > 0 ? [name] : []))
    expect(running()).toEqual(['b'])
    for (const name of ['a', 'b', 'a']) {
      expect(doubled(await ask(server, `v2/models/${name}/infer`, x))).toEqual([2, 3, 4])
      await expect.poll(running).toEqual([name])
    }
    expect((await ask(server, 'v2/health/ready')).status).toBe(200)
    await server.close(1000)
  })

  test('whose engine dies refuse what it ran, and get another', async () => {
    using folder = temporaryFolder()
    writeModels(folder.path, { 'endless/1': ENDLESS })
    const deaths: (() => void)[] = []
    const server = await serve(folder.path, {
      startEngine: () => {
        const thread = inThisThread()
        const on = thread.on.bind(thread) as (event: string, listener: unknown) => unknown
        const die = (listener: () => void): void => {
          void thread.terminate()
          listener()
        }
        return {
          ...thread,
          on: (event: string, listener: unknown) =>
            event === 'exit' ? deaths.push(() => die(listener as () => void)) : on(event, listener)
        }
      }
    })
    await server.loaded
    const one = { inputs: [input('x', 'FP32', [1], [0])] }
    const refused = ask(server, 'v2/models/endless/infer', one)
    await expect.poll(() => server.models.loaded[0].queue.isIdle).toBe(false)
    await new Promise(resolve => setTimeout(resolve, 20))
    deaths[0]()
    expect((await refused).json).toMatchObject({ code: 'worker-ended' })
    await expect.poll(() => deaths.length).toBe(2)
    const again = await ask(server, 'v2/models/endless/infer', one, { 'x-request-timeout-ms': '50' })
    expect(again.status).toBe(504)
    await server.close(100)
  })

  test('that fail to load are named with the reason, and the server is not ready', async () => {
    using folder = temporaryFolder()
    writeModels(folder.path, { 'twice/1': TWICE })
    mkdirSync(join(folder.path, 'broken'))
    writeFileSync(join(folder.path, 'broken/model.onnx'), 'no model')
    const server = await serve(folder.path)
    await server.loaded
    const { json } = await ask(server, 'v2/repository/index', {})
    expect(json).toContainEqual({
      name: 'broken',
      version: '1',
      state: 'UNAVAILABLE',
      reason: expect.stringContaining('model.onnx')
    })
    expect((await ask(server, 'v2/health/ready')).status).toBe(503)
    expect((await ask(server, 'v2/models/broken/infer', x)).json).toMatchObject({ code: 'not-ready' })
    expect(doubled(await ask(server, 'v2/models/twice/infer', x))).toEqual([2, 4, 6])
    await server.close(1000)
  })

  test('are warmed up and joined as their configuration says', async () => {
    using folder = temporaryFolder()
    writeModels(folder.path, { 'twice/1': TWICE })
    writeFileSync(join(folder.path, 'twice/nodewise.json'), '{"warmUp": [{"x": [2, 3]}], "batching": {"maxSize": 4}}')
    const server = await serve(folder.path, { maxBatch: 1 })
    await server.loaded
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        ask(server, 'v2/models/twice/infer', { inputs: [input('x', 'FP32', [1, 3], [i, 1, -1])] })
      )
    )
    expect(answers.map(doubled)).toEqual(Array.from({ length: 12 }, (_, i) => [2 * i, 2, -2]))
    expect((await ask(server, 'v2/models/twice/config')).json).toMatchObject({
      parameters: { joined_requests: { string_value: '4' } }
    })
    await server.close(1000)
  })
})

test('requests that give an input which has a default are joined with no others', async () => {
  using folder = temporaryFolder()
  writeModels(folder.path, {
    'scale/1': `<ir_version: 8, opset_import: ["" : 17]>
scale (float[n, 2] x, float[k] by) => (float[n, 2] y) <float[1] by = {1}> { y = Mul(x, by) }`
  })
  const server = await serve(folder.path, { maxBatch: 8, maxDelay: 50 })
  await server.loaded
  const scaled = async (values: number[], by: number): Promise<unknown> => {
    const inputs = [input('x', 'FP32', [1, 2], values), input('by', 'FP32', [1], [by])]
    const { json } = await ask(server, 'v2/models/scale/infer', { inputs })
    return (json.outputs as [{ data: number[] }])[0].data
  }
  expect(await Promise.all([scaled([1, 2], 10), scaled([3, 4], 100)])).toEqual([
    [10, 20],
    [300, 400]
  ])
  await server.close(1000)
})

test('a small model answers from the thread of the server once it is known to be quick', async () => {
  using folder = temporaryFolder()
  writeModels(folder.path, { 'twice/1': TWICE, 'thrice/1': TWICE, 'far/1': TWICE })
  writeFileSync(join(folder.path, 'far/nodewise.json'), '{"nearby": false}')
  let runs = 0
  const startEngine: typeof inThisThread = () => {
    const thread = inThisThread()
    const postMessage: typeof thread.postMessage = (message, moved) => {
      if (message.kind === 'run') runs++
      thread.postMessage(message, moved)
    }
    return { ...thread, postMessage }
  }
  const server = await serve(folder.path, { startEngine, maxBatch: 4 })
  await server.loaded
  const stays = async (name: string): Promise<boolean> => {
    const before = runs
    expect(doubled(await ask(server, `v2/models/${name}/infer`, x))).toEqual([2, 4, 6])
    return runs === before
  }
  await expect.poll(() => stays('twice')).toBe(true)
  expect(await stays('far')).toBe(false)
  // The file is another one now: what is loaded answers, and no part of it is loaded from the new file.
  writeFileSync(join(folder.path, 'thrice/1/model.onnx'), bytesOf(TWICE.replace('Add', 'Mul')))
  for (let i = 0; i < 20; i++) expect(await stays('thrice')).toBe(false)
  const [{ memory }] = server.models.loaded
  expect(memory).toBe(0)
  await server.close(1000)
})

test('a server that ends says that it is not ready, and answers what is under way', async () => {
  using folder = temporaryFolder()
  writeModels(folder.path, { 'twice/1': TWICE, 'endless/1': ENDLESS })
  const server = await serve(folder.path)
  await server.loaded
  server.drain()
  expect((await ask(server, 'v2/health/ready')).status).toBe(503)
  expect((await ask(server, 'v2/health/live')).status).toBe(200)
  // Balancers that have not looked yet send requests.
  expect(doubled(await ask(server, 'v2/models/twice/infer', x))).toEqual([2, 4, 6])
  const one = { inputs: [input('x', 'FP32', [1], [0])] }
  const underWay = ask(server, 'v2/models/endless/infer', one, { 'x-request-timeout-ms': '400' })
  const [{ queue }] = server.models.loaded
  await expect.poll(() => queue.isIdle).toBe(false)
  const closed = server.close(5000)
  const after = await ask(server, 'v2/models/twice/infer', x)
  expect([after.status, after.headers.get('retry-after')]).toEqual([503, '1'])
  expect((await underWay).status).toBe(504)
  await closed
  await expect(ask(server, 'v2/health/live')).rejects.toThrow()
})

describe('the command', () => {
  const run = async (...args: string[]): Promise<[number, string, string]> => {
    const [out, err]: string[][] = [[], []]
    const code = await main(args, {
      stdout: { write: text => out.push(text) },
      stderr: { write: text => err.push(text) }
    })
    return [code, out.join(''), err.join('')]
  }

  test('lists its options', async () => {
    const [code, out] = await run('--help')
    expect(code).toBe(0)
    for (const name of ['--http-port', '--token-file', '--max-body', '--drain']) expect(out).toContain(name)
  })

  test.each([
    [[], 'which model'],
    [['a', 'b'], 'not also b'],
    [['a', '--nothing'], '--nothing'],
    [['a', '--http-port', '70000'], 'from 0 to 65535'],
    [['a', '--max-body', 'much'], 'no size'],
    [['a', '--load', 'some'], 'all or none'],
    [['a', '--tls-cert', '/absent'], '--tls-cert'],
    [['/absent.onnx', '--http-port', '0', '--grpc-port', '0'], 'no model and no repository']
  ])('refuses %j', async (args, why) => {
    const [code, , err] = await run(...args)
    expect([code, err]).toEqual([2, expect.stringMatching(/^nodewise: .*\n$/)])
    expect(err).toContain(why)
  })

  test('says which options choose another port where one is taken', async () => {
    using folder = temporaryFolder()
    writeModels(folder.path, { 'twice/1': TWICE })
    const other = await serve(folder.path)
    for (const [http, grpc] of [
      [other.httpPort, 0],
      [0, other.grpcPort]
    ]) {
      const ports = ['--http-port', `${http}`, '--grpc-port', `${grpc}`]
      const [code, , err] = await run(folder.path, ...ports, '--log-level', 'silent')
      expect([code, err]).toEqual([2, expect.stringMatching(/EADDRINUSE.*; --http-port and --grpc-port choose/)])
    }
    await other.close(1000)
  })

  test('reads sizes, ports and what is left out', () => {
    const { options, drain } = readArguments(['m', '--max-body', '2GB', '--grpc-port', 'none', '--drain', '0.5'])
    expect(options).toMatchObject({ source: 'm', host: '127.0.0.1', httpPort: 8000, maxBody: 2 ** 31, watch: 2000 })
    expect([options.grpcPort, drain]).toEqual([undefined, 500])
  })
})

test('a client that leaves while it sends its body is no error of the server', async () => {
  using folder = temporaryFolder()
  writeModels(folder.path, { 'twice/1': TWICE })
  const levels: number[] = []
  const stream = { write: (line: string) => void levels.push((JSON.parse(line) as { level: number }).level) }
  const server = await serve(folder.path, { logger: { level: 'info', stream } })
  await server.loaded
  const socket = connect(server.httpPort ?? 0, '127.0.0.1')
  socket.write('POST /v2/models/twice/infer HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n{"inputs"')
  await new Promise(resolve => setTimeout(resolve, 50))
  socket.destroy()
  await new Promise(resolve => setTimeout(resolve, 50))
  expect(levels.filter(level => level > 30)).toEqual([])
  await server.close(1000)
})

test('lines of one turn of the event loop are written at once, in their order', async () => {
  const written: string[] = []
  const lines = linesOfTurn({ write: text => written.push(text) })
  lines.write('a\n')
  lines.write('b\n')
  expect(written).toEqual([])
  await new Promise(setImmediate)
  lines.write('c\n')
  lines.flush()
  lines.write('d'.repeat(2 ** 17))
  await new Promise(setImmediate)
  expect(written).toEqual(['a\nb\n', 'c\n', 'd'.repeat(2 ** 17)])
  expect(JSON.parse(`{"level":30${clock()()}}`)).toMatchObject({ time: expect.stringMatching(/^\d{4}-.*Z$/) })
})

test('a repository that holds no model is refused, and one of single files served', async () => {
  using folder = temporaryFolder()
  await expect(serve(folder.path)).rejects.toMatchObject({ code: 'missing-file' })
  writeFileSync(join(folder.path, 'two.onnx'), bytesOf(TWICE))
  const server = await serve(join(folder.path, 'two.onnx'), { name: 'named' })
  await server.loaded
  copyFileSync(join(folder.path, 'two.onnx'), join(folder.path, 'three.onnx'))
  expect(server.models.index()).toEqual([{ name: 'named', version: '1', state: 'READY', reason: '' }])
  await server.close(1000)
})
