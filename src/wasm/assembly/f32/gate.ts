import { unarySpan } from './unary'
import { splat } from './simd'

/**
 * What lies between the layers of an expert: `y = f(min(gate, limit)) (min(max(value, -limit), limit) + beta)`, row by
 * row; without values `y = f(gate)`, where y may be the gates.
 */
@unmanaged
export class GateArguments {
  gates: usize
  values: usize
  y: usize
  /** Elements of a row of y. */
  width: u32
  /** Bytes from row to row of the gates and of the values. */
  gatesRow: usize
  valuesRow: usize
  hasValues: u32
  /** Whether gates and values lie side by side, from `gates` on. */
  isInterleaved: u32
  limit: f32
  beta: f32
  /** A function of unary.ts and its parameters. */
  kind: i32
  p: f32
  q: f32
}

/** Computes rows `from … to - 1`. */
export function gateRows(args: GateArguments, from: u32, to: u32): void {
  const bytes = (<usize>args.width) << 2
  for (let i = <usize>from; i < <usize>to; i++) {
    const gates = args.gates + i * args.gatesRow
    const y = args.y + i * bytes
    if (!args.hasValues) {
      unarySpan(args.kind, gates, y, bytes, args.p, args.q)
      continue
    }
    if (args.isInterleaved) {
      takeEven(gates, y, bytes, args.limit)
      unarySpan(args.kind, y, y, bytes, args.p, args.q)
      multiplyOdd(gates, y, bytes, args.limit, args.beta)
    } else {
      takeAll(gates, y, bytes, args.limit)
      unarySpan(args.kind, y, y, bytes, args.p, args.q)
      multiplyAll(args.values + i * args.valuesRow, y, bytes, args.limit, args.beta)
    }
  }
}

/** NaN stays NaN, as it does in `Math.min`. */
function takeAll(x: usize, y: usize, bytes: usize, limit: f32): void {
  const most = splat(limit)
  const end = y + bytes
  for (const whole = y + (bytes & ~15); y < whole; x += 16, y += 16) v128.store(y, f32x4.min(v128.load(x), most))
  for (; y < end; x += 4, y += 4) f32.store(y, min(f32.load(x), limit))
}

function takeEven(x: usize, y: usize, bytes: usize, limit: f32): void {
  const most = splat(limit)
  const end = y + bytes
  for (const whole = y + (bytes & ~15); y < whole; x += 32, y += 16) {
    const even = i8x16.shuffle(v128.load(x), v128.load(x, 16), 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27)
    v128.store(y, f32x4.min(even, most))
  }
  for (; y < end; x += 8, y += 4) f32.store(y, min(f32.load(x), limit))
}

// @ts-ignore: decorator
@inline
function clipped(v: v128, limit: v128, beta: v128): v128 {
  return f32x4.add(f32x4.min(f32x4.max(v, f32x4.neg(limit)), limit), beta)
}

function multiplyAll(x: usize, y: usize, bytes: usize, limit: f32, beta: f32): void {
  const most = splat(limit)
  const more = splat(beta)
  const end = y + bytes
  for (const whole = y + (bytes & ~15); y < whole; x += 16, y += 16)
    v128.store(y, f32x4.mul(v128.load(y), clipped(v128.load(x), most, more)))
  for (; y < end; x += 4, y += 4) f32.store(y, f32.load(y) * (min(max(f32.load(x), -limit), limit) + beta))
}

function multiplyOdd(x: usize, y: usize, bytes: usize, limit: f32, beta: f32): void {
  const most = splat(limit)
  const more = splat(beta)
  const end = y + bytes
  for (const whole = y + (bytes & ~15); y < whole; x += 32, y += 16) {
    const odd = i8x16.shuffle(
      v128.load(x),
      v128.load(x, 16),
      4,
      5,
      6,
      7,
      12,
      13,
      14,
      15,
      20,
      21,
      22,
      23,
      28,
      29,
      30,
      31
    )
    v128.store(y, f32x4.mul(v128.load(y), clipped(odd, most, more)))
  }
  for (; y < end; x += 8, y += 4) f32.store(y, f32.load(y) * (min(max(f32.load(x, 4), -limit), limit) + beta))
}
