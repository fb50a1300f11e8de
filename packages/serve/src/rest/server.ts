import type { IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { brotliDecompress, deflate, gunzip, gzip, inflate } from 'node:zlib'
import {
  fastify,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController
} from 'fastify'
import { authenticate, type Context, refuseWhileDraining } from '../context.ts'
import { Presence } from '../models/request.ts'
import { bodyOf, Refusal, refusalOf } from '../refusal.ts'
import { readRequest, writeAnswer } from './infer.ts'
import { addRoutes, type Target } from './routes.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Gives back the room of the body. */
    room?: () => void
    client: Presence
  }
}

/** Bytes of all headers of a request. */
export const MAX_HEADER = 16 * 1024
/** Milliseconds in which a client must send its headers and its body, so that slow ones hold nothing for long. */
const HEADERS_TIME = 10_000
const REQUEST_TIME = 120_000

/** How the server of HTTP is made, beside what the context says. */
export interface RestOptions {
  readonly logger?: FastifyServerOptions['logger']
  readonly https?: { readonly cert: Buffer; readonly key: Buffer; readonly ca?: Buffer; readonly requestCert?: boolean }
  readonly maxConnections?: number
}

/** The REST form of the protocol. */
export function restServer(context: Context, { logger = false, https, maxConnections }: RestOptions): FastifyInstance {
  const app = fastify({
    logger,
    ...(https && { https: { ...https, rejectUnauthorized: https.requestCert === true } }),
    bodyLimit: context.limits.maxBody,
    http: { maxHeaderSize: MAX_HEADER, headersTimeout: HEADERS_TIME, requestTimeout: REQUEST_TIME },
    routerOptions: { maxParamLength: 1024 },
    genReqId: ({ headers }: IncomingMessage) => idFrom(headers['x-request-id']),
    // A line a request, which the hook below writes.
    // The lines name the request themselves: a logger for each request would cost as much as a small run.
    childLoggerFactory: (log: unknown) => log,
    logController: new LogController({ disableRequestLogging: true }),
    // While it ends, requests on connections that are open get the same answer as all others.
    return503OnClosing: false
  } as never) as unknown as FastifyInstance
  if (maxConnections !== undefined) app.server.maxConnections = maxConnections
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
  app.decorateRequest('client', null as never)
  app.addHook('onRequest', (request, reply, done) => {
    request.client = new Presence()
    // It comes after an answer, and where the client leaves before: while it sends its body, no hook would run.
    reply.raw.once('close', () => {
      request.room?.()
      if (!reply.raw.writableEnded) request.client.leave()
    })
    done(admit(context, request))
  })
  app.addHook('onResponse', (request, reply, done) => {
    logAnswer(request, reply)
    done()
  })
  app.setErrorHandler((error, request, reply) => sendRefusal(request, reply, error))
  app.setNotFoundHandler((request, reply) =>
    sendRefusal(request, reply, new Refusal('not-found', `there is nothing at ${request.method} ${pathOf(request)}`))
  )
  addRoutes(app, context, (request, reply, target) => infer(context, request, reply, target))
  return app
}

/** Ids of requests: a part for the process, which no other has, and a number. */
const PROCESS = crypto.randomUUID()
let requests = 0

/** A client's own id of a request, where it is a plain one; else a new one. */
function idFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && /^[\w.:-]{1,128}$/.test(header)
    ? header
    : `${PROCESS}-${(requests++).toString(36)}`
}

function pathOf({ url }: FastifyRequest): string {
  const end = url.indexOf('?')
  return end < 0 ? url : url.slice(0, end)
}

/** Paths that probes ask without a token. */
const OPEN = new Set(['/v2/health/live', '/v2/health/ready'])

/** What is refused before the body is read. */
function admit(context: Context, request: FastifyRequest): Error | undefined {
  try {
    if (!OPEN.has(pathOf(request))) authenticate(context, request.headers.authorization)
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers
    const bytes = length === undefined ? (coding === undefined ? 0 : context.limits.maxBody) : Number(length)
    if (bytes > context.limits.maxBody) throw tooLarge(context)
    if (bytes > 0) request.room = context.bodies.take(bytes)
    return undefined
  } catch (error) {
    return error as Error
  }
}

const tooLarge = ({ limits }: Context): Refusal =>
  new Refusal('body-too-large', `a body takes up to ${limits.maxBody} bytes`)

function logAnswer(request: FastifyRequest, reply: FastifyReply): void {
  const { traceparent } = request.headers
  request.log.info(
    {
      reqId: request.id,
      method: request.method,
      path: pathOf(request),
      status: reply.statusCode,
      milliseconds: Math.round(reply.elapsedTime * 1000) / 1000,
      ...(typeof traceparent === 'string' && { traceparent })
    },
    'answered'
  )
}

