import { firstOffset, secondOffset, unravel } from '../loops'

/**
 * Comparisons of numbers, and logical functions of booleans. Two inputs are broadcast against the output, which is
 * booleans: lines of `inner` elements, in which an input moves by one element or stays.
 */
@unmanaged
export class CompareArguments {
  a: usize
  b: usize
  y: usize
  kind: i32
  /** Whether integers are unsigned; whether the output is true where the comparison does not hold. */
  isUnsigned: u32
  isNegated: u32
  inner: u32
  /** Bytes that an input moves by from element to element of a line: those of an element, or 0. */
  aInner: u32
  bInner: u32
  /** Outer loops, the innermost first; they follow: size, bytes that a and b move by, three words each. */
  rank: u32
}

const EQUAL_F32: i32 = 0
const GREATER_F32: i32 = 1
const GREATER_EQUAL_F32: i32 = 2
const EQUAL_F64: i32 = 3
const GREATER_F64: i32 = 4
const GREATER_EQUAL_F64: i32 = 5
/** Of integers of one byte; those of two, four and eight bytes follow. */
const EQUAL: i32 = 6
const GREATER: i32 = 10
/** From here on functions of booleans. */
const AND: i32 = 14
const OR: i32 = 15
const XOR: i32 = 16
const NOT: i32 = 17
/** Tests of floats of four and of eight bytes; b counts as Infinity. */
const NAN: i32 = 18
const INFINITE: i32 = 20
/** Tests of floats of two bytes, by their bits. */
const NAN_16: i32 = 22
const INFINITE_16: i32 = 23

/** log2 of the bytes of an element that is compared. */
// @ts-ignore: decorator
@inline
function shiftOf(kind: i32): i32 {
  if (kind >= NAN_16) return 1
  if (kind >= NAN) return 2 + (kind & 1)
  return kind >= GREATER ? kind - GREATER : kind >= EQUAL ? kind - EQUAL : kind >= EQUAL_F64 ? 3 : 2
}

/** All bits of an element where the comparison holds, else none; of integers less `least`, the least of their type. */
// @ts-ignore: decorator
@inline
function compare(kind: i32, a: v128, b: v128, least: v128): v128 {
  if (kind >= NAN_16) {
    const magnitude = v128.and(a, i16x8.splat(0x7fff))
    return kind == NAN_16 ? i16x8.gt_s(magnitude, b) : i16x8.eq(magnitude, b)
  }
  if (kind >= NAN) {
    if (kind == NAN) return f32x4.ne(a, a)
    if (kind == NAN + 1) return f64x2.ne(a, a)
    return kind == INFINITE ? f32x4.eq(f32x4.abs(a), b) : f64x2.eq(f64x2.abs(a), b)
  }
  if (kind >= GREATER) {
    const p = v128.xor(a, least)
    const q = v128.xor(b, least)
    if (kind == GREATER) return i8x16.gt_s(p, q)
    if (kind == GREATER + 1) return i16x8.gt_s(p, q)
    return kind == GREATER + 2 ? i32x4.gt_s(p, q) : i64x2.gt_s(p, q)
  }
  switch (kind) {
    case EQUAL_F32:
      return f32x4.eq(a, b)
    case GREATER_F32:
      return f32x4.gt(a, b)
    case GREATER_EQUAL_F32:
      return f32x4.ge(a, b)
    case EQUAL_F64:
      return f64x2.eq(a, b)
    case GREATER_F64:
      return f64x2.gt(a, b)
    case GREATER_EQUAL_F64:
      return f64x2.ge(a, b)
    case EQUAL:
      return i8x16.eq(a, b)
    case EQUAL + 1:
      return i16x8.eq(a, b)
    case EQUAL + 2:
      return i32x4.eq(a, b)
    default:
      return i64x2.eq(a, b)
  }
}

/** An element in all places of a vector. */
// @ts-ignore: decorator
@inline
function splatOf(shift: i32, at: usize): v128 {
  if (shift == 0) return v128.load8_splat(at)
  if (shift == 1) return v128.load16_splat(at)
  return shift == 2 ? v128.load32_splat(at) : v128.load64_splat(at)
}

/** The bit by which unsigned integers differ from signed ones in the same order. */
// @ts-ignore: decorator
@inline
function leastOf(shift: i32, isUnsigned: bool): v128 {
  if (!isUnsigned) return i64x2.splat(0)
  if (shift == 0) return i8x16.splat(-128)
  if (shift == 1) return i16x8.splat(-32768)
  return shift == 2 ? i32x4.splat(i32.MIN_VALUE) : i64x2.splat(i64.MIN_VALUE)
}

