import { storeTransposed, transpose4 } from '../transpose4'
import { ConvArguments, copyLine, stripsOfPart } from './conv'
import { rowsByPanel } from './gemm'
import { epilogue } from './matrix'
import { fetchLines } from './panels'
import { splat } from './simd'
import { NONE } from './unary'

/**
 * Winograd's F(4, 4) along one axis: four outputs are computed from seven inputs with seven multiplications a channel
 * instead of 16. The points are 1/2, -1/2, 1, -1, 2, -2 and infinity, with which errors are about twice those of the
 * definition.
 *
 * With dilation d, a tile is four outputs d apart, and d tiles side by side fill a block of 4 d outputs. Of the inputs,
 * four lines are made: line q has, block by block, elements q d to q d + d - 1 of it. Then element 4 s + q of tile t is
 * element t + s d of line q, whatever d is. More taps than four are groups of four, whose tiles are those d further on:
 * all groups read the same transformed inputs.
 */
const POINTS: usize = 7
/** Outputs of a tile, and taps of a group. */
const SIDE: u32 = 4
/** Depth of a sum. Sums of such spans are added up, so that rounding errors grow with the depth of a span. */
const DEPTH: usize = 64
/** Bytes behind a panel, lest the same lines of all panels share a set of the cache. */
const APART: usize = 64
/** Bytes behind lines, which vectors may reach beyond. */
const SLACK: usize = 64

/** What some blocks of outputs are computed in, in scratch memory. */
@unmanaged
class Span {
  image: u32
  /** The first block of outputs, how many, and how many blocks of inputs are read. */
  first: u32
  count: u32
  blocks: u32
  /** Groups of taps. */
  groups: u32
  panels: usize
  /** Bytes of a panel, [groups][channels][8], and of those of a point. */
  panel: usize
  panelsOfPoint: usize
  /** Bytes from line to line: of the four of the inputs or outputs, and of the seven of their transforms. */
  line: usize
  mixedLine: usize
  /** Elements in their order, the four lines, their transforms, panels, and products [7][m][8 panels]. */
  elements: usize
  lines: usize
  mixed: usize
  v: usize
  product: usize
}

/** Bytes of a {@link Span}, up to a line of the cache. */
const SPAN_BYTES: usize = 64

/**
 * Computes blocks `from … to - 1` of a job: a part of the output channels in a span, counted over parts, then over
 * spans, then over images. Parts that are computed together share the transformed inputs.
 */
export function winogradLines(args: ConvArguments, scratch: usize, from: u32, to: u32): void {
  const size = SIDE * <u32>args.dW
  const all = (<u32>args.outW + size - 1) / size
  const spans = (all + args.rows - 1) / args.rows
  const span = changetype<Span>(scratch)
  while (from < to) {
    const at = from / args.parts
    const first = from % args.parts
    const last = min(args.parts, first + to - from)
    span.image = at / spans
    span.first = (at % spans) * args.rows
    span.count = min(args.rows, all - span.first)
    layOut(args, span, scratch + SPAN_BYTES)
    transformInput(args, span)
    for (let part = first; part < last; part++) multiplyPart(args, span, part)
    from += last - first
  }
}

/** Divides scratch memory; `lineDivision` in ../../kernels/conv-winograd.ts counts it. */
function layOut(args: ConvArguments, span: Span, at: usize): void {
  const d = <u32>args.dW
  const groups = <u32>(args.kW + 3) / SIDE
  const panels = (span.count * d + 7) >> 3
  const mixed = <usize>((panels << 3) + (groups - 1) * d + 3) & ~3
  const blocks = (<u32>mixed + 2 * d - 1) / d
  span.groups = groups
  span.blocks = blocks
  span.panels = panels
  span.panel = ((<usize>groups * args.channels) << 5) + APART
  span.panelsOfPoint = span.panel * panels
  span.line = <usize>(((blocks * d) << 2) & ~15) + SLACK
  span.mixedLine = mixed << 2
  span.elements = at
  span.lines = at + ((<usize>(blocks * SIDE * d)) << 2) + SLACK
  span.mixed = span.lines + SIDE * span.line
  span.v = span.mixed + POINTS * span.mixedLine
  span.product = span.v + POINTS * span.panelsOfPoint
}

