import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, credentials, makeGenericClientConstructor, Metadata, type ServiceError } from '@grpc/grpc-js'
import { modelFiles, parseModel } from 'nodewise'
import { INFERENCE } from '../src/grpc/schema.ts'
import { type RunningServer, type ServeOptions, startServer } from '../src/server.ts'
import { inThisThread } from './in-this-thread.ts'

/** Rows of numbers, doubled: rows are independent of each other. */
export const TWICE = `<ir_version: 8, opset_import: ["" : 17]>
twice (float[n, 3] x) => (float[n, 3] y) { y = Add(x, x) }`

/** A folder that is removed when the test ends. */
export function temporaryFolder(): { path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), 'nodewise-serve-'))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/** Writes models of the text format of ONNX into a repository, as `name/version/model.onnx`. */
export function writeModels(folder: string, models: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(models)) {
    mkdirSync(join(folder, path), { recursive: true })
    writeFileSync(join(folder, path, 'model.onnx'), bytesOf(text))
  }
}

/** The ONNX file of a model in the text format. */
export function bytesOf(text: string): Buffer {
  const { files } = modelFiles(parseModel(text), 'model.onnx')
  return Buffer.concat(Array.from(files[0].chunks, chunk => Buffer.from(chunk)))
}

/** A server in this process, on ports that are free. */
export const serve = (source: string, options: Partial<ServeOptions> = {}): Promise<RunningServer> =>
  startServer({
    source,
    host: '127.0.0.1',
    httpPort: 0,
    grpcPort: 0,
    maxBody: 2 ** 20,
    maxJson: 2 ** 18,
    ioTimeout: 60_000,
    loadsAll: true,
    mayControl: true,
    watch: 0,
    instances: 1,
    maxQueue: 16,
    maxBatch: 1,
    maxDelay: 0,
    timeout: 0,
    logger: false,
    startEngine: inThisThread,
    ...options
  })

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: Buffer
  readonly json: Record<string, never>
}

/** Asks a server over HTTP. */
export async function ask(
  { httpPort }: RunningServer,
  path: string,
  body?: object | string | Buffer,
  headers: Record<string, string> = {}
): Promise<Answer> {
  const sent = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  const response = await fetch(`http://127.0.0.1:${httpPort}/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers,
    ...(sent !== undefined && { body: sent as BodyInit })
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return {
    status: response.status,
    headers: response.headers,
    body: bytes,
    json: (isJson && bytes.length > 0 ? JSON.parse(bytes.toString()) : {}) as Record<string, never>
  }
}

/** An input of a request in JSON. */
export const input = (
  name: string,
  datatype: string,
  shape: number[],
  data?: unknown,
  parameters?: object
): object => ({
  name,
  datatype,
  shape,
  ...(data !== undefined && { data }),
  ...(parameters && { parameters })
})

type Method = (message: object, metadata: Metadata, done: (error: ServiceError | null, answer: never) => void) => void

/** A client of gRPC: its methods as promises. */
export function grpcClient({ grpcPort }: RunningServer): {
  call: (method: string, message: object, headers?: Record<string, string>) => Promise<Record<string, never>>
  client: Client
} {
  const Constructor = makeGenericClientConstructor(INFERENCE, 'inference.GRPCInferenceService')
  const client = new Constructor(`127.0.0.1:${grpcPort}`, credentials.createInsecure())
  return {
    client,
    call: (method, message, headers = {}) =>
      new Promise((resolve, reject) => {
        const metadata = new Metadata()
        for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
        const send = (client as unknown as Record<string, Method>)[method].bind(client)
        send(message, metadata, (error, answer) => (error ? reject(error) : resolve(answer)))
      })
  }
}
