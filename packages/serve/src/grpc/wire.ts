import { Refusal } from '../refusal.ts'

/** Parts of a message, such as inputs, parameters and strings: each becomes an object. */
const MAX_PARTS = 1_000_000

/** Numbers of fields, in inference.proto. */
const INPUTS = 5
const CONTENTS = 5
/** Contents of 64-bit integers: each element becomes an object, where others become a number. */
const WIDE = new Set([3, 5])
const WIDE_WEIGHT = 4

interface Found {
  parts: number
  typed: number
}

/**
 * Looks over an encoded ModelInferRequest before it is decoded. A byte of typed contents becomes a number or an object
 * in memory, and so does each part, however short: the raw contents, which stay bytes, are the way for large tensors.
 * @throws Refusal `body-too-large`; `bad-request` where the bytes are no message
 */
export function checkSize(bytes: Uint8Array, maxTyped: number): void {
  const found: Found = { parts: 0, typed: 0 }
  eachField(bytes, 0, bytes.length, (field, start, end) => {
    count(found)
    if (field !== INPUTS) return
    eachField(bytes, start, end, (inner, from, to) => {
      count(found)
      if (inner !== CONTENTS) return
      eachField(bytes, from, to, (kind, first, last) => {
        count(found)
        found.typed += (last - first) * (WIDE.has(kind) ? WIDE_WEIGHT : 1)
      })
      found.typed += to - from
    })
  })
  if (found.typed > maxTyped)
    throw new Refusal('body-too-large', `typed contents take up to ${maxTyped} bytes; larger tensors are raw contents`)
}

function count(found: Found): void {
  if (++found.parts > MAX_PARTS) throw new Refusal('body-too-large', `a request has up to ${MAX_PARTS} parts`)
}

const broken = (): never => {
  throw new Refusal('bad-request', 'the message is no ModelInferRequest')
}

/** Calls `visit` with the number and the range of each field whose length is written before it. */
function eachField(
  bytes: Uint8Array,
  start: number,
  end: number,
  visit: (field: number, start: number, end: number) => void
): void {
  let at = start
  const varint = (): number => {
    let value = 0
    for (let shift = 1; at < end; shift *= 128) {
      const byte = bytes[at++]
      value += (byte & 0x7f) * shift
      if (byte < 0x80) return value
      if (shift > 2 ** 63) break
    }
    return broken()
  }
  while (at < end) {
    const tag = varint()
    const kind = tag % 8
    if (kind === 0) varint()
    else if (kind === 1) at += 8
    else if (kind === 5) at += 4
    else if (kind === 2) {
      const length = varint()
      if (length > end - at) broken()
      visit(Math.floor(tag / 8), at, at + length)
      at += length
    } else broken()
    if (at > end) broken()
  }
}
