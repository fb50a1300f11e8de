import { isPointwise, planTaps, TAP } from '../windows'
import { ConvArguments, copyColumns, stripsOfPart, windowsOf, writeColumns } from './conv'
import { addStripByPanel, EDGE, placeColumns, stripByPanel } from './gemm'
import { stripsByColumns } from './half-panel'
import { epilogue } from './matrix'
import { fetchFour } from './panels'
import { sixChannels } from './tiles'
import { CLIP } from './unary'

/**
 * Most panels that a convolution computes together, so that a block of weights that has been read serves all of them.
 */
const TOGETHER: u32 = 16

/**
 * Depth of a sum of products. With fused multiply-add, tiles add sums to the output themselves, so shorter ones cost
 * 1.00 to 1.02 of the time, and err by 0.6 to 0.8 times as much where 768 products and more are added up.
 */
const SPAN: u32 = ASC_FEATURE_RELAXED_SIMD ? 128 : 256

/**
 * Computes blocks `from … to - 1`: a part of the output channels at some panels of eight output positions, counted over
 * parts, then over positions, then over images and groups. Parts that are computed together share the panels.
 */
export function convPanels(args: ConvArguments, scratch: usize, from: u32, to: u32): void {
  const perPlane = (<u32>(args.outD * args.outH * args.outW) + 7) >> 3
  const units = (perPlane + args.rows - 1) / args.rows
  const partRows = stripsOfPart(args) << 2
  while (from < to) {
    const unit = from / args.parts
    const part = from % args.parts
    const last = min(args.parts, part + to - from)
    const first = (unit % units) * args.rows
    const row = part * partRows
    const end = min(args.m, last * partRows)
    convolve(args, scratch, unit / units, first, min(args.rows, perPlane - first), row, end - row)
    from += last - part
  }
}

/**
 * Output channels that are computed for all panels before the next ones are. So few lines of the output stay in the
 * cache until they are whole, whatever they lie apart.
 */
const CHANNELS: u32 = ASC_FEATURE_RELAXED_SIMD ? 12 : 8

/** Computes `m` output channels from `row` on. */
function convolve(args: ConvArguments, scratch: usize, plane: u32, first: u32, count: u32, row: u32, m: u32): void {
  const n = <u32>(args.outD * args.outH * args.outW)
  const tapCount = <u32>(args.kD * args.kH * args.kW)
  const tapBytes = <usize>tapCount * TAP
  const taps = scratch + EDGE
  const panels = taps + TOGETHER * tapBytes
  const k = args.channels * tapCount
  const channelBytes = (<usize>(args.inD * args.inH * args.inW)) << 2
  const group = plane % args.groups
  const x = args.x + <usize>plane * args.channels * channelBytes
  const w = args.w + (((<usize>group * ((args.m + 3) >> 2) + (row >> 2)) * k) << 4)
  const bias = args.hasBias ? args.bias + ((<usize>group * args.m + row) << 2) : 0
  const cRow = (<usize>n) << 2
  const left = first << 3
  const c = args.y + (<usize>plane * args.m + row) * cRow + (left << 2)
  const cols = min(n - left, count << 3)
  const isCopied = isPointwise(windowsOf(args))
  if (!isCopied)
    for (let p: u32 = 0; p < count; p++)
      planTaps(windowsOf(args), 4, left + (p << 3), min<u32>(8, cols - (p << 3)), taps + p * tapBytes)
  for (let k0: u32 = 0; k0 < k; k0 += SPAN) {
    const depth = min(SPAN, k - k0)
    const step = panelStep(depth)
    if (isCopied) copyColumns(x + <usize>k0 * channelBytes + (left << 2), channelBytes, depth, panels, step, cols)
    else writeColumns(x, channelBytes, taps, tapCount, k0, k0 + depth, panels, step, count)
    for (let i: u32 = 0; i < m; i += CHANNELS) {
      const rows = min(CHANNELS, m - i)
      const strips = w + (((<usize>i * k) << 2) + ((<usize>k0) << 4))
      const at = c + i * cRow
      const added = bias == 0 ? 0 : bias + (i << 2)
      fetchStrips(strips, k, rows, depth, scratch)
      channelsByPanels(args, strips, k, panels, step, at, cRow, rows, cols, k0, depth, added, scratch)
    }
  }
}

