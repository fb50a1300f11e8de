import { type DType, DTYPES, is64BitInteger } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { inChunks } from './pace.ts'
import { roundHalfToEven } from './rounding.ts'

/** Smallest and largest integer of a type. */
function rangeOf(type: DType): readonly [bigint, bigint] {
  const { kind, bits } = DTYPES[type]
  if (kind === 'bool') return [0n, 1n]
  return kind === 'int' ? [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n] : [0n, 2n ** BigInt(bits) - 1n]
}

/**
 * Writes numbers into a tensor of integers: rounded by `whole`, clamped to the range of the type, NaN as 0.
 * @param whole rounds a number to an integer
 */
export function* storeWhole(
  numbers: Numbers,
  out: Tensor,
  whole: (x: number) => number = roundHalfToEven
): Generator<void> {
  const [lowest, highest] = rangeOf(out.type)
  const low = Number(lowest)
  const high = Number(highest)
  if (is64BitInteger(out.type)) {
    const target = out.data as BigInt64Array
    return yield* inChunks(numbers.length, (from, to) => {
      for (let i = from; i < to; i++) {
        const value = whole(numbers[i])
        target[i] = value >= high ? highest : value <= low ? lowest : BigInt(value || 0)
      }
    })
  }
  const target = out.data as Int32Array
  if (whole === roundHalfToEven)
    return yield* inChunks(numbers.length, (from, to) => storeNearest(numbers, target, from, to, low, high))
  yield* inChunks(numbers.length, (from, to) => {
    for (let i = from; i < to; i++) target[i] = Math.min(high, Math.max(low, whole(numbers[i])))
  })
}

/** Beside this number doubles below 2^51 are rounded to integers, ties to even. */
const TO_WHOLE = 1.5 * 2 ** 52

/** {@link storeWhole} of up to 32 bits without a call for each element: what is clamped rounds by one addition. */
function storeNearest(numbers: Numbers, target: Int32Array, from: number, to: number, low: number, high: number): void {
  for (let i = from; i < to; i++) {
    const x = numbers[i]
    target[i] = (x > high ? high : x < low ? low : x) + TO_WHOLE - TO_WHOLE
  }
}
