// Load on `nodewise serve` with models of three sizes, beside a server over onnxruntime-node, and overload:
//   node bench/serve-load.mjs [--seconds 300] [--clients 64] [--models small,medium,large] [--skip-peer]
//     [--skip-overload] [--server packages/serve/dist/bin.js] [--peer bench/serve.mjs]
// Prints one JSON line a measurement: requests a second, latencies, processor time a request, failures, and the memory
// of the server (VmRSS, MB) at the start of the load, at its end and at most.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { elements } from './content.mjs'
import { writeOnnx } from './onnx.mjs'

const root = resolve(import.meta.dirname, '..')
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '300' },
    clients: { type: 'string', default: '64' },
    server: { type: 'string', default: join(root, 'packages/serve/dist/bin.js') },
    peer: { type: 'string', default: join(root, 'bench/serve.mjs') },
    models: { type: 'string', default: 'small,medium,large' },
    'skip-peer': { type: 'boolean' },
    'skip-overload': { type: 'boolean' }
  }
})

/** Sizes of the layers of each model: 320, 540 thousand and 19 million weights. */
const LAYERS = { small: [16, 16, 4], medium: [256, 1024, 256, 64], large: [512, 4096, 4096, 64] }
const PORT = 8300

/** Writes a model of dense layers into a repository; returns a request for it. */
function writeModel(folder, name, sizes) {
  mkdirSync(join(folder, name, '1'), { recursive: true })
  const nodes = []
  const initializers = []
  sizes.slice(1).forEach((size, i) => {
    const count = sizes[i] * size
    const bytes = Buffer.from(elements('float32', count, i + 1).buffer)
    initializers.push({ name: `w${i}`, type: 'float32', dims: [sizes[i], size], bytes })
    nodes.push({ op: 'MatMul', inputs: [i === 0 ? 'x' : `r${i - 1}`, `w${i}`], outputs: [`m${i}`] })
    nodes.push({ op: 'Tanh', inputs: [`m${i}`], outputs: [`r${i}`] })
  })
  const last = sizes.length - 2
  writeOnnx(join(folder, name, '1/model.onnx'), {
    inputs: [{ name: 'x', type: 'float32', dims: ['n', sizes[0]] }],
    outputs: [{ name: `r${last}`, type: 'float32', dims: ['n', sizes.at(-1)] }],
    nodes,
    initializers
  })
  const data = Array.from({ length: sizes[0] }, (_, i) => ((i * 37) % 100) / 100)
  const request = join(folder, `${name}.json`)
  writeFileSync(request, JSON.stringify({ inputs: [{ name: 'x', datatype: 'FP32', shape: [1, sizes[0]], data }] }))
  return request
}

const megabytes = pid => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024

/** Starts a server and waits until it answers. */
async function start(args, model, request) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const url = `http://127.0.0.1:${PORT}/v2/models/${model}/infer`
  for (let tries = 0; tries < 300; tries++) {
    const body = readFileSync(request)
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(url, { method: 'POST', body, headers }).catch(() => undefined)
    if (answer?.ok) return child
    await sleep(200)
  }
  child.kill()
  throw new Error(`${args.join(' ')} does not answer`)
}

/** Puts load on a server, and watches its memory. */
async function load(pid, model, request, clients, seconds) {
  const options = ['--clients', String(clients), '--seconds', String(seconds), '--pid', String(pid)]
  const script = join(root, 'bench/serve.mjs')
  const child = spawn(process.execPath, [script, `127.0.0.1:${PORT}`, model, request, ...options])
  let text = ''
  child.stdout.on('data', bytes => (text += bytes))
  const begin = megabytes(pid)
  let most = begin
  const timer = setInterval(() => (most = Math.max(most, megabytes(pid))), 500)
  await new Promise(done => child.on('close', done))
  clearInterval(timer)
  const memory = { begin, end: megabytes(pid), most }
  for (const key of Object.keys(memory)) memory[key] = Math.round(memory[key])
  return { ...JSON.parse(text), memory }
}

async function measure(name, args, model, request, clients) {
  const seconds = Number(values.seconds)
  const server = await start(args, model, request)
  try {
    // Code is compiled before it is measured.
    await load(server.pid, model, request, clients, Math.min(10, seconds))
    const found = await load(server.pid, model, request, clients, seconds)
    console.log(JSON.stringify({ server: name, ...found }))
    return found
  } finally {
    server.kill()
    await new Promise(done => (server.exitCode === null ? server.on('close', done) : done()))
  }
}

const folder = mkdtempSync(join(tmpdir(), 'nodewise-load-'))
try {
  const clients = Number(values.clients)
  for (const name of values.models.split(',')) {
    const repository = join(folder, name)
    const request = writeModel(repository, name, LAYERS[name])
    const args = [values.server, repository, '--http-port', String(PORT), '--grpc-port', 'none']
    await measure('nodewise', args, name, request, clients)
    if (!values['skip-peer']) {
      const model = join(folder, `${name}.onnx`)
      writeFileSync(model, readFileSync(join(repository, name, '1/model.onnx')))
      await measure('onnxruntime-node', [values.peer, '--peer', model, String(PORT)], name, request, clients)
    }
    // Ten times as many clients as the queue has places: those beyond it are refused.
    if (!values['skip-overload'])
      await measure('nodewise, overload', [...args, '--max-queue', String(clients)], name, request, 10 * clients)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
