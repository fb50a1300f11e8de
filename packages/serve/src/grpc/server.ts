import { constants, type ServerHttp2Stream } from 'node:http2'
import {
  Metadata,
  type sendUnaryData,
  Server,
  type ServerCredentials,
  type ServerDuplexStream,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  type ServerUnaryCall,
  type ServiceError,
  type UntypedServiceImplementation
} from '@grpc/grpc-js'
import { authenticate, type Context, isReady, refuseAtEnd, refuseControl, Room } from '../context.ts'
import { Presence } from '../models/request.ts'
import { Refusal, refusalOf } from '../refusal.ts'
import { refuseOverrides } from '../rest/routes.ts'
import { modelConfig, modelMetadata, repositoryIndex, serverMetadata, statistics } from '../service.ts'
import { answerTo, feedsOf, fetchesOf, timeoutOf } from './infer.ts'
import { decodeRequest, type GrpcRequest, HEALTH, INFERENCE } from './schema.ts'

/** Writes a line of the log. */
export type Log = (fields: object, text: string) => void

type Call<Request> = ServerUnaryCall<Request, object> | ServerDuplexStream<Request, object>

interface Named {
  readonly name: string
  readonly version: string
}

/** Requests that one connection may have under way. */
const MAX_STREAMS = 1024

/** The gRPC form of the protocol, on no port yet. */
export function grpcServer(context: Context, log: Log = () => undefined): Server {
  const server = new Server({
    'grpc.max_receive_message_length': context.limits.maxBody,
    'grpc.max_send_message_length': -1,
    'grpc.max_concurrent_streams': MAX_STREAMS,
    // Milliseconds: a client that has gone without a word is found out.
    'grpc.keepalive_time_ms': 60_000,
    'grpc.keepalive_timeout_ms': 20_000,
    interceptors: [guarding(context)]
  })
  server.addService(INFERENCE, methods(context, log))
  server.addService(HEALTH, {
    Check: unary(log, async () => ({ status: isReady(context) ? 'SERVING' : 'NOT_SERVING' }))
  })
  return server
}

/** Paths that probes ask without a token. */
const OPEN = new Set([
  '/grpc.health.v1.Health/Check',
  '/inference.GRPCInferenceService/ServerLive',
  '/inference.GRPCInferenceService/ServerReady'
])

/**
 * Refuses callers without a token when their metadata arrive, before a message is read, and gives up calls whose
 * request does not come or whose answer is not read.
 */
const guarding =
  (context: Context): ServerInterceptor =>
  (method, call) => {
    const { ioTimeout } = context.limits
    const slow = new Refusal('deadline-exceeded', `the request has not come within ${ioTimeout} ms`)
    // A stream of requests may be silent for as long as it likes.
    const timer = method.requestStream ? undefined : setTimeout(() => call.sendStatus(statusOf(slow)), ioTimeout)
    const stop = (): void => clearTimeout(timer)
    watchAnswers(call, ioTimeout)
    return new ServerInterceptingCall(call, {
      start: next =>
        next({
          onReceiveMetadata: (metadata, pass) => {
            try {
              if (!OPEN.has(method.path)) authenticate(context, metadata.get('authorization')[0])
              pass(metadata)
            } catch (error) {
              stop()
              call.sendStatus(statusOf(refusalOf(error)))
            }
          },
          onReceiveMessage: (message, pass) => pass(message),
          onReceiveHalfClose: pass => {
            stop()
            pass()
          },
          onCancel: stop
        })
    })
  }

