import { splat } from './simd'

/** Local response normalization along the middle axis of [outer][size][inner]. */
@unmanaged
export class ResponseArguments {
  x: usize
  y: usize
  size: i32
  inner: u32
  /** Neighbours before and after an element whose squares are summed with its own. */
  before: i32
  after: i32
  factor: f32
  bias: f32
  /** Whether the root of the sum is divided by, else its power of 3/4. */
  isRoot: u32
}

/** Computes lines `from … to - 1` of `inner` elements. */
export function localResponse(args: ResponseArguments, from: u32, to: u32): void {
  const bytes = (<usize>args.inner) << 2
  for (let line = from; line < to; line++) {
    const at = <i32>(line % <u32>args.size)
    const x = args.x + line * bytes
    const first = x - <usize>min(at, args.before) * bytes
    const end = x + <usize>(min(args.size - 1 - at, args.after) + 1) * bytes
    let column: usize = 0
    for (; column + 16 <= bytes; column += 16) {
      let sum = splat(0)
      for (let p = first + column; p != end + column; p += bytes) {
        const v = v128.load(p)
        sum = f32x4.add(sum, f32x4.mul(v, v))
      }
      v128.store(args.y + line * bytes + column, divided(args, v128.load(x + column), sum))
    }
    for (; column < bytes; column += 4) {
      let sum: f32 = 0
      for (let p = first + column; p != end + column; p += bytes) sum += f32.load(p) * f32.load(p)
      const one = divided(args, v128.load32_splat(x + column), splat(sum))
      v128.store32_lane(args.y + line * bytes + column, one, 0)
    }
  }
}

// @ts-ignore: decorator
@inline
function divided(args: ResponseArguments, x: v128, sum: v128): v128 {
  const root = f32x4.sqrt(f32x4.add(f32x4.mul(sum, splat(args.factor)), splat(args.bias)))
  return f32x4.div(x, args.isRoot ? root : f32x4.mul(root, f32x4.sqrt(root)))
}
