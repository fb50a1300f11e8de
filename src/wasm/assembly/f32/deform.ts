import { LinesResampleArguments, resampleLines } from './resample'

/**
 * What the taps of deformable windows read: columns of a matrix [channels * taps][windows], for some rows of windows.
 * Each tap reads at a location moved by an offset, interpolated linearly, times a mask.
 */
@unmanaged
export class DeformArguments {
  x: usize
  /** [groups][taps][2][rows of windows][windows of a row], and [groups][taps] of these. */
  offsets: usize
  mask: usize
  y: usize
  hasMask: u32
  /** Whether locations before the first element read 0, and those behind the last one the last one. */
  shifts: u32
  /** Channels of a group that shares offsets. */
  channels: u32
  height: i32
  width: i32
  /** Elements of the kernel. */
  taps: u32
  tapsAcross: u32
  /** Windows below each other and beside each other; the first row of windows here, and how many there are. */
  down: u32
  across: u32
  first: u32
  count: u32
  yStride: i32
  xStride: i32
  yDilation: i32
  xDilation: i32
  yBegin: i32
  xBegin: i32
}

/** Windows whose neighbours and weights are worked out before the channels are read. */
const CHUNK: u32 = 256
/** Channels from which that takes less time than to read one location after the other in all channels. */
const MIN_CHANNELS: u32 = 4
/** Where in the scratch memory the neighbours of a chunk and their weights are, behind the arguments of the sums. */
const INDICES: usize = 64
const WEIGHTS: usize = 16 * <usize>CHUNK

/** Fills lines `from … to - 1`: rows of windows by taps by groups. */
export function deformLines(args: DeformArguments, scratch: usize, from: u32, to: u32): void {
  const sums = changetype<LinesResampleArguments>(scratch)
  sums.indices = scratch + INDICES
  sums.weights = scratch + INDICES + WEIGHTS
  sums.size = args.height * args.width
  sums.step = args.taps * args.count * args.across
  sums.taps = 4
  sums.from = 0
  sums.to = 0
  const plane = (<usize>(args.height * args.width)) << 2
  const windows = <usize>args.down * args.across
  const down = (<usize>args.taps * args.count * args.across) << 2
  for (; from < to; from++) {
    const row = from % args.count
    const tap = (from / args.count) % args.taps
    const group = from / args.count / args.taps
    const oy = args.first + row
    const at = <usize>oy * args.across
    const offsets = args.offsets + ((<usize>(group * args.taps + tap) * 2 * windows + at) << 2)
    const mask = args.mask + ((<usize>(group * args.taps + tap) * windows + at) << 2)
    const x = args.x + group * args.channels * plane
    let y = args.y + ((<usize>((group * args.channels * args.taps + tap) * args.count + row) * args.across) << 2)
    const baseY = <i32>oy * args.yStride - args.yBegin + <i32>(tap / args.tapsAcross) * args.yDilation
    const baseX = <i32>(tap % args.tapsAcross) * args.xDilation - args.xBegin
    for (let begin: u32 = 0; begin < args.across; begin += CHUNK) {
      const end = min(begin + CHUNK, args.across)
      let isTabled = args.channels >= MIN_CHANNELS
      for (let ox = begin; ox < end && isTabled; ox++) {
        const o = offsets + (ox << 2)
        const atY = <f64>baseY + <f64>f32.load(o)
        const atX = <f64>(baseX + <i32>ox * args.xStride) + <f64>f32.load(o + (windows << 2))
        const scale: f32 = args.hasMask ? f32.load(mask + (ox << 2)) : 1
        // An element that is infinite matters though the mask be 0.
        isTabled = scale != 0 && scale - scale == 0
        storeTaps(args, scratch + INDICES + entryOf(ox - begin), atY, atX, scale)
      }
      if (isTabled) {
        // The lanes of the last four windows that are none.
        for (let i = end - begin; (i & 3) != 0; i++) {
          const entry = scratch + INDICES + entryOf(i)
          for (let offset: usize = 0; offset < 64; offset += 16) storeTap(entry + offset, 0, 0)
        }
        sums.x = x
        sums.y = y + (begin << 2)
        sums.count = end - begin
        resampleLines(sums, 0, args.channels)
        continue
      }
      for (let ox = begin; ox < end; ox++) {
        const o = offsets + (ox << 2)
        const atY = <f64>baseY + <f64>f32.load(o)
        const atX = <f64>(baseX + <i32>ox * args.xStride) + <f64>f32.load(o + (windows << 2))
        const scale: f32 = args.hasMask ? f32.load(mask + (ox << 2)) : 1
        readChannels(args, x, y + (ox << 2), plane, down, atY, atX, scale)
      }
    }
  }
}

