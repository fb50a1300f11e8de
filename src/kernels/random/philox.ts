/** A stream of 32-bit unsigned integers. */
export type Uint32Stream = () => number

const FIRST = 0xd2511f53
const SECOND = 0xcd9e8d57
const ROUNDS = 10

/** The upper half of the 64-bit product of two 32-bit unsigned integers. */
function mulHigh(a: number, b: number): number {
  const low = (a & 0xffff) * (b & 0xffff)
  const middle = (a >>> 16) * (b & 0xffff) + Math.floor(low / 0x10000)
  const other = (a & 0xffff) * (b >>> 16) + (middle & 0xffff)
  return ((a >>> 16) * (b >>> 16) + Math.floor(middle / 0x10000) + Math.floor(other / 0x10000)) >>> 0
}

/**
 * Philox 4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3). Block n of four numbers is a function of
 * n, `counter` and `key`, which are 64-bit unsigned integers.
 */
export function philox(key: bigint, counter: bigint): Uint32Stream {
  const low = (value: bigint): number => Number(BigInt.asUintN(32, value))
  const block = new Uint32Array(4)
  let n = 0
  let used = block.length

  function fill(): void {
    let a = n >>> 0,
      b = Math.floor(n / 0x100000000),
      c = low(counter),
      d = low(counter >> 32n)
    let k = low(key),
      l = low(key >> 32n)
    for (let round = 0; round < ROUNDS; round++) {
      const nextA = mulHigh(SECOND, c) ^ b ^ k
      const nextC = mulHigh(FIRST, a) ^ d ^ l
      b = Math.imul(SECOND, c)
      d = Math.imul(FIRST, a)
      a = nextA >>> 0
      c = nextC >>> 0
      k = (k + 0x9e3779b9) >>> 0
      l = (l + 0xbb67ae85) >>> 0
    }
    block[0] = a
    block[1] = b
    block[2] = c
    block[3] = d
    n++
    used = 0
  }

  return () => {
    if (used === block.length) fill()
    return block[used++]
  }
}

/** Draws multiples of 2^-53 in [0, 1), each from two numbers of a stream. */
export const unitDoubles =
  (next: Uint32Stream): (() => number) =>
  () =>
    ((next() >>> 11) * 2 ** 32 + next()) / 2 ** 53
