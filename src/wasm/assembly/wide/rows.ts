import { loadDoubles, storeDoubles } from './exponential'

/** Normalizes rows of n elements of float64. Scale and bias are by element of a row. */
@unmanaged
export class WideRowsArguments {
  x: usize
  scale: usize
  bias: usize
  y: usize
  n: u32
  hasBias: u32
  /** Whether to mean 0 and variance 1, else to a mean square of 1. */
  centers: u32
  /** A float64, which may lie at a multiple of four bytes. */
  epsilonLow: u32
  epsilonHigh: u32
}

/** Layer normalization, or root mean square normalization, of rows `from … to - 1`, in two passes. */
export function wideRows(args: WideRowsArguments, from: u32, to: u32): void {
  const n = <f64>args.n
  const bytes = (<usize>args.n) << 3
  const whole = bytes & ~15
  const scale = args.scale
  const bias = args.bias
  const hasBias = args.hasBias != 0
  const epsilon = f64.load(changetype<usize>(args) + offsetof<WideRowsArguments>('epsilonLow'))
  for (let row = from; row < to; row++) {
    const x = args.x + row * bytes
    const y = args.y + row * bytes
    const mean = args.centers ? sumOf(x, bytes) / n : 0
    const m = f64x2.splat(mean)
    const factor = f64x2.splat(1 / sqrt(squaresOf(x, bytes, mean) / n + epsilon))
    for (let at: usize = 0; at < bytes; at += 16) {
      const isWhole = at < whole
      let v = f64x2.mul(f64x2.sub(loadDoubles(x + at, isWhole), m), factor)
      v = f64x2.mul(v, loadDoubles(scale + at, isWhole))
      if (hasBias) v = f64x2.add(v, loadDoubles(bias + at, isWhole))
      storeDoubles(y + at, v, isWhole)
    }
  }
}

function sumOf(x: usize, bytes: usize): f64 {
  const whole = bytes & ~31
  let a = f64x2.splat(0)
  let b = a
  let at: usize = 0
  for (; at < whole; at += 32) {
    a = f64x2.add(a, v128.load(x + at))
    b = f64x2.add(b, v128.load(x + at, 16))
  }
  a = f64x2.add(a, b)
  let sum = f64x2.extract_lane(a, 0) + f64x2.extract_lane(a, 1)
  for (; at < bytes; at += 8) sum += f64.load(x + at)
  return sum
}

/** The sum of squares of differences from a number. */
function squaresOf(x: usize, bytes: usize, mean: f64): f64 {
  const m = f64x2.splat(mean)
  const whole = bytes & ~31
  let a = f64x2.splat(0)
  let b = a
  let at: usize = 0
  for (; at < whole; at += 32) {
    const d = f64x2.sub(v128.load(x + at), m)
    const e = f64x2.sub(v128.load(x + at, 16), m)
    a = f64x2.add(a, f64x2.mul(d, d))
    b = f64x2.add(b, f64x2.mul(e, e))
  }
  a = f64x2.add(a, b)
  let sum = f64x2.extract_lane(a, 0) + f64x2.extract_lane(a, 1)
  for (; at < bytes; at += 8) {
    const d = f64.load(x + at) - mean
    sum += d * d
  }
  return sum
}
