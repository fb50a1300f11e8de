import { NONE, unarySpan } from '../f32/unary'
import { ByteProductArguments } from './product-arguments'
import { MAGIC, MAGIC_BITS, missOf } from './rounding'

/** Bytes of an element of C. */
// @ts-ignore: decorator
@inline
export function elementBytes(args: ByteProductArguments): usize {
  return args.result < 2 ? 4 : 1
}

/**
 * Turns the sums of rows by a panel into results.
 * @param at the sums, eight a row; overwritten
 * @param rowSums those of the rows of A
 * @param column the first of the panel, of whose columns there are `cols`
 * @param to where the first result goes
 */
export function finishPanel(
  args: ByteProductArguments,
  at: usize,
  rowSums: usize,
  rows: u32,
  column: u32,
  cols: u32,
  to: usize
): void {
  const columns = (args.n + 7) & ~7
  const zeros = args.integers + (column << 2)
  const added = zeros + (columns << 2)
  const scales = args.numbers + 24 + (column << 3)
  const biases = scales + (columns << 3)
  const sums = args.hasZeros ? rowSums : 0
  const width = elementBytes(args)
  const step = <usize>args.n * width
  const isDone = cols == 8 && args.activation == NONE
  const target = isDone ? to : at
  const targetStep = isDone ? step : 32
  if (args.result == 1 && args.hasAdded == 0 && args.k <= MAX_DEPTH && load<f64>(args.numbers) == 1)
    finishFloats(args.aScale, args.hasBias != 0, at, sums, rows, zeros, scales, biases, target, targetStep)
  else if (args.result > 1 && rows > 1) {
    finishCodes(args, at, sums, rows, zeros, added, scales, biases, target, targetStep)
  } else finishOthers(args, at, sums, rows, zeros, added, scales, biases, target, targetStep)
  if (isDone) return
  if (args.activation != NONE) unarySpan(args.activation, at, at, (<usize>rows) << 5, args.p, args.q)
  copyRows(at, rows, <usize>cols * width, to, step)
}

/**
 * Writes the sums of rows by a panel, which may lie where results go: whatever the results are.
 * @param rowSums 0: there are no zero points
 */
function finishOthers(
  args: ByteProductArguments,
  at: usize,
  rowSums: usize,
  rows: u32,
  zeros: usize,
  added: usize,
  scales: usize,
  biases: usize,
  to: usize,
  step: usize
): void {
  const hasAdded = args.hasAdded
  const result = args.result
  for (const end = at + ((<usize>rows) << 5); at < end; at += 32, to += step) {
    let low = v128.load(at)
    let high = v128.load(at, 16)
    if (rowSums) {
      const sum = v128.load32_splat(rowSums)
      low = i32x4.sub(low, i32x4.mul(sum, v128.load(zeros)))
      high = i32x4.sub(high, i32x4.mul(sum, v128.load(zeros, 16)))
      rowSums += 4
    }
    if (result != 0) {
      if (hasAdded) {
        low = i32x4.add(low, v128.load(added))
        high = i32x4.add(high, v128.load(added, 16))
      }
      low = scaledFour(args, low, scales, biases)
      high = scaledFour(args, high, scales + 32, biases + 32)
    }
    if (result < 2) {
      v128.store(to, low)
      v128.store(to, high, 16)
    } else v128.store64_lane(to, firstBytes(low, high), 0)
  }
}

/** Longest sums of products of differences of bytes that are less than 2^29. */
const MAX_DEPTH: u32 = 8256

/**
 * {@link finishOthers} for float32, where nothing is added to sums, alpha is 1 and sums are less than 2^29: times a
 * scale they fit into 53 bits, and the product of two scales does. So one multiplication by that product rounds as two
 * do, one after the other.
 */
