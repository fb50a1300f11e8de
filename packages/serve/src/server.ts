import type { AddressInfo } from 'node:net'
import { type Server, ServerCredentials } from '@grpc/grpc-js'
import type { FastifyBaseLogger, FastifyInstance, FastifyServerOptions } from 'fastify'
import { Bodies, type Context } from './context.ts'
import { grpcServer, listen } from './grpc/server.ts'
import { Models, type ModelsOptions } from './models/models.ts'
import { openRepository } from './models/repository.ts'
import { Refusal } from './refusal.ts'
import { restServer } from './rest/server.ts'

/** Certificates of both ports. */
export interface Tls {
  readonly cert: Buffer
  readonly key: Buffer
  /** Certificates of clients are asked for, and must be signed by this. */
  readonly ca?: Buffer
}

/** What a server is started with. */
export interface ServeOptions extends ModelsOptions {
  /** A model file, or a repository. */
  readonly source: string
  /** Name of a single model. */
  readonly name?: string
  readonly host: string
  /** Ports; 0: any that is free, undefined: none. */
  readonly httpPort?: number
  readonly grpcPort?: number
  readonly maxBody: number
  readonly maxJson: number
  readonly maxConnections?: number
  /** Milliseconds in which a client must send a request, and go on to read an answer. */
  readonly ioTimeout: number
  readonly tls?: Tls
  readonly tokens?: readonly string[]
  /** Whether all models are loaded at the start; else those that requests load. */
  readonly loadsAll: boolean
  readonly mayControl: boolean
  /** Milliseconds between looks at the repository; 0: models are not loaded anew when files change. */
  readonly watch: number
  readonly logger: FastifyServerOptions['logger']
}

/** A server that runs. */
export interface RunningServer {
  readonly httpPort: number | undefined
  readonly grpcPort: number | undefined
  readonly models: Models
  readonly log: FastifyBaseLogger
  /** Resolves when the models have been loaded that are loaded at the start. */
  readonly loaded: Promise<void>
  /** Says that it is not ready, and goes on: balancers that do not know yet still send requests. */
  drain(): void
  /**
   * Ends it: new requests are refused, those under way are answered.
   * @param patience milliseconds after which they are given up
   */
  close(patience: number): Promise<void>
}

/** Bodies that may be held, in units of the largest. */
const BODIES = 8

/**
 * Serves a model or a repository. It listens before models are loaded, so that probes are answered.
 * @throws Refusal (as a rejection) `missing-file`; what binding a port fails with
 */
export async function startServer(options: ServeOptions): Promise<RunningServer> {
  const { source, name, tls, tokens = [], maxBody, maxJson } = options
  const repository = openRepository(source, name)
  if (options.loadsAll && repository.names().length === 0)
    throw new Refusal('missing-file', `there is no model in ${source}: a repository has name/1/model.onnx or model.xml`)
  const ready: { log?: FastifyBaseLogger } = {}
  const models = new Models(repository, options, (event, model, more) => {
    const text = `model ${event}`
    if (event === 'failed') ready.log?.error({ model, ...more }, text)
    else ready.log?.info({ model, ...more }, text)
  })
  const context: Context = {
    models,
    limits: { maxBody, maxJson, ioTimeout: options.ioTimeout },
    tokens,
    isDraining: false,
    isEnding: false,
    mayControl: options.mayControl,
    bodies: new Bodies(maxBody * BODIES)
  }
  const rest = restServer(context, {
    logger: options.logger,
    ...(tls && { https: { ...tls, requestCert: tls.ca !== undefined } }),
    ...(options.maxConnections !== undefined && { maxConnections: options.maxConnections })
  })
  ready.log = rest.log
  const grpc = grpcServer(context, (fields, text) => rest.log.info(fields, text))
  const boundGrpc = await bind(options, rest, grpc)
  const loaded = options.loadsAll ? models.loadAll() : Promise.resolve()
  const stopWatching = watch(models, options, loaded)
  return {
    httpPort: portOf(rest.addresses()[0]),
    grpcPort: boundGrpc,
    models,
    log: rest.log,
    loaded,
    drain() {
      context.isDraining = true
      stopWatching()
    },
    async close(patience) {
      context.isDraining = true
      context.isEnding = true
      stopWatching()
      await models.close(patience)
      const timer = setTimeout(
        () => {
          grpc.forceShutdown()
          rest.server.closeAllConnections()
        },
        Math.max(100, patience)
      )
      await Promise.all([rest.close(), new Promise<void>(resolve => grpc.tryShutdown(() => resolve()))])
      clearTimeout(timer)
    }
  }
}

/**
 * Binds both ports, or none.
 * @returns the port of gRPC
 */
async function bind(
  { host, httpPort, grpcPort, tls }: ServeOptions,
  rest: FastifyInstance,
  grpc: Server
): Promise<number | undefined> {
  if (httpPort !== undefined)
    await rest.listen({ host, port: httpPort, listenTextResolver: address => `REST is at ${address}` })
  if (grpcPort === undefined) return undefined
  const address = host.includes(':') ? `[${host}]` : host
  try {
    return await listen(grpc, `${address}:${grpcPort}`, credentialsOf(tls))
  } catch (error) {
    await rest.close()
    throw error
  }
}

const credentialsOf = (tls: Tls | undefined): ServerCredentials =>
  tls === undefined
    ? ServerCredentials.createInsecure()
    : ServerCredentials.createSsl(
        tls.ca ?? null,
        [{ private_key: tls.key, cert_chain: tls.cert }],
        tls.ca !== undefined
      )

/** Looks at the repository now and then; returns what ends that. Events of file systems are not to be relied on. */
function watch(models: Models, { watch: every, loadsAll }: ServeOptions, loaded: Promise<void>): () => void {
  if (every <= 0) return () => undefined
  const seen = new Map<string, string>()
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const look = async (): Promise<void> => {
    await models.refresh(seen, loadsAll).catch(() => undefined)
    if (!isOver) timer = setTimeout(() => void look(), every).unref()
  }
  void loaded.then(look)
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}

/** The port of an address; a socket of the file system has none. */
const portOf = (address: string | AddressInfo | undefined): number | undefined =>
  typeof address === 'object' ? address.port : undefined
