import { setTimeout as sleep } from 'node:timers/promises'
import { helpText, readArguments } from './options.ts'
import { bodyOf, refusalOf } from './refusal.ts'
import { startServer } from './server.ts'

/** What the command writes to, and what tells it to end. */
export interface Terminal {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** Milliseconds in which balancers see that the server is not ready, before its ports close. */
const NOTICE = 1000

/**
 * `nodewise serve`: serves until SIGTERM or SIGINT.
 * @param args what stands after `nodewise serve`
 * @returns the exit code
 */
export async function main(args: readonly string[], { stdout, stderr }: Terminal = process): Promise<number> {
  try {
    const { isHelp, options, drain } = readArguments(args)
    if (isHelp) {
      stdout.write(`${helpText()}\n`)
      return 0
    }
    const server = await startServer(options)
    const { host } = options
    const names = server.models.index().map(({ name }) => name)
    const ports = `REST ${server.httpPort ?? 'off'}, gRPC ${server.grpcPort ?? 'off'}`
    server.log.info({ host, models: [...new Set(names)] }, `listening: ${ports}`)
    void server.loaded.then(() => server.log.info({ ready: server.models.isReady }, 'all models were looked at'))
    const signal = await new Promise<string>(resolve => {
      for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve(name))
    })
    server.log.info({ signal }, 'ending: not ready from now on')
    // A second signal ends it at once, as systems expect.
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => process.exit(130))
    server.drain()
    if (drain > 0) await sleep(Math.min(NOTICE, drain))
    await server.close(drain)
    server.log.info('ended')
    return 0
  } catch (error) {
    const refusal = refusalOf(error)
    const text = refusal.code === 'internal' ? reasonOf(error as Error) : refusal.message
    if (args.includes('--json'))
      stdout.write(`${JSON.stringify({ error: { ...bodyOf(refusal), error: undefined, message: text } })}\n`)
    else stderr.write(`nodewise: ${text}\n`)
    return 2
  }
}

/** What a failure to listen says, with what helps; gRPC names the code in its words alone. */
const reasonOf = ({ message }: Error): string =>
  /EADDRINUSE/.test(message) ? `${message}; --http-port and --grpc-port choose other ports` : message