/** Transforms the inputs of a span, channel by channel, into panels of eight tiles. */
function transformInput(args: ConvArguments, span: Span): void {
  const d = args.dW
  const begin = <i32>(span.first * SIDE) * d - args.pW
  const end = begin + <i32>(span.blocks * SIDE) * d
  const low = max(0, begin)
  const high = max(low, min(args.inW, end))
  const before = (<usize>(low - begin)) << 2
  const bytes = (<usize>(high - low)) << 2
  const rowBytes = (<usize>args.inW) << 2
  const whole = ((<usize>(end - begin)) << 2) + SLACK
  memory.fill(span.elements, 0, whole)
  let x = args.x + <usize>(span.image * args.channels) * rowBytes + ((<usize>low) << 2)
  for (let c: u32 = 0; c < args.channels; c++, x += rowBytes) {
    copyLine(span.elements + before, x, bytes)
    takeApart(span.elements, span.lines, span.line, d, span.blocks)
    mixLines(span, (<usize>d) << 2)
    writePanels(args, span, c)
  }
}

/** Elements of blocks as four lines, each of which has `d` elements of a block. */
function takeApart(from: usize, to: usize, line: usize, d: usize, blocks: u32): void {
  let left = blocks
  if (d == 1) for (; left >= 4; left -= 4, from += 64, to += 16) transpose4(from, 16, to, line)
  for (; left > 0; left--, to += d << 2) {
    let row = to
    for (let q: u32 = 0; q < SIDE; q++, from += d << 2, row += line) copyRun(from, row, d)
  }
}

/** The reverse of {@link takeApart}. */
function putTogether(from: usize, line: usize, to: usize, d: usize, blocks: u32): void {
  let left = blocks
  if (d == 1)
    for (; left >= 4; left -= 4, from += 16, to += 64) {
      const next = from + 2 * line
      storeTransposed(v128.load(from), v128.load(from + line), v128.load(next), v128.load(next + line), to, 16)
    }
  for (; left > 0; left--, from += d << 2) {
    let row = from
    for (let q: u32 = 0; q < SIDE; q++, to += d << 2, row += line) copyRun(row, to, d)
  }
}

/** Copies some elements by vectors. Of less than four, those behind are copied too; runs after this one mend that. */
// @ts-ignore: decorator
@inline
function copyRun(from: usize, to: usize, count: usize): void {
  v128.store(to, v128.load(from))
  if (count <= 4) return
  const last = (count - 4) << 2
  for (let at: usize = 16; at < last; at += 16) v128.store(to + at, v128.load(from + at))
  v128.store(to + last, v128.load(from + last))
}

/**
 * The transforms of four tiles at a time. For points a and -a: Q (x + a) and Q (x - a), where Q has the squares of the
 * other points as its roots.
 * @param next bytes to the tile of the next block
 */
function mixLines(span: Span, next: usize): void {
  const line = span.line
  const step = span.mixedLine
  const bytes = span.mixedLine
  let l0 = span.lines
  let l1 = l0 + line
  let l2 = l1 + line
  let l3 = l2 + line
  let to = span.mixed
  for (const end = to + bytes; to < end; to += 16) {
    const d0 = v128.load(l0)
    const d1 = v128.load(l1)
    const d2 = v128.load(l2)
    const d3 = v128.load(l3)
    const d4 = v128.load(l0 + next)
    const d5 = v128.load(l1 + next)
    putPair(to, step, mixed(d0, d2, d4, 4, 5), mixed(d1, d3, d5, 4, 5), 0.5)
    putPair(to + 2 * step, step, mixed(d0, d2, d4, 1, 4.25), mixed(d1, d3, d5, 1, 4.25), 1)
    putPair(to + 4 * step, step, mixed(d0, d2, d4, 0.25, 1.25), mixed(d1, d3, d5, 0.25, 1.25), 2)
    const middle = f32x4.mul(splat(5.25), f32x4.sub(d2, d4))
    v128.store(to + 6 * step, f32x4.add(f32x4.sub(v128.load(l2 + next), d0), middle))
    l0 += 16
    l1 += 16
    l2 += 16
    l3 += 16
  }
}

