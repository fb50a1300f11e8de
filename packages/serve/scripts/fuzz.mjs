// Sends malformed requests to a server over its ports, beside clients whose answers are checked:
//   node packages/serve/scripts/fuzz.mjs [--count 100000] [--seed 1] [--server packages/serve/dist/bin.js]
// REST in JSON, REST with binary tensors and wrong lengths of the JSON, and gRPC, a third each, some of them cut off in
// the middle. Prints the memory of the server after each tenth (VmRSS, MB). Exits with 1 where the server ends, answers
// with what is no refusal, gives a client another's tensor, or holds 64 MB more at the end than after the first tenth.
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import protobuf from 'protobufjs'
import { mutationsFrom } from './mutations.mjs'

const root = resolve(import.meta.dirname, '..')
const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    server: { type: 'string', default: join(root, 'dist/bin.js') },
    port: { type: 'string', default: '8400' }
  }
})
const [count, port] = [Number(values.count), Number(values.port)]
const MODEL = `<ir_version: 8, opset_import: ["" : 17]>
twice (float[n, 3] x) => (float[n, 3] y) { y = Add(x, x) }`

const { random, mutated } = mutationsFrom(Number(values.seed))

const data = [1, 2, 3]
const input = { name: 'x', datatype: 'FP32', shape: [1, 3] }
const JSON_BODY = Buffer.from(JSON.stringify({ id: 'a', inputs: [{ ...input, data }], outputs: [{ name: 'y' }] }))
const HEADER = Buffer.from(
  JSON.stringify({
    inputs: [{ ...input, parameters: { binary_data_size: 12 } }],
    parameters: { binary_data_output: true }
  })
)
const BINARY_BODY = Buffer.concat([HEADER, Buffer.from(Float32Array.from(data).buffer)])
const proto = protobuf.parse(readFileSync(join(root, 'proto/inference.proto'), 'utf8'), { keepCase: true }).root
const Request = proto.lookupType('inference.ModelInferRequest')
const raw = Buffer.from(Float32Array.from(data).buffer)
const message = { model_name: 'twice', inputs: [input], raw_input_contents: [raw] }
const GRPC_BODIES = [
  message,
  { ...message, raw_input_contents: [], inputs: [{ ...input, contents: { fp32_contents: data } }] }
].map(one => Buffer.from(Request.encode(Request.fromObject(one)).finish()))

const statuses = new Map()
const faults = []
const note = (kind, status) => statuses.set(`${kind} ${status}`, (statuses.get(`${kind} ${status}`) ?? 0) + 1)
const fault = (kind, what, body) => faults.push(`${kind}: ${what}: ${body.toString('hex').slice(0, 400)}`)

const PATH = '/v2/models/twice/infer'

/** A request over a connection of its own; some clients leave before all is sent. */
function rest(kind, body, headers) {
  return new Promise(done => {
    const leaves = random(50) === 0
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    const length = leaves ? body.length + 10 : body.length
    socket.write(`POST ${PATH} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: ${length}\r\n${headers}\r\n`)
    socket.write(body)
    if (leaves) setImmediate(() => socket.destroy())
    socket.on('data', bytes => (answer += bytes.toString('latin1')))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      const status = leaves ? 'left' : (/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 'none')
      note(kind, status)
      if (!leaves && !/^(?:200|4\d\d|501)$/.test(status)) fault(kind, status, body)
      done()
    })
  })
}

let session
/** A call of gRPC, whose message is sent as it is. */
function grpc(body) {
  return new Promise(done => {
    if (session === undefined || session.closed || session.destroyed) {
      session = connectHttp2(`http://127.0.0.1:${port + 1}`)
      session.on('error', () => undefined)
    }
    const stream = session.request({
      ':method': 'POST',
      ':path': '/inference.GRPCInferenceService/ModelInfer',
      'content-type': 'application/grpc',
      te: 'trailers'
    })
    const head = Buffer.alloc(5)
    head.writeUInt32BE(body.length, 1)
    let status
    const see = headers => (status = headers['grpc-status'] ?? status)
    stream.on('response', see).on('trailers', see)
    stream.on('data', () => undefined).on('error', () => undefined)
    stream.on('close', () => {
      note('grpc', status)
      if (!['0', '3', '5', '8', '12'].includes(status)) fault('grpc', status, body)
      done()
    })
    stream.end(Buffer.concat([head, body]))
  })
}

const KINDS = [
  () => rest('json', mutated(JSON_BODY), ''),
  () => {
    const length = random(4) === 0 ? random(BINARY_BODY.length * 2) : HEADER.length
    return rest('binary', mutated(BINARY_BODY), `inference-header-content-length: ${length}\r\n`)
  },
  () => grpc(mutated(GRPC_BODIES[random(2)]))
]

let isOver = false
let checked = 0
/** A client whose numbers are its own: it must see them doubled, whatever else is sent. */
async function honest(number) {
  for (let turn = 0; !isOver; turn++) {
    const own = [number, turn, number * 1000 + (turn % 1000)]
    const body = JSON.stringify({ inputs: [{ ...input, data: own }] })
    const answer = await fetch(`http://127.0.0.1:${port}${PATH}`, { method: 'POST', body }).catch(error => error)
    const found = answer.status === 200 ? (await answer.json()).outputs[0].data : String(answer.status ?? answer)
    // A full queue refuses whoever comes.
    if (answer.status !== 429 && String(found) !== String(own.map(value => value * 2)))
      faults.push(`client ${number}: ${found} for ${own}`)
    checked++
    await sleep(5)
  }
}

const folder = mkdtempSync(join(tmpdir(), 'nodewise-fuzz-'))
mkdirSync(join(folder, 'twice/1'), { recursive: true })
writeFileSync(join(folder, 'twice/1/model.onnxtxt'), MODEL)
const ports = ['--http-port', String(port), '--grpc-port', String(port + 1)]
const args = [values.server, folder, ...ports, '--log-level', 'error', '--max-body', '1MB']
const server = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
server.on('exit', () => isOver || faults.push('the server has ended'))
const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) / 1024
try {
  while (!(await fetch(`http://127.0.0.1:${port}/v2/health/ready`).catch(() => undefined))?.ok) await sleep(100)
  const clients = [1, 2, 3].map(honest)
  let [sent, answered] = [0, 0]
  const tenths = []
  const attacker = async () => {
    while (sent < count && faults.length < 10 && server.exitCode === null) {
      sent++
      await KINDS[random(KINDS.length)]()
      if (++answered % Math.ceil(count / 10) === 0) tenths.push(Math.round(memory()))
    }
  }
  await Promise.all(Array.from({ length: 16 }, attacker))
  isOver = true
  await Promise.all(clients)
  session?.close()
  const [early, late] = [tenths[0], tenths.at(-1)]
  if (late > early + 64) faults.push(`memory has grown from ${early} to ${late} MB`)
  const answers = Object.fromEntries([...statuses].sort())
  console.log(JSON.stringify({ sent, checked, answers, megabytes: tenths.join(' '), faults }, null, 2))
} finally {
  isOver = true
  server.kill()
  rmSync(folder, { recursive: true, force: true })
}
process.exitCode = faults.length > 0 ? 1 : 0