function finishFloats(
  aScale: usize,
  hasBias: bool,
  at: usize,
  rowSums: usize,
  rows: u32,
  zeros: usize,
  scales: usize,
  biases: usize,
  to: usize,
  step: usize
): void {
  const scale = f64x2.promote_low_f32x4(v128.load32_splat(aScale))
  const s0 = f64x2.mul(scale, v128.load(scales))
  const s1 = f64x2.mul(scale, v128.load(scales, 16))
  const s2 = f64x2.mul(scale, v128.load(scales, 32))
  const s3 = f64x2.mul(scale, v128.load(scales, 48))
  // Negative zero changes no sum.
  const none = f64x2.splat(-0.0)
  const b0 = hasBias ? v128.load(biases) : none
  const b1 = hasBias ? v128.load(biases, 16) : none
  const b2 = hasBias ? v128.load(biases, 32) : none
  const b3 = hasBias ? v128.load(biases, 48) : none
  for (const end = at + ((<usize>rows) << 5); at < end; at += 32, to += step) {
    let low = v128.load(at)
    let high = v128.load(at, 16)
    if (rowSums) {
      const sum = v128.load32_splat(rowSums)
      low = i32x4.sub(low, i32x4.mul(sum, v128.load(zeros)))
      high = i32x4.sub(high, i32x4.mul(sum, v128.load(zeros, 16)))
      rowSums += 4
    }
    const x0 = scaled(low, s0, b0)
    const x1 = scaled(i64x2.shuffle(low, low, 1, 0), s1, b1)
    const x2 = scaled(high, s2, b2)
    const x3 = scaled(i64x2.shuffle(high, high, 1, 0), s3, b3)
    v128.store(to, i64x2.shuffle(x0, x1, 0, 2))
    v128.store(to, i64x2.shuffle(x2, x3, 0, 2), 16)
  }
}

/** The lower two of four sums, scaled, as float32 in the lower two lanes. */
// @ts-ignore: decorator
@inline
function scaled(sums: v128, scales: v128, biases: v128): v128 {
  return f32x4.demote_f64x2_zero(f64x2.add(f64x2.mul(f64x2.convert_low_i32x4_s(sums), scales), biases))
}

/**
 * {@link finishOthers} for codes, in float32 where a quotient is not near a tie, as ./requantize.ts explains; else in
 * double precision, all eight of a row. What follows from scales is computed once for all rows.
 */
function finishCodes(
  args: ByteProductArguments,
  at: usize,
  rowSums: usize,
  rows: u32,
  zeros: usize,
  added: usize,
  scales: usize,
  biases: usize,
  to: usize,
  step: usize
): void {
  const isSigned = args.result == 3
  const zero = load<f64>(args.numbers, 16)
  const lowest = (isSigned ? -128.0 : 0.0) - zero
  const low = f32x4.splat(<f32>lowest)
  const high = f32x4.splat(<f32>(lowest + 255))
  const reach = max(abs(lowest), abs(lowest + 255)) + 1
  const f0 = factorsOf(args, scales)
  const f1 = factorsOf(args, scales + 32)
  const b0 = args.hasBias ? quotientsOf(args, biases) : f32x4.splat(0)
  const b1 = args.hasBias ? quotientsOf(args, biases + 32) : f32x4.splat(0)
  const l0 = limitsOf(b0, reach)
  const l1 = limitsOf(b1, reach)
  const magic = f32x4.splat(MAGIC)
  const shift = i32x4.splat(MAGIC_BITS - <i32>zero)
  for (const end = at + ((<usize>rows) << 5); at < end; at += 32, to += step) {
    let s0 = v128.load(at)
    let s1 = v128.load(at, 16)
    if (rowSums) {
      const sum = v128.load32_splat(rowSums)
      s0 = i32x4.sub(s0, i32x4.mul(sum, v128.load(zeros)))
      s1 = i32x4.sub(s1, i32x4.mul(sum, v128.load(zeros, 16)))
      rowSums += 4
    }
    if (args.hasAdded) {
      s0 = i32x4.add(s0, v128.load(added))
      s1 = i32x4.add(s1, v128.load(added, 16))
    }
    // What is no number stays so, and is near no integer.
    const x0 = f32x4.pmax(f32x4.pmin(f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(s0), f0), b0), high), low)
    const x1 = f32x4.pmax(f32x4.pmin(f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(s1), f1), b1), high), low)
    const r0 = f32x4.add(x0, magic)
    const r1 = f32x4.add(x1, magic)
    const near0 = f32x4.lt(missOf(x0, r0, magic), l0)
    const near1 = f32x4.lt(missOf(x1, r1, magic), l1)
    let c0 = i32x4.sub(r0, shift)
    let c1 = i32x4.sub(r1, shift)
    if (!i32x4.all_true(v128.and(near0, near1))) {
      c0 = scaledFour(args, s0, scales, biases)
      c1 = scaledFour(args, s1, scales + 32, biases + 32)
    }
    v128.store64_lane(to, firstBytes(c0, c1), 0)
  }
}