/** 1 or 0 in each byte; any byte but 0 is true. */
// @ts-ignore: decorator
@inline
function combine(kind: i32, a: v128, b: v128): v128 {
  const one = i8x16.splat(1)
  const zero = i8x16.splat(0)
  const p = i8x16.eq(a, zero)
  const q = i8x16.eq(b, zero)
  switch (kind) {
    case AND:
      return v128.andnot(one, v128.or(p, q))
    case OR:
      return v128.andnot(one, v128.and(p, q))
    case XOR:
      return v128.and(one, v128.xor(p, q))
    default:
      return v128.and(one, p)
  }
}

/**
 * Computes lines `from … to - 1`; where there are no outer loops, elements `from … to - 1` of the one line.
 * @param scratch room for sixteen elements of each operand
 */
export function compareLines(args: CompareArguments, scratch: usize, from: u32, to: u32): void {
  if (args.rank == 0) {
    return line(args, scratch, args.a + from * args.aInner, args.b + from * args.bInner, args.y + from, to - from)
  }
  const inner = args.inner
  const loops = changetype<usize>(args) + offsetof<CompareArguments>()
  for (let i = from; i < to; i++) {
    unravel(loops, args.rank, i)
    const a = args.a + firstOffset
    const b = args.b + secondOffset
    line(args, scratch, a, b, args.y + i * inner, inner)
  }
}

function line(args: CompareArguments, scratch: usize, a: usize, b: usize, y: usize, count: u32): void {
  const kind = args.kind
  if (kind >= EQUAL && kind < AND) integers(args, scratch, a, b, y, count)
  else if (kind >= AND && kind <= NOT) booleans(args, a, b, y, count)
  else if (kind == NAN_16) compareLine(NAN_16, args, scratch, a, b, y, count)
  else if (kind == INFINITE_16) compareLine(INFINITE_16, args, scratch, a, b, y, count)
  else if (shiftOf(kind) == 2) floats(args, scratch, a, b, y, count)
  else doubles(args, scratch, a, b, y, count)
}

// V8 compiles by the function: no more than what a model compares.

function floats(args: CompareArguments, scratch: usize, a: usize, b: usize, y: usize, count: u32): void {
  switch (args.kind) {
    case EQUAL_F32:
      return compareLine(EQUAL_F32, args, scratch, a, b, y, count)
    case GREATER_F32:
      return compareLine(GREATER_F32, args, scratch, a, b, y, count)
    case GREATER_EQUAL_F32:
      return compareLine(GREATER_EQUAL_F32, args, scratch, a, b, y, count)
    case NAN:
      return compareLine(NAN, args, scratch, a, b, y, count)
    default:
      return compareLine(INFINITE, args, scratch, a, b, y, count)
  }
}

function doubles(args: CompareArguments, scratch: usize, a: usize, b: usize, y: usize, count: u32): void {
  switch (args.kind) {
    case EQUAL_F64:
      return compareLine(EQUAL_F64, args, scratch, a, b, y, count)
    case GREATER_F64:
      return compareLine(GREATER_F64, args, scratch, a, b, y, count)
    case GREATER_EQUAL_F64:
      return compareLine(GREATER_EQUAL_F64, args, scratch, a, b, y, count)
    case NAN + 1:
      return compareLine(NAN + 1, args, scratch, a, b, y, count)
    default:
      return compareLine(INFINITE + 1, args, scratch, a, b, y, count)
  }
}

function integers(args: CompareArguments, scratch: usize, a: usize, b: usize, y: usize, count: u32): void {
  switch (args.kind) {
    case EQUAL:
      return compareLine(EQUAL, args, scratch, a, b, y, count)
    case EQUAL + 1:
      return compareLine(EQUAL + 1, args, scratch, a, b, y, count)
    case EQUAL + 2:
      return compareLine(EQUAL + 2, args, scratch, a, b, y, count)
    case EQUAL + 3:
      return compareLine(EQUAL + 3, args, scratch, a, b, y, count)
    case GREATER:
      return compareLine(GREATER, args, scratch, a, b, y, count)
    case GREATER + 1:
      return compareLine(GREATER + 1, args, scratch, a, b, y, count)
    case GREATER + 2:
      return compareLine(GREATER + 2, args, scratch, a, b, y, count)
    default:
      return compareLine(GREATER + 3, args, scratch, a, b, y, count)
  }
}

