import { EDGE, rowsByPanel } from './gemm'
import { packPanel } from './panels'

/**
 * A transposed convolution over one or two spatial axes. A block is some output channels of an image's group: the
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
  inH: i32
  inW: i32
  kH: i32
  kW: i32
  sH: i32
  sW: i32
  dH: i32
  dW: i32
  pH: i32
  pW: i32
  outH: i32
  outW: i32
}

/** Computes blocks `from … to - 1`, counted over images and groups. */
export function convTranspose(args: ConvTransposeArguments, scratch: usize, from: u32, to: u32): void {
  const perPlane = (args.m + args.perBlock - 1) / args.perBlock
  const taps = <u32>(args.kH * args.kW)
  const positions = <u32>(args.inH * args.inW)
  const depth = <usize>args.channels
  const outBytes = (<usize>(args.outH * args.outW)) << 2
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

/** Adds products, [count][taps][8], of positions `p … p + cols - 1` to the output, row by row of the input. */
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
    const row = (p + done) / inW
    const column = (p + done) % inW
    const length = min(cols - done, inW - column)
    addRun(
      args,
      columns + (done << 2),
      y,
      outBytes,
      count,
      <i32>row * args.sH - args.pH,
      <i32>column * args.sW - args.pW,
      <i32>length
    )
    done += length
  }
}

/** {@link addColumns} for positions of one row, of which the first one's first tap is added at (h, w). */
function addRun(
  args: ConvTransposeArguments,
  columns: usize,
  y: usize,
  outBytes: usize,
  count: u32,
  h: i32,
  w: i32,
  length: i32
): void {
  const step = args.sW
  const channel = (<usize>(args.kH * args.kW)) << 5
  for (let kh = 0; kh < args.kH; kh++) {
    const line = h + kh * args.dH
    if (<u32>line >= <u32>args.outH) continue
    for (let kw = 0; kw < args.kW; kw++) {
      const base = w + kw * args.dW
      const low = base >= 0 ? 0 : (step - 1 - base) / step
      const high = base >= args.outW ? 0 : min(length, (args.outW - 1 - base) / step + 1)
      let from = columns + ((<usize>(kh * args.kW + kw)) << 5)
      let to = y + ((<usize>(line * args.outW + base)) << 2)
      for (let i: u32 = 0; i < count; i++, from += channel, to += outBytes) {
        for (let j = low; j < high; j++) {
          const at = to + ((<usize>(j * step)) << 2)
          f32.store(at, f32.load(at) + f32.load(from + ((<usize>j) << 2)))
        }
      }
    }
  }
}
