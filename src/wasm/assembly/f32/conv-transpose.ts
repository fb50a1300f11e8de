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
  const isFirst = isOfOneProduct(args)
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
    const bias = args.hasBias ? args.bias + ((group * args.m + first) << 2) : 0
    if (!isFirst) fillWithBias(y, outBytes, count, bias)
    const isAdded = isFirst && bias != 0
    for (let p: u32 = 0; p < positions; p += 8) {
      const cols = min<u32>(8, positions - p)
      packPanel(x + (p << 2), positions << 2, 4, depth, cols, panel)
      if (isAdded) fillWithBias(columns, taps << 5, count, bias)
      rowsByPanel(w, 4, 16, depth << 4, panel, columns, 32, count * taps, 8, depth, isAdded, scratch)
      addColumns(args, columns, y, outBytes, count, p, cols, isFirst)
    }
  }
}

/** Fills `bytes` of each channel with its bias, or with 0 where there is none. */
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

/** Whether each output is one product: windows neither overlap nor leave gaps. */
function isOfOneProduct(args: ConvTransposeArguments): bool {
  return (
    isTiled(args.inD, args.kD, args.sD, args.dD, args.pD, args.outD) &&
    isTiled(args.inH, args.kH, args.sH, args.dH, args.pH, args.outH) &&
    isTiled(args.inW, args.kW, args.sW, args.dW, args.pW, args.outW)
  )
}

function isTiled(count: i32, kernel: i32, stride: i32, dilation: i32, begin: i32, size: i32): bool {
  return kernel == stride && (dilation == 1 || kernel == 1) && begin == 0 && size == count * stride
}

/**
 * Adds products, [count][taps][8], of positions `p … p + cols - 1` to the output, line by line of the input.
 * @param isFirst whether each output is one product, which is written as it is
 */
function addColumns(
  args: ConvTransposeArguments,
  columns: usize,
  y: usize,
  outBytes: usize,
  count: u32,
  p: u32,
  cols: u32,
  isFirst: bool
): void {
  const inW = <u32>args.inW
  let done: u32 = 0
  while (done < cols) {
    const line = (p + done) / inW
    const column = (p + done) % inW
    const length = min(cols - done, inW - column)
    const w = <i32>column * args.sW - args.pW
    addRun(args, columns + (done << 2), y, outBytes, count, line, w, <i32>length, isFirst)
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
  length: i32,
  isFirst: bool
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
      addLineOfTaps(args, columns + ((<usize>taps) << 5), to, outBytes, count, w, length, isFirst)
    }
  }
}

/**
 * {@link addRun} for the taps of one line of the kernel, and of one line of the output of each channel. Taps side by
 * side belong to outputs side by side: two or four of them, of four positions, are added as vectors.
 */
function addLineOfTaps(
  args: ConvTransposeArguments,
  columns: usize,
  y: usize,
  outBytes: usize,
  count: u32,
  w: i32,
  length: i32,
  isFirst: bool
): void {
  const step = args.sW
  let taps = 1
  for (let kw = 0; kw < args.kW; kw += taps) {
    taps = tapsTogether(args, kw)
    const base = w + kw * args.dW
    const from = columns + ((<usize>kw) << 5)
    const to = y + ((<usize>base) << 2)
    // Positions of which all of these taps lie inside; of those before and after some may.
    const low = firstInside(base, step)
    const high = endInside(base + taps - 1, step, args.outW, length)
    if (low < high) addTaps(args, taps, from, to, outBytes, count, low, high, isFirst)
    for (let tap = 0; taps > 1 && tap < taps; tap++) {
      const first = firstInside(base + tap, step)
      const end = endInside(base + tap, step, args.outW, length)
      const tapFrom = from + ((<usize>tap) << 5)
      const tapTo = to + ((<usize>tap) << 2)
      const middle = min(low, end)
      if (first < middle) addTaps(args, 1, tapFrom, tapTo, outBytes, count, first, middle, isFirst)
      const rest = max(middle, high)
      if (rest < end) addTaps(args, 1, tapFrom, tapTo, outBytes, count, rest, end, isFirst)
    }
  }
}

/** How many taps from `kw` on are added together: those of a vector that lie side by side, or one. */
function tapsTogether(args: ConvTransposeArguments, kw: i32): i32 {
  const left = args.kW - kw
  if (args.sW == 1 || args.dW > 1 || left == 1) return 1
  return args.sW == 2 ? 2 : left >= 4 ? 4 : 1
}

