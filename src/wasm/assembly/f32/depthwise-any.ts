import { ConvArguments } from './conv'
import { fma, splat } from './simd'

/**
 * A plane of windows of any size, stride and dilation: four lines of outputs at once, four outputs of each, or sixteen
 * outputs of a line. At the end of a line, and of the plane, outputs are computed twice.
 * @param apart bytes between elements of a line that are next to each other, where the stride is above 1
 */
export function anyWindows(
  args: ConvArguments,
  x: usize,
  lineBytes: usize,
  planeBytes: usize,
  apart: usize,
  w: usize,
  bias: v128,
  y: usize
): void {
  const row = (<usize>args.outW) << 2
  const lines = args.outH
  const down = <usize>args.sH * lineBytes
  // To the next tap: so many remainders, and elements of one; back from the last remainder to the first.
  const turn = args.dW % args.sW
  const ahead = <usize>turn * apart + ((<usize>(args.dW / args.sW)) << 2)
  const back = <usize>args.sW * apart - 4
  if (row >= 16 && lines >= 4) {
    for (let i = 0; ; i = min(i + 4, lines - 4)) {
      const from = x + <usize>i * down
      const to = y + <usize>i * row
      for (let at: usize = 0; ; at = min(at + 16, row - 16)) {
        fourVectors(args, from + at, down, lineBytes, planeBytes, turn, ahead, back, w, bias, to + at, row)
        if (at == row - 16) break
      }
      if (i == lines - 4) return
    }
  }
  for (let i = 0; i < lines; i++, x += down, y += row) {
    if (row < 64) {
      fewOutputs(args, x, lineBytes, planeBytes, turn, ahead, back, w, bias, y)
      continue
    }
    for (let at: usize = 0; ; at = min(at + 64, row - 64)) {
      fourVectors(args, x + at, 16, lineBytes, planeBytes, turn, ahead, back, w, bias, y + at, 16)
      if (at == row - 64) break
    }
  }
}

/** Four vectors of outputs, `step` bytes apart in the input and `row` in the output. */
function fourVectors(
  args: ConvArguments,
  x: usize,
  step: usize,
  lineBytes: usize,
  planeBytes: usize,
  turn: i32,
  ahead: usize,
  back: usize,
  w: usize,
  bias: v128,
  y: usize,
  row: usize
): void {
  const stride = args.sW
  const width = (<usize>args.kW) << 2
  let s0 = splat(0)
  let s1 = s0
  let s2 = s0
  let s3 = s0
  for (let d = 0; d < args.kD; d++, x += planeBytes * args.dD) {
    let line = x
    for (let i = 0; i < args.kH; i++, line += lineBytes * args.dH) {
      let a = line
      let remainder = 0
      for (const end = w + width; w < end; w += 4) {
        const u = v128.load32_splat(w)
        let b = a
        s0 = fma(s0, u, v128.load(b))
        b += step
        s1 = fma(s1, u, v128.load(b))
        b += step
        s2 = fma(s2, u, v128.load(b))
        s3 = fma(s3, u, v128.load(b + step))
        a += ahead
        remainder += turn
        if (remainder >= stride) {
          remainder -= stride
          a -= back
        }
      }
    }
  }
  v128.store(y, f32x4.add(s0, bias))
  v128.store(y + row, f32x4.add(s1, bias))
  v128.store(y + 2 * row, f32x4.add(s2, bias))
  v128.store(y + 3 * row, f32x4.add(s3, bias))
}

/** A line of few outputs. */
function fewOutputs(
  args: ConvArguments,
  x: usize,
  lineBytes: usize,
  planeBytes: usize,
  turn: i32,
  ahead: usize,
  back: usize,
  w: usize,
  bias: v128,
  y: usize
): void {
  for (let left = args.outW; left > 0; left -= 4, x += 16, y += 16) {
    const sum = oneVector(args, x, lineBytes, planeBytes, turn, ahead, back, w, bias)
    if (left > 3) {
      v128.store(y, sum)
      continue
    }
    f32.store(y, f32x4.extract_lane(sum, 0))
    if (left > 1) f32.store(y, f32x4.extract_lane(sum, 1), 4)
    if (left > 2) f32.store(y, f32x4.extract_lane(sum, 2), 8)
  }
}

/** Four outputs side by side. */
function oneVector(
  args: ConvArguments,
  x: usize,
  lineBytes: usize,
  planeBytes: usize,
  turn: i32,
  ahead: usize,
  back: usize,
  w: usize,
  bias: v128
): v128 {
  const stride = args.sW
  const width = (<usize>args.kW) << 2
  let sum = splat(0)
  for (let d = 0; d < args.kD; d++, x += planeBytes * args.dD) {
    let line = x
    for (let i = 0; i < args.kH; i++, line += lineBytes * args.dH) {
      let a = line
      let remainder = 0
      for (const end = w + width; w < end; w += 4) {
        sum = fma(sum, v128.load32_splat(w), v128.load(a))
        a += ahead
        remainder += turn
        if (remainder >= stride) {
          remainder -= stride
          a -= back
        }
      }
    }
  }
  return f32x4.add(sum, bias)
}