/** Ends a call whose client does not take what it is sent: its status would wait behind that. */
function watchAnswers(call: ServerInterceptingCallInterface, patience: number): void {
  // No part of grpc-js' interface resets a stream of HTTP/2.
  const { stream } = call as unknown as { readonly stream?: ServerHttp2Stream }
  const send = call.sendMessage.bind(call)
  let timer: NodeJS.Timeout | undefined
  let unsent = 0
  const watch = (): void => {
    clearTimeout(timer)
    if (unsent > 0) timer = setTimeout(() => stream?.close(constants.NGHTTP2_CANCEL), patience)
  }
  stream?.once('close', () => clearTimeout(timer))
  call.sendMessage = (message, sent) => {
    if (unsent++ === 0) watch()
    send(message, () => {
      unsent--
      watch()
      sent()
    })
  }
}

/** A refusal as gRPC has it: the code and the place of Nodewise, and when to try again, are trailing metadata. */
function statusOf(refusal: Refusal): Pick<ServiceError, 'code' | 'details' | 'metadata'> {
  const metadata = new Metadata()
  metadata.set('nodewise-code', refusal.code)
  if (Object.keys(refusal.place).length > 0)
    metadata.set('nodewise-place-bin', Buffer.from(JSON.stringify(refusal.place)))
  if (refusal.retryAfter !== undefined) {
    metadata.set('retry-after', String(refusal.retryAfter))
    metadata.set('grpc-retry-pushback-ms', String(refusal.retryAfter * 1000))
  }
  return { code: refusal.grpc, details: refusal.message, metadata }
}

/** A method with one request and one answer. */
const unary =
  <Request>(log: Log, answer: (request: Request, call: ServerUnaryCall<Request, object>) => Promise<object>) =>
  (call: ServerUnaryCall<Request, object>, done: sendUnaryData<object>): void => {
    const started = performance.now()
    const tell = (status: number, more: object = {}): void => {
      const [traceparent] = call.metadata.get('traceparent')
      const [id] = call.metadata.get('x-request-id')
      const milliseconds = Math.round((performance.now() - started) * 1000) / 1000
      log(
        {
          method: call.getPath(),
          status,
          milliseconds,
          ...(id && { reqId: id }),
          ...(traceparent && { traceparent }),
          ...more
        },
        'answered'
      )
    }
    answer(call.request, call).then(
      message => {
        done(null, message)
        tell(0)
      },
      (error: unknown) => {
        const refusal = refusalOf(error)
        done({ ...statusOf(refusal), name: 'Refusal', message: refusal.message })
        tell(refusal.grpc, refusal.code === 'internal' ? { err: String((error as Error).stack) } : {})
      }
    )
  }

function methods(context: Context, log: Log): UntypedServiceImplementation {
  const { models } = context
  return {
    ServerLive: unary(log, async () => ({ live: true })),
    ServerReady: unary(log, async () => ({ ready: isReady(context) })),
    ServerMetadata: unary(log, async () => serverMetadata()),
    ModelReady: unary(log, async ({ name, version }: Named) => ({ ready: models.isModelReady(name, version) })),
    ModelMetadata: unary(log, async ({ name, version }: Named) =>
      modelMetadata(models, await models.awake(name, version))
    ),
    ModelConfig: unary(log, async ({ name, version }: Named) => ({
      config: modelConfig(await models.awake(name, version))
    })),
    ModelStatistics: unary(log, async ({ name, version }: Named) => {
      if (name === '') return statistics(models.loaded)
      const one = models.find(name, version)
      return statistics(version === '' ? models.loaded.filter(model => model.name === name) : [one])
    }),
    ModelInfer: unary(log, (bytes: Buffer, call) => infer(context, bytes, call)),
    ModelStreamInfer: (call: ServerDuplexStream<Buffer, object>) => inferStream(context, call),
    RepositoryIndex: unary(log, async ({ ready }: { readonly ready: boolean }) => ({
      models: repositoryIndex(models, ready)
    })),
    RepositoryModelLoad: unary(log, async ({ model_name, parameters }: { model_name: string; parameters: object }) => {
      refuseControl(context)
      refuseAtEnd(context)
      refuseOverrides(parameters)
      await models.load(model_name)
      return {}
    }),
    RepositoryModelUnload: unary(log, async ({ model_name }: { readonly model_name: string }) => {
      refuseControl(context)
      await models.unload(model_name)
      return {}
    })
  }
}

