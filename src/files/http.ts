import { fail, NodewiseError } from '../errors.ts'
import { isNode } from '../host.ts'
import { type ByteSource, bytesSource } from './byte-source.ts'
import { boundaryOf, type ContentRange, contentRange, MultipartReader } from './multipart.ts'
import type { Network, Traffic } from './network.ts'
import { type Piece, piecesOf, scatter } from './pieces.ts'
import { RemoteSource } from './remote-source.ts'
import { type AsyncBytes, inParallel, type Part } from './remote.ts'
import { Again, nameOf, refuseStatus, request } from './request.ts'
import type { Answer } from './transport.ts'

/** Bytes that are asked for when a file is opened. */
const FIRST = 2 ** 16
/** Parts that are nearer are read together: another request takes longer than these bytes. */
const NEAR = 2 ** 14
/** Bytes that are asked for at once, and requests of more than {@link SMALL} that are under way at the same time. */
const MAX_READ = 2 ** 22
const SMALL = 2 ** 16
const LARGE_AT_ONCE = 6
/** So many small ranges are asked for in one request, where there are at least as many as pay for it. */
const RANGES = 64
const MIN_RANGES = 8
/** Bytes that a server may send around each of several ranges, beside what lies between near ones. */
const AROUND = 2 ** 10

/** A file on a web server. */
export interface Opened {
  readonly source: ByteSource
  /** What the user should know of how it is read. */
  readonly note?: string
}

/**
 * Opens a file on a web server: by ranges, or whole where the server has none.
 * @throws NodewiseError (as a rejection) what {@link request} throws; `limit-exceeded` for a file that would have to be
 *   read whole and is too large
 */
export async function openUrl(url: URL, network: Network, traffic: Traffic, signal?: AbortSignal): Promise<Opened> {
  if (url.username !== '' || url.password !== '')
    fail('bad-usage', `${nameOf(url)} is given with a name and a password; give them by the option headers`)
  const asked = { url, headers: { Range: `bytes=0-${FIRST - 1}` }, length: FIRST }
  const name = nameOf(url)
  const counted = counter(name, traffic)
  return request(
    asked,
    network,
    async answer => {
      counted.restart()
      if (answer.status === 416 && /\/0\s*$/.test(answer.headers.get('content-range') ?? ''))
        return { source: bytesSource(name, new Uint8Array(0)) }
      refuseStatus(answer)
      if (answer.status !== 206) return readWhole(answer, name, network, counted)
      return firstOf(answer, new HttpBytes(url, answer, await sizeOf(answer, url, network, signal), network, traffic))
    },
    signal
  )

  async function firstOf(answer: Answer, bytes: HttpBytes): Promise<Opened> {
    const length = Math.min(FIRST, bytes.size)
    const first = new Uint8Array(length)
    counted.expect(length)
    await bytes.receive(answer, [{ offset: 0, length, parts: [{ offset: 0, target: first }] }], counted)
    return { source: length === bytes.size ? bytesSource(name, first) : new RemoteSource(bytes, first) }
  }
}

/** Counts the bytes of one answer. */
interface Counter {
  expect(bytes: number): void
  came(bytes: number): void
  /** The answer begins anew. */
  restart(): void
}

function counter(file: string, traffic: Traffic): Counter {
  let bytes = 0
  let expected = 0
  return {
    expect(count) {
      expected += count
      traffic.expect(count)
    },
    came(count) {
      bytes += count
      traffic.came(file, count)
    },
    restart() {
      traffic.expect(-expected)
      if (bytes > 0) traffic.came(file, -bytes)
      bytes = expected = 0
    }
  }
}

/** The size of a file whose first bytes come. Other origins hide `Content-Range` from a page; a HEAD tells it. */
async function sizeOf({ headers }: Answer, url: URL, network: Network, signal?: AbortSignal): Promise<number> {
  const range = contentRange(headers.get('content-range'))
  if (range) return range.size
  const unknown = (): never => fail('invalid-file', 'the server does not say how many bytes the file has')
  if (headers.has('content-range') || isNode) return unknown()
  return request(
    { url, method: 'HEAD', length: 0 },
    network,
    async answer => {
      refuseStatus(answer)
      const text = answer.headers.get('content-length') ?? ''
      return /^\d{1,15}$/.test(text) ? Number(text) : unknown()
    },
    signal
  )
}

