// Load on `nodewise serve` with models of three sizes, beside a server over onnxruntime-node, and overload:
//   node bench/serve-load.mjs [--seconds 300] [--clients 64] [--models small,medium,large] [--skip-peer]
//     [--skip-overload] [--server packages/serve/dist/bin.js] [--peer bench/serve.mjs] [--mlserver BIN/mlserver]
// --mlserver names the command of an MLServer, beside which the same models are measured; it needs Python up to 3.12:
//   python3.11 -m venv VENV && VENV/bin/pip install mlserver onnxruntime 'uvloop<0.22'
// Prints one JSON line a measurement: requests a second, latencies, processor time a request, failures, and the memory
// of the server (VmRSS, MB) at the start of the load, at its end and at most.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { LAYERS, writeModel } from './serve-models.mjs'

const root = resolve(import.meta.dirname, '..')
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '300' },
    clients: { type: 'string', default: '64' },
    server: { type: 'string', default: join(root, 'packages/serve/dist/bin.js') },
    peer: { type: 'string', default: join(root, 'bench/serve.mjs') },
    models: { type: 'string', default: 'small,medium,large' },
    mlserver: { type: 'string' },
    'skip-peer': { type: 'boolean' },
    'skip-overload': { type: 'boolean' }
  }
})

const PORT = 8300
const mlserver = values.mlserver && resolve(values.mlserver)

const megabytes = pid => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024

/** Starts a server and waits until it answers. */
async function start([command, ...args], model, request) {
  const env = { ...process.env, PYTHONPATH: import.meta.dirname }
  // MLServer tells all it does there, and keeps files where it is started.
  const errors = command === mlserver ? 'ignore' : 'inherit'
  const child = spawn(command, args, { env, cwd: folder, stdio: ['ignore', 'ignore', errors] })
  const url = `http://127.0.0.1:${PORT}/v2/models/${model}/infer`
  for (let tries = 0; tries < 300; tries++) {
    const body = readFileSync(request)
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(url, { method: 'POST', body, headers }).catch(() => undefined)
    if (answer?.ok) return child
    await sleep(200)
  }
  child.kill()
  throw new Error(`${command} ${args.join(' ')} does not answer`)
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

async function measure(name, command, model, request, clients) {
  const seconds = Number(values.seconds)
  const server = await start(command, model, request)
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

/** Writes what MLServer is told: a process a core, each with a session of its own. */
function writeSettings(folder, name, model) {
  const workers = availableParallelism()
  const ports = { http_port: PORT, grpc_port: PORT + 1, metrics_port: PORT + 2 }
  const server = { host: '127.0.0.1', ...ports, parallel_workers: workers, debug: false }
  const settings = { name, implementation: 'mlserver_runtime.OnnxModel', parameters: { uri: model } }
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'settings.json'), JSON.stringify(server))
  writeFileSync(join(folder, 'model-settings.json'), JSON.stringify(settings))
}

const folder = mkdtempSync(join(tmpdir(), 'nodewise-load-'))
try {
  const clients = Number(values.clients)
  for (const name of values.models.split(',')) {
    const repository = join(folder, name)
    const request = writeModel(repository, name, LAYERS[name])
    const args = [
      process.execPath,
      resolve(values.server),
      repository,
      '--http-port',
      String(PORT),
      '--grpc-port',
      'none'
    ]
    await measure('nodewise', args, name, request, clients)
    if (!values['skip-peer']) {
      const model = join(folder, `${name}.onnx`)
      writeFileSync(model, readFileSync(join(repository, name, '1/model.onnx')))
      const peer = [process.execPath, resolve(values.peer), '--peer', model, String(PORT)]
      await measure('onnxruntime-node', peer, name, request, clients)
    }
    if (mlserver) {
      const settings = join(folder, 'mlserver', name)
      writeSettings(settings, name, join(repository, name, '1/model.onnx'))
      await measure('mlserver', [mlserver, 'start', settings], name, request, clients)
    }
    // Ten times as many clients as the queue has places: those beyond it are refused.
    if (!values['skip-overload'])
      await measure('nodewise, overload', [...args, '--max-queue', String(clients)], name, request, 10 * clients)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
