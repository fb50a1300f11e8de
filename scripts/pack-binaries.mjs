// Writes WebAssembly as text that gzip packs as well as the bytes themselves, which base64 does not allow, since it
// shifts bytes against characters: 35 kB in place of 51 for a module of 114 kB. Two modules that have most in common
// become one text, in which each function stands beside its counterpart. src/wasm/binary.ts reads it.

/** Printable ASCII but for what a string of JavaScript would escape; the last two begin a pair. */
export const ALPHABET = Array.from({ length: 95 }, (_, i) => String.fromCharCode(32 + i))
  .filter(each => !'\'"`\\$'.includes(each))
  .join('')
const SINGLES = ALPHABET.length - 2

/** All values of a byte, the most frequent first. */
export function orderOf(binaries) {
  const counts = Array.from({ length: 256 }, () => 0)
  for (const binary of binaries) for (const byte of binary) counts[byte]++
  return counts.map((_, byte) => byte).toSorted((a, b) => counts[b] - counts[a])
}

/** What writes bytes as text: frequent values by one character, others by a pair. */
export function encoder(order) {
  const codes = []
  for (const [i, byte] of order.entries()) {
    const rest = i - SINGLES
    codes[byte] =
      rest < 0 ? ALPHABET[i] : ALPHABET[SINGLES + Math.floor(rest / ALPHABET.length)] + ALPHABET[rest % ALPHABET.length]
  }
  return bytes => Array.from(bytes, byte => codes[byte]).join('')
}

const CODE_SECTION = 10
const HEADER = 8

/** Cuts a module into what comes before its functions, each function, and what follows. */
function unitsOf(binary) {
  let at = HEADER
  const readLength = () => {
    let [value, shift] = [0, 0]
    for (; ; shift += 7) {
      const byte = binary[at++]
      value |= (byte & 127) << shift
      if (byte < 128) return value
    }
  }
  const cuts = [0]
  while (at < binary.length) {
    const section = binary[at++]
    const length = readLength()
    const end = at + length
    if (section === CODE_SECTION)
      for (let left = readLength(); left > 0; left--) {
        cuts.push(at)
        const size = readLength()
        at += size
      }
    at = end
    if (section === CODE_SECTION) cuts.push(at)
  }
  return cuts.map((from, i) => binary.subarray(from, cuts[i + 1]))
}

/** Lengths of the longest common subsequences of all tails of two lists. */
function commonTails(a, b, areSame) {
  const longest = Array.from({ length: a.length + 1 }, () => Array.from({ length: b.length + 1 }, () => 0))
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      longest[i][j] = areSame(a[i], b[j]) ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1])
  return longest
}

/**
 * Two modules as one text, and the lengths of its parts: of three, the first is in both modules, the second in `a`, the
 * third in `b`.
 */
export function pairOf(a, b, encode) {
  const [own, other] = [a, b].map(each => unitsOf(each).map(encode))
  const longest = commonTails(own, other, (x, y) => x === y)
  const parts = []
  for (let i = 0, j = 0; i < own.length || j < other.length;) {
    let shared = ''
    while (i < own.length && j < other.length && own[i] === other[j]) {
      shared += own[i++]
      j++
    }
    const [alone, opposite] = [[], []]
    while (i < own.length && longest[i + 1][j] === longest[i][j]) alone.push(own[i++])
    while (j < other.length && longest[i][j + 1] === longest[i][j]) opposite.push(other[j++])
    parts.push(shared, alone.shift() ?? '', opposite.shift() ?? '')
    while (alone.length + opposite.length > 0) parts.push('', alone.shift() ?? '', opposite.shift() ?? '')
  }
  return { text: parts.join(''), lengths: parts.map(({ length }) => length) }
}