/** All of a file, from a server that has no ranges. */
async function readWhole(answer: Answer, name: string, { wholeBytes }: Network, counted: Counter): Promise<Opened> {
  const { headers } = answer
  const isPacked = (headers.get('content-encoding') ?? 'identity') !== 'identity'
  // A browser unpacks it; the length is that of what is packed.
  if (isPacked && isNode) fail('invalid-file', 'its server packs it, though it was asked not to')
  const stated = isPacked ? null : headers.get('content-length')
  const size = stated === null ? undefined : Number(stated)
  const tooLarge = (): never =>
    fail(
      'limit-exceeded',
      `its server has no ranges, and all of it is more than ${wholeBytes} bytes (option wholeBytes)`
    )
  if (size !== undefined && size > wholeBytes) tooLarge()
  counted.expect(size ?? 0)
  let all = new Uint8Array(size ?? FIRST)
  let length = 0
  await answer.body(bytes => {
    const end = length + bytes.length
    if (end > wholeBytes) tooLarge()
    if (end > (size ?? wholeBytes)) fail('invalid-file', `the server sends more than the ${size} bytes that it said`)
    if (end > all.length) all = grown(all, Math.min(wholeBytes, Math.max(end, 2 * all.length)))
    all.set(bytes, length)
    length = end
    counted.came(bytes.length)
  })
  if (size !== undefined && length !== size) throw new Again(`the answer ends after ${length} of ${size} bytes`)
  const source = bytesSource(name, all.subarray(0, length))
  if (length <= FIRST) return { source }
  return { source, note: `${name}: the server has no ranges, so all ${length} bytes were read` }
}

function grown(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const more = new Uint8Array(length)
  more.set(bytes)
  return more
}

/** What tells one version of a file from the next. */
interface Version {
  readonly tag: string | null
  readonly modified: string | null
}

const versionOf = ({ headers }: Answer): Version => ({
  tag: headers.get('etag'),
  modified: headers.get('last-modified')
})

/** A file of which a web server gives ranges. */
class HttpBytes implements AsyncBytes {
  readonly name: string
  readonly size: number
  private readonly url: URL
  /** Where redirects have led: asked first from then on. */
  private resolved: URL
  private readonly version: Version
  private readonly network: Network
  private readonly traffic: Traffic
  /** Whether the server gives several ranges in one answer; undefined: it has not been asked. */
  private givesSeveral: boolean | undefined

  constructor(url: URL, first: Answer, size: number, network: Network, traffic: Traffic) {
    this.url = url
    this.name = nameOf(url)
    this.size = size
    this.resolved = first.url
    this.version = versionOf(first)
    this.network = network
    this.traffic = traffic
    // Other origins would have to allow a page's headers first; most do not.
    if (!isAtHome(url)) this.givesSeveral = false
  }

  async fill(parts: readonly Part[], signal?: AbortSignal): Promise<void> {
    const pieces = piecesOf(parts, NEAR, MAX_READ)
    for (const { length } of pieces) this.traffic.expect(length)
    const small = pieces.filter(({ length }) => length <= SMALL)
    const large = pieces.filter(({ length }) => length > SMALL)
    const several = small.length >= MIN_RANGES && this.givesSeveral !== false
    const jobs = several ? inGroups(small) : small.map(piece => [piece])
    // The first of them tells whether the server gives several ranges.
    if (several && this.givesSeveral === undefined) await this.group(jobs.shift()!, signal)
    const singly = several && !this.givesSeveral ? jobs.flat().map(piece => [piece]) : jobs
    const { connections } = this.network
    await inParallel(singly, connections, (job, stop) => this.group(job, stop), signal)
    await inParallel(large, Math.min(connections, LARGE_AT_ONCE), (piece, stop) => this.group([piece], stop), signal)
  }

  /** Reads a few pieces: at once, where the server gives several ranges. */
  private async group(pieces: readonly Piece[], signal: AbortSignal | undefined): Promise<void> {
    if (pieces.length > 1 && this.givesSeveral !== false && (await this.ask(pieces, signal))) return
    const { connections } = this.network
    await inParallel(pieces, connections, async (piece, stop) => void (await this.ask([piece], stop)), signal)
  }

  /** @returns false: the server does not give several ranges in one answer */
  private ask(pieces: readonly Piece[], signal: AbortSignal | undefined): Promise<boolean> {
    const counted = counter(this.name, this.traffic)
    const length = pieces.reduce((sum, piece) => sum + piece.length + AROUND, 0)
    const ranges = pieces.map(piece => `${piece.offset}-${piece.offset + piece.length - 1}`).join(',')
    const headers = { Range: `bytes=${ranges}`, ...this.condition() }
    const read = async (answer: Answer): Promise<boolean> => {
      counted.restart()
      return this.receive(answer, pieces, counted)
    }
    const at = (url: URL): Promise<boolean> =>
      request({ url, home: this.url, headers, length }, this.network, read, signal)
    if (this.resolved.href === this.url.href) return at(this.url)
    return this.askWhereItLed(at)
  }

  /** Addresses that redirects lead to may expire; then the redirect is followed anew. */
  private async askWhereItLed(at: (url: URL) => Promise<boolean>): Promise<boolean> {
    try {
      return await at(this.resolved)
    } catch (error) {
      if (!(error instanceof NodewiseError) || error.code !== 'missing-file') throw error
      return at(this.url)
    }
  }

