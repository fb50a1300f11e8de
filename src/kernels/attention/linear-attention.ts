import type { Numbers } from '../../tensor/elements.ts'

/** The state of one head, `depth` rows of `width` numbers, and the key and value of one token. */
export interface Update {
  readonly state: Float64Array
  readonly depth: number
  readonly width: number
  readonly keys: Numbers
  /** Offset of the token's key in `keys`. */
  readonly key: number
  readonly values: Numbers
  /** Offset of the token's value in `values`. */
  readonly value: number
}

/** `state[i, :] *= exp(decay[i])`; the same decay for all rows where `perRow` is false. */
export function decayState(
  state: Float64Array,
  depth: number,
  width: number,
  decays: Numbers,
  at: number,
  perRow: boolean
): void {
  for (let i = 0; i < depth; i++) {
    const factor = Math.exp(decays[at + (perRow ? i : 0)])
    for (let j = i * width; j < (i + 1) * width; j++) state[j] *= factor
  }
}

/**
 * `state += key ⊗ value`, or the delta rule where `rate` is given: `state += rate * key ⊗ (value - stateᵀ key)`.
 * @param row scratch space of `width` numbers
 */
export function writeState(
  { state, depth, width, keys, key, values, value }: Update,
  rate: number | undefined,
  row: Float64Array
): void {
  for (let j = 0; j < width; j++) row[j] = values[value + j]
  if (rate !== undefined) {
    for (let i = 0; i < depth; i++) {
      const factor = keys[key + i]
      for (let j = 0; j < width; j++) row[j] -= factor * state[i * width + j]
    }
    for (let j = 0; j < width; j++) row[j] *= rate
  }
  for (let i = 0; i < depth; i++) {
    const factor = keys[key + i]
    for (let j = 0; j < width; j++) state[i * width + j] += factor * row[j]
  }
}

/** `out = scale * stateᵀ query`. */
export function readState(
  state: Float64Array,
  depth: number,
  width: number,
  queries: Numbers,
  query: number,
  scale: number,
  out: Numbers,
  target: number
): void {
  for (let j = 0; j < width; j++) {
    let sum = 0
    for (let i = 0; i < depth; i++) sum += queries[query + i] * state[i * width + j]
    out[target + j] = scale * sum
  }
}