/** Bytes before the first of the four taps of a window: the same taps of four windows lie side by side. */
// @ts-ignore: decorator
@inline
function entryOf(window: u32): usize {
  return ((<usize>window >> 2) << 6) | ((window & 3) << 2)
}

// @ts-ignore: decorator
@inline
function storeTap(entry: usize, index: i32, weight: f32): void {
  i32.store(entry, index)
  f32.store(entry, weight, WEIGHTS)
}

/** Writes the four neighbours of a location and their weights times the mask; those of weight 0 do not count. */
// @ts-ignore: decorator
@inline
function storeTaps(args: DeformArguments, entry: usize, atY: f64, atX: f64, scale: f32): void {
  if (!reads(args, atY, args.height) || !reads(args, atX, args.width)) {
    for (let offset: usize = 0; offset < 64; offset += 16) storeTap(entry + offset, 0, 0)
    return
  }
  const top = <i32>floor<f64>(atY)
  const left = <i32>floor<f64>(atX)
  const above = scale * weight(args, atY - <f64>top, top, args.height)
  const below = scale * nextWeight(atY - <f64>top, top, args.height)
  const before = weight(args, atX - <f64>left, left, args.width)
  const right = nextWeight(atX - <f64>left, left, args.width)
  const first = max(left, 0)
  const second = min(left + 1, args.width - 1)
  const upper = max(top, 0) * args.width
  const lower = min(top + 1, args.height - 1) * args.width
  storeTap(entry, upper + first, above * before)
  storeTap(entry + 16, upper + second, above * right)
  storeTap(entry + 32, lower + first, below * before)
  storeTap(entry + 48, lower + second, below * right)
}

/** How far a location is from the element before it, and whether it reads that element and the next one. */
// @ts-ignore: decorator
@inline
function reads(args: DeformArguments, at: f64, size: i32): bool {
  return (args.shifts ? at >= 0 : at > -1) && at < <f64>size
}

/** Reads one location in all channels. */
function readChannels(
  args: DeformArguments,
  x: usize,
  y: usize,
  plane: usize,
  down: usize,
  atY: f64,
  atX: f64,
  scale: f32
): void {
  const end = y + args.channels * down
  if (!reads(args, atY, args.height) || !reads(args, atX, args.width)) {
    // A mask may be infinite, or no number.
    for (; y != end; y += down) f32.store(y, scale * 0)
    return
  }
  const top = floor<f64>(atY)
  const left = floor<f64>(atX)
  const below = nextWeight(atY - top, <i32>top, args.height)
  const right = nextWeight(atX - left, <i32>left, args.width)
  const above = weight(args, atY - top, <i32>top, args.height)
  const before = weight(args, atX - left, <i32>left, args.width)
  // Elements of weight 0 are not read.
  const upper = above != 0 ? <i32>top : <i32>top + 1
  const first = before != 0 ? <i32>left : <i32>left + 1
  const isTall = above != 0 && below != 0
  const isWide = before != 0 && right != 0
  const p = x + ((<usize>(upper * args.width + first)) << 2)
  const next = <usize>(isTall ? args.width << 2 : 4)
  const yFirst = above != 0 ? above : below
  const xFirst = before != 0 ? before : right
  const a = yFirst * xFirst
  if (isTall && isWide) {
    const b = yFirst * right
    const c = below * xFirst
    const d = below * right
    for (let q = p; y != end; y += down, q += plane) {
      const r = q + next
      const sum = a * f32.load(q) + b * f32.load(q, 4) + (c * f32.load(r) + d * f32.load(r, 4))
      f32.store(y, scale * sum)
    }
  } else if (isTall || isWide) {
    const b = isTall ? below * xFirst : yFirst * right
    for (let q = p; y != end; y += down, q += plane) {
      f32.store(y, scale * (a * f32.load(q) + b * f32.load(q + next)))
    }
  } else {
    for (let q = p; y != end; y += down, q += plane) f32.store(y, scale * (a * f32.load(q)))
  }
}

/** Of the element before a location. */
// @ts-ignore: decorator
@inline
function weight(args: DeformArguments, fraction: f64, low: i32, size: i32): f32 {
  return args.shifts && low == size - 1 ? 1 : low < 0 ? 0 : <f32>(1 - fraction)
}

/** Of the element after it. */
// @ts-ignore: decorator
@inline
function nextWeight(fraction: f64, low: i32, size: i32): f32 {
  return low + 1 < size ? <f32>fraction : 0
}