  /** A server gives all of a file that is another one by now; a page may say this to its own origin only. */
  private condition(): Readonly<Record<string, string>> {
    const { tag, modified } = this.version
    const strong = tag !== null && !tag.startsWith('W/') ? tag : tag === null ? modified : null
    return strong !== null && isAtHome(this.url) ? { 'If-Range': strong } : {}
  }

  /**
   * Takes what an answer has of some pieces.
   * @returns false: it has not all of several pieces, though the server gave no fault
   */
  async receive(answer: Answer, pieces: readonly Piece[], counted: Counter): Promise<boolean> {
    const { headers, status } = answer
    const isSeveral = pieces.length > 1
    // A server without the file's former version, or that does not give several ranges, gives all of it.
    if (status === 200 && isSeveral && this.givesSeveral === undefined) return this.givesOne()
    if (status === 200 || status === 412 || status === 416) this.hasChanged()
    refuseStatus(answer)
    if (status !== 206) fail('invalid-file', `the server answers ${status} to a request for a range`)
    this.refuseOther(versionOf(answer))
    const encoding = headers.get('content-encoding') ?? 'identity'
    if (encoding.toLowerCase() !== 'identity')
      fail('invalid-file', `the server sends a range with Content-Encoding ${encoding}`)
    const boundary = isSeveral ? boundaryOf(headers.get('content-type')) : undefined
    if (boundary !== undefined) return this.receiveSeveral(answer, boundary, pieces, counted)
    // Some servers join several ranges into one with all that lies between.
    if (isSeveral) return this.givesOne()
    await this.receiveOne(answer, pieces[0], counted)
    return true
  }

  private givesOne(): boolean {
    this.givesSeveral = false
    return false
  }

  private async receiveOne(answer: Answer, piece: Piece, counted: Counter): Promise<void> {
    const { headers } = answer
    const text = headers.get('content-range')
    const range = contentRange(text)
    // Other origins hide it from a page.
    if (range || text !== null || isAtHome(this.url)) this.refuseRange(range, piece)
    let at = piece.offset
    const end = piece.offset + piece.length
    await answer.body(bytes => {
      if (at + bytes.length > end)
        fail('invalid-file', `the server sends more than the ${piece.length} bytes that were asked for`)
      scatter(piece, at, bytes)
      at += bytes.length
      counted.came(bytes.length)
    })
    if (at < end) throw new Again(`the answer ends after ${at - piece.offset} of ${piece.length} bytes`)
  }

  private refuseRange(range: ContentRange | undefined, piece: Piece): void {
    if (range && range.size !== this.size) this.hasChanged()
    if (range?.offset === piece.offset && range.length === piece.length) return
    const sent = range ? `bytes ${range.offset}-${range.offset + range.length - 1}` : 'no range'
    fail(
      'invalid-file',
      `the server sends ${sent} where ${piece.offset}-${piece.offset + piece.length - 1} were asked for`
    )
  }

  private async receiveSeveral(
    answer: Answer,
    boundary: string,
    pieces: readonly Piece[],
    counted: Counter
  ): Promise<boolean> {
    const parts = pieces.flatMap(piece => piece.parts)
    const most = pieces.reduce((sum, { length }) => sum + length + AROUND + NEAR, 0)
    const missing = new Set(pieces)
    let came = 0
    const reader = new MultipartReader(
      boundary,
      ({ offset, length, size }) => {
        if (size !== this.size) this.hasChanged()
        for (const piece of missing)
          if (piece.offset >= offset && piece.offset + piece.length <= offset + length) missing.delete(piece)
      },
      (offset, bytes) => scatter({ parts }, offset, bytes)
    )
    await answer.body(bytes => {
      came += bytes.length
      if (came > most) fail('invalid-file', 'the server sends more than the ranges that were asked for')
      reader.push(bytes)
      counted.came(bytes.length)
    })
    if (!reader.isEnded) throw new Again(`the answer ends after ${came} bytes, within its parts`)
    this.givesSeveral = missing.size === 0
    return this.givesSeveral
  }

  private refuseOther({ tag, modified }: Version): void {
    const { version } = this
    const isOther =
      tag !== null && version.tag !== null
        ? tag !== version.tag
        : modified !== null && version.modified !== null && modified !== version.modified
    if (isOther) this.hasChanged()
  }

  private hasChanged(): never {
    return fail('invalid-file', 'it changed while it was in use')
  }
}

/** Whether requests may have any header: always in Node, in a page to its own origin. */
const isAtHome = ({ origin }: URL): boolean => isNode || origin === location.origin

function inGroups(pieces: readonly Piece[]): (readonly Piece[])[] {
  const groups: (readonly Piece[])[] = []
  for (let at = 0; at < pieces.length; at += RANGES) groups.push(pieces.slice(at, at + RANGES))
  return groups
}
