import type { Uint32Stream } from './philox.ts'

const SIZE = 624
const DISTANCE = 397

/** MT19937 (Matsumoto and Nishimura, Mersenne Twister) from a 32-bit seed. */
export function mersenneTwister(seed: number): Uint32Stream {
  const state = new Uint32Array(SIZE)
  state[0] = seed
  for (let i = 1; i < SIZE; i++) state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i
  let used = SIZE

  function twist(): void {
    for (let i = 0; i < SIZE; i++) {
      const mixed = (state[i] & 0x80000000) | (state[(i + 1) % SIZE] & 0x7fffffff)
      state[i] = state[(i + DISTANCE) % SIZE] ^ (mixed >>> 1) ^ ((mixed & 1) === 0 ? 0 : 0x9908b0df)
    }
    used = 0
  }

  return () => {
    if (used === SIZE) twist()
    let y = state[used++]
    y ^= y >>> 11
    y ^= (y << 7) & 0x9d2c5680
    y ^= (y << 15) & 0xefc60000
    return (y ^ (y >>> 18)) >>> 0
  }
}
