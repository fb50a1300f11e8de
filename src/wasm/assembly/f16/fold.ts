import { firstOffset, secondOffset, unravel } from '../loops'
import { narrowed, widened } from './halves'

/**
 * A function of two floats of 16 bits in float32. Either operand, or the result, may be float32: what has been made of
 * some operands of a list. Inputs are broadcast against the output: lines of `inner` elements, in which an input moves
 * by one element or stays.
 */
@unmanaged
export class HalfFoldArguments {
  a: usize
  b: usize
  y: usize
  /** 0 sum, 1 maximum, 2 minimum. */
  kind: i32
  isBrain: u32
  /** Whether a, and y, are float32. */
  isWide: u32
  givesWide: u32
  /** What the result is divided by, 1 where it is not. */
  divisor: f32
  inner: u32
  /** Bytes that an input moves by from element to element of a line: those of an element, or 0. */
  aInner: u32
  bInner: u32
  /** Outer loops, the innermost first; they follow: size, bytes that a and b move by, three words each. */
  rank: u32
}

const MAXIMUM: i32 = 1
const MINIMUM: i32 = 2

/** Computes lines `from … to - 1`; where there are no outer loops, elements `from … to - 1` of the one line. */
export function foldHalves(args: HalfFoldArguments, from: u32, to: u32): void {
  const width: u32 = args.givesWide ? 4 : 2
  if (args.rank == 0)
    return line(args, args.a + from * args.aInner, args.b + from * args.bInner, args.y + from * width, to - from)
  const loops = changetype<usize>(args) + offsetof<HalfFoldArguments>()
  for (let i = from; i < to; i++) {
    unravel(loops, args.rank, i)
    line(args, args.a + firstOffset, args.b + secondOffset, args.y + <usize>i * args.inner * width, args.inner)
  }
}

// @ts-ignore: decorator
@inline
function combine(kind: i32, a: v128, b: v128): v128 {
  return kind == MAXIMUM ? f32x4.max(a, b) : kind == MINIMUM ? f32x4.min(a, b) : f32x4.add(a, b)
}

// @ts-ignore: decorator
@inline
function one(x: usize, isWide: bool, isBrain: bool): v128 {
  return isWide ? v128.load32_splat(x) : widened(i32x4.splat(<i32>load<u16>(x)), isBrain)
}

function line(args: HalfFoldArguments, a: usize, b: usize, y: usize, n: u32): void {
  const kind = args.kind
  const isBrain = args.isBrain != 0
  const isWide = args.isWide != 0
  const givesWide = args.givesWide != 0
  const aMoves = args.aInner != 0
  const bMoves = args.bInner != 0
  const divides = args.divisor != 1
  const divisor = f32x4.splat(args.divisor)
  let p = one(a, isWide, isBrain)
  let q = p
  let r = one(b, false, isBrain)
  let s = r
  let i: u32 = 0
  for (; i + 8 <= n; i += 8) {
    if (aMoves) {
      if (isWide) {
        p = v128.load(a)
        q = v128.load(a, 16)
        a += 32
      } else {
        const codes = v128.load(a)
        p = widened(i32x4.extend_low_i16x8_u(codes), isBrain)
        q = widened(i32x4.extend_high_i16x8_u(codes), isBrain)
        a += 16
      }
    }
    if (bMoves) {
      const codes = v128.load(b)
      r = widened(i32x4.extend_low_i16x8_u(codes), isBrain)
      s = widened(i32x4.extend_high_i16x8_u(codes), isBrain)
      b += 16
    }
    let low = combine(kind, p, r)
    let high = combine(kind, q, s)
    if (divides) {
      low = f32x4.div(low, divisor)
      high = f32x4.div(high, divisor)
    }
    if (givesWide) {
      v128.store(y, low)
      v128.store(y, high, 16)
      y += 32
    } else {
      v128.store(y, i16x8.narrow_i32x4_u(narrowed(low, isBrain), narrowed(high, isBrain)))
      y += 16
    }
  }
  for (; i < n; i++, a += args.aInner, b += args.bInner) {
    let v = combine(kind, one(a, isWide, isBrain), one(b, false, isBrain))
    if (divides) v = f32x4.div(v, divisor)
    if (givesWide) v128.store32_lane(y, v, 0)
    else v128.store16_lane(y, narrowed(v, isBrain), 0)
    y += givesWide ? 4 : 2
  }
}