/** a x - b y + z */
// @ts-ignore: decorator
@inline
function mixed(x: v128, y: v128, z: v128, a: f32, b: f32): v128 {
  const rest = f32x4.sub(z, f32x4.mul(y, splat(b)))
  return f32x4.add(a == 1 ? x : f32x4.mul(x, splat(a)), rest)
}

// @ts-ignore: decorator
@inline
function putPair(to: usize, step: usize, even: v128, odd: v128, a: f32): void {
  const scaled = a == 1 ? even : f32x4.mul(even, splat(a))
  v128.store(to, f32x4.add(odd, scaled))
  v128.store(to + step, f32x4.sub(odd, scaled))
}

/** Copies the transforms of a channel into the panels of all groups of taps. */
function writePanels(args: ConvArguments, span: Span, c: u32): void {
  const shift = (<usize>args.dW) << 2
  const group = (<usize>args.channels) << 5
  let line = span.mixed
  let point = span.v + ((<usize>c) << 5)
  for (let p: usize = 0; p < POINTS; p++, line += span.mixedLine, point += span.panelsOfPoint) {
    let from = line
    let to = point
    for (const end = to + span.panelsOfPoint; to < end; to += span.panel, from += 32) {
      let row = to
      let at = from
      for (let g: u32 = 0; g < span.groups; g++, row += group, at += shift) {
        v128.store(row, v128.load(at))
        v128.store(row, v128.load(at, 16), 16)
      }
    }
  }
}

/** Multiplies the transformed inputs of a span by a part of the weights and transforms what comes out. */
function multiplyPart(args: ConvArguments, span: Span, part: u32): void {
  const strips = (args.m + 3) >> 2
  const perPart = stripsOfPart(args)
  const first = part * perPart
  const count = min(perPart, strips - first)
  const k = <usize>span.groups * args.channels
  const row = span.panels << 5
  const ofPoint = ((<usize>count) << 2) * row
  for (let p: usize = 0; p < POINTS; p++) {
    const w = args.w + (((p * strips + first) * k) << 4)
    fetchLines(w, (count * k) << 4, span.lines)
    for (let k0: usize = 0; k0 < k; k0 += DEPTH) {
      const depth = min(DEPTH, k - k0)
      let v = span.v + p * span.panelsOfPoint + (k0 << 5)
      let to = span.product + p * ofPoint
      for (const end = to + row; to < end; to += 32, v += span.panel)
        rowsByPanel(w + (k0 << 4), 4, 16, k << 4, v, to, row, count << 2, 8, depth, k0 > 0, span.lines)
    }
  }
  const m = first << 2
  transformOutput(args, span, m, min(args.m, (first + count) << 2), ofPoint, row)
}

/** Transforms the products of output channels `m … end - 1`, adds biases to them and stores them. */
function transformOutput(args: ConvArguments, span: Span, m: u32, end: u32, ofPoint: usize, row: usize): void {
  const size = SIDE * <u32>args.dW
  const from = span.first * size
  const cols = min(<u32>args.outW - from, span.count * size)
  const outBytes = (<usize>args.outW) << 2
  const at = <usize>(span.image * args.m + m) * outBytes + ((<usize>from) << 2)
  let y = args.y + at
  let product = span.product
  for (let i = m; i < end; i++, product += row, y += outBytes) {
    const bias = splat(args.hasBias ? f32.load(args.bias + (i << 2)) : 0)
    unmixLines(product, ofPoint, row, bias, span.lines, span.line)
    putTogether(span.lines, span.line, span.elements, args.dW, span.count)
    copyLine(y, span.elements, (<usize>cols) << 2)
  }
  if (args.hasResidual || args.activation != NONE)
    epilogue(
      args.y + at,
      args.hasResidual ? args.residual + at : 0,
      outBytes,
      end - m,
      cols,
      0,
      0,
      1,
      args.activation,
      args.p,
      args.q
    )
}

