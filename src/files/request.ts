import { fail, NodewiseError } from '../errors.ts'
import { clock, MAX_DELAY } from '../host.ts'
import type { Network } from './network.ts'
import { abortedBy, onAbort } from './remote.ts'
import { type Answer, send } from './transport.ts'

/** One request, which may be made several times. */
export interface Request {
  readonly url: URL
  /** The address of the file, where redirects led from there to `url`: errors name it, and its origin gets headers. */
  readonly home?: URL
  readonly method?: 'GET' | 'HEAD'
  readonly headers?: Readonly<Record<string, string>>
  /** Bytes that the answer has, as far as is known: they say how long it may take. */
  readonly length: number
}

/** Thrown by who reads an answer: the request is to be made again, as long as that is allowed. */
export class Again extends Error {
  /** Milliseconds that the server wants to be left alone. */
  readonly after: number

  constructor(why: string, after = 0) {
    super(why)
    this.after = after
  }
}

const MIB = 2 ** 20
/** Milliseconds before a request is made again; doubled each time, and half of it at random. */
const BACK_OFF = 100
const BUSY = new Set([429, 502, 503, 504])
/** Characters that are repeated of what a server says of a status. */
const MAX_STATUS_TEXT = 100
const REDIRECTS = new Set([301, 302, 303, 307, 308])
/** What Node says of connections that were cut; pages say nothing at all. */
const CUT = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN'])

/**
 * Makes a request, and again where that may help.
 * @param read reads the answer. It may be called again where it throws {@link Again} or the connection is cut
 * @throws NodewiseError (as a rejection) `network-failed` where the server does not answer in time, cuts the connection
 *   or stays busy; `missing-file`; `outside-folder` for a redirect to another origin; `aborted`; what `read` throws
 */
export async function request<T>(
  asked: Request,
  network: Network,
  read: (answer: Answer) => Promise<T>,
  signal?: AbortSignal
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await once(asked, network, read, signal)
    } catch (error) {
      if (!(error instanceof Again)) throw error
      const { message, after } = error
      if (attempt >= network.retries) return lost(homeOf(asked), message)
      if (after > network.timeout) return lost(homeOf(asked), `${message}, and asks to be left alone for ${after} ms`)
      await pause(Math.max(after, BACK_OFF * 2 ** attempt * (0.5 + Math.random() / 2)), homeOf(asked), signal)
    }
  }
}

const homeOf = ({ url, home = url }: Request): URL => home

const lost = (url: URL, why: string): never => {
  throw new NodewiseError('network-failed', why, { file: nameOf(url) })
}

/** A URL in messages: without what may be secret, and without a fragment. */
export function nameOf(url: URL): string {
  const { origin, pathname } = url
  return `${origin}${pathname}`
}

/** One attempt. */
async function once<T>(
  asked: Request,
  network: Network,
  read: (answer: Answer) => Promise<T>,
  signal: AbortSignal | undefined
): Promise<T> {
  const watch = new Watch(network.timeout, asked.length, signal)
  try {
    const { status, statusText, headers, url, body } = await follow(asked, network, watch)
    if (BUSY.has(status)) {
      const text = headers.get('retry-after')
      throw new Again(`the server answers ${status}`, text === null ? 0 : delayOf(text))
    }
    return await read({
      status,
      statusText,
      headers,
      url,
      async body(take) {
        await body(bytes => {
          watch.progressed(bytes.length)
          take(bytes)
        })
        watch.isRead = true
      }
    })
  } catch (error) {
    throw explained(error, homeOf(asked), watch, signal)
  } finally {
    // What was not read of the answer is not wanted.
    watch.end()
  }
}

/** @throws NodewiseError `missing-file` for an answer that gives no file */
export function refuseStatus({ status, statusText }: Answer): void {
  if (status >= 200 && status < 300) return
  fail('missing-file', `the server answers ${status} ${statusText.slice(0, MAX_STATUS_TEXT)}`.trimEnd())
}