/** What four sums are multiplied by, in units of the scale of C. */
// @ts-ignore: decorator
@inline
function factorsOf(args: ByteProductArguments, scales: usize): v128 {
  const factor = (<f64>load<f32>(args.aScale) * load<f64>(args.numbers)) / load<f64>(args.numbers, 8)
  const low = f64x2.mul(f64x2.splat(factor), v128.load(scales))
  return singles(low, f64x2.mul(f64x2.splat(factor), v128.load(scales, 16)))
}

/** Four numbers in units of the scale of C. */
// @ts-ignore: decorator
@inline
function quotientsOf(args: ByteProductArguments, numbers: usize): v128 {
  const scale = v128.load64_splat(args.numbers, 8)
  return singles(f64x2.div(v128.load(numbers), scale), f64x2.div(v128.load(numbers, 16), scale))
}

// @ts-ignore: decorator
@inline
function singles(low: v128, high: v128): v128 {
  return i64x2.shuffle(f32x4.demote_f64x2_zero(low), f32x4.demote_f64x2_zero(high), 0, 2)
}

/** How far from an integer quotients may be, given what is added to them; `reach` is the farthest code, and one. */
// @ts-ignore: decorator
@inline
function limitsOf(biases: v128, reach: f64): v128 {
  // 2^-21
  const unit = f32x4.splat(<f32>4.76837158203125e-7)
  return f32x4.sub(f32x4.splat(0.5), f32x4.mul(unit, f32x4.add(f32x4.abs(biases), f32x4.splat(<f32>reach))))
}

/** Copies rows of up to eight results, 32 bytes apart, to rows of C. */
function copyRows(at: usize, rows: u32, bytes: usize, to: usize, step: usize): void {
  for (; rows > 0; rows--, at += 32, to += step) {
    if (bytes == 32) {
      v128.store(to, v128.load(at))
      v128.store(to, v128.load(at, 16), 16)
    } else memory.copy(to, at, bytes)
  }
}

/** The lowest bytes of eight words, in the lower half. */
// @ts-ignore: decorator
@inline
function firstBytes(low: v128, high: v128): v128 {
  return i8x16.shuffle(low, high, 0, 4, 8, 12, 16, 20, 24, 28, 0, 0, 0, 0, 0, 0, 0, 0)
}

/** Four sums as float32, or as codes in 32 bits. */
// @ts-ignore: decorator
@inline
function scaledFour(args: ByteProductArguments, sums: v128, scales: usize, biases: usize): v128 {
  const low = scaledTwo(args, sums, scales, biases)
  return i64x2.shuffle(low, scaledTwo(args, i64x2.shuffle(sums, sums, 1, 0), scales + 16, biases + 16), 0, 2)
}

/** The lower two of four sums, scaled: as float32 or rounded to a code in 32 bits, in the lower two lanes. */
// @ts-ignore: decorator
@inline
function scaledTwo(args: ByteProductArguments, sums: v128, scales: usize, biases: usize): v128 {
  const numbers = args.numbers
  let x = f64x2.mul(f64x2.convert_low_i32x4_s(sums), f64x2.promote_low_f32x4(v128.load32_splat(args.aScale)))
  // One after the other, as the reference kernels multiply: a product of scales would be rounded otherwise.
  x = f64x2.mul(f64x2.mul(x, v128.load(scales)), v128.load64_splat(numbers))
  if (args.hasBias) x = f64x2.add(x, v128.load(biases))
  if (args.result == 1) return f32x4.demote_f64x2_zero(x)
  x = f64x2.nearest(f64x2.div(x, v128.load64_splat(numbers, 8)))
  const lowest: f64 = args.result == 3 ? -128 : 0
  x = f64x2.add(x, v128.load64_splat(numbers, 16))
  x = f64x2.max(f64x2.splat(lowest), f64x2.min(f64x2.splat(lowest + 255), x))
  return i32x4.trunc_sat_f64x2_s_zero(x)
}
