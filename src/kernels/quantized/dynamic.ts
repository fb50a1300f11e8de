import type { Tensor } from '../../tensor/tensor.ts'
import { readNumbers } from '../core/numbers.ts'
import { inChunks } from '../core/pace.ts'
import { roundHalfToEven } from '../core/rounding.ts'
import type { Quantization } from './codes.ts'

/** The quantization to uint8 of numbers of a range that includes 0. */
export function quantizationOfRange(low: number, high: number): Quantization {
  const scale = Math.fround(Math.fround(low === high ? 1 : high - low) / 255)
  return { scale, zero: roundHalfToEven(Math.max(0, Math.min(255, Math.fround(-low / scale)))) }
}

/**
 * Quantizes numbers to uint8 with a scale and a zero point from their range, which is extended to include 0. Both
 * quotients are rounded to float32, as ONNX's DynamicQuantizeLinear says.
 * @param codes uint8 elements, as many as `x` has; written
 */
export function* quantizeByRange(x: Tensor, codes: Tensor): Generator<void, Quantization> {
  const numbers = yield* readNumbers(x)
  let [low, high] = [0, 0]
  yield* inChunks(numbers.length, (from, to) => {
    for (let i = from; i < to; i++) {
      low = Math.min(low, numbers[i])
      high = Math.max(high, numbers[i])
    }
  })
  const { scale, zero } = quantizationOfRange(low, high)
  const bytes = codes.data as Uint8Array
  yield* inChunks(bytes.length, (from, to) => {
    for (let i = from; i < to; i++) {
      const code = roundHalfToEven(Math.fround(numbers[i] / scale)) + zero
      bytes[i] = Math.max(0, Math.min(255, code))
    }
  })
  return { scale, zero }
}
