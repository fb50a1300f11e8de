import { EDGE, rowsByPanel } from './gemm'
import { fetchLines, packPanel } from './panels'
import { fma, splat } from './simd'

/**
 * A transposed convolution over one to three spatial axes. A block is some output channels of an image's group: the
 * products of their weights with eight input positions at a time are added to the output (col2im). Lengths are in
 * elements.
 */
@unmanaged
export class ConvTransposeArguments {
  /** [images][groups][channels][positions]. */
  x: usize
  /** [groups], each strips of four of the rows [m][taps]. */
  w: usize
  /** [groups][m]. */
  bias: usize
  y: usize
  hasBias: u32
  /** Input and output channels of a group, groups of an image, output channels of a block. */
  channels: u32
  m: u32
  groups: u32
  perBlock: u32
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

/** Elements of the sums of a line, see {@link planeByPhases}; longer ones are computed as those of many channels. */
const MAX_LINE = 1 << 16

/** Computes blocks `from … to - 1`, counted over images and groups. */
export function convTranspose(args: ConvTransposeArguments, scratch: usize, from: u32, to: u32): void {
  const perPlane = (args.m + args.perBlock - 1) / args.perBlock
  const taps = <u32>(args.kD * args.kH * args.kW)
  const positions = <u32>(args.inD * args.inH * args.inW)
  const depth = <usize>args.channels
  const outBytes = (<usize>(args.outD * args.outH * args.outW)) << 2
  const panel = scratch + EDGE
  const columns = panel + (depth << 5)
  for (let block = from; block < to; block++) {
    const plane = block / perPlane
    const first = (block % perPlane) * args.perBlock
    const group = plane % args.groups
    const count = min(args.perBlock, args.m - first)
    const x = args.x + <usize>plane * depth * (positions << 2)
    // Blocks begin with a strip: the rows of a block are a multiple of four.
    const w = args.w + (<usize>group * ((args.m * taps + 3) >> 2) + ((first * taps) >> 2)) * (depth << 4)
    const y = args.y + (<usize>plane * args.m + first) * outBytes
    if (depth == 1 && args.outW < MAX_LINE && args.sW < MAX_LINE >> 3) {
      for (let i: u32 = 0; i < count; i++) {
        const channel = group * args.m + first + i
        const start = args.hasBias ? f32.load(args.bias + ((<usize>channel) << 2)) : 0
        planeByPhases(args, x, w + ((<usize>(i * taps)) << 2), start, y + i * outBytes, scratch)
      }
      continue
    }
    fetchLines(w, (<usize>(count * taps) * depth) << 2, scratch)
    fillWithBias(y, outBytes, count, args.hasBias ? args.bias + ((group * args.m + first) << 2) : 0)
    for (let p: u32 = 0; p < positions; p += 8) {
      const cols = min<u32>(8, positions - p)
      packPanel(x + (p << 2), positions << 2, 4, depth, cols, panel)
      rowsByPanel(w, 4, 16, depth << 4, panel, columns, 32, count * taps, 8, depth, false, scratch)
      addColumns(args, columns, y, outBytes, count, p, cols)
    }
  }
}

function fillWithBias(y: usize, bytes: usize, count: u32, bias: usize): void {
  for (let i: u32 = 0; i < count; i++, y += bytes) {
    if (bias == 0) {
      memory.fill(y, 0, bytes)
      continue
    }
    const value = f32.load(bias + (i << 2))
    const vector = f32x4.splat(value)
    let at: usize = 0
    for (; at + 16 <= bytes; at += 16) v128.store(y + at, vector)
    for (; at < bytes; at += 4) f32.store(y + at, value)
  }
}

/** Adds products, [count][taps][8], of positions `p … p + cols - 1` to the output, line by line of the input. */
function addColumns(
  args: ConvTransposeArguments,
  columns: usize,
  y: usize,
  outBytes: usize,
  count: u32,
  p: u32,
  cols: u32
): void {
  const inW = <u32>args.inW
  let done: u32 = 0
  while (done < cols) {
    const line = (p + done) / inW
    const column = (p + done) % inW
    const length = min(cols - done, inW - column)
    addRun(args, columns + (done << 2), y, outBytes, count, line, <i32>column * args.sW - args.pW, <i32>length)
    done += length
  }
}

/** {@link addColumns} for positions of one line, of which the first one's first tap is added at column `w`. */
function addRun(
  args: ConvTransposeArguments,
  columns: usize,
  y: usize,
  outBytes: usize,
  count: u32,
  line: u32,
  w: i32,
  length: i32
): void {
  const d = <i32>(line / <u32>args.inH) * args.sD - args.pD
  const h = <i32>(line % <u32>args.inH) * args.sH - args.pH
  for (let kd = 0; kd < args.kD; kd++) {
    const plane = d + kd * args.dD
    if (<u32>plane >= <u32>args.outD) continue
    for (let kh = 0; kh < args.kH; kh++) {
      const outLine = h + kh * args.dH
      if (<u32>outLine >= <u32>args.outH) continue
      const taps = (kd * args.kH + kh) * args.kW
      const to = y + ((<usize>((plane * args.outH + outLine) * args.outW)) << 2)
      addLineOfTaps(args, columns + ((<usize>taps) << 5), to, outBytes, count, w, length)
    }
  }
}

/** {@link addRun} for the taps of one line of the kernel, and of one line of the output of each channel. */
function addLineOfTaps(
  args: ConvTransposeArguments,
  columns: usize,
  y: usize,
  outBytes: usize,
  count: u32,
  w: i32,
  length: i32
): void {
  const step = args.sW
  const channel = (<usize>(args.kD * args.kH * args.kW)) << 5
  for (let kw = 0; kw < args.kW; kw++) {
    const base = w + kw * args.dW
    const low = base >= 0 ? 0 : (step - 1 - base) / step
    const high = base >= args.outW ? 0 : min(length, (args.outW - 1 - base) / step + 1)
    let from = columns + ((<usize>kw) << 5)
    let to = y + ((<usize>base) << 2)
    for (let i: u32 = 0; i < count; i++, from += channel, to += outBytes) {
      for (let j = low; j < high; j++) {
        const at = to + ((<usize>(j * step)) << 2)
        f32.store(at, f32.load(at) + f32.load(from + ((<usize>j) << 2)))
      }
    }
  }
}

/**
 * One output channel of one input channel. Outputs that lie a stride apart read neighbours of the input, so that for
 * each such phase whole vectors of a line are multiplied by a weight and added up; a line of the output is made of its
 * phases at the end.
 */
function planeByPhases(args: ConvTransposeArguments, x: usize, w: usize, start: f32, y: usize, scratch: usize): void {
  const step = args.sW
  const bytes = (<usize>(((args.outW + step - 1) / step + 3) & ~3)) << 2
  const first = splat(start)
  const lines = args.outD * args.outH
  for (let line = 0; line < lines; line++) {
    for (let at: usize = 0; at < bytes * step; at += 16) v128.store(scratch + at, first)
    for (let kd = 0; kd < args.kD; kd++) {
      const plane = sourceOf(line / args.outH + args.pD - kd * args.dD, args.sD, args.inD)
      if (plane < 0) continue
      for (let kh = 0; kh < args.kH; kh++) {
        const row = sourceOf((line % args.outH) + args.pH - kh * args.dH, args.sH, args.inH)
        if (row < 0) continue
        const from = x + ((<usize>((plane * args.inH + row) * args.inW)) << 2)
        addLine(args, from, w + ((<usize>((kd * args.kH + kh) * args.kW)) << 2), scratch, bytes)
      }
    }
    mixPhases(scratch, bytes, step, y + ((<usize>(line * args.outW)) << 2), args.outW)
  }
}

/** The position along an axis of the input that begins `at` elements into the output; -1 where none does. */
// @ts-ignore: decorator
@inline
function sourceOf(at: i32, stride: i32, count: i32): i32 {
  return at < 0 || at % stride != 0 || at / stride >= count ? -1 : at / stride
}

/** Adds a line of the input times each weight of a row to the phases, `bytes` each, of a line of the output. */
function addLine(args: ConvTransposeArguments, from: usize, weights: usize, phases: usize, bytes: usize): void {
  const step = args.sW
  for (let kw = 0; kw < args.kW; kw++) {
    const column = kw * args.dW - args.pW
    // The quotient is rounded down.
    const shift = (column - (column < 0 ? step - 1 : 0)) / step
    const phase = column - shift * step
    const low = max(0, -shift)
    const high = min(args.inW, (args.outW - phase + step - 1) / step - shift)
    if (low >= high) continue
    const to = phases + phase * bytes + ((<usize>(low + shift)) << 2)
    addProducts(from + ((<usize>low) << 2), f32.load(weights + ((<usize>kw) << 2)), to, (<usize>(high - low)) << 2)
  }
}

function addProducts(from: usize, weight: f32, to: usize, bytes: usize): void {
  const factor = splat(weight)
  let at: usize = 0
  for (; at + 16 <= bytes; at += 16) v128.store(to + at, fma(v128.load(to + at), v128.load(from + at), factor))
  for (; at < bytes; at += 4) f32.store(to + at, f32.load(to + at) + f32.load(from + at) * weight)
}

/** Writes `count` elements of a line: element i is element i / step of phase i % step. */
function mixPhases(phases: usize, bytes: usize, step: i32, y: usize, count: i32): void {
  if (step == 1) return memory.copy(y, phases, (<usize>count) << 2)
  let i = 0
  if (step == 2) {
    for (let at = phases; i + 8 <= count; i += 8, at += 16, y += 32) {
      const even = v128.load(at)
      const odd = v128.load(at + bytes)
      v128.store(y, i8x16.shuffle(even, odd, 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23))
      v128.store(y + 16, i8x16.shuffle(even, odd, 8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31))
    }
  }
  for (; i < count; i++, y += 4) f32.store(y, f32.load(phases + (i % step) * bytes + ((<usize>(i / step)) << 2)))
}
