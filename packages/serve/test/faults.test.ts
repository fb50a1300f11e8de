import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { connect as connectHttp2, constants } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { heapStats } from '../../../src/wasm/heap.ts'
import type { EngineThread, StartEngine } from '../src/engine/instance.ts'
import { INFERENCE } from '../src/grpc/schema.ts'
import type { RunningServer } from '../src/server.ts'
import { ask, bytesOf, grpcClient, input, serve, temporaryFolder, TWICE, writeModels } from './harness.ts'
import { inThisThread } from './in-this-thread.ts'

const SQUARE = TWICE.replace('Add', 'Mul')
const x = { inputs: [input('x', 'FP32', [1, 3], [1, 2, 3])] }
const PATH = 'v2/models/twice/infer'
const HEAD = `POST /${PATH} HTTP/1.1\r\nhost: a\r\n`

const answer = async (server: RunningServer): Promise<unknown> => {
  const { json } = await ask(server, PATH, x)
  return (json.outputs as [{ data: unknown }] | undefined)?.[0].data ?? json.code
}

/** Engines of which a test can end each, and that take the time that it says to be loaded. */
function engines(): { startEngine: StartEngine; ends: (() => void)[]; beforeLoad: (() => void)[] } {
  const ends: (() => void)[] = []
  const beforeLoad: (() => void)[] = []
  const startEngine = (): EngineThread => {
    const thread = inThisThread()
    const on = thread.on.bind(thread) as (event: string, listener: unknown) => unknown
    return {
      ...thread,
      postMessage: (message, moved) => {
        if (message.kind === 'load') beforeLoad.shift()?.()
        thread.postMessage(message, moved)
      },
      on: (event: string, listener: unknown) =>
        event === 'exit' ? ends.push(listener as () => void) : on(event, listener)
    }
  }
  return { startEngine, ends, beforeLoad }
}

describe('a model whose engine has ended', () => {
  test('is loaded whole where its file is another now: no two engines answer otherwise', async () => {
    using folder = temporaryFolder()
    writeModels(folder.path, { 'twice/1': TWICE })
    const { startEngine, ends } = engines()
    const server = await serve(folder.path, { startEngine, instances: 2 })
    await server.loaded
    expect(await answer(server)).toEqual([2, 4, 6])
    writeFileSync(join(folder.path, 'twice/1/model.onnx'), bytesOf(SQUARE))
    ends[0]()
    // The other engine goes on with the model that it has until all engines of the new one are there.
    expect(await answer(server)).toEqual([2, 4, 6])
    await expect.poll(() => answer(server)).toEqual([1, 4, 9])
    expect(server.models.loaded.map(({ size }) => size)).toEqual([2])
    await server.close(1000)
  })

  test('refuses requests while no engine can be made, and answers when one can', async () => {
    using folder = temporaryFolder()
    writeModels(folder.path, { 'twice/1': TWICE })
    const { startEngine, ends, beforeLoad } = engines()
    const waiting = join(folder.path, 'kept')
    const file = join(folder.path, 'twice/1/model.onnx')
    let isBroken = true
    // Its stamp is the same, but it cannot be read, however often that is tried.
    const hide = (): void => {
      if (!isBroken) return
      renameSync(file, waiting)
      beforeLoad.push(hide)
    }
    const show = (): void => {
      if (existsSync(waiting)) renameSync(waiting, file)
    }
    const server = await serve(folder.path, {
      startEngine: () => {
        const thread = startEngine()
        const on = thread.on.bind(thread) as (event: string, listener: unknown) => unknown
        return {
          ...thread,
          on: (event: string, listener: unknown) =>
            on(event, (message: unknown) => {
              show()
              ;(listener as (message: unknown) => void)(message)
            })
        }
      }
    })
    await server.loaded
    beforeLoad.push(hide)
    ends[0]()
    await expect.poll(() => answer(server)).toBe('not-ready')
    expect((await ask(server, 'v2/models/twice/ready')).status).toBe(503)
    expect((await ask(server, PATH, x)).headers.get('retry-after')).toBe('1')
    isBroken = false
    await expect.poll(() => answer(server)).toEqual([2, 4, 6])
    expect((await ask(server, 'v2/models/twice/ready')).status).toBe(200)
    await server.close(1000)
  })

  test('is not loaded where its file changes meanwhile, but at the next look', async () => {
    using folder = temporaryFolder()
    writeModels(folder.path, { 'twice/1': TWICE })
    const { startEngine, beforeLoad, ends } = engines()
    const replace = (): void => writeFileSync(join(folder.path, 'twice/1/model.onnx'), bytesOf(SQUARE))
    beforeLoad.push(
      () => undefined,
      replace,
      () => ends.at(-1)!()
    )
    const server = await serve(folder.path, { startEngine, instances: 2, watch: 10 })
    await server.loaded
    expect(server.models.index()).toMatchObject([{ state: 'UNAVAILABLE', reason: expect.stringContaining('changed') }])
    // The next attempt fails too, because the thread ends; the one after it does not.
    await expect.poll(() => answer(server)).toEqual([1, 4, 9])
    await server.close(1000)
  })
})

/** What a server has sent over a connection when it ends that. */
function closed(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', bytes => (text += bytes.toString('latin1'))).on('error', () => undefined)
  return new Promise(resolve => socket.once('close', () => resolve(text)))
}

