import { ConvArguments, copyLine } from './conv'
import { epilogue } from './matrix'
import { NONE } from './unary'

/* Planes with their padding, whose windows are summed without looking at edges. */

/** Long enough for whole vectors at the end of a line, and a multiple of the stride. */
// @ts-ignore: decorator
@inline
export function paddedWidth(args: ConvArguments): usize {
  const least = (((args.outW + 3) & ~3) - 1) * args.sW + (args.kW - 1) * args.dW + 1 + 8
  return <usize>(least + args.sW - 1 - ((least + args.sW - 1) % args.sW))
}

/** Copies the part of a plane that begins at line `top` and element `left`, which may be in the padding, to zeros. */
export function copyPart(
  args: ConvArguments,
  to: usize,
  lineBytes: usize,
  lines: i32,
  x: usize,
  top: i32,
  left: i32
): void {
  const padding = max(0, -left)
  const start = max(0, left)
  const count = min(args.inW - start, <i32>(lineBytes >> 2) - padding)
  if (count <= 0) return
  const last = min(lines, args.inH - top)
  for (let line = max(0, -top); line < last; line++) {
    const from = x + ((<usize>((top + line) * args.inW + start)) << 2)
    copyPadded(to + <usize>line * lineBytes, lineBytes, args.sW, from, padding, count)
  }
}

/** Copies `count` elements of a line behind `padding` elements, laid apart by the stride. */
function copyPadded(to: usize, lineBytes: usize, stride: i32, from: usize, padding: i32, count: i32): void {
  if (stride == 1) copyLine(to + ((<usize>padding) << 2), from, (<usize>count) << 2)
  else if (stride == 2) copyApart(to, lineBytes >> 1, from, padding, count)
  else copyByStride(to, lineBytes / stride, stride, from, padding, count)
}

/**
 * Copies a line of the input behind `padding` elements: even ones of the padded line to `to`, odd ones `odds` behind.
 */
function copyApart(to: usize, odds: usize, from: usize, padding: i32, count: i32): void {
  let first = to + ((<usize>(padding >> 1)) << 2)
  let second = first + odds
  if (padding & 1) {
    const even = first + 4
    first = second
    second = even
  }
  const end = from + ((<usize>count) << 2)
  for (; from + 32 <= end; from += 32, first += 16, second += 16) {
    const a = v128.load(from)
    const b = v128.load(from, 16)
    v128.store(first, i32x4.shuffle(a, b, 0, 2, 4, 6))
    v128.store(second, i32x4.shuffle(a, b, 1, 3, 5, 7))
  }
  for (; from < end; from += 8, first += 4, second += 4) {
    f32.store(first, f32.load(from))
    if (from + 4 < end) f32.store(second, f32.load(from, 4))
  }
}

/**
 * Copies a line of the input behind `padding` elements. Elements lie apart by their place modulo the stride: those of
 * each remainder side by side from a multiple of `apart` bytes on, so that windows side by side read whole vectors.
 */
function copyByStride(to: usize, apart: usize, stride: i32, from: usize, padding: i32, count: i32): void {
  const end = from + ((<usize>count) << 2)
  const step = (<usize>stride) << 2
  const back = <usize>stride * apart - 4
  let remainder = padding % stride
  let first = to + <usize>remainder * apart + ((<usize>(padding / stride)) << 2)
  for (let start = from; start < min(end, from + step); start += 4) {
    for (let source = start, at = first; source < end; source += step, at += 4) f32.store(at, f32.load(source))
    first += apart
    if (++remainder == stride) {
      remainder = 0
      first -= back
    }
  }
}

/** Adds what is to be added to a plane of outputs, and applies the activation, while the plane is in the cache. */
export function finishPlane(args: ConvArguments, y: usize, bytes: usize): void {
  if (!args.hasResidual && args.activation == NONE) return
  const residual = args.hasResidual ? args.residual + (y - args.y) : 0
  epilogue(y, residual, bytes, 1, <u32>(bytes >> 2), 0, 0, 1, args.activation, args.p, args.q)
}
