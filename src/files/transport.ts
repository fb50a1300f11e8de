import type { Agent, IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isNode, nodeHttp, nodeHttps } from '../host.ts'
import type { Network } from './network.ts'

/** Headers of an answer, by names in any case. */
export interface AnswerHeaders {
  get(name: string): string | null
  has(name: string): boolean
}

/** An answer, of which the headers have come. What is not read of its body is not received. */
export interface Answer {
  readonly status: number
  /** What the server says of the status; empty where it says nothing, as in HTTP/2. */
  readonly statusText: string
  readonly headers: AnswerHeaders
  /** Where it came from: a browser follows redirects itself. */
  readonly url: URL
  /** Hands out the body as it comes, to its end. */
  body(take: (bytes: Uint8Array) => void): Promise<void>
}

/** A request that is sent once. When the signal is aborted nothing more comes of it. */
export interface Outgoing {
  readonly url: URL
  readonly method: 'GET' | 'HEAD'
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** Sends a request, in Node without following redirects. It rejects with the error of the connection. */
export const send = (request: Outgoing, network: Network): Promise<Answer> =>
  isNode ? sendFromNode(request) : sendFromPage(request, network)

/** Connections stay open for the next request. Node's own `fetch` takes three times as long for a request. */
const agents: { http?: Agent; https?: Agent } = {}

function sendFromNode({ url, method, headers, signal }: Outgoing): Promise<Answer> {
  const isSafe = url.protocol === 'https:'
  const options = { keepAlive: true, maxFreeSockets: 256 }
  const agent = isSafe
    ? (agents.https ??= new (nodeHttps().Agent)(options))
    : (agents.http ??= new (nodeHttp().Agent)(options))
  return new Promise((resolve, reject) => {
    const sent = (isSafe ? nodeHttps() : nodeHttp()).request(url, {
      agent,
      method,
      headers: { Accept: '*/*', 'Accept-Encoding': 'identity', 'User-Agent': 'nodewise', ...headers },
      signal
    })
    sent.on('error', reject)
    sent.on('response', response => resolve(answerOf(response, url)))
    sent.end()
  })
}

function answerOf(response: IncomingMessage, url: URL): Answer {
  const found = (name: string): string | string[] | undefined =>
    response.headers[name.toLowerCase() as keyof IncomingHttpHeaders]
  // A connection that fails before the body is read gives its error when the body is read.
  let failure: Error | undefined
  response.on('error', error => (failure = error))
  return {
    status: response.statusCode ?? 0,
    statusText: response.statusMessage ?? '',
    url,
    headers: { get: name => found(name)?.toString() ?? null, has: name => found(name) !== undefined },
    body: take =>
      new Promise((resolve, reject) => {
        if (failure) return reject(failure)
        response.on('error', reject)
        response.on('end', resolve)
        response.on('data', (bytes: Uint8Array) => {
          try {
            take(bytes)
          } catch (error) {
            // Which is told as an error of the answer, and nothing more comes.
            response.destroy(error instanceof Error ? error : new Error(String(error)))
          }
        })
      })
  }
}

async function sendFromPage(request: Outgoing, network: Network): Promise<Answer> {
  const { url, method, headers, signal } = request
  const response = await fetch(url, {
    method,
    headers: { ...headers },
    signal,
    credentials: network.credentials,
    referrerPolicy: 'no-referrer',
    // The page's own origin is asked in a mode in which no redirect leads elsewhere, unless that is allowed.
    ...(network.origins.length === 0 && url.origin === location.origin && { mode: 'same-origin' })
  })
  return {
    status: response.status,
    statusText: response.statusText,
    headers: response.headers,
    url: response.url ? new URL(response.url) : url,
    async body(take) {
      const reader = response.body?.getReader()
      for (;;) {
        const read = await reader?.read()
        if (read?.value === undefined) return
        take(read.value)
      }
    }
  }
}
