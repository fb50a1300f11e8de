import { rowsByPanel } from './gemm'

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
}

/** How a tap reads a panel's eight positions. */
const ZEROS: i32 = 0
const SIDE_BY_SIDE: i32 = 1
const EVERY_OTHER: i32 = 2
const ONE_BY_ONE: i32 = 3
/** Bytes of a tap: its kind, the offset of the first position in bytes, and eight offsets (-1: padding). */
const TAP: usize = 40

/** Works out how each tap of the kernel reads positions `first … first + cols - 1` of the output. */
export function planTaps(args: ConvArguments, first: u32, cols: u32, taps: usize): void {
  const outW = <u32>args.outW
  const plane = <u32>args.outH * outW
  const inPlane = first % plane
  const column = inPlane % outW
  if (cols == 8 && column + 8 <= outW) {
    planRow(
      args,
      <i32>(first / plane) * args.sD - args.pD,
      <i32>(inPlane / outW) * args.sH - args.pH,
      <i32>column * args.sW - args.pW,
      taps
    )
  } else planPositions(args, first, cols, taps)
}

/**
 * {@link planTaps} for eight positions of one row of the output: the first tap of the first position reads at (d, h,
 * w).
 */
function planRow(args: ConvArguments, d: i32, h: i32, w: i32, tap: usize): void {
  const step = args.sW
  const reach = 7 * step
  const kind = step == 1 ? SIDE_BY_SIDE : step == 2 ? EVERY_OTHER : ONE_BY_ONE
  for (let kd = 0; kd < args.kD; kd++)
    for (let kh = 0; kh < args.kH; kh++) {
      const iD = d + kd * args.dD
      const iH = h + kh * args.dH
      const line = (iD * args.inH + iH) * args.inW
      const isInside = <u32>iD < <u32>args.inD && <u32>iH < <u32>args.inH
      for (let kw = 0; kw < args.kW; kw++, tap += TAP) {
        const iW = w + kw * args.dW
        if (!isInside || iW + reach < 0 || iW >= args.inW) store<i32>(tap, ZEROS)
        else if (kind != ONE_BY_ONE && iW >= 0 && iW + reach < args.inW) {
          store<i32>(tap, kind)
          store<i32>(tap, (line + iW) << 2, 4)
        } else {
          store<i32>(tap, ONE_BY_ONE)
          for (let j = 0; j < 8; j++) {
            const at = iW + j * step
            store<i32>(tap + <usize>(j << 2), <u32>at < <u32>args.inW ? (line + at) << 2 : -1, 8)
          }
        }
      }
    }
}

/** {@link planTaps} for positions of several rows. */
function planPositions(args: ConvArguments, first: u32, cols: u32, tap: usize): void {
  const outW = <u32>args.outW
  const plane = <u32>args.outH * outW
  for (let j: u32 = 0; j < 8; j++) {
    const position = first + min(j, cols - 1)
    const d = <i32>(position / plane) * args.sD - args.pD
    const inPlane = position % plane
    const h = <i32>(inPlane / outW) * args.sH - args.pH
    const w = <i32>(inPlane % outW) * args.sW - args.pW
    let at = tap + <usize>(j << 2)
    for (let kd = 0; kd < args.kD; kd++)
      for (let kh = 0; kh < args.kH; kh++) {
        const iD = d + kd * args.dD
        const iH = h + kh * args.dH
        const isInside = j < cols && <u32>iD < <u32>args.inD && <u32>iH < <u32>args.inH
        for (let kw = 0; kw < args.kW; kw++, at += TAP) {
          const iW = w + kw * args.dW
          store<i32>(at, isInside && <u32>iW < <u32>args.inW ? ((iD * args.inH + iH) * args.inW + iW) << 2 : -1, 8)
        }
      }
  }
  const end = tap + <usize>(args.kD * args.kH * args.kW) * TAP
  for (; tap < end; tap += TAP) {
    store<i32>(tap, kindOf(tap + 8))
    store<i32>(tap, load<i32>(tap, 8), 4)
  }
}

/** Eight positions of several rows may still lie side by side: where a plane is read as it is. */
function kindOf(offsets: usize): i32 {
  const first = load<i32>(offsets)
  if (first < 0) return ONE_BY_ONE
  for (let j: i32 = 1; j < 8; j++) if (load<i32>(offsets + <usize>(j << 2)) != first + (j << 2)) return ONE_BY_ONE
  return SIDE_BY_SIDE
}

/**
 * im2col: writes rows `from … to - 1` of the panel (a row is an input channel and a tap), by the taps planned for its
 * positions.
 */
export function writeColumns(
  x: usize,
  channelBytes: usize,
  taps: usize,
  tapCount: u32,
  from: u32,
  to: u32,
  panel: usize
): void {
  let channel = from / tapCount
  let t = from % tapCount
  let base = x + channel * channelBytes
  for (let i = from; i < to; i++) {
    const tap = taps + t * TAP
    const kind = load<i32>(tap)
    if (kind == SIDE_BY_SIDE) {
      const at = base + load<u32>(tap, 4)
      v128.store(panel, v128.load(at))
      v128.store(panel, v128.load(at, 16), 16)
    } else if (kind == EVERY_OTHER) {
      const at = base + load<u32>(tap, 4)
      v128.store(panel, i32x4.shuffle(v128.load(at), v128.load(at, 16), 0, 2, 4, 6))
      // The last load must not reach beyond the eighth position.
      v128.store(panel, i32x4.shuffle(v128.load(at, 32), v128.load(at, 44), 0, 2, 5, 7), 16)
    } else if (kind == ZEROS) {
      v128.store(panel, i64x2.splat(0))
      v128.store(panel, i64x2.splat(0), 16)
    } else {
      for (let j: usize = 0; j < 32; j += 4) {
        const offset = load<i32>(tap + j, 8)
        store<f32>(panel + j, offset >= 0 ? load<f32>(base + offset) : 0)
      }
    }
    panel += 32
    if (++t == tapCount) {
      t = 0
      base += channelBytes
    }
  }
}
