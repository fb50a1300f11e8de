const float = new Float64Array(1)
const bits = new BigInt64Array(float.buffer)

/** The largest double below `x`: `y < x` is `y <= nextBelow(x)` for every double `y`. NaN for -Infinity and NaN. */
export function nextBelow(x: number): number {
  if (x === 0) return -Number.MIN_VALUE
  if (x === -Infinity) return NaN
  float[0] = x
  bits[0] += x > 0 ? -1n : 1n
  return float[0]
}
