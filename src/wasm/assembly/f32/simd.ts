/** Multiplies and adds: fused in the relaxed module, rounded twice in the plain one. */
// @ts-ignore: decorator
@inline
export function fma(c: v128, a: v128, b: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? f32x4.relaxed_madd(a, b, c) : f32x4.add(c, f32x4.mul(a, b))
}

// @ts-ignore: decorator
@inline
export function splat(x: f32): v128 {
  return f32x4.splat(x)
}

/** Between `least` and `most`; NaN stays NaN, since pmax(a, b) is a < b ? b : a. */
// @ts-ignore: decorator
@inline
export function clip(x: v128, least: v128, most: v128): v128 {
  return f32x4.pmin(f32x4.pmax(x, least), most)
}

/**
 * A constant vector of which no compiler knows that it is constant, so that it is made once before a loop. Else V8
 * makes it anew for each vector, by three instructions.
 * @param zero 0 by an expression that is not known to be 0
 */
// @ts-ignore: decorator
@inline
export function hidden(value: f32, zero: i32): v128 {
  return i32x4.splat(reinterpret<i32>(value) + zero)
}

/** A whole vector, or one element in all lanes: up to three elements at the end of a span are computed so. */
// @ts-ignore: decorator
@inline
export function loadSome(x: usize, isWhole: bool): v128 {
  return isWhole ? v128.load(x) : v128.load32_splat(x)
}

/**
 * Stores what {@link loadSome} has loaded.
 * @returns bytes to what comes next
 */
// @ts-ignore: decorator
@inline
export function storeSome(y: usize, v: v128, isWhole: bool): usize {
  if (isWhole) v128.store(y, v)
  else f32.store(y, f32x4.extract_lane(v, 0))
  return isWhole ? 16 : 4
}

/** Sum of the four lanes, pairwise. */
// @ts-ignore: decorator
@inline
export function sumOf(v: v128): f32 {
  const w = f32x4.add(v, i8x16.shuffle(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7))
  return f32x4.extract_lane(w, 0) + f32x4.extract_lane(w, 1)
}

/** Sum of four lanes of int32. */
// @ts-ignore: decorator
@inline
export function sumOfInts(v: v128): i32 {
  return i32x4.extract_lane(v, 0) + i32x4.extract_lane(v, 1) + i32x4.extract_lane(v, 2) + i32x4.extract_lane(v, 3)
}

/** Largest of the four lanes; NaN where one is NaN. */
// @ts-ignore: decorator
@inline
export function maxOf(v: v128): f32 {
  const w = f32x4.max(v, i8x16.shuffle(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7))
  return max(f32x4.extract_lane(w, 0), f32x4.extract_lane(w, 1))
}

/** Four words of 32 bits that are `step` bytes apart. */
// @ts-ignore: decorator
@inline
export function loadApart(x: usize, step: usize): v128 {
  const v = v128.load32_lane(x + step, v128.load32_zero(x), 1)
  return v128.load32_lane(x + 3 * step, v128.load32_lane(x + 2 * step, v, 2), 3)
}

/** The highest of `bytes` bytes of elements in whole vectors. NaN is passed over, which takes a fourth of the time. */
// @ts-ignore: decorator
@inline
export function highestLane(x: usize, bytes: usize): f32 {
  const end = x + bytes
  let v = splat(-Infinity)
  let w = v
  for (; x + 32 <= end; x += 32) {
    v = f32x4.pmax(v, v128.load(x))
    w = f32x4.pmax(w, v128.load(x, 16))
  }
  if (x < end) v = f32x4.pmax(v, v128.load(x))
  v = f32x4.pmax(v, w)
  v = f32x4.pmax(v, i8x16.shuffle(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7))
  v = f32x4.pmax(v, i8x16.shuffle(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11))
  return f32x4.extract_lane(v, 0)
}
