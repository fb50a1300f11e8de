import { firstOffset, secondOffset, unravel } from '../loops'
import { powerLine } from './power'
import { NONE, unarySpan } from './unary'
import { splat } from './simd'

/** One input, one output, side by side. */
@unmanaged
export class UnaryArguments {
  x: usize
  y: usize
  kind: i32
  p: f32
  q: f32
}

/** Computes elements `from … to - 1`. */
export function unary(args: UnaryArguments, from: u32, to: u32): void {
  unarySpan(args.kind, args.x + (from << 2), args.y + (from << 2), (<usize>(to - from)) << 2, args.p, args.q)
}

/**
 * Two inputs that are broadcast against the output: lines of `inner` elements, in which an input moves by one element
 * or stays.
 */
@unmanaged
export class BinaryArguments {
  a: usize
  b: usize
  y: usize
  kind: i32
  inner: u32
  /** Bytes that an input moves by from element to element of a line: 4 or 0. */
  aInner: u32
  bInner: u32
  /** Applied to the result: a function of unary.ts and its parameters. */
  activation: i32
  p: f32
  q: f32
  /** Outer loops, the innermost first; they follow: size, bytes that a and b move by, three words each. */
  rank: u32
}

const ADD: i32 = 0
const SUBTRACT: i32 = 1
const MULTIPLY: i32 = 2
const DIVIDE: i32 = 3
const MAXIMUM: i32 = 4
const MINIMUM: i32 = 5
const PRELU: i32 = 6
const SQUARED_DIFFERENCE: i32 = 7
/** Powers are computed one by one. */
const POWER: i32 = 8

// @ts-ignore: decorator
@inline
function combine(kind: i32, a: v128, b: v128): v128 {
  switch (kind) {
    case ADD:
      return f32x4.add(a, b)
    case SUBTRACT:
      return f32x4.sub(a, b)
    case MULTIPLY:
      return f32x4.mul(a, b)
    case DIVIDE:
      return f32x4.div(a, b)
    case MAXIMUM:
      return f32x4.max(a, b)
    case MINIMUM:
      return f32x4.min(a, b)
    case PRELU:
      return v128.bitselect(f32x4.mul(a, b), a, f32x4.lt(a, splat(0)))
    default: {
      const d = f32x4.sub(a, b)
      return f32x4.mul(d, d)
    }
  }
}

/** Computes lines `from … to - 1`; where there are no outer loops, elements `from … to - 1` of the one line. */
export function binary(args: BinaryArguments, from: u32, to: u32): void {
  if (args.rank == 0) {
    const a = args.a + from * args.aInner
    const b = args.b + from * args.bInner
    const y = args.y + (from << 2)
    return line(args, a, b, y, (<usize>(to - from)) << 2)
  }
  const bytes = (<usize>args.inner) << 2
  const loops = changetype<usize>(args) + offsetof<BinaryArguments>()
  for (let i = from; i < to; i++) {
    unravel(loops, args.rank, i)
    const a = args.a + firstOffset
    const b = args.b + secondOffset
    line(args, a, b, args.y + i * bytes, bytes)
  }
}

function line(args: BinaryArguments, a: usize, b: usize, y: usize, bytes: usize): void {
  const aMoves = args.aInner != 0
  const bMoves = args.bInner != 0
  switch (args.kind) {
    case ADD:
      addLine(a, b, y, bytes, aMoves, bMoves)
      break
    case SUBTRACT:
      subtractLine(a, b, y, bytes, aMoves, bMoves)
      break
    case MULTIPLY:
      multiplyLine(a, b, y, bytes, aMoves, bMoves)
      break
    case DIVIDE:
      divideLine(a, b, y, bytes, aMoves, bMoves)
      break
    case MAXIMUM:
      maximumLine(a, b, y, bytes, aMoves, bMoves)
      break
    case MINIMUM:
      minimumLine(a, b, y, bytes, aMoves, bMoves)
      break
    case PRELU:
      preluLine(a, b, y, bytes, aMoves, bMoves)
      break
    case POWER:
      powerLine(a, b, y, bytes, args.aInner, args.bInner)
      break
    default:
      differenceLine(a, b, y, bytes, aMoves, bMoves)
  }
  if (args.activation != NONE) unarySpan(args.activation, y, y, bytes, args.p, args.q)
}

/** Called with a constant function, of which the compiler keeps the one case. */
// @ts-ignore: decorator
@inline
function combineLine(kind: i32, a: usize, b: usize, y: usize, bytes: usize, aMoves: bool, bMoves: bool): void {
  const vectors = y + (bytes & ~15)
  const end = y + bytes
  if (aMoves && bMoves)
    for (; y < vectors; y += 16, a += 16, b += 16) v128.store(y, combine(kind, v128.load(a), v128.load(b)))
  else if (aMoves) {
    const s = v128.load32_splat(b)
    for (; y < vectors; y += 16, a += 16) v128.store(y, combine(kind, v128.load(a), s))
  } else if (bMoves) {
    const s = v128.load32_splat(a)
    for (; y < vectors; y += 16, b += 16) v128.store(y, combine(kind, s, v128.load(b)))
  } else {
    const s = combine(kind, v128.load32_splat(a), v128.load32_splat(b))
    for (; y < vectors; y += 16) v128.store(y, s)
  }
  for (; y < end; y += 4) {
    f32.store(y, f32x4.extract_lane(combine(kind, v128.load32_splat(a), v128.load32_splat(b)), 0))
    if (aMoves) a += 4
    if (bMoves) b += 4
  }
}

// Each in a function of its own, so that V8 compiles no more than what a model uses.

function addLine(a: usize, b: usize, y: usize, bytes: usize, aMoves: bool, bMoves: bool): void {
  combineLine(ADD, a, b, y, bytes, aMoves, bMoves)
}

function subtractLine(a: usize, b: usize, y: usize, bytes: usize, aMoves: bool, bMoves: bool): void {
  combineLine(SUBTRACT, a, b, y, bytes, aMoves, bMoves)
}

function multiplyLine(a: usize, b: usize, y: usize, bytes: usize, aMoves: bool, bMoves: bool): void {
  combineLine(MULTIPLY, a, b, y, bytes, aMoves, bMoves)
}

function divideLine(a: usize, b: usize, y: usize, bytes: usize, aMoves: bool, bMoves: bool): void {
  combineLine(DIVIDE, a, b, y, bytes, aMoves, bMoves)
}

function maximumLine(a: usize, b: usize, y: usize, bytes: usize, aMoves: bool, bMoves: bool): void {
  combineLine(MAXIMUM, a, b, y, bytes, aMoves, bMoves)
}

function minimumLine(a: usize, b: usize, y: usize, bytes: usize, aMoves: bool, bMoves: bool): void {
  combineLine(MINIMUM, a, b, y, bytes, aMoves, bMoves)
}

function preluLine(a: usize, b: usize, y: usize, bytes: usize, aMoves: bool, bMoves: bool): void {
  combineLine(PRELU, a, b, y, bytes, aMoves, bMoves)
}

function differenceLine(a: usize, b: usize, y: usize, bytes: usize, aMoves: bool, bMoves: bool): void {
  combineLine(SQUARED_DIFFERENCE, a, b, y, bytes, aMoves, bMoves)
}
