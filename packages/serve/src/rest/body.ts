import { promisify } from 'node:util'
import { brotliDecompress, deflate, gunzip, gzip, inflate } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Context, Room } from '../context.ts'
import { Refusal } from '../refusal.ts'

export const tooLarge = ({ limits }: Context): Refusal =>
  new Refusal('body-too-large', `a body takes up to ${limits.maxBody} bytes`)

/**
 * Reads a body. Room is taken for what has come of it.
 * @param done is given the body, or a refusal: `body-too-large`, `overloaded`
 */
export function collect(
  context: Context,
  room: Room,
  from: NodeJS.ReadableStream,
  done: (error: Error | null, body?: Buffer) => void
): void {
  const parts: Buffer[] = []
  let size = 0
  const end = (error: Error | null, body?: Buffer): void => {
    from.off('data', take).off('end', whole).off('error', end)
    done(error, body)
  }
  const whole = (): void => end(null, parts.length === 1 ? parts[0] : Buffer.concat(parts, size))
  const take = (part: Buffer): void => {
    size += part.length
    try {
      if (size > context.limits.maxBody) throw tooLarge(context)
      room.take(part.length)
      parts.push(part)
    } catch (error) {
      from.pause()
      end(error as Error)
    }
  }
  from.on('data', take).on('end', whole).on('error', end)
}

const UNPACK = {
  gzip: promisify<Buffer, object, Buffer>(gunzip),
  deflate: promisify<Buffer, object, Buffer>(inflate),
  br: promisify<Buffer, object, Buffer>(brotliDecompress)
}
const PACK = { gzip: promisify<Buffer | string, Buffer>(gzip), deflate: promisify<Buffer | string, Buffer>(deflate) }

/** Bodies that are unpacked at the same time, one a thread of Node. What they give is not known before. */
const UNPACKING = 4
const waiting: (() => void)[] = []
let unpacking = 0

/**
 * The body without its compression; what it unpacks to is held to the limit of bodies.
 * @throws Refusal (as a rejection) `body-too-large`, `overloaded`, `bad-request`
 */
export async function unpacked(context: Context, { body, headers, room }: FastifyRequest): Promise<Buffer> {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
  // Names of codings are alike in capitals and small letters (RFC 9110, 8.4.1).
  const coding = headers['content-encoding']?.trim().toLowerCase()
  if (coding === undefined || coding === 'identity') return bytes
  if (!Object.hasOwn(UNPACK, coding)) throw new Refusal('bad-request', `Content-Encoding ${coding} is not known`)
  if (unpacking >= UNPACKING) await new Promise<void>(resolve => waiting.push(resolve))
  else unpacking++
  try {
    const whole = await UNPACK[coding as keyof typeof UNPACK](bytes, { maxOutputLength: context.limits.maxBody })
    room.take(whole.length)
    return whole
  } catch (error) {
    if (error instanceof Refusal) throw error
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(context)
    throw new Refusal('bad-request', `the body is no ${coding}: ${(error as Error).message}`)
  } finally {
    // The turn of one goes to the next.
    const next = waiting.shift()
    if (next) next()
    else unpacking--
  }
}

/** Answers of fewer bytes are not compressed. */
const WORTH_PACKING = 1024
/** Answers of fewer bytes are taken by the system, whether the client reads them or not. */
const WORTH_WATCHING = 16 * 1024

/** The body of an answer, compressed where the client asks for it. Clients that do not read it are cut off. */
export async function packed(
  { limits }: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  body: Buffer | string
): Promise<Buffer | string> {
  if (body.length >= WORTH_WATCHING) reply.raw.setTimeout(limits.ioTimeout)
  const accepted = request.headers['accept-encoding']
  if (typeof accepted !== 'string' || body.length < WORTH_PACKING) return body
  // Triton's clients name the one coding that they want; others list many, of which plain is cheapest.
  const coding = accepted.trim().toLowerCase()
  if (!Object.hasOwn(PACK, coding)) return body
  void reply.header('content-encoding', coding)
  return PACK[coding as keyof typeof PACK](body)
}
