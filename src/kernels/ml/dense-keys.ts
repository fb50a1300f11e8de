import type { Tensor } from '../../tensor/tensor.ts'
import { ints } from '../core/numbers.ts'

/** Integers that lie close together, by which a list is looked up without hashing. */
export interface DenseKeys {
  /** The lowest key. */
  readonly least: number
  /** For each integer from the lowest key on: one more than the place of this key, or 0. */
  readonly places: Int32Array
}

/** Room for each key, and room that is never too much. */
const ROOM = 8
const MIN_ROOM = 64

/** @returns undefined where keys are anything but integers that lie close together; of equal keys the last counts */
export function denseKeys(keys: readonly (string | number | bigint)[]): DenseKeys | undefined {
  let [least, most] = [Infinity, -Infinity]
  for (const key of keys) {
    const number = typeof key === 'string' ? NaN : Number(key)
    // Beyond 2^31 different integers may be the same number.
    if ((number | 0) !== number) return undefined
    least = Math.min(least, number)
    most = Math.max(most, number)
  }
  if (!(most - least < Math.max(MIN_ROOM, ROOM * keys.length))) return undefined
  const places = new Int32Array(most - least + 1)
  keys.forEach((key, i) => (places[Number(key) - least] = i + 1))
  return { least, places }
}

/** One more than the place of the key of each element `from … to - 1` of a tensor of real numbers, 0 without one. */
export function findPlaces({ data }: Pick<Tensor, 'data'>, from: number, to: number, keys: DenseKeys): Int32Array {
  const found = ints(to - from)
  if (data instanceof BigInt64Array) {
    findPairs(new Int32Array(data.buffer, data.byteOffset + 8 * from, 2 * (to - from)), keys, found)
  } else findNumbers(data as Float32Array, from, keys, found)
  return found
}

function findPairs(pairs: Int32Array, { least, places }: DenseKeys, found: Int32Array): void {
  for (let i = 0, at = 0; at < pairs.length; i++, at += 2) {
    const low = pairs[at]
    const place = low - least
    found[i] = pairs[at + 1] === low >> 31 && place >= 0 && place < places.length ? places[place] : 0
  }
}

function findNumbers(numbers: Float32Array, from: number, { least, places }: DenseKeys, found: Int32Array): void {
  for (let i = 0; i < found.length; i++) {
    const number = numbers[from + i]
    // Compared before the subtraction, which rounds: 1e-20 is not the key 0.
    const whole = number | 0
    const place = whole - least
    found[i] = whole === number && place >= 0 && place < places.length ? places[place] : 0
  }
}
