// Numbers that follow from a seed, and the numbers and texts that break programs.

/** A source of numbers from any list of numbers and texts: the same list, the same numbers. */
export function randomFrom(...seeds) {
  let a = 0x9e3779b9
  for (const byte of Buffer.from(seeds.join('|'))) a = Math.imul(a ^ byte, 0x01000193) >>> 0
  const next = () => {
    // mulberry32
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return (t ^ (t >>> 14)) >>> 0
  }
  const random = {
    /** An integer from 0 to `count - 1`. */
    below: count => next() % count,
    between: (low, high) => low + (next() % (high - low + 1)),
    chance: probability => next() / 2 ** 32 < probability,
    pick: list => list[next() % list.length],
    /** One of `[weight, what]` by weight. */
    weighted: rows => {
      let at = (next() / 2 ** 32) * rows.reduce((sum, [weight]) => sum + weight, 0)
      for (const [weight, what] of rows) if ((at -= weight) < 0) return what
      return rows[0][1]
    },
    seed: next
  }
  return random
}

const POWERS = [7, 8, 15, 16, 24, 30, 31, 32, 33, 40, 52, 53, 62, 63]

/** Integers at which programs break, as BigInt within 64 bits. */
export const EXTREMES = [
  ...[0, 1, -1, 2, -2, 3, -3, 4, 5, 7, 10, 64, 65, 100, 1000, 65536, 1000000].map(BigInt),
  ...POWERS.flatMap(power => [
    1n << BigInt(power),
    (1n << BigInt(power)) - 1n,
    -(1n << BigInt(power)),
    -(1n << BigInt(power)) - 1n
  ])
].map(value => BigInt.asIntN(64, value))

export const SMALL = [0, 1, -1, 2, -2, 3, -3, 4, 5, 6, 8, 16].map(BigInt)

/** Mostly a small number, else an extreme one, or a neighbour of what was there. */
export function integer(random, old = 0n) {
  return random.weighted([
    [4, () => random.pick(SMALL)],
    [3, () => random.pick(EXTREMES)],
    [2, () => old + random.pick([-1n, 1n, 2n, -2n])],
    [1, () => -old],
    [1, () => old * 2n + 1n]
  ])()
}

export const FLOATS = [
  0,
  -0,
  1,
  -1,
  0.5,
  2,
  1e-45,
  1e38,
  -1e38,
  3.4028235e38,
  Infinity,
  -Infinity,
  NaN,
  1e-7,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  2 ** 63
]

/** Names that are no ordinary ones: prototypes, paths, control characters, markup, none at all. */
export const NAMES = [
  '',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'length',
  'prototype',
  '../../x',
  '/a/b',
  'a\0b',
  '\x1b[31mred',
  '<b>&amp;"\'',
  ' ',
  '\n',
  'NaN',
  '-1',
  '0',
  'Ünïcødé',
  '\u202eabc',
  '😀',
  '\ud800',
  'a'.repeat(5000),
  '%s%n',
  '${x}',
  'null',
  'undefined',
  'true'
]
