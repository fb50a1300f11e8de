// Content of tables and indices: pseudo-random, the same in every run.

/** xorshift32: a 32-bit integer at each call. */
export function randomSource(seed) {
  let state = seed | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state
  }
}

/** How random bits become an element: finite floats in [1, 2), so that no system may touch the bits of a NaN. */
const WORDS = {
  float32: bits => (bits >>> 9) | 0x3f800000,
  float16: bits => (bits & 0x03ff03ff) | 0x3c003c00,
  uint8: bits => bits,
  int32: bits => (bits >>> 1) % 50_000
}

/** Fills bytes (a multiple of 4) with elements of a type. */
export function fill(bytes, type, random) {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
  const word = WORDS[type]
  for (let i = 0; i < words.length; i++) words[i] = word(random())
}

/** The bytes of `count` elements; a type of one byte needs a multiple of four. */
export function elements(type, count, seed) {
  const bytes = Buffer.alloc(count * { float32: 4, float16: 2, uint8: 1, int32: 4 }[type])
  fill(bytes, type, randomSource(seed))
  return bytes
}

/** Some words of different lengths, none empty, not all ASCII. */
export function strings(count, seed) {
  const random = randomSource(seed)
  return Array.from({ length: count }, (_, i) => `${'wörd'.repeat((random() >>> 28) % 5)}-${i}`)
}

/** Indices 0 … limit - 1 as bytes. */
export function indices(type, count, limit, seed) {
  const random = randomSource(seed)
  const values = Array.from({ length: count }, () => (random() >>> 0) % limit)
  return Buffer.from(type === 'int64' ? BigInt64Array.from(values, BigInt).buffer : Int32Array.from(values).buffer)
}

/** A positive 31-bit seed from a name (FNV-1a). */
export const seedOf = name =>
  [...name].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16777619), 2166136261) >>> 1