function sendRefusal(request: FastifyRequest, reply: FastifyReply, error: unknown): void {
  const refusal = isFastifys(error) ? ofFastify(error) : isGone(error) ? gone() : refusalOf(error)
  if (refusal.code === 'internal') request.log.error({ reqId: request.id, err: error }, 'internal error')
  if (refusal.retryAfter !== undefined) void reply.header('retry-after', refusal.retryAfter)
  if (refusal.code === 'unauthenticated') void reply.header('www-authenticate', 'Bearer')
  // What is left of a body that is refused is not read.
  if (refusal.code === 'body-too-large' || refusal.code === 'overloaded') void reply.header('connection', 'close')
  void reply.code(refusal.status).header('x-request-id', request.id).send(bodyOf(refusal))
}

/** Whether the client has left while it sent its body. */
const isGone = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ECONNRESET'
const gone = (): Refusal => new Refusal('cancelled', 'the client has left')

const isFastifys = (error: unknown): error is Error & { code: string; statusCode?: number } =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('FST_')

function ofFastify({ code, message, statusCode }: { code: string; message: string; statusCode?: number }): Refusal {
  if (statusCode === 413) return new Refusal('body-too-large', 'the body is larger than what is taken')
  return new Refusal((statusCode ?? 500) < 500 ? 'bad-request' : 'internal', `${message} (${code})`)
}

/** The way from a request of inference to its answer. */
async function infer(context: Context, request: FastifyRequest, reply: FastifyReply, target: Target): Promise<unknown> {
  refuseWhileDraining(context)
  const arrived = performance.now()
  const body = await unpacked(request, context)
  const { 'inference-header-content-length': headerLength } = request.headers
  const asked = readRequest(body, typeof headerLength === 'string' ? headerLength : undefined, context.limits.maxJson)
  const milliseconds = deadlineOf(request.raw) ?? (asked.timeout === undefined ? undefined : asked.timeout / 1000)
  const { client } = request
  const model = await context.models.awake(target.model, target.version)
  const outputs = await model.infer({
    feeds: asked.feeds,
    client,
    ...(asked.asked && { fetches: [...new Set(asked.asked.map(({ name }) => name))] }),
    ...(milliseconds !== undefined && { deadline: arrived + milliseconds })
  })
  const answer = writeAnswer(asked, model, outputs)
  void reply.header('x-request-id', request.id)
  if (answer.headerLength === undefined) void reply.type('application/json')
  else
    void reply.type('application/octet-stream').header('inference-header-content-length', String(answer.headerLength))
  return packed(request, reply, answer.body)
}

/** Milliseconds that a client gives its request: a header, since HTTP has no deadline of its own. */
function deadlineOf({ headers }: IncomingMessage): number | undefined {
  const header = headers['x-request-timeout-ms']
  if (header === undefined) return undefined
  const value = typeof header === 'string' && /^\d{1,9}(\.\d+)?$/.test(header) ? Number(header) : NaN
  if (value > 0) return value
  throw new Refusal('bad-request', 'X-Request-Timeout-Ms is a number of milliseconds')
}

const UNPACK = {
  gzip: promisify<Buffer, object, Buffer>(gunzip),
  deflate: promisify<Buffer, object, Buffer>(inflate),
  br: promisify<Buffer, object, Buffer>(brotliDecompress)
}
const PACK = { gzip: promisify<Buffer | string, Buffer>(gzip), deflate: promisify<Buffer | string, Buffer>(deflate) }

/** The body without its compression; what it unpacks to is held to the limit of bodies. */
async function unpacked({ body, headers }: FastifyRequest, context: Context): Promise<Buffer> {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  const coding = headers['content-encoding']
  if (coding === undefined || coding === 'identity') return bytes
  if (!Object.hasOwn(UNPACK, coding)) throw new Refusal('bad-request', `Content-Encoding ${coding} is not known`)
  const { maxBody } = context.limits
  const free = context.bodies.take(maxBody)
  try {
    return await UNPACK[coding as keyof typeof UNPACK](bytes, { maxOutputLength: maxBody })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(context)
    throw new Refusal('bad-request', `the body is no ${coding}: ${(error as Error).message}`)
  } finally {
    free()
  }
}

/** Answers of fewer bytes are not compressed. */
const WORTH_PACKING = 1024

async function packed(request: FastifyRequest, reply: FastifyReply, body: Buffer | string): Promise<Buffer | string> {
  const accepted = request.headers['accept-encoding']
  if (typeof accepted !== 'string' || body.length < WORTH_PACKING) return body
  // Triton's clients name the one coding that they want; others list many, of which plain is cheapest.
  const coding = accepted.trim()
  if (!Object.hasOwn(PACK, coding)) return body
  void reply.header('content-encoding', coding)
  return PACK[coding as keyof typeof PACK](body)
}
