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

/** Fills lines `from … to - 1`: rows of windows by taps by groups. */
export function deformLines(args: DeformArguments, from: u32, to: u32): void {
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
    for (let ox: u32 = 0; ox < args.across; ox++, y += 4) {
      const o = offsets + (ox << 2)
      const atY = <f64>baseY + <f64>f32.load(o)
      const atX = <f64>(baseX + <i32>ox * args.xStride) + <f64>f32.load(o + (windows << 2))
      const scale: f32 = args.hasMask ? f32.load(mask + (ox << 2)) : 1
      readChannels(args, x, y, plane, down, atY, atX, scale)
    }
  }
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
