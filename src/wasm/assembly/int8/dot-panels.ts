import { interleaveHighBytes, interleaveLowBytes } from '../interleave'
import { EVERY_OTHER, isPointwise, ONE_BY_ONE, planTaps, SIDE_BY_SIDE, TAP, Windows } from '../windows'
import { columnsOf } from './columns'
import { ByteConvArguments, dotsOf } from './conv-arguments'
import { flipOfDots, storeFours, storeRows } from './dots'

/*
 * im2col for dot products: panels of eight positions, [ceil(k / 4)][8][4], as codes of the type that second factors
 * have. A row is an input channel and a tap.
 */

/** Bytes of a panel. */
// @ts-ignore: decorator
@inline
export function dotPanelBytes(k: u32): usize {
  return (<usize>((k + 3) >> 2)) << 5
}

/** Writes panels `first … first + count - 1`. */
export function writeDotPanels(
  args: ByteConvArguments,
  windows: Windows,
  x: usize,
  first: u32,
  count: u32,
  positions: u32,
  taps: usize,
  panel: usize
): void {
  const tapCount = <u32>(windows.kD * windows.kH * windows.kW)
  const k = args.channels * tapCount
  const bytes = dotPanelBytes(k)
  const end = first + count
  let p = first
  if (args.xUnit == 1 && isPointwise(windows))
    for (; p < end && (p << 3) + 8 <= positions; p++, panel += bytes) {
      const hasSecond = p + 1 < end && (p << 3) + 16 <= positions
      if (hasSecond) copyTwo(args, x + (p << 3), k, panel, panel + bytes)
      else copyOne(args, x + (p << 3), k, panel)
      if (hasSecond) p++
      if (hasSecond) panel += bytes
    }
  for (; p < end; p++, panel += bytes) {
    const cols = min<u32>(8, positions - (p << 3))
    planTaps(windows, <i32>args.xUnit, p << 3, cols, taps)
    if (planLanes(args, taps, tapCount)) {
      writeByLanes(args, x, taps, tapCount, k, panel)
      continue
    }
    // The plan of the lanes lies over that of the taps.
    planTaps(windows, <i32>args.xUnit, p << 3, cols, taps)
    writeByTaps(args, x, taps, tapCount, k, panel)
  }
}

// @ts-ignore: decorator
@inline
function maskOf(args: ByteConvArguments): v128 {
  return i8x16.splat(<i8>flipOfDots(args.isSigned != 0, dotsOf(args)))
}

/** Sixteen positions of all channels into two panels. */
function copyTwo(args: ByteConvArguments, x: usize, k: u32, panel: usize, second: usize): void {
  const mask = maskOf(args)
  const step = args.xChannel
  for (let i: u32 = 0; i < k; i += 4, panel += 32, second += 32) {
    // Weights have 0 beside last rows that are no four: those are any.
    const x1 = i + 1 < k ? x + step : x
    const x2 = i + 2 < k ? x1 + step : x
    const x3 = i + 3 < k ? x2 + step : x
    const r0 = v128.load(x)
    const r1 = v128.load(x1)
    const r2 = v128.load(x2)
    const r3 = v128.load(x3)
    storeFours(panel, mask, interleaveLowBytes(r0, r1), interleaveLowBytes(r2, r3))
    storeFours(second, mask, interleaveHighBytes(r0, r1), interleaveHighBytes(r2, r3))
    x = x3 + step
  }
}

/** Eight positions of all channels. */
function copyOne(args: ByteConvArguments, x: usize, k: u32, panel: usize): void {
  const mask = maskOf(args)
  const step = args.xChannel
  for (let i: u32 = 0; i < k; i += 4, panel += 32) {
    const x1 = i + 1 < k ? x + step : x
    const x2 = i + 2 < k ? x1 + step : x
    const x3 = i + 3 < k ? x2 + step : x
    storeRows(panel, mask, v128.load64_zero(x), v128.load64_zero(x1), v128.load64_zero(x2), v128.load64_zero(x3))
    x = x3 + step
  }
}

/** Offsets in a {@link TAP} of: where the second sixteen bytes begin, lanes of both, codes of padding. */
const SECOND: usize = 4
const LANES: usize = 8
const SECOND_LANES: usize = 16
const FILL: usize = 24
/** Lanes of which none is taken, each a byte. */
const NO_LANES: u64 = 0x8080808080808080
const IN_ORDER: u64 = 0x0706050403020100
const BY_TWO: u64 = 0x0e0c0a0806040200
const EACH: u64 = 0x0101010101010101

/**
 * Turns taps into plans by which each reads two times sixteen bytes of a channel and takes lanes of them. What of a
 * line ends within the sixteen bytes, and where the next line begins, makes no difference then.
 * @returns false where positions do not lie side by side, or further apart than that
 */
