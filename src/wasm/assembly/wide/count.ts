/** Equally spaced numbers: integers, which wrap, and floats, each of which is computed from its index. */
@unmanaged
export class CountArguments {
  /** The first number and the step: of integers as int64, of floats as float64. */
  start: usize
  y: usize
  type: i32
}

const INT32: i32 = 0
const INT64: i32 = 1
const FLOAT64: i32 = 2

/** Writes elements `from … to - 1`. */
export function countUp(args: CountArguments, from: u32, to: u32): void {
  switch (args.type) {
    case INT32:
      return integers<i32>(args, from, to)
    case INT64:
      return integers<i64>(args, from, to)
    case FLOAT64:
      return floats<f64>(args, from, to)
    default:
      return floats<f32>(args, from, to)
  }
}

function integers<T>(args: CountArguments, from: u32, to: u32): void {
  const step = <T>load<i64>(args.start, 8)
  const lanes: u32 = 16 / sizeof<T>()
  let value = <T>load<i64>(args.start) + <T>from * step
  let y = args.y + <usize>from * sizeof<T>()
  let v = v128.splat<T>(value)
  for (let lane: u32 = 0, next = value; lane < lanes; lane++, next += step)
    v = v128.bitselect(v128.splat<T>(next), v, laneOf<T>(lane))
  const by = v128.splat<T>(<T>lanes * step)
  for (; from + lanes <= to; from += lanes, y += 16) {
    v128.store(y, v)
    v = v128.add<T>(v, by)
  }
  value = v128.extract_lane<T>(v, 0)
  for (; from < to; from++, y += sizeof<T>(), value += step) store<T>(y, value)
}

/** All bits of a lane. */
// @ts-ignore: decorator
@inline
function laneOf<T>(lane: u32): v128 {
  const at = v128.splat<T>(<T>lane)
  const lanes = sizeof<T>() == 4 ? i32x4(0, 1, 2, 3) : i64x2(0, 1)
  return v128.eq<T>(lanes, at)
}

function floats<T>(args: CountArguments, from: u32, to: u32): void {
  const first = load<f64>(args.start)
  const step = load<f64>(args.start, 8)
  const start = f64x2.splat(first)
  const steps = f64x2.splat(step)
  const lanes: u32 = 16 / sizeof<T>()
  const by = f64x2.splat(<f64>lanes)
  let at = f64x2.replace_lane(f64x2.splat(from), 1, <f64>from + 1)
  // Positions of the upper half do not wait for those of the lower one.
  let next = f64x2.add(at, f64x2.splat(2))
  let y = args.y + <usize>from * sizeof<T>()
  for (; from + lanes <= to; from += lanes, y += 16) {
    const low = f64x2.add(start, f64x2.mul(at, steps))
    at = f64x2.add(at, by)
    if (sizeof<T>() == 8) {
      v128.store(y, low)
      continue
    }
    const high = f64x2.add(start, f64x2.mul(next, steps))
    next = f64x2.add(next, by)
    v128.store(y, i64x2.shuffle(f32x4.demote_f64x2_zero(low), f32x4.demote_f64x2_zero(high), 0, 2))
  }
  for (; from < to; from++, y += sizeof<T>()) store<T>(y, <T>(first + <f64>from * step))
}
