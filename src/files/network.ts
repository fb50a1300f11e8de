import { fail } from '../errors.ts'
import { refuseUnknownOptions } from '../suggest.ts'

/** How files are read over a network, and what they may take. */
export interface NetworkOptions {
  /**
   * Milliseconds that a server may take to answer, to send more of an answer, and on average for each MiB of it. 30,000
   * when left out.
   */
  readonly timeout?: number
  /**
   * How often a request is made anew where the server was busy (429, 502, 503, 504) or the connection was cut. 3 when
   * left out.
   */
  readonly retries?: number
  /** Redirects that are followed for one request. 5 when left out. */
  readonly redirects?: number
  /**
   * Origins, such as `https://cdn.example.com`, to which redirects may lead besides the origin of the file itself; `*`
   * for all.
   */
  readonly origins?: readonly string[]
  /** Headers of each request to the origin of the file itself; other origins never get them. */
  readonly headers?: Readonly<Record<string, string>>
  /** In a page: whether cookies are sent. `omit` when left out. */
  readonly credentials?: 'omit' | 'same-origin' | 'include'
  /** Requests that are under way at the same time. 64 when left out. */
  readonly connections?: number
  /** Bytes of a file that may be read whole into memory where its server has no ranges. 2 GiB when left out. */
  readonly wholeBytes?: number
}

/** All options, with the defaults of those that were left out. */
export type Network = Required<NetworkOptions>

const DEFAULTS: Network = {
  timeout: 30_000,
  retries: 3,
  redirects: 5,
  origins: [],
  headers: {},
  credentials: 'omit',
  connections: 64,
  wholeBytes: 2 ** 31
}
const KNOWN: ReadonlySet<string> = new Set(Object.keys(DEFAULTS))
const CREDENTIALS: readonly unknown[] = ['omit', 'same-origin', 'include']

/** @throws NodewiseError `bad-usage` for an option that does not exist, or cannot be so */
export function networkFrom(options: NetworkOptions = {}): Network {
  refuseUnknownOptions(options, KNOWN)
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const network = { ...DEFAULTS, ...(Object.fromEntries(given) as NetworkOptions) }
  for (const [name, least] of [
    ['timeout', 1],
    ['retries', 0],
    ['redirects', 0],
    ['connections', 1],
    ['wholeBytes', 0]
  ] as const) {
    const value = network[name]
    if (!Number.isSafeInteger(value) || value < least)
      fail('bad-usage', `the option ${name} is a whole number of at least ${least}, not ${value}`)
  }
  if (!CREDENTIALS.includes(network.credentials))
    fail('bad-usage', `the option credentials is one of ${CREDENTIALS.join(', ')}, not ${network.credentials}`)
  if (!Array.isArray(network.origins)) fail('bad-usage', 'the option origins is a list')
  return { ...network, origins: network.origins.map(originOf), headers: { ...network.headers } }
}

function originOf(text: unknown): string {
  if (text === '*') return text
  try {
    const { origin } = new URL(text as string)
    if (origin !== 'null') return origin
  } catch {
    // Said below.
  }
  return fail('bad-usage', `"${String(text)}" is no origin; write https://host, or * for all`)
}

/** How far reading has come: bytes of one file, or of all files of a model. */
export interface ReadProgress {
  /** Name of the file, its URL where it has one. */
  readonly file: string
  /** Bytes that have come, of all files of the model. */
  readonly bytes: number
  /** Bytes that have been asked for so far. */
  readonly total: number
}

/** Counts what is asked for and what comes, and tells whoever listens. */
export class Traffic {
  private bytes = 0
  private total = 0
  private readonly listener: ((progress: ReadProgress) => void) | undefined

  constructor(listener?: (progress: ReadProgress) => void) {
    this.listener = listener
  }

  /** Bytes are asked for; a negative number where they will not come. */
  expect(bytes: number): void {
    this.total += bytes
  }

  /** Bytes have come; a negative number where they have to be asked for again. */
  came(file: string, bytes: number): void {
    this.bytes += bytes
    this.listener?.({ file, bytes: this.bytes, total: Math.max(this.bytes, this.total) })
  }
}
