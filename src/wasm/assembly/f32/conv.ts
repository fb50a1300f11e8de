import { EVERY_OTHER, SIDE_BY_SIDE, TAP, Windows, ZEROS } from '../windows'

/**
 * A convolution over up to three spatial axes: depth, height, width. Lengths are in elements. The output of an image's
 * group is a matrix [m][positions].
 */
@unmanaged
export class ConvArguments {
  /** [images][groups][channels][positions]. */
  x: usize
  /** Packed weights; each kernel says how. */
  w: usize
  /** [groups][m], and laid out as y; only where the flags below say so. */
  bias: usize
  residual: usize
  y: usize
  hasBias: u32
  hasResidual: u32
  /** Input and output channels of a group, and groups of an image. */
  channels: u32
  m: u32
  groups: u32
  inD: i32
  inH: i32
  inW: i32
  kD: i32
  kH: i32
  kW: i32
  sD: i32
  sH: i32
  sW: i32
  dD: i32
  dH: i32
  dW: i32
  pD: i32
  pH: i32
  pW: i32
  outD: i32
  outH: i32
  outW: i32
  /** Applied last: a function of unary.ts and its parameters. */
  activation: i32
  p: f32
  q: f32
  /**
   * How many are computed together: panels of eight positions, rows of Winograd's tiles, blocks of outputs of its form
   * along one axis, lines of outputs to few channels, or outputs where there is a single such line.
   */
  rows: u32
  /** Parts of a group's output channels, each a whole number of strips of four; see {@link stripsOfPart}. */
  parts: u32
  /** Outputs of Winograd's tiles along an axis, 4 or 2. */
  side: u32
}

/** Strips of four output channels in each part but the last. */
// @ts-ignore: decorator
@inline
export function stripsOfPart(args: ConvArguments): u32 {
  return (((args.m + 3) >> 2) + args.parts - 1) / args.parts
}

// @ts-ignore: decorator
@inline
export function windowsOf(args: ConvArguments): Windows {
  return changetype<Windows>(changetype<usize>(args) + offsetof<ConvArguments>('inD'))
}

/** Copies a line of the input. A call of memory.copy costs as much as some vectors. */
// @ts-ignore: decorator
@inline
export function copyLine(to: usize, from: usize, bytes: usize): void {
  if (bytes > 1024) {
    memory.copy(to, from, bytes)
    return
  }
  const end = to + bytes
  if (bytes < 16) {
    for (; to < end; to += 4, from += 4) f32.store(to, f32.load(from))
    return
  }
  for (; to + 16 <= end; to += 16, from += 16) v128.store(to, v128.load(from))
  // Some elements at the end are copied twice.
  const back = to + 16 - end
  if (back < 16) v128.store(to - back, v128.load(from - back))
}

/**
 * im2col: writes rows `from … to - 1` of some panels (a row is an input channel and a tap), by the taps planned for the
 * positions of each. Panels take turns at a row, so that the input is read in its order.
 */
export function writeColumns(
  x: usize,
  channelBytes: usize,
  taps: usize,
  tapCount: u32,
  from: u32,
  to: u32,
  panels: usize,
  step: usize,
  count: u32
): void {
  const tapBytes = <usize>tapCount * TAP
  let t = from % tapCount
  let base = x + (from / tapCount) * channelBytes
  for (let i = from; i < to; i++, panels += 32) {
    const end = panels + count * step
    for (let panel = panels, tap = taps + t * TAP; panel < end; panel += step, tap += tapBytes)
      writeRow(base, tap, panel)
    if (++t == tapCount) {
      t = 0
      base += channelBytes
    }
  }
}

/**
 * Writes `cols` positions side by side of `channels` channels into panels. Of the last panel, positions that there are
 * not are left as they are.
 */
export function copyColumns(
  x: usize,
  channelBytes: usize,
  channels: usize,
  panels: usize,
  step: usize,
  cols: u32
): void {
  const wholeBytes = <usize>(cols >> 3) * step
  for (const last = x + channels * channelBytes; x != last; x += channelBytes, panels += 32) {
    let from = x
    let panel = panels
    for (const end = panels + wholeBytes; panel < end; panel += step, from += 32) {
      v128.store(panel, v128.load(from))
      v128.store(panel, v128.load(from, 16), 16)
    }
    if (cols & 4) {
      v128.store(panel, v128.load(from))
      panel += 16
      from += 16
    }
    for (const end = from + ((cols & 3) << 2); from < end; from += 4, panel += 4) f32.store(panel, f32.load(from))
  }
}

/** Eight positions of a channel at one tap. */
// @ts-ignore: decorator
@inline
function writeRow(base: usize, tap: usize, to: usize): void {
  const kind = load<i32>(tap)
  if (kind == SIDE_BY_SIDE) {
    const at = base + load<u32>(tap, 4)
    v128.store(to, v128.load(at))
    v128.store(to, v128.load(at, 16), 16)
  } else if (kind == EVERY_OTHER) {
    const at = base + load<u32>(tap, 4)
    v128.store(to, i32x4.shuffle(v128.load(at), v128.load(at, 16), 0, 2, 4, 6))
    // The last load must not reach beyond the eighth position.
    v128.store(to, i32x4.shuffle(v128.load(at, 32), v128.load(at, 44), 0, 2, 5, 7), 16)
  } else if (kind == ZEROS) {
    v128.store(to, i64x2.splat(0))
    v128.store(to, i64x2.splat(0), 16)
  } else {
    for (let j: usize = 0; j < 32; j += 4) {
      const offset = load<i32>(tap + j, 8)
      store<f32>(to + j, offset >= 0 ? load<f32>(base + offset) : 0)
    }
  }
}
