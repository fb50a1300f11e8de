import { requireOptions } from '../suggest.ts'
import { convert, type ConvertOptions } from './convert.ts'
import type { DType } from './dtype.ts'
import { requireTensor } from './given.ts'
import type { Tensor } from './tensor.ts'

/**
 * The tensor converted to another element type, as Cast of ONNX (opset 25) does; OpenVINO's Convert differs only in the
 * rounding rules of 8-bit and 4-bit floats. Returns the tensor itself where it has that type already.
 *
 * - Float to float: to nearest, ties to even, rounded once. Numbers too large for float16, bfloat16 and float32 become
 *   infinity.
 * - Integer to float: to nearest, ties to even, rounded once (64-bit integers too).
 * - Float to integer: towards zero. The specification leaves numbers that do not fit undefined; the results here are
 *   those of ONNX Runtime and OpenVINO on x86-64. NaN, and numbers that a signed integer of 32 or 64 bits cannot hold,
 *   become its smallest number. Types of at most 16 bits keep the low bits of the conversion to int32. For uint32 and
 *   uint64, numbers from 2^31 or 2^63 on are converted as what exceeds that number, which is then added again.
 * - Integer to integer: the low bits (200 as int8 is -56).
 * - To bool: true unless zero (NaN is true). From bool: 1 and 0.
 * - To string: numbers as C's `%.8g` prints them, NaN, INF and -INF, bools as 1 and 0, as in ONNX Runtime 1.31.
 * - From string: decimal and scientific notation with blanks around it, `inf`, `infinity` and `nan` in any case and
 *   with a sign. Integers are exact up to 64 bits; fractions are cut off.
 * - Real to complex: imaginary part 0. Complex to complex: both parts are converted.
 *
 * @throws NodewiseError `value-out-of-range` for text that is no number or an integer beyond 64 bits,
 *   `type-not-allowed` for complex to another kind and string to complex, `bad-usage` for what is no tensor
 */
export function castTensor<T extends DType>(tensor: Tensor, to: T, options: ConvertOptions = {}): Tensor<T> {
  requireTensor(tensor)
  requireOptions(options)
  return convert(tensor, to, options)
}