/** The first position of which a tap is not in front of its line, where that of position 0 lies at `base`. */
// @ts-ignore: decorator
@inline
function firstInside(base: i32, step: i32): i32 {
  return base >= 0 ? 0 : (step - 1 - base) / step
}

/** The end of the positions, of `length`, of which a tap is not beyond its line of `size` elements. */
// @ts-ignore: decorator
@inline
function endInside(base: i32, step: i32, size: i32, length: i32): i32 {
  return base >= size ? 0 : min(length, (size - 1 - base) / step + 1)
}

/** Adds 1, 2 or 4 taps of positions `low … high - 1`, all of which lie inside, for each channel. */
function addTaps(
  args: ConvTransposeArguments,
  taps: i32,
  columns: usize,
  y: usize,
  outBytes: usize,
  count: u32,
  low: i32,
  high: i32,
  isFirst: bool
): void {
  const channel = (<usize>(args.kD * args.kH * args.kW)) << 5
  const step = (<usize>args.sW) << 2
  for (let i: u32 = 0; i < count; i++, columns += channel, y += outBytes) {
    if (taps == 4) addFours(columns, y, step, low, high, isFirst)
    else if (taps == 2) addPairs(columns, y, low, high, isFirst)
    else addSingles(columns, y, step, low, high, isFirst)
  }
}

/** Adds two taps, a stride of two apart from position to position. */
// @ts-ignore: decorator
@inline
function addPairs(columns: usize, y: usize, low: i32, high: i32, isFirst: bool): void {
  let from = columns + ((<usize>low) << 2)
  const end = columns + ((<usize>high) << 2)
  y += (<usize>low) << 3
  for (; from + 16 <= end; from += 16, y += 32) {
    const even = v128.load(from)
    const odd = v128.load(from, 32)
    add(y, i32x4.shuffle(even, odd, 0, 4, 1, 5), isFirst)
    add(y + 16, i32x4.shuffle(even, odd, 2, 6, 3, 7), isFirst)
  }
  for (; from < end; from += 4, y += 8) {
    addOne(y, f32.load(from), isFirst)
    addOne(y + 4, f32.load(from, 32), isFirst)
  }
}

/** Adds four taps; positions lie `step` bytes apart. */
// @ts-ignore: decorator
@inline
function addFours(columns: usize, y: usize, step: usize, low: i32, high: i32, isFirst: bool): void {
  // Vectors begin at every fourth position of the panel, which has eight.
  for (let j = low & ~3; j < high; j += 4) {
    const from = columns + ((<usize>j) << 2)
    const a = v128.load(from)
    const b = v128.load(from, 32)
    const c = v128.load(from, 64)
    const d = v128.load(from, 96)
    const ab0 = i32x4.shuffle(a, b, 0, 4, 1, 5)
    const ab1 = i32x4.shuffle(a, b, 2, 6, 3, 7)
    const cd0 = i32x4.shuffle(c, d, 0, 4, 1, 5)
    const cd1 = i32x4.shuffle(c, d, 2, 6, 3, 7)
    const to = y + <usize>j * step
    if (j >= low) add(to, i64x2.shuffle(ab0, cd0, 0, 2), isFirst)
    if (j + 1 >= low && j + 1 < high) add(to + step, i64x2.shuffle(ab0, cd0, 1, 3), isFirst)
    if (j + 2 >= low && j + 2 < high) add(to + 2 * step, i64x2.shuffle(ab1, cd1, 0, 2), isFirst)
    if (j + 3 >= low && j + 3 < high) add(to + 3 * step, i64x2.shuffle(ab1, cd1, 1, 3), isFirst)
  }
}

/** Adds one tap; positions lie `step` bytes apart. */
// @ts-ignore: decorator
@inline
function addSingles(columns: usize, y: usize, step: usize, low: i32, high: i32, isFirst: bool): void {
  let j = low
  if (step == 4)
    for (; j + 4 <= high; j += 4) add(y + ((<usize>j) << 2), v128.load(columns + ((<usize>j) << 2)), isFirst)
  for (; j < high; j++) addOne(y + <usize>j * step, f32.load(columns + ((<usize>j) << 2)), isFirst)
}

// @ts-ignore: decorator
@inline
function add(y: usize, products: v128, isFirst: bool): void {
  v128.store(y, isFirst ? products : f32x4.add(v128.load(y), products))
}

// @ts-ignore: decorator
@inline
function addOne(y: usize, value: f32, isFirst: bool): void {
  f32.store(y, isFirst ? value : f32.load(y) + value)
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