/** The four lines of outputs of a channel. */
function unmixLines(product: usize, ofPoint: usize, bytes: usize, bias: v128, to: usize, line: usize): void {
  for (const end = product + bytes; product < end; product += 16, to += 16) {
    let at = product
    const a = v128.load(at)
    const b = v128.load(at + ofPoint)
    at += 2 * ofPoint
    const c = v128.load(at)
    const d = v128.load(at + ofPoint)
    at += 2 * ofPoint
    const e = v128.load(at)
    const f = v128.load(at + ofPoint)
    const halfSum = f32x4.add(a, b)
    const halfDifference = f32x4.sub(a, b)
    const sum = f32x4.add(f32x4.add(c, d), bias)
    const difference = f32x4.add(f32x4.sub(c, d), bias)
    const twoSum = f32x4.add(e, f)
    const twoDifference = f32x4.sub(e, f)
    const infinite = v128.load(at + 2 * ofPoint)
    v128.store(to, f32x4.add(f32x4.add(halfSum, sum), twoSum))
    v128.store(to + line, weighted(halfDifference, difference, twoDifference, 0.5, 2))
    v128.store(to + 2 * line, weighted(halfSum, sum, twoSum, 0.25, 4))
    const rest = f32x4.add(difference, infinite)
    v128.store(to + 3 * line, weighted(halfDifference, rest, twoDifference, 0.125, 8))
  }
}

/** a x + y + b z */
// @ts-ignore: decorator
@inline
function weighted(x: v128, y: v128, z: v128, a: f32, b: f32): v128 {
  return f32x4.add(f32x4.add(f32x4.mul(x, splat(a)), y), f32x4.mul(z, splat(b)))
}

/**
 * Transforms strips `from … end - 1` of weights [m][channels][taps] into seven matrices in strips,
 * [7][ceil(m / 4)][ceil(taps / 4)][channels][4]. Strips beyond m are 0.
 */
export function lineWeights(w: usize, m: u32, channels: u32, taps: u32, to: usize, from: u32, end: u32): void {
  const groups = (taps + 3) / SIDE
  const strip = (<usize>groups * channels) << 4
  const matrix = <usize>((m + 3) >> 2) * strip
  for (let point: u32 = 0; point < POINTS; point++)
    memory.fill(to + point * matrix + from * strip, 0, (end - from) * strip)
  for (let o = from << 2, last = min(m, end << 2); o < last; o++)
    for (let g: u32 = 0; g < groups; g++)
      for (let c: u32 = 0; c < channels; c++) {
        const own = w + ((<usize>(o * channels + c) * taps + (g << 2)) << 2)
        const left = min(SIDE, taps - (g << 2))
        const at = to + ((<usize>((o >> 2) * groups + g) * channels + c) << 4) + ((o & 3) << 2)
        const a = <f64>f32.load(own)
        const b = left > 1 ? <f64>f32.load(own, 4) : 0
        const e = left > 2 ? <f64>f32.load(own, 8) : 0
        const f = left > 3 ? <f64>f32.load(own, 12) : 0
        putWeights(at, matrix, a, b, e, f, 0.5, 2.8125)
        putWeights(at + 2 * matrix, matrix, a, b, e, f, 1, -4.5)
        putWeights(at + 4 * matrix, matrix, a, b, e, f, 2, 45)
        f32.store(at + 6 * matrix, <f32>f)
      }
}

/**
 * The polynomial of four weights at a point and at its negative, divided by the point's differences from the others.
 */
// @ts-ignore: decorator
@inline
function putWeights(to: usize, step: usize, a: f64, b: f64, c: f64, d: f64, point: f64, divisor: f64): void {
  const even = a + point * point * c
  const odd = point * (b + point * point * d)
  f32.store(to, <f32>((even + odd) / divisor))
  f32.store(to + step, <f32>((odd - even) / divisor))
}
