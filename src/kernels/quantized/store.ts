import { DTYPES } from '../../tensor/dtype.ts'
import { type Codes, isCodedFloat, narrow } from '../../tensor/floats.ts'
import { allocate, type Tensor } from '../../tensor/tensor.ts'
import { binary, type BinaryLoops } from '../core/elementwise.ts'
import { COST, inChunks } from '../core/pace.ts'
import { roundHalfToEven } from '../core/rounding.ts'
import { ADD } from '../elementwise/binary.ts'

/**
 * Rounds quotients to integers (ties to even), adds zero points and saturates the sums to a quantized type; 8-bit and
 * 4-bit floats are rounded after the addition.
 * @param zeros broadcast to the quotients; 0 where left out
 * @param saturate whether floats beyond the range of a float type become its largest; integers always do
 */
export function* store(
  quotients: Tensor<'float64'>,
  zeros: Tensor<'float64'> | undefined,
  out: Tensor,
  saturate: boolean
): Generator<void> {
  const none = zeros ?? allocate('float64', [])
  const { type } = out
  if (isCodedFloat(type)) {
    const sums = allocate('float64', out.dims)
    yield* binary(ADD, quotients, none, sums)
    const codes = out.data as Codes
    return yield* inChunks(
      codes.length,
      (from, to) => narrow(type, sums.data.subarray(from, to), codes.subarray(from, to), { saturate, dialect: 'onnx' }),
      4 * COST.element
    )
  }
  const { kind, bits } = DTYPES[out.type]
  const lowest = kind === 'int' ? -(2 ** (bits - 1)) : 0
  yield* binary(roundedSum(lowest, lowest + 2 ** bits - 1), quotients, none, out)
}

const roundedSum = (lowest: number, highest: number): BinaryLoops => ({
  float: (a, p, s, b, q, t, out, o, u, n) => {
    for (let i = 0; i < n; i++, p += s, q += t, o += u)
      out[o] = Math.max(lowest, Math.min(highest, roundHalfToEven(a[p]) + b[q]))
  }
})
