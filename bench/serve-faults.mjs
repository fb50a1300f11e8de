// Faults under load: what `nodewise serve` does while clients ask whose answers are checked, each against its own row:
//   node bench/serve-faults.mjs [--seconds 10] [--clients 16] [--only replaced,killed,slow,vanished]
//     [--server packages/serve/dist/bin.js]
// replaced: files of the models are replaced again and again; each answer is of the old model or of the new one.
// killed: threads that run models are ended; only requests that they ran fail, and say so.
// slow: clients that send a byte a second of their headers or bodies, and some that do not read their answers.
// vanished: clients that leave in the middle of a request or of an answer, over both ports.
// Prints one JSON line each, with the memory of the server (VmRSS, MB) and its open files before and after, and exits
// with 1 where an answer was wrong, a request failed that should not, or something is held that should be free. Linux.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { writeOnnx } from './onnx.mjs'
import { bodyOf, FACTORS, grpcClient, multiplierOf, restClient, rowOf, WIDTH } from './serve-clients.mjs'

const root = resolve(import.meta.dirname, '..')
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    clients: { type: 'string', default: '16' },
    only: { type: 'string', default: 'replaced,killed,slow,vanished' },
    server: { type: 'string', default: join(root, 'packages/serve/dist/bin.js') },
    port: { type: 'string', default: '8320' }
  }
})
const [seconds, clients, port] = [Number(values.seconds), Number(values.clients), Number(values.port)]
/** Elements of an answer of the model `sums`: 128 KB. */
const SUMS = 32_768

const folder = mkdtempSync(join(tmpdir(), 'nodewise-faults-'))

/** Writes a model beside its place and renames it there. Both multiply by the factor, which is in their weights. */
function writeModel(name, factor) {
  const width = name === 'sums' ? SUMS : WIDTH
  const dims = name === 'sums' ? [WIDTH, SUMS] : [WIDTH]
  const bytes = Buffer.from(new Float32Array(dims.reduce((product, dim) => product * dim)).fill(factor).buffer)
  mkdirSync(join(folder, 'models', name, '1'), { recursive: true })
  writeOnnx(join(folder, 'new'), {
    inputs: [{ name: 'x', type: 'float32', dims: ['n', WIDTH] }],
    outputs: [{ name: 'y', type: 'float32', dims: ['n', width] }],
    nodes: [{ op: name === 'sums' ? 'MatMul' : 'Mul', inputs: ['x', 'w'], outputs: ['y'] }],
    initializers: [{ name: 'w', type: 'float32', dims, bytes }]
  })
  renameSync(join(folder, 'new'), join(folder, 'models', name, '1/model.onnx'))
}
const MODELS = ['rows', 'sums']
for (const name of MODELS) writeModel(name, FACTORS[0])

