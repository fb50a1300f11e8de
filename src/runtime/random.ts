/**
 * Generators of numbers in [0, 1) for random operators: the same session seed and the same run give the same numbers. A
 * node's own seed gives that node the same numbers in every run. The stream is that of splitmix32, not a runtime's.
 */
export function randomSource(sessionSeed: number): (seed?: number) => () => number {
  let calls = 0
  return seed => splitmix32(seed === undefined ? (sessionSeed ^ Math.imul(++calls, 0x9e3779b9)) >>> 0 : bitsOf(seed))
}

/** Seeds are floats in ONNX: every bit of one counts. */
function bitsOf(seed: number): number {
  const [low, high] = new Uint32Array(new Float64Array([seed]).buffer)
  return (low ^ high) >>> 0
}

function splitmix32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x9e3779b9) | 0
    let bits = state ^ (state >>> 16)
    bits = Math.imul(bits, 0x21f0aaad)
    bits ^= bits >>> 15
    bits = Math.imul(bits, 0x735a2d97)
    return ((bits ^ (bits >>> 15)) >>> 0) / 4294967296
  }
}
