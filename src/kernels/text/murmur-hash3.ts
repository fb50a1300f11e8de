// MurmurHash3 of 32 bits by Austin Appleby (public domain), for x86: bytes are taken as little-endian words.

const ENCODER = new TextEncoder()

const rotate = (x: number, by: number): number => (x << by) | (x >>> (32 - by))
const scramble = (word: number): number => Math.imul(rotate(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593)
const mix = (hash: number, word: number): number => (Math.imul(rotate(hash ^ scramble(word), 13), 5) + 0xe6546b64) | 0

function finish(hash: number, byteCount: number): number {
  let h = hash ^ byteCount
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return h ^ (h >>> 16)
}

/** The hash of `count` words from `start` on. */
export function murmurOfWords(words: Int32Array, start: number, count: number, seed: number): number {
  let hash = seed | 0
  for (let i = start; i < start + count; i++) hash = mix(hash, words[i])
  return finish(hash, 4 * count)
}

/** The hash of a text as UTF-8. */
export function murmurOfText(text: string, seed: number): number {
  const bytes = ENCODER.encode(text)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const whole = bytes.length & ~3
  let hash = seed | 0
  for (let i = 0; i < whole; i += 4) hash = mix(hash, view.getInt32(i, true))
  let rest = 0
  for (let i = bytes.length - 1; i >= whole; i--) rest = (rest << 8) | bytes[i]
  if (whole < bytes.length) hash ^= scramble(rest)
  return finish(hash, bytes.length)
}
