import { fail } from '../../errors.ts'
import type { Constant } from '../../graph/graph.ts'
import { FP4, NF4 } from '../../kernels/quantized/coded-rows.ts'
import { firstOfLast, inDims, numbersOfCodes, retyped, rowZeros, unpacked } from '../../op-kit/conversion-codes.ts'
import { gathered } from '../../op-kit/conversion-kit.ts'
import { mul, multiplied, padded, part, widened, wideType, withAdded } from '../../op-kit/conversion-parts.ts'
import {
  type Conversion,
  expands,
  type Made,
  rankOf,
  type SourceCall,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { Tensor } from '../../tensor/tensor.ts'
import { matmulBnb4 } from './matmul-bnb4.ts'
import { matmulNBits } from './matmul-nbits.ts'

/** Codes, scales and zero points of MatMulNBits: in blocks of rows, or sorted where `g_idx` names the block of each. */
function expandNBits(call: SourceCall, w: Writer): readonly Made[] {
  const [k, n, bits, size] = ['k', 'n', 'bits', 'blockSize'].map(name => call.param<number>(name))
  const blocks = Math.ceil(k / size)
  const a = call.operand('a')
  const type = wideType(typeOf(a))
  const codes = unpacked(w, call.operand('b'), bits, n, blocks * size, [n, blocks, size])
  const scales = inDims(w, call.operand('scales'), [n, blocks, 1])
  const zeros = rowZeros(w, call.optional('zeros'), codes, bits, [n, blocks, 1])
  const blockOf = call.optional('blockOf')
  const x = widened(w, a)
  if (blockOf) {
    const order = part(w, blockOf, 0, 0, k)
    const sorted = (each: Made): Made =>
      rankOf(each) === 0 ? each : gathered(w, w.reshape(w.cast(each, type), [n, blocks]), order, 1)
    const columns = firstOfLast(w, w.reshape(w.cast(codes, type), [n, blocks * size]), k)
    const weights = numbersOfCodes(w, { codes: columns, scales: sorted(scales), zeros: sorted(zeros) }, type)
    return [w.cast(withAdded(w, multiplied(w, x, weights, true), call.optional('bias')), typeOf(a))]
  }
  const weights = w.reshape(numbersOfCodes(w, { codes, scales, zeros }, type), [n, blocks * size])
  // What fills the last block up is multiplied by zeros.
  const y = multiplied(w, padded(w, x, -1, 0, blocks * size - k), weights, true)
  return [w.cast(withAdded(w, y, call.optional('bias')), typeOf(a))]
}

/** The codes of a byte in the other order. */
const swappedCodes = (bytes: Uint8Array): Uint8Array => bytes.map(byte => (byte >> 4) | (byte << 4))

/** Bytes whose first code is in the high bits, filled up, as bytes whose first code is in the low bits. */
const lowFirst = (constant: Constant, byteLength: number): Constant => ({
  type: 'uint8',
  dims: [byteLength],
  byteLength,
  place: constant.place,
  read() {
    const filled = new Uint8Array(byteLength)
    filled.set(swappedCodes(constant.read().data as Uint8Array))
    return new Tensor('uint8', filled, [byteLength])
  }
})

/** One run of codes over all rows, each of which names a number of a table. */
function expandBnb4(call: SourceCall, w: Writer): readonly Made[] {
  const [k, n, size] = ['k', 'n', 'blockSize'].map(name => call.param<number>(name))
  const a = call.operand('a')
  const type = wideType(typeOf(a))
  const blocks = Math.ceil((k * n) / size)
  const packed = w.constantOf(call.operand('b'))
  if (packed === undefined) fail('unsupported-op', 'codes that are not known before the model runs')
  if ((blocks * size) % 2 !== 0) fail('unsupported-op', 'codes that do not fill whole bytes')
  const bytes = lowFirst(packed, (blocks * size) / 2)
  const isNormal = call.param<number>('quantType') === 1
  const dims = [blocks, size]
  const numbers =
    isNormal && w.dialect === 'openvino'
      ? w.cast(w.keep(retyped(bytes, 'nf4', dims)), type)
      : gathered(
          w,
          w.constant(type, [...(isNormal ? NF4 : FP4)]),
          w.cast(unpacked(w, w.keep(bytes), 4, 1, blocks * size, dims), 'int32'),
          0
        )
  const scaled = mul(w, numbers, w.cast(inDims(w, call.operand('largest'), [blocks, 1]), type))
  const run = blocks * size === k * n ? scaled : part(w, w.reshape(scaled, [-1]), 0, 0, k * n)
  const weights = w.reshape(run, [n, k])
  return [w.cast(multiplied(w, widened(w, a), weights, call.param<boolean>('transposeB')), typeOf(a))]
}

/** Products with weights in blocks of codes. */
export const blockRules: readonly Conversion[] = [
  ...expands(matmulNBits, expandNBits),
  ...expands(matmulBnb4, expandBnb4)
]
