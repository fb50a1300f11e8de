import { SoftmaxArguments } from '../f32/softmax'
import { exponentials, loadDoubles, logarithms, storeDoubles } from './exponential'

/** Columns of a block where the axis is not the last, as in ../f32/softmax.ts. */
const COLUMNS: u32 = 16

/** Softmax of float64: blocks `from … to - 1` as those of ../f32/softmax.ts. */
export function wideSoftmax(args: SoftmaxArguments, from: u32, to: u32): void {
  const isLog = args.isLog != 0
  const n = <usize>args.n
  if (args.inner == 1) {
    for (let row = from; row < to; row++)
      softmaxRow(isLog, args.x + ((row * n) << 3), args.y + ((row * n) << 3), n << 3)
    return
  }
  const panels = (args.inner + COLUMNS - 1) / COLUMNS
  const step = (<usize>args.inner) << 3
  for (let block = from; block < to; block++) {
    const first = (block % panels) * COLUMNS
    const at = (<usize>(block / panels) * n * args.inner + first) << 3
    const count = min(COLUMNS, args.inner - first)
    for (let column: u32 = 0; column < count; column += 2) {
      const offset = at + ((<usize>column) << 3)
      softmaxColumns(isLog, column + 2 <= count, args.x + offset, args.y + offset, n * step, step)
    }
  }
}

/** A row that holds NaN, Infinity, or -Infinity alone becomes NaN, as the definition gives it. */
function softmaxRow(isLog: bool, x: usize, y: usize, bytes: usize): void {
  const whole = bytes & ~15
  const rest = bytes - whole
  let highest = f64x2.splat(-Infinity)
  // NaN is passed over: the sum of exponentials is NaN then.
  for (let at: usize = 0; at < whole; at += 16) highest = f64x2.pmax(highest, v128.load(x + at))
  if (rest) highest = f64x2.pmax(highest, v128.load64_splat(x + whole))
  const base = f64x2.pmax(highest, i64x2.shuffle(highest, highest, 1, 0))
  const pairs = exponentials(true, !isLog, x, y, whole, 16, base)
  let sum = f64x2.extract_lane(pairs, 0) + f64x2.extract_lane(pairs, 1)
  if (rest) sum += f64x2.extract_lane(exponentials(false, !isLog, x + whole, y + whole, 8, 8, base), 0)
  finish(isLog, true, x, y, whole, 16, base, f64x2.splat(sum))
  if (rest) finish(isLog, false, x + whole, y + whole, 8, 8, base, f64x2.splat(sum))
}

/** Two columns, or one. */
function softmaxColumns(isLog: bool, isWhole: bool, x: usize, y: usize, bytes: usize, step: usize): void {
  let base = f64x2.splat(-Infinity)
  for (let at: usize = 0; at < bytes; at += step) base = f64x2.pmax(base, loadDoubles(x + at, isWhole))
  const sums = exponentials(isWhole, !isLog, x, y, bytes, step, base)
  finish(isLog, isWhole, x, y, bytes, step, base, sums)
}

/** Divides exponentials by their sum, or subtracts its logarithm from x - base. */
function finish(
  isLog: bool,
  isWhole: bool,
  x: usize,
  y: usize,
  bytes: usize,
  step: usize,
  base: v128,
  sums: v128
): void {
  if (isLog) {
    const shift = logarithms(sums)
    for (let at: usize = 0; at < bytes; at += step)
      storeDoubles(y + at, f64x2.sub(f64x2.sub(loadDoubles(x + at, isWhole), base), shift), isWhole)
    return
  }
  const factor = f64x2.div(f64x2.splat(1), sums)
  for (let at: usize = 0; at < bytes; at += step)
    storeDoubles(y + at, f64x2.mul(loadDoubles(y + at, isWhole), factor), isWhole)
}
