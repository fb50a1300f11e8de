import { splat } from '../f32/simd'
import { interleaveLowBytes } from '../interleave'
import { codeAt, CodedArguments, FLOATS3, floatAt, INTEGERS, NAMES, NUMBERS, scaleAt, zeroAt } from './arguments'
import { decodeFloats } from './floats'

/** Writes elements `from … to - 1` of a row of the weights as float32. */
export function decodeRow(args: CodedArguments, row: u32, from: u32, to: u32, out: usize): void {
  while (from < to) {
    const block = from / args.blockSize
    const end = min(to, (block + 1) * args.blockSize)
    const scale = scaleAt(args, row, block)
    if (args.codeKind == NAMES) decodeNamed(args, row, from, end, scale, out)
    else if (args.codeKind != INTEGERS) {
      const codes = args.codes + <usize>row * args.rowBytes + from
      decodeFloats(args.codeKind == FLOATS3 ? 3 : 2, codes, end - from, args.table, scale, out)
    } else {
      let zero = <f32>zeroAt(args, row, block)
      if (args.zeroKind == NUMBERS) zero += floatAt(args.zeros, row * args.blocks + block, args.scaleKind)
      decodeBlock(args, row, from, end, scale, zero, out)
    }
    out += (<usize>(end - from)) << 2
    from = end
  }
}

function decodeBlock(args: CodedArguments, row: u32, from: u32, to: u32, scale: f32, zero: f32, out: usize): void {
  const bits = args.bits
  const flip = args.flip & ((1 << bits) - 1)
  const codes = args.codes + <usize>row * args.rowBytes
  let i = from
  if (((i * bits) & 7) == 0) {
    const signs = i8x16.splat(<i8>args.flip)
    const scales = splat(scale)
    const zeros = splat(zero)
    for (; i + 16 <= to; i += 16, out += 64) {
      const at = codes + ((i * bits) >> 3)
      let v: v128
      if (bits == 4) v = spread4(v128.xor(v128.load64_zero(at), signs))
      else if (bits == 8) v = v128.xor(v128.load(at), signs)
      else v = spread2(v128.xor(v128.load32_zero(at), signs))
      store8(out, i16x8.extend_low_i8x16_u(v), zeros, scales)
      store8(out + 32, i16x8.extend_high_i8x16_u(v), zeros, scales)
    }
  }
  for (; i < to; i++, out += 4) f32.store(out, (<f32>(codeAt(codes, 0, i, bits) ^ flip) - zero) * scale)
}

/** Sixteen codes of four bits, a byte each. */
// @ts-ignore: decorator
@inline
function spread4(v: v128): v128 {
  const low = v128.and(v, i8x16.splat(15))
  const high = i8x16.shr_u(v, 4)
  return interleaveLowBytes(low, high)
}

/** Sixteen codes of two bits, a byte each. */
// @ts-ignore: decorator
@inline
function spread2(v: v128): v128 {
  const low = v128.and(v, i8x16.splat(15))
  const high = i8x16.shr_u(v, 4)
  const pairs = interleaveLowBytes(low, high)
  const first = v128.and(pairs, i8x16.splat(3))
  const second = i8x16.shr_u(pairs, 2)
  return interleaveLowBytes(first, second)
}

// @ts-ignore: decorator
@inline
function store8(out: usize, codes: v128, zeros: v128, scales: v128): void {
  const low = f32x4.convert_i32x4_u(i32x4.extend_low_i16x8_u(codes))
  const high = f32x4.convert_i32x4_u(i32x4.extend_high_i16x8_u(codes))
  v128.store(out, f32x4.mul(f32x4.sub(low, zeros), scales))
  v128.store(out, f32x4.mul(f32x4.sub(high, zeros), scales), 16)
}

/** Values of a table by their codes. */
function decodeNamed(args: CodedArguments, row: u32, from: u32, to: u32, scale: f32, out: usize): void {
  const codes = args.codes + <usize>row * args.rowBytes
  const swap = args.isHighFirst
  for (let i = from; i < to; i++, out += 4)
    f32.store(out, f32.load(args.table + (codeAt(codes, 0, i ^ swap, 4) << 2)) * scale)
}
