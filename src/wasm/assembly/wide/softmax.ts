import { SoftmaxArguments } from '../f32/softmax'
import { exponentials, loadDoubles, logarithms, storeDoubles } from './exponential'

/** Columns of a block where the axis is not the last, as in ../f32/softmax.ts. */
const COLUMNS: u32 = 16
/** Most elements of a row with which two rows are looked at side by side. */
const SHORT: usize = 8

/** Kinds of what becomes of a line; see {@link SoftmaxArguments}. */
const PLAIN: u32 = 0
const SUM: u32 = 2

/**
 * Softmax of float64: blocks `from … to - 1` as those of ../f32/softmax.ts.
 * @param scratch for the elements of two short rows
 */
export function wideSoftmax(args: SoftmaxArguments, scratch: usize, from: u32, to: u32): void {
  const kind = args.kind
  const n = <usize>args.n
  const kept: usize = kind == SUM ? 1 : n
  if (args.inner == 1) {
    for (let row = from; row < to; row++) {
      const x = args.x + ((row * n) << 3)
      const y = args.y + ((row * kept) << 3)
      if (n > SHORT) softmaxRow(kind, x, y, n << 3)
      else if (row + 1 == to) softmaxColumns(kind, false, x, y, n << 3, 8)
      else {
        softmaxPair(kind, x, y, n << 3, scratch)
        row++
      }
    }
    return
  }
  const panels = (args.inner + COLUMNS - 1) / COLUMNS
  const step = (<usize>args.inner) << 3
  for (let block = from; block < to; block++) {
    const first = (block % panels) * COLUMNS
    const outer = <usize>(block / panels) * args.inner
    const count = min(COLUMNS, args.inner - first)
    for (let column: u32 = 0; column < count; column += 2) {
      const x = args.x + ((outer * n + first + column) << 3)
      const y = args.y + ((outer * kept + first + column) << 3)
      softmaxColumns(kind, column + 2 <= count, x, y, n * step, step)
    }
  }
}

/** Two rows one behind the other, as columns in `scratch`: each is summed as it would be alone. */
function softmaxPair(kind: u32, x: usize, y: usize, bytes: usize, scratch: usize): void {
  for (let at: usize = 0; at < bytes; at += 8)
    v128.store(scratch + 2 * at, v128.load64_lane(x + at + bytes, v128.load64_zero(x + at), 1))
  softmaxColumns(kind, true, scratch, kind == SUM ? y : scratch, 2 * bytes, 16)
  if (kind == SUM) return
  for (let at: usize = 0; at < bytes; at += 8) {
    const v = v128.load(scratch + 2 * at)
    v128.store64_lane(y + at, v, 0)
    v128.store64_lane(y + at + bytes, v, 1)
  }
}

/** A row that holds NaN, Infinity, or -Infinity alone becomes NaN, as the definition gives it. */
function softmaxRow(kind: u32, x: usize, y: usize, bytes: usize): void {
  const whole = bytes & ~15
  const rest = bytes - whole
  let highest = f64x2.splat(-Infinity)
  // NaN is passed over: the sum of exponentials is NaN then.
  for (let at: usize = 0; at < whole; at += 16) highest = f64x2.pmax(highest, v128.load(x + at))
  if (rest) highest = f64x2.pmax(highest, v128.load64_splat(x + whole))
  const base = f64x2.pmax(highest, i64x2.shuffle(highest, highest, 1, 0))
  const pairs = exponentials(true, kind == PLAIN, x, y, whole, 16, base)
  let sum = f64x2.extract_lane(pairs, 0) + f64x2.extract_lane(pairs, 1)
  if (rest) sum += f64x2.extract_lane(exponentials(false, kind == PLAIN, x + whole, y + whole, 8, 8, base), 0)
  if (kind == SUM) return storeDoubles(y, f64x2.add(base, logarithms(f64x2.splat(sum))), false)
  finish(kind, true, x, y, whole, 16, base, f64x2.splat(sum))
  if (rest) finish(kind, false, x + whole, y + whole, 8, 8, base, f64x2.splat(sum))
}

/** Two columns, or one. */
function softmaxColumns(kind: u32, isWhole: bool, x: usize, y: usize, bytes: usize, step: usize): void {
  let base = f64x2.splat(-Infinity)
  for (let at: usize = 0; at < bytes; at += step) base = f64x2.pmax(base, loadDoubles(x + at, isWhole))
  const sums = exponentials(isWhole, kind == PLAIN, x, y, bytes, step, base)
  if (kind == SUM) return storeDoubles(y, f64x2.add(base, logarithms(sums)), isWhole)
  finish(kind, isWhole, x, y, bytes, step, base, sums)
}

/** Divides exponentials by their sum, or subtracts its logarithm from x - base. */
function finish(kind: u32, isWhole: bool, x: usize, y: usize, bytes: usize, step: usize, base: v128, sums: v128): void {
  if (kind != PLAIN) {
    const shift = logarithms(sums)
    for (let at: usize = 0; at < bytes; at += step)
      storeDoubles(y + at, f64x2.sub(f64x2.sub(loadDoubles(x + at, isWhole), base), shift), isWhole)
    return
  }
  const factor = f64x2.div(f64x2.splat(1), sums)
  for (let at: usize = 0; at < bytes; at += step)
    storeDoubles(y + at, f64x2.mul(loadDoubles(y + at, isWhole), factor), isWhole)
}
