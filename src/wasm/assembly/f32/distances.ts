import { EXP } from './exponential'
import { splat } from './simd'
import { SQRT, unarySpan } from './unary'

/** Sums of powers of what rows and vectors differ by, and functions of these. */
@unmanaged
export class DistanceArguments {
  /** Rows of `features` numbers; vectors as columns, their count rounded up to a multiple of four. */
  x: usize
  vectors: usize
  y: usize
  features: u32
  count: u32
  /** 1, 2 or 3. */
  power: u32
  /** What is made of the sums `d`: see below. */
  end: u32
  gamma: f32
}

/** `exp(-gamma d)`: radial basis functions, where `d` are squares. */
const RADIAL: u32 = 1
const ROOT: u32 = 2

/** Computes rows `from … to - 1`. */
export function distanceRows(args: DistanceArguments, from: u32, to: u32): void {
  if (args.power == 1) rowsOf(1, args, from, to)
  else if (args.power == 2) rowsOf(2, args, from, to)
  else rowsOf(3, args, from, to)
}

// @ts-ignore: decorator
@inline
function rowsOf(power: u32, args: DistanceArguments, from: u32, to: u32): void {
  const isRadial = args.end == RADIAL
  const factor = splat(isRadial ? -args.gamma : 1)
  const step = (<usize>((args.count + 3) & ~3)) << 2
  const bytes = (<usize>args.features) << 2
  for (let row = from; row < to; row++) {
    const x = args.x + row * bytes
    const y = args.y + ((<usize>row * args.count) << 2)
    let k: u32 = 0
    for (; k + 16 <= args.count; k += 16) {
      let a = splat(0)
      let b = a
      let c = a
      let d = a
      for (let p = x, v = args.vectors + (k << 2), end = x + bytes; p < end; p += 4, v += step) {
        const s = v128.load32_splat(p)
        a = addPower(power, a, f32x4.sub(s, v128.load(v)))
        b = addPower(power, b, f32x4.sub(s, v128.load(v, 16)))
        c = addPower(power, c, f32x4.sub(s, v128.load(v, 32)))
        d = addPower(power, d, f32x4.sub(s, v128.load(v, 48)))
      }
      v128.store(y + (k << 2), f32x4.mul(a, factor))
      v128.store(y + (k << 2), f32x4.mul(b, factor), 16)
      v128.store(y + (k << 2), f32x4.mul(c, factor), 32)
      v128.store(y + (k << 2), f32x4.mul(d, factor), 48)
    }
    for (; k < args.count; k += 4) {
      let a = splat(0)
      for (let p = x, v = args.vectors + (k << 2), end = x + bytes; p < end; p += 4, v += step) {
        a = addPower(power, a, f32x4.sub(v128.load32_splat(p), v128.load(v)))
      }
      let rest = f32x4.mul(a, factor)
      for (let i = k; i < min(args.count, k + 4); i++) {
        v128.store32_lane(y + (i << 2), rest, 0)
        rest = i8x16.shuffle(rest, rest, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3)
      }
    }
    if (isRadial) unarySpan(EXP, y, y, (<usize>args.count) << 2, 0, 0)
    else if (args.end == ROOT) unarySpan(SQRT, y, y, (<usize>args.count) << 2, 0, 0)
  }
}

// @ts-ignore: decorator
@inline
function addPower(power: u32, sum: v128, d: v128): v128 {
  if (power == 1) return f32x4.add(sum, f32x4.abs(d))
  const square = f32x4.mul(d, d)
  return f32x4.add(sum, power == 2 ? square : f32x4.mul(square, f32x4.abs(d)))
}