/** Fetches the next `depth` elements of up to {@link CHANNELS} rows of weights, which lie in strips. */
// @ts-ignore: decorator
@inline
function fetchStrips(w: usize, k: usize, rows: u32, depth: usize, to: usize): void {
  const last = w + <usize>((rows - 1) >> 2) * (k << 4)
  fetchFour(w, min(w + (k << 4), last), last, last, depth << 4, to)
}

/**
 * Some output channels of panels, from element `k0` of their sums on. With the last ones the sums are finished: twelve
 * channels of whole panels before they are stored, others behind.
 */
function channelsByPanels(
  args: ConvArguments,
  w: usize,
  k: usize,
  panels: usize,
  step: usize,
  c: usize,
  cRow: usize,
  rows: u32,
  cols: u32,
  k0: u32,
  depth: usize,
  bias: usize,
  scratch: usize
): void {
  const isLast = k0 + depth == k
  const whole = cols & ~7
  const edge = <usize>(whole << 2)
  const residual = args.hasResidual && isLast ? args.residual + (c - args.y) : 0
  if (ASC_FEATURE_RELAXED_SIMD && rows == CHANNELS) {
    twelveByPanels(args, w, k, panels, step, c, cRow, whole, k0, depth, bias, residual, scratch)
    if (isLast && args.activation != CLIP) finish(args, c, 0, cRow, rows, whole, 0)
  } else {
    stripsByPanels(w, k, panels, step, c, cRow, rows, whole, depth, k0 > 0, scratch)
    if (isLast) finish(args, c, residual, cRow, rows, whole, bias)
  }
  if (whole == cols) return
  const panel = panels + (whole >> 3) * step
  stripsByColumns(w, k << 4, panel, c + edge, cRow, rows, cols - whole, depth, k0 > 0)
  if (isLast) finish(args, c + edge, residual == 0 ? 0 : residual + edge, cRow, rows, cols - whole, bias)
}

function finish(
  args: ConvArguments,
  c: usize,
  residual: usize,
  cRow: usize,
  rows: u32,
  cols: u32,
  biasRows: usize
): void {
  epilogue(c, residual, cRow, rows, cols, 0, biasRows, 1, args.activation, args.p, args.q)
}

/** Twelve channels of whole panels, six at once. */
function twelveByPanels(
  args: ConvArguments,
  w: usize,
  k: usize,
  panel: usize,
  step: usize,
  c: usize,
  cRow: usize,
  cols: u32,
  k0: u32,
  depth: usize,
  bias: usize,
  residual: usize,
  scratch: usize
): void {
  const isLast = k0 + depth == k
  const clips = isLast && args.activation == CLIP
  const strip = k << 4
  const half = 6 * cRow
  const low = isLast ? bias : 0
  const high = low == 0 ? 0 : low + 24
  for (const end = c + ((<usize>cols) << 2); c < end; c += 32, panel += step) {
    sixChannels(w, strip, 0, panel, c, cRow, depth, k0 > 0, low, residual, clips, args.p, args.q, scratch)
    const upper = residual == 0 ? 0 : residual + half
    sixChannels(w + strip, strip, 2, panel, c + half, cRow, depth, k0 > 0, high, upper, clips, args.p, args.q, scratch)
    if (residual != 0) residual += 32
  }
}

/** Any number of channels of whole panels, strip by strip. */
function stripsByPanels(
  w: usize,
  k: usize,
  panels: usize,
  step: usize,
  c: usize,
  cRow: usize,
  rows: u32,
  cols: u32,
  depth: usize,
  add: bool,
  scratch: usize
): void {
  for (let i: u32 = 0; i < rows; i += 4, w += k << 4, c += cRow << 2) {
    const left = min<u32>(4, rows - i)
    let panel = panels
    for (let to = c, end = c + ((<usize>cols) << 2); to < end; to += 32, panel += step) {
      if (left == 4 && add) addStripByPanel(w, panel, to, cRow, depth, scratch)
      else if (left == 4) stripByPanel(w, panel, to, cRow, depth)
      else {
        stripByPanel(w, panel, scratch, 32, depth)
        placeColumns(scratch, to, cRow, left, 8, add)
      }
    }
  }
}

/** Bytes from one panel to the next: a cache line more than it has, lest the same lines of all share a set. */
// @ts-ignore: decorator
@inline
function panelStep(depth: u32): usize {
  return ((<usize>depth) << 5) + 64
}