/** @param onRequest gets the request once it is decoded, before this function returns; what it throws is thrown on */
async function infer(
  context: Context,
  bytes: Buffer,
  call: Call<Buffer>,
  onRequest?: (request: GrpcRequest) => void
): Promise<object> {
  refuseAtEnd(context)
  const room = new Room(context.bodies)
  room.take(bytes.length)
  const arrived = performance.now()
  const client = new Presence()
  const leave = (): void => client.leave()
  call.once('cancelled', leave)
  try {
    const request = decodeRequest(bytes, context.limits.maxJson)
    onRequest?.(request)
    const model = await context.models.awake(request.model_name, request.model_version)
    const fetches = fetchesOf(request)
    const timeout = timeoutOf(request)
    const until = Math.min(deadlineOf(call, arrived), timeout === undefined ? Infinity : arrived + timeout / 1000)
    const outputs = await model.infer({
      feeds: feedsOf(request),
      client,
      ...(fetches && { fetches }),
      ...(until < Infinity && { deadline: until })
    })
    return answerTo(request, model, outputs)
  } finally {
    call.off('cancelled', leave)
    room.free()
  }
}

/** The deadline of a call on the clock of `performance.now()`. */
function deadlineOf(call: Call<Buffer>, now: number): number {
  const deadline = call.getDeadline()
  const time = typeof deadline === 'number' ? deadline : deadline.getTime()
  return Number.isFinite(time) ? now + Math.max(0, time - Date.now()) : Infinity
}

/**
 * Requests of a stream that are answered at the same time, at most. Reading waits while there are as many, or as many
 * as the model that the last one asked lets wait: a stream that comes alone never fills a queue.
 */
const STREAM_DEPTH = 32

/** Answers come in the order of the requests; a request that fails is answered by its error, and the stream goes on. */
function inferStream(context: Context, call: ServerDuplexStream<Buffer, object>): void {
  let turn: Promise<void> = Promise.resolve()
  let pending = 0
  let depth = STREAM_DEPTH
  // Each request of the stream listens until it is answered.
  call.setMaxListeners(STREAM_DEPTH + 8)
  call.on('data', (bytes: Buffer) => {
    const answered = infer(context, bytes, call, ({ model_name, model_version }) => {
      const { queue } = context.models.find(model_name, model_version)
      depth = Math.min(STREAM_DEPTH, queue.maxLength)
    })
      .then(answer => ({ infer_response: answer }))
      .catch((error: unknown) => ({ error_message: refusalOf(error).message, infer_response: idOf(bytes, context) }))
    if (++pending >= depth) call.pause()
    turn = turn.then(async () => {
      const message = await answered
      if (--pending < depth) call.resume()
      if (!call.cancelled && !call.write(message)) await new Promise<void>(resolve => onceFree(call, resolve))
    })
  })
  call.on('end', () => void turn.then(() => call.end()))
  call.on('error', () => undefined)
}

/** What tells a client of a stream which of its requests has failed. */
function idOf(bytes: Buffer, { limits }: Context): object {
  try {
    const { model_name, model_version, id } = decodeRequest(bytes, limits.maxJson)
    return { model_name, model_version, id }
  } catch {
    return {}
  }
}

/** Resolves when a stream takes more, or its client has left. */
function onceFree(call: ServerDuplexStream<Buffer, object>, resolve: () => void): void {
  const free = (): void => {
    call.off('drain', free).off('cancelled', free)
    resolve()
  }
  call.on('drain', free).on('cancelled', free)
}

/** Binds the server; resolves with the port. */
export const listen = (server: Server, address: string, credentials: ServerCredentials): Promise<number> =>
  new Promise((resolve, reject) =>
    server.bindAsync(address, credentials, (error, port) => (error ? reject(error) : resolve(port)))
  )
