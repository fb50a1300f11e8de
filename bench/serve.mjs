// Load on `nodewise serve`, and beside it on a server of the same routes over onnxruntime-node:
//   node bench/serve.mjs <address> <model> <request.json> [--clients 64] [--seconds 10] [--pid n]
//   node bench/serve.mjs --peer <model.onnx> [port]     the other server; needs fastify and onnxruntime-node
// Prints one JSON line: requests a second, latencies in milliseconds, answers that were no 200, bytes a request, and
// with the process of the server its processor time a request, in milliseconds, which other work on the machine does
// not change (Linux).
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { basename, extname } from 'node:path'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    peer: { type: 'boolean' },
    pid: { type: 'string' },
    clients: { type: 'string', default: '64' },
    seconds: { type: 'string', default: '10' }
  }
})

/** A server as one would write it by hand: JSON in, JSON out, one session. */
async function servePeer(path, port) {
  const [{ default: fastify }, { default: ort }] = await Promise.all([import('fastify'), import('onnxruntime-node')])
  const session = await ort.InferenceSession.create(path)
  const arrays = { FP32: Float32Array, INT64: BigInt64Array, INT32: Int32Array }
  const types = { FP32: 'float32', INT64: 'int64', INT32: 'int32' }
  const app = fastify({ bodyLimit: 2 ** 26 })
  app.post(`/v2/models/${basename(path, extname(path))}/infer`, async ({ body }) => {
    const feeds = Object.fromEntries(
      body.inputs.map(({ name, datatype, shape, data }) => {
        const elements = datatype === 'INT64' ? BigInt64Array.from(data, BigInt) : arrays[datatype].from(data)
        return [name, new ort.Tensor(types[datatype], elements, shape)]
      })
    )
    const outputs = await session.run(feeds)
    return {
      outputs: Object.entries(outputs).map(([name, { type, dims, data }]) => ({
        name,
        datatype: type,
        shape: dims,
        data: Array.from(data, element => (typeof element === 'bigint' ? Number(element) : element))
      }))
    }
  })
  await app.listen({ host: '127.0.0.1', port })
}

/** Milliseconds of processor time of a process: fields 14 and 15 of its `stat`, in hundredths of a second. */
function processorTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Clients that each ask again as soon as they are answered. */
async function load(address, model, body) {
  const [clients, seconds] = [Number(values.clients), Number(values.seconds)]
  const agent = new http.Agent({ keepAlive: true, maxSockets: clients })
  const [host, port] = address.split(':')
  const options = {
    host,
    port,
    agent,
    method: 'POST',
    path: `/v2/models/${model}/infer`,
    headers: { 'content-type': 'application/json', 'content-length': body.length }
  }
  const ask = () =>
    new Promise((resolve, reject) => {
      const request = http.request(options, response => {
        response.on('data', () => undefined).on('end', () => resolve(response.statusCode))
      })
      request.on('error', reject).end(body)
    })
  const latencies = []
  const refusals = []
  const before = values.pid === undefined ? 0 : processorTime(values.pid)
  const failed = {}
  const end = performance.now() + seconds * 1000
  const client = async () => {
    while (performance.now() < end) {
      const start = performance.now()
      const status = await ask().catch(error => error.code)
      if (status === 200) latencies.push(performance.now() - start)
      else {
        failed[status] = (failed[status] ?? 0) + 1
        refusals.push(performance.now() - start)
      }
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  agent.destroy()
  const spent = values.pid === undefined ? undefined : (processorTime(values.pid) - before) / latencies.length
  latencies.sort((a, b) => a - b)
  refusals.sort((a, b) => a - b)
  const refusedP99 = refusals[Math.floor(refusals.length * 0.99)]
  const at = part => Math.round((latencies[Math.floor(latencies.length * part)] ?? 0) * 100) / 100
  const rate = Math.round(latencies.length / seconds)
  const times = { p50: at(0.5), p99: at(0.99), max: at(0.9999) }
  return { model, clients, seconds, rate, ...times, failed, refusedP99, bytes: body.length, spent }
}

if (values.peer) await servePeer(positionals[0], Number(positionals[1] ?? 8100))
else console.log(JSON.stringify(await load(positionals[0], positionals[1], readFileSync(positionals[2]))))
