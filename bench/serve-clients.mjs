// Clients of a server of models that check each answer against their own request.
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { join, resolve } from 'node:path'
import grpc from '@grpc/grpc-js'
import protobuf from 'protobufjs'

const PROTO = join(resolve(import.meta.dirname, '..'), 'packages/serve/proto/inference.proto')
const types = protobuf.parse(readFileSync(PROTO, 'utf8'), { keepCase: true }).root
const METHOD = '/inference.GRPCInferenceService/ModelInfer'

/** Elements of a row of the inputs. */
export const WIDTH = 64
/** What the models multiply by: a file is replaced by one with the other factor. */
export const FACTORS = [2, 3]

/**
 * What a client gets for a row, or a text that says why it got nothing.
 * @typedef {(model: string, row: Float32Array, signal?: AbortSignal) => Promise<Float32Array | string>} Ask
 */

/** A request of REST with a binary tensor, one row or several behind each other. */
export function bodyOf(row) {
  const bytes = Buffer.from(row.buffer, row.byteOffset, row.byteLength)
  const header = Buffer.from(
    JSON.stringify({
      inputs: [
        {
          name: 'x',
          datatype: 'FP32',
          shape: [row.length / WIDTH, WIDTH],
          parameters: { binary_data_size: bytes.length }
        }
      ],
      parameters: { binary_data_output: true }
    })
  )
  return { body: Buffer.concat([header, bytes]), length: header.length }
}

const floats = bytes => new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length))

/**
 * A client of REST, which keeps its connection.
 * @param {number} port
 * @returns {{ ask: Ask, close(): void }}
 */
export function restClient(port) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const ask = (model, row) =>
    new Promise(done => {
      const { body, length } = bodyOf(row)
      const headers = { 'content-length': body.length, 'inference-header-content-length': length }
      const path = `/v2/models/${model}/infer`
      const request = http.request({ host: '127.0.0.1', port, agent, method: 'POST', path, headers }, answer => {
        const parts = []
        answer.on('data', part => parts.push(part)).on('error', error => done(error.code ?? error.message))
        answer.on('end', () => {
          const all = Buffer.concat(parts)
          if (answer.statusCode !== 200) return done(`${answer.statusCode} ${all.toString().slice(0, 200)}`)
          done(floats(all.subarray(Number(answer.headers['inference-header-content-length']))))
        })
      })
      request.on('error', error => done(error.code ?? error.message)).end(body)
    })
  return { ask, close: () => agent.destroy() }
}

/**
 * A client of gRPC with a connection of its own.
 * @param {number} port
 * @returns {{ ask: Ask, close(): void }}
 */
export function grpcClient(port) {
  const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1
  })
  const [Request, Response] = ['Request', 'Response'].map(name => types.lookupType(`inference.ModelInfer${name}`))
  const ask = (model, row) =>
    new Promise(done => {
      const message = {
        model_name: model,
        inputs: [{ name: 'x', datatype: 'FP32', shape: [1, WIDTH] }],
        raw_input_contents: [Buffer.from(row.buffer, row.byteOffset, row.byteLength)]
      }
      const write = one => Buffer.from(Request.encode(Request.fromObject(one)).finish())
      client.makeUnaryRequest(
        METHOD,
        write,
        bytes => Response.decode(bytes),
        message,
        (error, answer) => done(error ? `${error.code} ${error.details}` : floats(answer.raw_output_contents[0]))
      )
    })
  return { ask, close: () => client.close() }
}

/** A row that no other client and no other turn has; all of its numbers are whole, so that sums are exact. */
export const rowOf = (client, turn) =>
  Float32Array.from({ length: WIDTH }, (_, i) => 1 + ((client * 7919 + turn * 104_729 + i * (client + 3)) % 251))

/**
 * The factor that an answer was made with, if every element of it is that factor times what was asked.
 * @param {string} model `rows` gives elements of the row, `sums` its sum many times
 * @returns {number | undefined}
 */
export function multiplierOf(model, row, answer) {
  const sum = row.reduce((total, one) => total + one, 0)
  const expected = model === 'sums' ? () => sum : i => row[i]
  const factor = answer[0] / expected(0)
  if (!FACTORS.includes(factor) || answer.length < row.length) return undefined
  return answer.every((one, i) => one === factor * expected(i)) ? factor : undefined
}
