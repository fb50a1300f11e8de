import type { IncomingMessage } from 'node:http'
import {
  fastify,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController
} from 'fastify'
import { authenticate, type Context, refuseAtEnd, Room } from '../context.ts'
import { Presence } from '../models/request.ts'
import { bodyOf, Refusal, refusalOf } from '../refusal.ts'
import { collect, packed, tooLarge, unpacked } from './body.ts'
import { readRequest, writeAnswer } from './infer.ts'
import { addRoutes, type Target } from './routes.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What its body takes. */
    room: Room
    client: Presence
  }
}

/** Bytes of all headers of a request. */
const MAX_HEADER = 16 * 1024
/** Milliseconds in which a client must send its headers, if it has not less time for all. */
const HEADERS_TIME = 10_000
/** Milliseconds between looks for clients that are too slow. */
const CHECK_TIME = 2000

/** How the server of HTTP is made, beside what the context says. */
export interface RestOptions {
  readonly logger?: FastifyServerOptions['logger']
  readonly https?: { readonly cert: Buffer; readonly key: Buffer; readonly ca?: Buffer; readonly requestCert?: boolean }
  readonly maxConnections?: number
}

/** The REST form of the protocol. */
export function restServer(context: Context, { logger = false, https, maxConnections }: RestOptions): FastifyInstance {
  const { ioTimeout } = context.limits
  const http = {
    maxHeaderSize: MAX_HEADER,
    headersTimeout: Math.min(HEADERS_TIME, ioTimeout),
    connectionsCheckingInterval: Math.min(CHECK_TIME, ioTimeout)
  }
  const app = fastify({
    logger,
    ...(https ? { https: { ...http, ...https, rejectUnauthorized: https.requestCert === true } } : { http }),
    // It would set the server's to its own default, none.
    requestTimeout: ioTimeout,
    bodyLimit: context.limits.maxBody,
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
  app.addContentTypeParser('*', (request, payload, done) => collect(context, request.room, payload, done))
  app.decorateRequest('client', null as never)
  app.decorateRequest('room', null as never)
  app.addHook('onRequest', (request, reply, done) => {
    request.client = new Presence()
    request.room = new Room(context.bodies)
    // It comes after an answer, and where the client leaves before: while it sends its body, no hook would run.
    reply.raw.on('close', () => {
      request.room.free()
      if (!reply.raw.writableEnded) request.client.leave()
    })
    closeAtEnd(context, reply)
    done(admit(context, request))
  })
  app.addHook('onResponse', (request, reply, done) => {
    logAnswer(request, reply)
    done()
  })
  app.setErrorHandler((error, request, reply) => {
    closeAtEnd(context, reply)
    sendRefusal(request, reply, error)
  })
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

/** Lets no connection stay open behind an answer once the server ends: it would wait for each. */
function closeAtEnd({ isEnding }: Context, reply: FastifyReply): void {
  if (isEnding) void reply.header('connection', 'close')
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
    if (bytes > 0) context.bodies.check(length === undefined ? 1 : bytes)
    return undefined
  } catch (error) {
    return error as Error
  }
}

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
  refuseAtEnd(context)
  const arrived = performance.now()
  const body = await unpacked(context, request)
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
  closeAtEnd(context, reply)
  void reply.header('x-request-id', request.id)
  if (answer.headerLength === undefined) void reply.type('application/json')
  else
    void reply.type('application/octet-stream').header('inference-header-content-length', String(answer.headerLength))
  return packed(context, request, reply, answer.body)
}

/** Milliseconds that a client gives its request: a header, since HTTP has no deadline of its own. */
function deadlineOf({ headers }: IncomingMessage): number | undefined {
  const header = headers['x-request-timeout-ms']
  if (header === undefined) return undefined
  const value = typeof header === 'string' && /^\d{1,9}(\.\d+)?$/.test(header) ? Number(header) : NaN
  if (value > 0) return value
  throw new Refusal('bad-request', 'X-Request-Timeout-Ms is a number of milliseconds')
}