function explained(error: unknown, url: URL, watch: Watch, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return abortedBy(signal, nameOf(url))
  if (watch.late !== undefined) return new NodewiseError('network-failed', watch.late, { file: nameOf(url) })
  if (error instanceof NodewiseError) return error.at({ file: nameOf(url) })
  if (error instanceof Again) return error
  const { message, code } = error as Error & { readonly code?: string }
  const why = `cannot be fetched: ${message}`
  const isCut = code === undefined ? error instanceof TypeError : CUT.has(code)
  return isCut ? new Again(why) : new NodewiseError('network-failed', why, { file: nameOf(url) }, {}, { cause: error })
}

/** Seconds, or a date. */
function delayOf(text: string): number {
  const delay = /^\d+$/.test(text.trim()) ? 1000 * Number(text) : Date.parse(text) - Date.now()
  return Number.isNaN(delay) ? 0 : Math.max(0, delay)
}

function pause(milliseconds: number, url: URL, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => {
        forget()
        resolve()
      },
      Math.min(milliseconds, MAX_DELAY)
    )
    const forget = onAbort(signal, () => {
      clearTimeout(timer)
      reject(abortedBy(signal!, nameOf(url)))
    })
  })
}

/** Gives an attempt up: when its signal says so, when nothing comes any more, and when all of it takes too long. */
class Watch {
  /** The whole answer has come. */
  isRead = false
  /** Why it took too long, where it did. */
  late: string | undefined
  private readonly controller = new AbortController()
  private readonly timeout: number
  private readonly start = clock()
  /** Bytes that the answer has, as far as is known, and those that have come. */
  private readonly length: number
  private came = 0
  private last = this.start
  private timer: ReturnType<typeof setTimeout> | undefined
  /** Does not listen to the outer signal any more. */
  private readonly forget: () => void

  constructor(timeout: number, length: number, signal: AbortSignal | undefined) {
    this.timeout = timeout
    this.length = length
    this.forget = onAbort(signal, () => this.controller.abort())
    this.wait()
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  /** A file that comes whole is longer than was known when it was asked for. */
  private get deadline(): number {
    return this.start + this.timeout * (1 + Math.ceil(Math.max(this.length, this.came) / MIB))
  }

  /** Something has come, of the body so many bytes. */
  progressed(bytes = 0): void {
    this.last = clock()
    this.came += bytes
  }

  end(): void {
    clearTimeout(this.timer)
    this.forget()
    if (!this.isRead) this.controller.abort()
  }

  private wait(): void {
    const { deadline } = this
    const due = Math.min(this.last + this.timeout, deadline)
    const left = due - clock()
    if (left > 0) this.timer = setTimeout(() => this.wait(), Math.min(left, MAX_DELAY))
    else {
      this.late =
        due === deadline ? 'the answer takes too long (timeout)' : `nothing has come for ${this.timeout} ms (timeout)`
      this.controller.abort()
    }
  }
}

/** The answer after redirects. Pages do not see where a redirect leads, so there the browser follows. */
async function follow(asked: Request, network: Network, watch: Watch): Promise<Answer> {
  const home = homeOf(asked)
  let { url } = asked
  for (let hops = 0; ; hops++) {
    const isHome = url.origin === home.origin
    const headers = { ...(isHome && network.headers), ...asked.headers }
    const answer = await send({ url, method: asked.method ?? 'GET', headers, signal: watch.signal }, network)
    watch.progressed()
    const location = REDIRECTS.has(answer.status) ? answer.headers.get('location') : null
    if (location === null) {
      refuseOrigin(answer.url, home, network)
      return answer
    }
    if (hops >= network.redirects) fail('limit-exceeded', `more than ${network.redirects} redirects (option redirects)`)
    url = redirected(location, url)
    refuseOrigin(url, home, network)
    // The connection serves again when its answer has been read; it has a few words at most.
    await answer.body(() => undefined)
  }
}

function redirected(location: string, from: URL): URL {
  try {
    const url = new URL(location, from)
    if (/^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url
  } catch {
    // Said below.
  }
  return fail('outside-folder', 'it redirects to what is no address of a web server')
}

function refuseOrigin({ origin }: URL, { origin: home }: URL, { origins }: Network): void {
  if (origin === home || origins.includes('*') || origins.includes(origin)) return
  fail('outside-folder', `it redirects to ${origin}; allow that by the option origins`)
}
