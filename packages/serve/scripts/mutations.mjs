const WORDS = [
  '-1',
  '1e99',
  '[]',
  '{}',
  'null',
  '"x"',
  '9'.repeat(20),
  '[[[[',
  '\\u0000',
  'true',
  '0.5',
  '"shape"',
  '\0\0\0\0'
]

/**
 * Malformed requests that are the same for the same seed.
 * @param {number} seed
 */
export function mutationsFrom(seed) {
  let state = seed
  /**
   * A whole number from 0 to below a bound (mulberry32).
   * @param {number} below
   */
  const random = below => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below)
  }
  /**
   * A body with some bytes changed, taken out, doubled, or replaced by what means something.
   * @param {Uint8Array} body
   */
  const mutated = body => {
    let bytes = Buffer.from(body)
    for (let n = 1 + random(4); n > 0; n--) {
      const at = random(bytes.length + 1)
      const end = Math.min(bytes.length, at + random(12))
      const kind = random(4)
      if (kind === 0 && at < bytes.length) bytes[at] = random(256)
      else {
        const none = Buffer.alloc(0)
        const middle = [none, none, bytes.subarray(at, end), Buffer.from(WORDS[random(WORDS.length)])][kind]
        bytes = Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(kind === 2 ? at : end)])
      }
    }
    return bytes
  }
  return { random, mutated }
}
