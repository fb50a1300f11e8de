import { EXP } from './exponential'
import { splat } from './simd'
import { unarySpan } from './unary'

/** Radial basis functions `exp(-gamma d)` of the squared distances `d` of rows and vectors. */
@unmanaged
export class RadialArguments {
  /** Rows of `features` numbers; vectors as columns, their count rounded up to a multiple of four. */
  x: usize
  vectors: usize
  y: usize
  features: u32
  count: u32
  gamma: f32
}

/** Computes rows `from … to - 1`. */
export function radialRows(args: RadialArguments, from: u32, to: u32): void {
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
        a = addSquare(a, f32x4.sub(s, v128.load(v)))
        b = addSquare(b, f32x4.sub(s, v128.load(v, 16)))
        c = addSquare(c, f32x4.sub(s, v128.load(v, 32)))
        d = addSquare(d, f32x4.sub(s, v128.load(v, 48)))
      }
      v128.store(y + (k << 2), exponent(args, a))
      v128.store(y + (k << 2), exponent(args, b), 16)
      v128.store(y + (k << 2), exponent(args, c), 32)
      v128.store(y + (k << 2), exponent(args, d), 48)
    }
    for (; k < args.count; k += 4) {
      let a = splat(0)
      for (let p = x, v = args.vectors + (k << 2), end = x + bytes; p < end; p += 4, v += step) {
        a = addSquare(a, f32x4.sub(v128.load32_splat(p), v128.load(v)))
      }
      let rest = exponent(args, a)
      for (let i = k; i < min(args.count, k + 4); i++) {
        v128.store32_lane(y + (i << 2), rest, 0)
        rest = i8x16.shuffle(rest, rest, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3)
      }
    }
    unarySpan(EXP, y, y, (<usize>args.count) << 2, 0, 0)
  }
}

// @ts-ignore: decorator
@inline
function addSquare(sum: v128, d: v128): v128 {
  return f32x4.add(sum, f32x4.mul(d, d))
}

// @ts-ignore: decorator
@inline
function exponent(args: RadialArguments, distance: v128): v128 {
  return f32x4.mul(distance, splat(-args.gamma))
}
