import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Context, isReady, refuseAtEnd, refuseControl } from '../context.ts'
import { metricsText } from '../metrics.ts'
import { Refusal } from '../refusal.ts'
import { modelConfig, modelMetadata, repositoryIndex, serverMetadata, statistics } from '../service.ts'
import { parseBody } from '../tensors/json.ts'
import { noSharedMemory } from './infer.ts'

/** The model that a path names. */
export interface Target {
  readonly model: string
  readonly version?: string
}

type Infer = (request: FastifyRequest, reply: FastifyReply, target: Target) => Promise<unknown>

const targetOf = ({ params }: FastifyRequest): Target => params as Target

/** All paths but inference, which is given. */
export function addRoutes(app: FastifyInstance, context: Context, infer: Infer): void {
  app.get('/v2/health/live', () => ({ live: true }))
  app.get('/v2/health/ready', (_, reply) => reply.code(isReady(context) ? 200 : 503).send({ ready: isReady(context) }))
  app.get('/v2', serverMetadata)
  app.get('/v2/', serverMetadata)
  app.get('/metrics', async (_, reply) => {
    void reply.type('text/plain; version=0.0.4; charset=utf-8')
    return metricsText(context.models)
  })
  app.get('/v2/models/stats', () => statistics(context.models.loaded))
  for (const path of ['/v2/models/:model', '/v2/models/:model/versions/:version']) {
    addModelRoutes(app, context, path)
    app.post(`${path}/infer`, (request, reply) => infer(request, reply, targetOf(request)))
  }
  addRepositoryRoutes(app, context)
  addRefusedRoutes(app)
}

function addModelRoutes(app: FastifyInstance, { models }: Context, path: string): void {
  app.get(`${path}/ready`, (request, reply) => {
    const { model, version } = targetOf(request)
    const ready = models.isModelReady(model, version)
    return reply.code(ready ? 200 : 503).send({ name: model, ready })
  })
  app.get(path, async request => {
    const { model, version } = targetOf(request)
    return modelMetadata(models, await models.awake(model, version))
  })
  app.get(`${path}/config`, async request => {
    const { model, version } = targetOf(request)
    return modelConfig(await models.awake(model, version))
  })
  app.get(`${path}/stats`, request => {
    const { model, version } = targetOf(request)
    const one = models.find(model, version)
    const all = models.loaded.filter(({ name }) => name === model)
    return statistics(version === undefined ? all : [one])
  })
}

const documentOf = ({ body }: FastifyRequest): Readonly<Record<string, unknown>> => {
  if (!Buffer.isBuffer(body) || body.length === 0) return {}
  const document = parseBody(body.toString())
  if (typeof document !== 'object' || document === null) throw new Refusal('bad-request', 'the body is no JSON object')
  return document as Readonly<Record<string, unknown>>
}

function addRepositoryRoutes(app: FastifyInstance, context: Context): void {
  const { models } = context
  app.post('/v2/repository/index', request => repositoryIndex(models, documentOf(request).ready === true))
  app.post('/v2/repository/models/:model/load', async (request, reply) => {
    refuseControl(context)
    refuseAtEnd(context)
    refuseOverrides(documentOf(request).parameters)
    await models.load(targetOf(request).model)
    return reply.send({})
  })
  app.post('/v2/repository/models/:model/unload', async (request, reply) => {
    refuseControl(context)
    documentOf(request)
    await models.unload(targetOf(request).model)
    return reply.send({})
  })
}

/**
 * Triton lets a request bring the configuration and the files of a model. Here models come from the repository alone.
 * @throws Refusal `not-supported`
 */
export function refuseOverrides(parameters: unknown): void {
  if (typeof parameters === 'object' && parameters !== null && Object.keys(parameters).length > 0)
    throw new Refusal('not-supported', 'a model is loaded as the repository has it; requests bring no parts of it')
}

/** What Triton has beside the protocol: refused in words, and harmless calls answered. */
function addRefusedRoutes(app: FastifyInstance): void {
  for (const kind of ['systemsharedmemory', 'cudasharedmemory']) {
    app.get(`/v2/${kind}/status`, () => [])
    app.get(`/v2/${kind}/region/:region/status`, noSharedMemory)
    app.post(`/v2/${kind}/region/:region/register`, noSharedMemory)
    app.post(`/v2/${kind}/region/:region/unregister`, () => ({}))
    app.post(`/v2/${kind}/unregister`, () => ({}))
  }
  for (const path of ['/v2/trace/setting', '/v2/logging', '/v2/models/:model/trace/setting']) {
    const refuse = (): never => {
      throw new Refusal('not-supported', 'settings are not changed by requests')
    }
    app.get(path, refuse)
    app.post(path, refuse)
  }
}