function planLanes(args: ByteConvArguments, taps: usize, tapCount: u32): bool {
  if (args.xUnit != 1 || args.xChannel < 16) return false
  const last = <i32>args.xChannel - 16
  const zero = <u64>(args.zero & 255)
  for (const end = taps + <usize>tapCount * TAP; taps < end; taps += TAP) {
    const kind = load<i32>(taps)
    let first = 0
    let second = 0
    let lanes = NO_LANES
    let secondLanes = NO_LANES
    let fill: u64 = 0
    if (kind == SIDE_BY_SIDE || kind == EVERY_OTHER) {
      const offset = load<i32>(taps, 4)
      first = min(offset, last)
      lanes = (kind == SIDE_BY_SIDE ? IN_ORDER : BY_TWO) + <u64>(offset - first) * EACH
    } else if (kind == ONE_BY_ONE) {
      first = -1
      second = -1
      for (let j: u32 = 0; j < 8; j++) {
        const offset = load<i32>(taps + (j << 2), 8)
        if (offset < 0) {
          fill |= zero << (j << 3)
          continue
        }
        if (first < 0) first = min(offset, last)
        if (offset - first < 16) {
          lanes ^= (<u64>(128 ^ (offset - first))) << (j << 3)
          continue
        }
        if (second < 0) second = min(offset, last)
        if (offset - second > 15) return false
        secondLanes ^= (<u64>(128 ^ (offset - second))) << (j << 3)
      }
      first = max(0, first)
      second = max(0, second)
    } else fill = zero * EACH
    store<i32>(taps, first)
    store<i32>(taps, second, SECOND)
    store<u64>(taps, lanes, LANES)
    store<u64>(taps, secondLanes, SECOND_LANES)
    store<u64>(taps, fill, FILL)
  }
  return true
}

/** A panel by the lanes planned for its taps. */
function writeByLanes(args: ByteConvArguments, x: usize, taps: usize, tapCount: u32, k: u32, panel: usize): void {
  const mask = maskOf(args)
  const step = args.xChannel
  const end = taps + <usize>tapCount * TAP
  const any = i8x16.splat(0)
  let tap = taps
  for (let i: u32 = 0; i < k; i += 4, panel += 32) {
    const r0 = lanesOf(x, tap)
    tap += TAP
    if (tap == end) {
      tap = taps
      x += step
    }
    // Weights have 0 beside last rows that are no four.
    const r1 = i + 1 < k ? lanesOf(x, tap) : any
    tap += TAP
    if (tap == end) {
      tap = taps
      x += step
    }
    const r2 = i + 2 < k ? lanesOf(x, tap) : any
    tap += TAP
    if (tap == end) {
      tap = taps
      x += step
    }
    const r3 = i + 3 < k ? lanesOf(x, tap) : any
    tap += TAP
    if (tap == end) {
      tap = taps
      x += step
    }
    storeRows(panel, mask, r0, r1, r2, r3)
  }
}

/** What a tap reads at eight positions, in the lower half. */
// @ts-ignore: decorator
@inline
function lanesOf(x: usize, tap: usize): v128 {
  const first = pick(v128.load(x + load<u32>(tap)), v128.load64_zero(tap, LANES))
  const second = pick(v128.load(x + load<u32>(tap, SECOND)), v128.load64_zero(tap, SECOND_LANES))
  return v128.or(v128.or(first, second), v128.load64_zero(tap, FILL))
}

/** Lanes of a vector; 0 for those from 128 on. */
// @ts-ignore: decorator
@inline
function pick(v: v128, lanes: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? i8x16.relaxed_swizzle(v, lanes) : i8x16.swizzle(v, lanes)
}

/** A panel of any steps, by the taps planned for its positions. */
function writeByTaps(args: ByteConvArguments, x: usize, taps: usize, tapCount: u32, k: u32, panel: usize): void {
  const unit = args.xUnit
  const mask = i8x16.splat(<i8>flipOfDots(args.isSigned != 0, dotsOf(args)))
  const padding = i8x16.splat(<i8>args.zero)
  const end = taps + <usize>tapCount * TAP
  let tap = taps
  let r0 = padding
  let r1 = padding
  let r2 = padding
  for (let i: u32 = 0; i < k; i++) {
    const codes = columnsOf(x, tap, unit, padding)
    tap += TAP
    if (tap == end) {
      tap = taps
      x += args.xChannel
    }
    const place = i & 3
    if (place == 0) r0 = codes
    else if (place == 1) r1 = codes
    else if (place == 2) r2 = codes
    // Weights have 0 beside last rows that are no four.
    if (place != 3 && i + 1 < k) continue
    storeRows(panel, mask, r0, r1, r2, codes)
    panel += 32
  }
}