const hook = pathToFileURL(join(import.meta.dirname, 'serve-faults-hook.mjs')).href
const ports = ['--http-port', `${port}`, '--grpc-port', `${port + 1}`]
const options = [...ports, '--log-level', 'error', '--watch', '0.2', '--io-timeout', '5']
const server = spawn(process.execPath, ['--import', hook, values.server, join(folder, 'models'), ...options], {
  stdio: ['ignore', 'inherit', 'inherit']
})
const url = path => `http://127.0.0.1:${port}/${path}`
const megabytes = () => Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`))[1]) / 1024)
const files = () => readdirSync(`/proc/${server.pid}/fd`).length

/** Clients that ask both models, half of them over each port, until they are told to stop. */
function startClients() {
  const seen = { answers: 0, wrong: [], failed: {}, slowest: 0, changes: 0 }
  let isOver = false
  const run = async number => {
    const { ask, close } = number % 2 === 0 ? restClient(port) : grpcClient(port + 1)
    const last = {}
    for (let turn = 0; !isOver; turn++) {
      const model = MODELS[turn % 8 === 0 ? 1 : 0]
      const row = rowOf(number, turn)
      const start = performance.now()
      const answer = await ask(model, row)
      seen.slowest = Math.max(seen.slowest, Math.round(performance.now() - start))
      if (typeof answer === 'string') {
        seen.failed[answer] = (seen.failed[answer] ?? 0) + 1
        continue
      }
      seen.answers++
      const factor = multiplierOf(model, row, answer)
      if (factor === undefined) seen.wrong.push(`client ${number}, ${model}: ${answer.subarray(0, 4)} for ${row[0]}`)
      if (last[model] !== undefined && last[model] !== factor) seen.changes++
      last[model] = factor
    }
    close()
  }
  const all = Promise.all(Array.from({ length: clients }, (_, i) => run(i)))
  return {
    seen,
    end: async () => {
      isOver = true
      await all
    }
  }
}

/** Waits until nothing is under way, and no more files are open than before. */
async function settled(open) {
  for (let tries = 0; tries < 100; tries++) {
    await sleep(100)
    const text = await (await fetch(url('metrics'), { headers: { connection: 'close' } })).text()
    const waiting = [...text.matchAll(/^nv_inference_pending_request_count.* (\d+)$/gm)].map(([, count]) =>
      Number(count)
    )
    if (waiting.every(count => count === 0) && files() <= open + 2) return true
  }
  return false
}

const enginesOf = async name => (await (await fetch(url(`v2/models/${name}/config`))).json()).instance_group

const REST_HEAD = 'POST /v2/models/sums/infer HTTP/1.1\r\nhost: a\r\n'
const requestOf = rows => {
  const { body, length } = bodyOf(new Float32Array(WIDTH * rows))
  const head = `${REST_HEAD}content-length: ${body.length}\r\ninference-header-content-length: ${length}\r\n\r\n`
  return Buffer.concat([Buffer.from(head), body])
}
const request = requestOf(1)

/** A connection that nothing is expected of. */
function dumb() {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  return socket
}

const SCENARIOS = {
  async replaced(until) {
    const memory = []
    for (let turn = 1; performance.now() < until || turn < 6; turn++) {
      // One of them changes once more while it is being loaded.
      for (const name of MODELS) writeModel(name, FACTORS[turn % 2])
      await sleep((turn * 37) % 400)
      writeModel(MODELS[turn % 2], FACTORS[turn % 2])
      const [rest, row] = [restClient(port), rowOf(0, turn)]
      const isSeen = async name => multiplierOf(name, row, await rest.ask(name, row)) === FACTORS[turn % 2]
      for (const name of MODELS) for (let tries = 0; tries < 300 && !(await isSeen(name)); tries++) await sleep(100)
      rest.close()
      memory.push(megabytes())
    }
    return { memory: memory.join(' ') }
  },

  async killed(until) {
    let kills = 0
    const [{ count: engines }] = await enginesOf(MODELS[0])
    while (performance.now() < until || kills < 4) {
      process.kill(server.pid, 'SIGUSR2')
      kills++
      await sleep(50)
      for (const name of MODELS)
        for (let tries = 0; tries < 300 && (await enginesOf(name))[0].count < engines; tries++) await sleep(50)
    }
    return { kills, mayFail: /^(503 .*worker-ended|14 the engine of the model has ended)/ }
  },

  /** Ends when the server has closed all of their connections. */
  async slow() {
    const started = performance.now()
    const [sockets, timers] = [{ headers: [], body: [], unread: [] }, []]
    const drip = (text, rest) => {
      const socket = dumb()
      socket.write(text)
      timers.push(setInterval(() => socket.write(rest), 1000))
      return socket
    }
    for (let i = 0; i < 50; i++) {
      sockets.headers.push(drip('POST /v2/models/sums/infer HTTP/1.1\r\nx-', 'a'))
      sockets.body.push(drip(`${REST_HEAD}content-length: 60000000\r\n\r\n{`, ' '))
    }
    for (let i = 0; i < 4; i++) {
      const unread = dumb().pause()
      // An answer of 13 MB is more than systems hold for those who do not read it.
      unread.write(requestOf(100))
      // Who does not read does not see the end either.
      setTimeout(() => unread.resume(), 20_000)
      sockets.unread.push(unread)
    }
    const closedAfter = {}
    const watched = Object.entries(sockets).map(async ([kind, all]) => {
      await Promise.all(all.map(socket => new Promise(done => socket.once('close', done))))
      closedAfter[kind] = Math.round((performance.now() - started) / 1000)
    })
    await Promise.race([Promise.all(watched), sleep(60_000)])
    for (const timer of timers) clearInterval(timer)
    for (const socket of Object.values(sockets).flat()) socket.destroy()
    const isClosed = Object.keys(closedAfter).length === watched.length
    const read = Math.max(...sockets.unread.map(({ bytesRead }) => bytesRead))
    const fault = !isClosed ? 'slow clients are not cut off' : read > 100 * SUMS * 4 && 'an answer was kept for 20 s'
    return { closedAfter, fault }
  },

  async vanished(until) {
    let gone = 0
    const leave = kind => async () => {
      gone++
      const socket = dumb()
      socket.write(kind === 'half' ? request.subarray(0, request.length - 9) : request)
      if (kind === 'answer') await new Promise(done => socket.once('data', done).once('close', done))
      else await sleep(gone % 7)
      socket.destroy()
    }
    const leaveGrpc = async () => {
      gone++
      const session = connectHttp2(`http://127.0.0.1:${port + 1}`)
      session.on('error', () => undefined)
      const path = '/inference.GRPCInferenceService/ModelInfer'
      const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' }
      const stream = session.request(headers)
      stream.on('error', () => undefined)
      stream.write(Buffer.from([0, 0, 0, 1, 0, 10, 4]))
      await sleep(gone % 7)
      session.destroy()
    }
    const kinds = [leave('half'), leave('whole'), leave('answer'), leaveGrpc]
    const one = async kind => {
      while (performance.now() < until) await kind()
    }
    await Promise.all([...kinds, ...kinds].map(one))
    return { gone }
  }
}

/** Runs a scenario beside clients, and says what was wrong. */
async function tried(name) {
  const before = { files: files(), memory: megabytes() }
  const { seen, end } = startClients()
  const { mayFail, fault, ...more } = (await SCENARIOS[name](performance.now() + seconds * 1000)) ?? {}
  await end()
  const faults = fault ? [fault] : []
  if (!(await settled(before.files))) faults.push('requests or connections are held')
  if (server.exitCode !== null) faults.push('the server has ended')
  const { wrong, ...rest } = seen
  for (const one of wrong.slice(0, 3)) faults.push(one)
  for (const why of Object.keys(seen.failed)) if (!mayFail?.test(why)) faults.push(why)
  if (name === 'replaced' && seen.changes === 0) faults.push('no client has seen another model')
  const after = { files: files(), memory: megabytes() }
  console.log(JSON.stringify({ scenario: name, ...more, ...rest, before, after, faults }))
  return faults.length === 0
}

try {
  while (!(await fetch(url('v2/health/ready')).catch(() => undefined))?.ok) await sleep(100)
  // Code is compiled before memory is compared.
  const warm = startClients()
  await sleep(3000)
  await warm.end()
  for (const name of values.only.split(',')) if (!(await tried(name))) process.exitCode = 1
} finally {
  server.kill()
  if (server.exitCode === null) await new Promise(done => server.once('exit', done))
  rmSync(folder, { recursive: true, force: true })
}
