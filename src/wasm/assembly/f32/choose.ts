/**
 * Comparisons of elements of four bytes, and logical functions of booleans. Two inputs are broadcast against the
 * output, which is booleans: lines of `inner` elements, in which an input moves by one element or stays.
 */
@unmanaged
export class CompareArguments {
  a: usize
  b: usize
  y: usize
  kind: i32
  inner: u32
  /** Bytes that an input moves by from element to element of a line: those of an element, or 0. */
  aInner: u32
  bInner: u32
  /** Outer loops, the innermost first; they follow: size, bytes that a and b move by, three words each. */
  rank: u32
}

const EQUAL: i32 = 0
const NOT_EQUAL: i32 = 1
const GREATER: i32 = 2
const GREATER_EQUAL: i32 = 3
const LESS: i32 = 4
const LESS_EQUAL: i32 = 5
/** Added to the number of a comparison of float32, gives that of int32. */
const OF_INTEGERS: i32 = 6
/** From here on functions of booleans. */
const AND: i32 = 12
const OR: i32 = 13
const XOR: i32 = 14
const NOT: i32 = 15

/** All bits of an element where the comparison holds, else none. */
// @ts-ignore: decorator
@inline
function compare(kind: i32, a: v128, b: v128): v128 {
  switch (kind) {
    case EQUAL:
      return f32x4.eq(a, b)
    case NOT_EQUAL:
      return f32x4.ne(a, b)
    case GREATER:
      return f32x4.gt(a, b)
    case GREATER_EQUAL:
      return f32x4.ge(a, b)
    case LESS:
      return f32x4.lt(a, b)
    case LESS_EQUAL:
      return f32x4.le(a, b)
    case EQUAL + OF_INTEGERS:
      return i32x4.eq(a, b)
    case NOT_EQUAL + OF_INTEGERS:
      return i32x4.ne(a, b)
    case GREATER + OF_INTEGERS:
      return i32x4.gt_s(a, b)
    case GREATER_EQUAL + OF_INTEGERS:
      return i32x4.ge_s(a, b)
    case LESS + OF_INTEGERS:
      return i32x4.lt_s(a, b)
    default:
      return i32x4.le_s(a, b)
  }
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

/** Computes lines `from … to - 1`; where there are no outer loops, elements `from … to - 1` of the one line. */
export function compareLines(args: CompareArguments, from: u32, to: u32): void {
  if (args.rank == 0) {
    return line(args, args.a + from * args.aInner, args.b + from * args.bInner, args.y + from, to - from)
  }
  const inner = args.inner
  const loops = changetype<usize>(args) + offsetof<CompareArguments>()
  for (let i = from; i < to; i++) {
    let a = args.a
    let b = args.b
    let rest = i
    for (let r: u32 = 0; r < args.rank; r++) {
      const loop = loops + r * 12
      const size = load<u32>(loop)
      const at = rest % size
      rest /= size
      a += at * load<u32>(loop, 4)
      b += at * load<u32>(loop, 8)
    }
    line(args, a, b, args.y + i * inner, inner)
  }
}

function line(args: CompareArguments, a: usize, b: usize, y: usize, count: u32): void {
  const aInner = args.aInner
  const bInner = args.bInner
  switch (args.kind) {
    case EQUAL:
      return compareLine(EQUAL, a, b, y, count, aInner, bInner)
    case NOT_EQUAL:
      return compareLine(NOT_EQUAL, a, b, y, count, aInner, bInner)
    case GREATER:
      return compareLine(GREATER, a, b, y, count, aInner, bInner)
    case GREATER_EQUAL:
      return compareLine(GREATER_EQUAL, a, b, y, count, aInner, bInner)
    case LESS:
      return compareLine(LESS, a, b, y, count, aInner, bInner)
    case LESS_EQUAL:
      return compareLine(LESS_EQUAL, a, b, y, count, aInner, bInner)
    case EQUAL + OF_INTEGERS:
      return compareLine(EQUAL + OF_INTEGERS, a, b, y, count, aInner, bInner)
    case NOT_EQUAL + OF_INTEGERS:
      return compareLine(NOT_EQUAL + OF_INTEGERS, a, b, y, count, aInner, bInner)
    case GREATER + OF_INTEGERS:
      return compareLine(GREATER + OF_INTEGERS, a, b, y, count, aInner, bInner)
    case GREATER_EQUAL + OF_INTEGERS:
      return compareLine(GREATER_EQUAL + OF_INTEGERS, a, b, y, count, aInner, bInner)
    case LESS + OF_INTEGERS:
      return compareLine(LESS + OF_INTEGERS, a, b, y, count, aInner, bInner)
    case LESS_EQUAL + OF_INTEGERS:
      return compareLine(LESS_EQUAL + OF_INTEGERS, a, b, y, count, aInner, bInner)
    case AND:
      return combineLine(AND, a, b, y, count, aInner, bInner)
    case OR:
      return combineLine(OR, a, b, y, count, aInner, bInner)
    case XOR:
      return combineLine(XOR, a, b, y, count, aInner, bInner)
    default:
      return combineLine(NOT, a, b, y, count, aInner, bInner)
  }
}

/** Called with a constant function, of which the compiler keeps the one case. */
// @ts-ignore: decorator
@inline
function compareLine(kind: i32, a: usize, b: usize, y: usize, count: u32, aInner: u32, bInner: u32): void {
  const vectors = y + (count & ~15)
  const end = y + count
  const one = i8x16.splat(1)
  const s = v128.load32_splat(a)
  const t = v128.load32_splat(b)
  const aStep = aInner << 4
  const bStep = bInner << 4
  for (; y < vectors; y += 16, a += aStep, b += bStep) {
    let p0 = s
    let p1 = s
    let p2 = s
    let p3 = s
    if (aInner != 0) {
      p0 = v128.load(a)
      p1 = v128.load(a, 16)
      p2 = v128.load(a, 32)
      p3 = v128.load(a, 48)
    }
    let q0 = t
    let q1 = t
    let q2 = t
    let q3 = t
    if (bInner != 0) {
      q0 = v128.load(b)
      q1 = v128.load(b, 16)
      q2 = v128.load(b, 32)
      q3 = v128.load(b, 48)
    }
    const low = i16x8.narrow_i32x4_s(compare(kind, p0, q0), compare(kind, p1, q1))
    const high = i16x8.narrow_i32x4_s(compare(kind, p2, q2), compare(kind, p3, q3))
    v128.store(y, v128.and(i8x16.narrow_i16x8_s(low, high), one))
  }
  for (; y < end; y++, a += aInner, b += bInner) {
    store<u8>(y, i32x4.extract_lane(compare(kind, v128.load32_splat(a), v128.load32_splat(b)), 0) & 1)
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

/** Takes each element from x where the condition, a byte, is not 0, else from z. All three are broadcast. */
@unmanaged
export class ChooseArguments {
  condition: usize
  x: usize
  z: usize
  y: usize
  /** Bytes of an element: 1, 2, 4 or 8. */
  width: u32
  inner: u32
  /** Bytes that an input moves by from element to element of a line: those of an element, or 0. */
  cInner: u32
  xInner: u32
  zInner: u32
  /** Outer loops, the innermost first; they follow: size, bytes that the inputs move by, four words each. */
  rank: u32
}

/** Computes lines `from … to - 1`; where there are no outer loops, elements `from … to - 1` of the one line. */
export function chooseLines(args: ChooseArguments, from: u32, to: u32): void {
  if (args.rank == 0) {
    const c = args.condition + from * args.cInner
    const x = args.x + from * args.xInner
    return chooseLine(args, c, x, args.z + from * args.zInner, args.y + from * args.width, to - from)
  }
  const inner = args.inner
  const bytes = inner * args.width
  const loops = changetype<usize>(args) + offsetof<ChooseArguments>()
  for (let i = from; i < to; i++) {
    let c = args.condition
    let x = args.x
    let z = args.z
    let rest = i
    for (let r: u32 = 0; r < args.rank; r++) {
      const loop = loops + (r << 4)
      const size = load<u32>(loop)
      const at = rest % size
      rest /= size
      c += at * load<u32>(loop, 4)
      x += at * load<u32>(loop, 8)
      z += at * load<u32>(loop, 12)
    }
    chooseLine(args, c, x, z, args.y + i * bytes, inner)
  }
}

function chooseLine(args: ChooseArguments, c: usize, x: usize, z: usize, y: usize, count: u32): void {
  switch (args.width) {
    case 1:
      return chooseElements<u8>(args, c, x, z, y, count)
    case 2:
      return chooseElements<u16>(args, c, x, z, y, count)
    case 4:
      return chooseVectors(args, c, x, z, y, count)
    default:
      return chooseElements<u64>(args, c, x, z, y, count)
  }
}

// @ts-ignore: decorator
@inline
function chooseElements<T>(args: ChooseArguments, c: usize, x: usize, z: usize, y: usize, count: u32): void {
  const cInner = args.cInner
  const xInner = args.xInner
  const zInner = args.zInner
  const end = y + count * sizeof<T>()
  for (; y < end; y += sizeof<T>(), c += cInner, x += xInner, z += zInner) {
    store<T>(y, select<T>(load<T>(x), load<T>(z), load<u8>(c) != 0))
  }
}

/** {@link chooseElements} of four bytes. */
function chooseVectors(args: ChooseArguments, c: usize, x: usize, z: usize, y: usize, count: u32): void {
  const cInner = args.cInner
  const xInner = args.xInner
  const zInner = args.zInner
  const vectors = count & ~3
  const end = y + (vectors << 2)
  const zero = i32x4.splat(0)
  const flag = i32x4.splat(load<u8>(c))
  const s = v128.load32_splat(x)
  const t = v128.load32_splat(z)
  for (; y < end; y += 16, c += cInner << 2, x += xInner << 2, z += zInner << 2) {
    const flags = cInner != 0 ? i32x4.extend_low_i16x8_u(i16x8.extend_low_i8x16_u(v128.load32_zero(c))) : flag
    const chosen = i32x4.ne(flags, zero)
    v128.store(y, v128.bitselect(xInner != 0 ? v128.load(x) : s, zInner != 0 ? v128.load(z) : t, chosen))
  }
  chooseElements<u32>(args, c, x, z, y, count - vectors)
}
