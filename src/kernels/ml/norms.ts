/** How a row is measured. */
export interface Norm {
  /** What elements are added to, or compared with, first. */
  readonly start: number
  /** What was found so far, and in the elements `from <= i < to`. */
  add(found: number, x: Float64Array, from: number, to: number): number
  /** The divisor for what was found in all elements. */
  divisor(found: number): number
}

/** ONNX Runtime passes over NaN where it looks for the largest. */
export const MAX: Norm = {
  start: -Infinity,
  add(found, x, from, to) {
    for (let i = from; i < to; i++) if (x[i] > found) found = x[i]
    return found
  },
  divisor: found => found
}
export const L1: Norm = {
  start: 0,
  add(found, x, from, to) {
    for (let i = from; i < to; i++) found += Math.abs(x[i])
    return found
  },
  divisor: found => found
}
export const L2: Norm = {
  start: 0,
  add(found, x, from, to) {
    for (let i = from; i < to; i++) found += x[i] * x[i]
    return found
  },
  divisor: Math.sqrt
}