function booleans(args: CompareArguments, a: usize, b: usize, y: usize, count: u32): void {
  switch (args.kind) {
    case AND:
      return combineLine(AND, a, b, y, count, args.aInner, args.bInner)
    case OR:
      return combineLine(OR, a, b, y, count, args.aInner, args.bInner)
    case XOR:
      return combineLine(XOR, a, b, y, count, args.aInner, args.bInner)
    default:
      return combineLine(NOT, a, b, y, count, args.aInner, args.bInner)
  }
}

/** Compares the vectors at an offset. */
// @ts-ignore: decorator
@inline
function compareAt(kind: i32, a: usize, b: usize, offset: usize, least: v128): v128 {
  return compare(kind, v128.load(a + offset), v128.load(b + offset), least)
}

/** All bits of each of 16 bytes where the comparison of 16 elements holds. */
// @ts-ignore: decorator
@inline
function compareSixteen(kind: i32, a: usize, b: usize, least: v128): v128 {
  const first = compareAt(kind, a, b, 0, least)
  if (shiftOf(kind) == 0) return first
  const second = compareAt(kind, a, b, 16, least)
  if (shiftOf(kind) == 1) return i8x16.narrow_i16x8_s(first, second)
  const third = compareAt(kind, a, b, 32, least)
  const fourth = compareAt(kind, a, b, 48, least)
  if (shiftOf(kind) == 2) {
    return i8x16.narrow_i16x8_s(i16x8.narrow_i32x4_s(first, second), i16x8.narrow_i32x4_s(third, fourth))
  }
  const fifth = compareAt(kind, a, b, 64, least)
  const sixth = compareAt(kind, a, b, 80, least)
  const seventh = compareAt(kind, a, b, 96, least)
  const eighth = compareAt(kind, a, b, 112, least)
  const low = i16x8.narrow_i32x4_s(even(first, second), even(third, fourth))
  return i8x16.narrow_i16x8_s(low, i16x8.narrow_i32x4_s(even(fifth, sixth), even(seventh, eighth)))
}

/** Half of each element of eight bytes. */
// @ts-ignore: decorator
@inline
function even(a: v128, b: v128): v128 {
  return i32x4.shuffle(a, b, 0, 2, 4, 6)
}

/**
 * Sixteen elements as the loop reads them: those at `x` where they move, else `scratch` full of the one there. So that
 * loop need not ask which of the two moves.
 */
// @ts-ignore: decorator
@inline
function sixteen(shift: i32, x: usize, moves: bool, scratch: usize): usize {
  if (moves) return x
  const v = splatOf(shift, x)
  for (let at: usize = 0; at < <usize>(16 << shift); at += 16) v128.store(scratch + at, v)
  return scratch
}

/** Called with a constant function, of which the compiler keeps the one case. */
// @ts-ignore: decorator
@inline
function compareLine(
  kind: i32,
  args: CompareArguments,
  scratch: usize,
  a: usize,
  b: usize,
  y: usize,
  count: u32
): void {
  const aInner = args.aInner
  const bInner = args.bInner
  const shift = shiftOf(kind)
  const least = leastOf(shift, args.isUnsigned != 0)
  const whole = count & ~15
  const vectors = y + whole
  const end = y + count
  const one = i8x16.splat(1)
  const flip = i8x16.splat(<i8>args.isNegated)
  let p = sixteen(shift, a, aInner != 0, scratch)
  let q = sixteen(shift, b, bInner != 0, scratch + 128)
  for (; y < vectors; y += 16, p += aInner << 4, q += bInner << 4) {
    v128.store(y, v128.xor(v128.and(compareSixteen(kind, p, q, least), one), flip))
  }
  a += whole * aInner
  b += whole * bInner
  for (; y < end; y++, a += aInner, b += bInner) {
    const holds = compare(kind, splatOf(shift, a), splatOf(shift, b), least)
    store<u8>(y, (i8x16.extract_lane_u(holds, 0) & 1) ^ args.isNegated)
  }
}

// @ts-ignore: decorator
@inline
function combineLine(kind: i32, a: usize, b: usize, y: usize, count: u32, aInner: u32, bInner: u32): void {
  const vectors = y + (count & ~15)
  const end = y + count
  const s = v128.load8_splat(a)
  const t = v128.load8_splat(b)
  for (; y < vectors; y += 16, a += aInner << 4, b += bInner << 4) {
    v128.store(y, combine(kind, aInner != 0 ? v128.load(a) : s, bInner != 0 ? v128.load(b) : t))
  }
  for (; y < end; y++, a += aInner, b += bInner) {
    store<u8>(y, i8x16.extract_lane_u(combine(kind, v128.load8_splat(a), v128.load8_splat(b)), 0))
  }
}
