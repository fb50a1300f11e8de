import type { DType } from '../../tensor/dtype.ts'
import { allocate, type Tensor } from '../../tensor/tensor.ts'
import { binary, type UnaryLoop } from '../core/elementwise.ts'
import { COST, inChunks } from '../core/pace.ts'
import { roundHalfToEven } from '../core/rounding.ts'
import { ADD, DIVIDE } from '../elementwise/binary.ts'
import { store } from './store.ts'

/** What the codes of an 8-bit tensor stand for: code `c` for the number `(c - zero) * scale`. */
export interface Quantization {
  readonly scale: number
  readonly zero: number
}

/** The quantization that a scale and a zero point of one element describe; without a zero point it is 0. */
export const quantizationOf = (scale: Tensor, zero: Tensor | undefined): Quantization => ({
  scale: scale.data[0] as number,
  zero: zero === undefined ? 0 : (zero.data[0] as number)
})

const CODES = 256

/** The codes as bytes: an int8 code is that of its two's complement. */
export const bytesOf = ({ data }: Tensor): Uint8Array => {
  const { buffer, byteOffset, length } = data as Uint8Array
  return new Uint8Array(buffer, byteOffset, length)
}

/** Every code of an 8-bit type, at the position of its byte. */
export function everyCode(type: DType): Tensor {
  const codes = allocate(type, [CODES])
  const bytes = bytesOf(codes)
  for (let byte = 0; byte < CODES; byte++) bytes[byte] = byte
  return codes
}

/** Writes the numbers of some codes. */
function writeNumbers(
  { data }: Tensor,
  { scale, zero }: Quantization,
  to: Float64Array,
  from: number,
  end: number
): void {
  const codes = data as Uint8Array
  for (let i = from; i < end; i++) to[i] = (codes[i] - zero) * scale
}

/** The numbers that 8-bit codes stand for. */
export function* dequantized(codes: Tensor, { scale, zero }: Quantization): Generator<void, Tensor<'float64'>> {
  const numbers = allocate('float64', codes.dims)
  yield* inChunks(codes.data.length, (from, to) => writeNumbers(codes, { scale, zero }, numbers.data, from, to))
  return numbers
}

/**
 * The nearest codes: `saturate(round(number / scale) + zero)`, ties to even.
 * @param numbers overwritten
 * @param evenCodes the zero point is added before the rounding, so that ties go to the even code:
 *   `saturate(round(number / scale + zero))`
 */
export function* requantize(
  numbers: Tensor<'float64'>,
  { scale, zero }: Quantization,
  out: Tensor,
  evenCodes = false
): Generator<void> {
  const single = (value: number): Tensor<'float64'> => {
    const tensor = allocate('float64', [])
    tensor.data[0] = value
    return tensor
  }
  yield* binary(DIVIDE, numbers, single(scale), numbers)
  if (evenCodes) yield* binary(ADD, numbers, single(zero), numbers)
  yield* store(numbers, single(evenCodes ? 0 : zero), out, true)
}

/** Clamps 8-bit codes between two. */
export const clampCodes = ({ data }: Tensor, [lowest, highest]: readonly [number, number]): Generator<void> =>
  inChunks(data.length, (from, to) => {
    const codes = data as Uint8Array
    for (let i = from; i < to; i++) codes[i] = Math.max(lowest, Math.min(highest, codes[i]))
  })

/** What QLinearSoftmax divides its result by: as in ONNX Runtime the reciprocal of the scale is rounded down. */
export const softmaxDivisor = (scale: number): number => 1 / Math.floor(Math.fround(1 / scale))

/**
 * Where each code of one quantization lies in another, by its byte.
 * @param change a function of the numbers that the codes stand for, such as an activation
 */
export function recodingTable(
  types: Readonly<Record<'from' | 'to', DType>>,
  from: Quantization,
  to: Quantization,
  change?: UnaryLoop
): Tensor {
  const table = allocate(types.to, [CODES])
  const codes = table.data as Uint8Array
  const numbers = new Float64Array(CODES)
  writeNumbers(everyCode(types.from), from, numbers, 0, CODES)
  change?.(numbers, numbers, 0, CODES)
  const lowest = types.to === 'int8' ? -128 : 0
  for (let i = 0; i < CODES; i++)
    codes[i] = Math.max(lowest, Math.min(lowest + CODES - 1, roundHalfToEven(numbers[i] / to.scale) + to.zero))
  return table
}

/** Brings 8-bit codes into the quantization of `out` by a {@link recodingTable}. */
export function* recode(
  codes: Tensor,
  from: Quantization,
  out: Tensor,
  to: Quantization,
  change?: UnaryLoop
): Generator<void> {
  const [source, target] = [codes, out].map(bytesOf)
  const table = bytesOf(recodingTable({ from: codes.type, to: out.type }, from, to, change))
  yield* inChunks(
    source.length,
    (start, end) => {
      for (let i = start; i < end; i++) target[i] = table[source[i]]
    },
    COST.copy
  )
}
