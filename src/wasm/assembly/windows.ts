/** Windows over up to three spatial axes: depth, height, width. Lengths are in positions. */
@unmanaged
export class Windows {
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
}

/** Whether each output is a sum of what lies at the same position. */
export function isPointwise(args: Windows): bool {
  const isOfOne = args.kD * args.kH * args.kW == 1 && args.sD * args.sH * args.sW == 1
  return isOfOne && args.inD == args.outD && args.inH == args.outH && args.inW == args.outW
}

/** How a tap reads a panel's eight positions. */
export const ZEROS: i32 = 0
export const SIDE_BY_SIDE: i32 = 1
export const EVERY_OTHER: i32 = 2
export const ONE_BY_ONE: i32 = 3
/** Bytes of a tap: its kind, the offset of the first position in bytes, and eight offsets (-1: padding). */
export const TAP: usize = 40

/**
 * Works out how each tap of the kernel reads positions `first … first + cols - 1` of the output.
 * @param unit bytes from one position of the input to the next
 */
export function planTaps(args: Windows, unit: i32, first: u32, cols: u32, taps: usize): void {
  const outW = <u32>args.outW
  const plane = <u32>args.outH * outW
  const inPlane = first % plane
  const column = inPlane % outW
  if (cols == 8 && column + 8 <= outW) {
    planRow(
      args,
      unit,
      <i32>(first / plane) * args.sD - args.pD,
      <i32>(inPlane / outW) * args.sH - args.pH,
      <i32>column * args.sW - args.pW,
      taps
    )
  } else planPositions(args, unit, first, cols, taps)
}

/**
 * {@link planTaps} for eight positions of one row of the output: the first tap of the first position reads at (d, h,
 * w).
 */
function planRow(args: Windows, unit: i32, d: i32, h: i32, w: i32, tap: usize): void {
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
          store<i32>(tap, (line + iW) * unit, 4)
        } else {
          store<i32>(tap, ONE_BY_ONE)
          for (let j = 0; j < 8; j++) {
            const at = iW + j * step
            store<i32>(tap + <usize>(j << 2), <u32>at < <u32>args.inW ? (line + at) * unit : -1, 8)
          }
        }
      }
    }
}

/** {@link planTaps} for positions of several rows. */
function planPositions(args: Windows, unit: i32, first: u32, cols: u32, tap: usize): void {
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
          store<i32>(at, isInside && <u32>iW < <u32>args.inW ? ((iD * args.inH + iH) * args.inW + iW) * unit : -1, 8)
        }
      }
  }
  const end = tap + <usize>(args.kD * args.kH * args.kW) * TAP
  for (; tap < end; tap += TAP) {
    store<i32>(tap, kindOf(tap + 8, unit))
    store<i32>(tap, load<i32>(tap, 8), 4)
  }
}

/** Eight positions of several rows may still lie side by side: where a plane is read as it is. */
function kindOf(offsets: usize, unit: i32): i32 {
  const first = load<i32>(offsets)
  if (first < 0) return ONE_BY_ONE
  for (let j: i32 = 1; j < 8; j++) if (load<i32>(offsets + <usize>(j << 2)) != first + j * unit) return ONE_BY_ONE
  return SIDE_BY_SIDE
}
