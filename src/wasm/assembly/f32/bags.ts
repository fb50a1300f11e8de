import { fma, splat } from './simd'

/** Sums, means or highest elements of rows of a table, bag by bag. */
@unmanaged
export class BagArguments {
  /** Rows of `width` numbers. */
  table: usize
  /** Numbers of rows, and of each bag the first of these and the one after its last. */
  rows: usize
  bounds: usize
  /** A factor for each of `rows`. */
  weights: usize
  y: usize
  width: u32
  /** What is done: see below. */
  reduction: u32
}

const SUM: u32 = 0
const MEAN: u32 = 1
const HIGHEST: u32 = 2
const WEIGHTED: u32 = 3

/** Reduces bags `from … to - 1`. */
export function reduceBags(args: BagArguments, from: u32, to: u32): void {
  for (let bag = from; bag < to; bag++) {
    if (args.reduction == HIGHEST) reduceBag(HIGHEST, args, bag)
    else if (args.reduction == WEIGHTED) reduceBag(WEIGHTED, args, bag)
    else reduceBag(SUM, args, bag)
  }
}

/** Columns stay in registers while the rows of a bag come one after the other. */
// @ts-ignore: decorator
@inline
function reduceBag(reduction: u32, args: BagArguments, bag: u32): void {
  const bytes = (<usize>args.width) << 2
  const rows = args.rows
  const toWeights = args.weights - rows
  const first = rows + ((<usize>load<u32>(args.bounds + (bag << 3))) << 2)
  const end = rows + ((<usize>load<u32>(args.bounds + (bag << 3), 4)) << 2)
  const count = args.reduction == MEAN ? max<f32>(<f32>((end - first) >> 2), 1) : 1
  const divisor = splat(count)
  const start = splat(reduction == HIGHEST ? -Infinity : 0)
  const y = args.y + bag * bytes
  let at: usize = 0
  for (; at + 128 <= bytes; at += 128) {
    let a = start
    let b = start
    let c = start
    let d = start
    let e = start
    let f = start
    let g = start
    let h = start
    for (let p = first; p < end; p += 4) {
      const x = args.table + load<u32>(p) * bytes + at
      const w = reduction == WEIGHTED ? v128.load32_splat(p + toWeights) : divisor
      a = added(reduction, a, v128.load(x), w)
      b = added(reduction, b, v128.load(x, 16), w)
      c = added(reduction, c, v128.load(x, 32), w)
      d = added(reduction, d, v128.load(x, 48), w)
      e = added(reduction, e, v128.load(x, 64), w)
      f = added(reduction, f, v128.load(x, 80), w)
      g = added(reduction, g, v128.load(x, 96), w)
      h = added(reduction, h, v128.load(x, 112), w)
    }
    v128.store(y + at, f32x4.div(a, divisor))
    v128.store(y + at, f32x4.div(b, divisor), 16)
    v128.store(y + at, f32x4.div(c, divisor), 32)
    v128.store(y + at, f32x4.div(d, divisor), 48)
    v128.store(y + at, f32x4.div(e, divisor), 64)
    v128.store(y + at, f32x4.div(f, divisor), 80)
    v128.store(y + at, f32x4.div(g, divisor), 96)
    v128.store(y + at, f32x4.div(h, divisor), 112)
  }
  for (; at + 16 <= bytes; at += 16) {
    let a = start
    for (let p = first; p < end; p += 4) {
      const w = reduction == WEIGHTED ? v128.load32_splat(p + toWeights) : divisor
      a = added(reduction, a, v128.load(args.table + load<u32>(p) * bytes + at), w)
    }
    v128.store(y + at, f32x4.div(a, divisor))
  }
  for (; at < bytes; at += 4) {
    let a = start
    for (let p = first; p < end; p += 4) {
      const w = reduction == WEIGHTED ? v128.load32_splat(p + toWeights) : divisor
      a = added(reduction, a, v128.load32_splat(args.table + load<u32>(p) * bytes + at), w)
    }
    v128.store32_lane(y + at, f32x4.div(a, divisor), 0)
  }
}

// @ts-ignore: decorator
@inline
function added(reduction: u32, sum: v128, x: v128, weight: v128): v128 {
  if (reduction == HIGHEST) return f32x4.max(sum, x)
  return reduction == WEIGHTED ? fma(sum, weight, x) : f32x4.add(sum, x)
}