describe('a model that is loaded anew', () => {
  test('leaves nothing of what it was: no engine, no weights, no statistics', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    using folder = temporaryFolder()
    // As many weights as go to the memory of WebAssembly.
    const weights = `<float[4096, 3] w = {${'1, '.repeat(12_287)}1}>`
    const wide = TWICE.replace('float[n, 3] y)', `float[n, 4096] y) ${weights}`).replace(
      'Add(x, x)',
      'Gemm<transB = 1>(x, w)'
    )
    writeModels(folder.path, { 'twice/1': wide })
    let engines = 0
    const startEngine = (): EngineThread => {
      const thread = inThisThread()
      engines++
      return { ...thread, terminate: async () => void (engines--, await thread.terminate()) }
    }
    const server = await serve(folder.path, { startEngine })
    await server.loaded
    const old: WeakRef<object>[] = []
    const loadAnew = async (): Promise<void> => {
      old.push(new WeakRef(server.models.find('twice')))
      // Quick requests are run in this thread, too, with a session of its own.
      for (let i = 0; i < 3; i++) expect((await ask(server, PATH, x)).status).toBe(200)
      await server.models.load('twice')
    }
    const held = (): number => {
      collect()
      return old.filter(version => version.deref() !== undefined).length
    }
    await loadAnew()
    await expect.poll(held).toBe(0)
    const before = heapStats().used
    expect(before).toBeGreaterThanOrEqual(4096 * 3 * 4)
    for (let i = 0; i < 4; i++) await loadAnew()
    await expect.poll(held).toBe(0)
    await expect.poll(() => (collect(), heapStats().used)).toBeLessThanOrEqual(before)
    expect(engines).toBe(1)
    await server.close(1000)
    expect(engines).toBe(0)
  })
})

describe('slow clients', () => {
  const ioTimeout = 150

  test('are cut off in the middle of their headers, of their body and of an answer', async () => {
    using folder = temporaryFolder()
    const wide = `<ir_version: 8, opset_import: ["" : 17]>
twice (float[n, 3] x) => (float[m] y) <int64[1] m = {4000000}> { y = ConstantOfShape(m) }`
    writeModels(folder.path, { 'twice/1': wide })
    const server = await serve(folder.path, { ioTimeout })
    await server.loaded
    const opened = ['POST / HTTP/1.1\r\nx-', `${HEAD}content-length: 9\r\n\r\n{`].map(text => {
      const socket = connect(server.httpPort ?? 0, '127.0.0.1')
      socket.write(text)
      return closed(socket)
    })
    for (const text of await Promise.all(opened)) expect(text).toMatch(/^(HTTP\/1\.1 408|$)/)
    const body = JSON.stringify({ ...x, outputs: [{ name: 'y', parameters: { binary_data: true } }] })
    const unread = connect(server.httpPort ?? 0, '127.0.0.1').pause()
    unread.write(`${HEAD}content-length: ${body.length}\r\n\r\n${body}`)
    const [{ queue }] = server.models.loaded
    await expect.poll(() => queue.statistics.success.count).toBe(1)
    await new Promise(resolve => setTimeout(resolve, 3 * ioTimeout))
    const text = await closed(unread.resume())
    expect(text).toMatch(/^HTTP\/1\.1 200/)
    expect(text.length).toBeLessThan(16_000_000)
    await server.close(1000)
  })

  test('are cut off over gRPC, where they do not end their request or do not read an answer', async () => {
    using folder = temporaryFolder()
    writeModels(folder.path, { 'twice/1': TWICE })
    // Long enough for the request that is complete to come on a busy machine.
    const server = await serve(folder.path, { ioTimeout: 1000 })
    await server.loaded
    const session = connectHttp2(`http://127.0.0.1:${server.grpcPort}`, { settings: { initialWindowSize: 1000 } })
    const call = (bytes: Buffer) => {
      const headers = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' }
      const stream = session.request({ ':path': '/inference.GRPCInferenceService/ModelInfer', ...headers })
      const head = Buffer.alloc(5)
      head.writeUInt32BE(bytes.length, 1)
      stream.on('error', () => undefined)
      stream.write(Buffer.concat([head, bytes]))
      return stream
    }
    const message = (rows: number): Buffer =>
      INFERENCE.ModelInfer.requestSerialize({
        model_name: 'twice',
        inputs: [{ name: 'x', datatype: 'FP32', shape: [rows, 3] }],
        raw_input_contents: [Buffer.alloc(rows * 12)]
      })
    const [unended, unread] = [call(message(1)), call(message(10_000))]
    unread.end()
    const status = await new Promise(resolve => unended.on('response', headers => resolve(headers['grpc-status'])))
    expect(status).toBe('4')
    unended.destroy()
    await new Promise(resolve => unread.once('close', resolve))
    expect(unread.rstCode).toBe(constants.NGHTTP2_CANCEL)
    session.destroy()
    const client = grpcClient(server)
    expect(await client.call('ServerLive', {})).toEqual({ live: true })
    client.client.close()
    await server.close(1000)
  })

  test('that announce large bodies keep nobody out', async () => {
    using folder = temporaryFolder()
    writeModels(folder.path, { 'twice/1': TWICE })
    const server = await serve(folder.path)
    await server.loaded
    const sockets = Array.from({ length: 12 }, () => connect(server.httpPort ?? 0, '127.0.0.1'))
    for (const socket of sockets) socket.write(`${HEAD}content-length: ${2 ** 20}\r\n\r\n{`)
    expect(await answer(server)).toEqual([2, 4, 6])
    for (const socket of sockets) socket.destroy()
    await server.close(1000)
  })
})

test('compressed requests wait for each other instead of being refused', async () => {
  using folder = temporaryFolder()
  writeModels(folder.path, { 'twice/1': TWICE })
  const server = await serve(folder.path)
  await server.loaded
  const body = gzipSync(JSON.stringify(x))
  const headers = { 'content-encoding': 'gzip' }
  const answers = await Promise.all(Array.from({ length: 15 }, () => ask(server, PATH, body, headers)))
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  await server.close(1000)
})
