import { packByJob } from '../pack.ts'
import { PANEL, SCRATCH_BYTES } from '../workspace.ts'
import {
  type ConvShape,
  dividedTemplate,
  type Division,
  type FusedConvParams,
  isIdle,
  partsOf,
  wantedParts,
  type Way,
  weightSizes
} from './conv-template.ts'

/** Channels from which the transforms pay. */
const MIN_CHANNELS = 16
/** Tiles that should share the weights, which otherwise wait for memory. */
const MIN_TILES = 24
/** Tiles of F(4, 3) in a plane up to which F(2, 3) takes no longer, or little: a vector of tiles is half a panel. */
const FEW_TILES = 4
/**
 * Pairs of channels from which the weights of F(4, 3) take 32 MiB, and tiles of it up to which F(2, 3), whose weights
 * take 4 / 9 of that, computes them: a U-net takes 20 MiB less and 1.02 times as long.
 */
const HEAVY_CHANNELS = 2 ** 25 / 144
const HEAVY_TILES = 16
/** As in ../assembly/f32/winograd-group.ts: bytes between the matrices of two points. */
const APART = 64
/** Outputs of a tile along one axis, and its points. */
const LINE_SIDE = 4
const LINE_POINTS = 7
/** What it costs to transform a tile of a channel, in multiplications; of dilated ones, runs are copied one by one. */
const LINE_COST = { dense: 56, dilated: 80 }
/** Panels of tiles that it computes together. */
const LINE_PANELS = 16
/** Dilation above which most of the inputs of some outputs are those of others too. */
const MAX_LINE_DILATION = 16

/**
 * Winograd's algorithm for 3 x 3 weights; undefined where it does not serve a convolution.
 * @param isLast whether the results become outputs: F(4, 3) errs two to four times as much as the definition
 */
export function planeWinograd(shape: ConvShape, isLast: boolean): Way | undefined {
  const { groups, channels, m, axes } = shape
  const isThree = axes.slice(1).every(({ kernel, stride, dilation }) => kernel === 3 && stride === 1 && dilation === 1)
  const isWide = groups === 1 && Math.min(channels, m) >= MIN_CHANNELS
  if (!isThree || !isWide) return undefined
  const side = isLast ? 2 : tileSide(shape)
  return winogradDivision(shape, side) && PLANES[side]
}

/**
 * Winograd's algorithm along one axis; undefined where it does not serve a convolution.
 * @param isLast whether the results become outputs: F(4, 4) errs two to four times as much as the definition
 */
export const lineWinograd = (shape: ConvShape, isLast: boolean): Way | undefined =>
  !isLast && isLine(shape) && lineDivision(shape) ? LINES : undefined

/** Outputs of a tile over a plane, along an axis. */
type TileSide = 2 | 4

/**
 * F(4, 3) takes fewer multiplications but four times the memory of the weights, where F(2, 3) takes 16 / 9 of it. On
 * small planes most of the larger tiles lies outside, and weights are read for few tiles.
 */
function tileSide({ axes: [d, h, w], channels, m }: ConvShape): TileSide {
  const tilesOf = (side: TileSide): number => d.count * Math.ceil(h.count / side) * Math.ceil(w.count / side)
  const [large, small] = [tilesOf(4), tilesOf(2)]
  if (large <= (channels * d.kernel * m >= HEAVY_CHANNELS ? HEAVY_TILES : FEW_TILES)) return 2
  const multiplications = (tiles: number, side: TileSide): number => Math.ceil(tiles / 4) * (side + 2) ** 2
  return multiplications(small, 2) <= 1.1 * multiplications(large, 4) ? 2 : 4
}

/** Rows of Winograd's tiles in a group, and parts of its output channels; undefined where one row is too much. */
function winogradDivision({ axes: [d, h, w], channels, m, images }: ConvShape, side: TileSide): Division | undefined {
  const strips = Math.ceil(m / 4)
  const across = Math.ceil(w.count / side)
  const height = Math.ceil(h.count / side) * d.count
  const depth = channels * d.kernel
  const rowsWith = (parts: number): number => winogradRows(across, height, depth, Math.ceil(strips / parts), side)
  let parts = wantedParts(m)
  let most = rowsWith(parts)
  // Smaller parts leave room for more tiles.
  for (let more = parts * 2; more * 4 <= strips && most * across < MIN_TILES; more *= 2) {
    const rows = rowsWith(more)
    if (rows > most) [parts, most] = [more, rows]
  }
  if (most === 0) return undefined
  // Of many channels with windows of several planes the transformed weights would take too much memory.
  if (d.kernel > 1 && most * across < Math.min(height * across, MIN_TILES)) return undefined
  // A single block would be computed by one thread.
  const isHalved = images * parts === 1 && Math.floor(height / 2) * across >= MIN_TILES
  const rows = Math.ceil(height / Math.max(Math.ceil(height / most), isHalved ? 2 : 1))
  return { units: images * Math.ceil(height / rows), rows, parts: partsOf(m, parts) }
}

/** Rows of tiles whose matrices fit into scratch memory; see Group in ../assembly/f32/winograd-group.ts. */
function winogradRows(across: number, height: number, depth: number, strips: number, side: TileSide): number {
  const reach = side + 2
  const points = reach ** 2
  const lines = (Math.ceil((across * side) / 4) * 16 + 16) * reach
  const perTile = points * 4 * (depth + 4 * strips) + 16
  const bytes = (rows: number): number =>
    64 + 2 * points * APART + lines * (rows + 1) + Math.ceil((across * rows) / 4) * 4 * perTile
  let rows = 0
  while (rows < height && bytes(rows + 1) <= SCRATCH_BYTES) rows++
  return rows
}

/** Whether Winograd's algorithm along one axis serves a convolution, and saves more than its transforms cost. */
function isLine({ groups, channels, m, positions, axes: [d, h, { kernel, stride, dilation }] }: ConvShape): boolean {
  const isWide = groups === 1 && Math.min(channels, m) >= MIN_CHANNELS
  if (!isIdle(d) || !isIdle(h) || !isWide || stride !== 1 || dilation > MAX_LINE_DILATION) return false
  const tiles = Math.ceil(positions / (LINE_SIDE * dilation)) * dilation
  const products = Math.ceil(tiles / PANEL) * LINE_POINTS * Math.ceil(kernel / LINE_SIDE)
  const saved = (Math.ceil(positions / PANEL) * kernel - products) * PANEL * channels * m
  return saved > tiles * (channels + m) * (dilation === 1 ? LINE_COST.dense : LINE_COST.dilated)
}

/** Blocks of outputs along one axis that fit into scratch memory; see Span in ../assembly/f32/line-winograd.ts. */
function lineDivision({ axes: [, , w], channels, m, images }: ConvShape): Division | undefined {
  const parts = partsOf(m, wantedParts(m))
  const strips = Math.ceil(Math.ceil(m / 4) / parts)
  const groups = Math.ceil(w.kernel / LINE_SIDE)
  const perPanel = LINE_POINTS * (32 * (groups * channels + 4 * strips) + 64)
  const perLine = (panels: number): number => 4 * (panels * PANEL + (groups + 2) * w.dilation + 4)
  const bytes = (panels: number): number => panels * perPanel + (8 + LINE_POINTS) * perLine(panels) + 512
  let panels = LINE_PANELS
  while (panels > 0 && bytes(panels) > SCRATCH_BYTES) panels--
  const most = Math.floor((panels * PANEL) / w.dilation)
  if (most === 0) return undefined
  const blocks = Math.ceil(w.count / (LINE_SIDE * w.dilation))
  const units = Math.ceil(blocks / most)
  return { units: images * units, rows: Math.ceil(blocks / units), parts }
}

const winogradOf = (side: TileSide): Way => ({
  template(shape, extras) {
    const template = dividedTemplate('winograd', shape, extras, winogradDivision(shape, side)!)
    return { ...template, args: [...template.args, side] }
  },
  *pack({ w }, params, { allocate, threads }) {
    if (w === undefined || w.type !== 'float32') return undefined
    const { m, k } = weightSizes(w, params as unknown as FusedConvParams)
    const strips = Math.ceil(m / 4)
    const packed = allocate('float32', [(side + 2) ** 2, strips, k / 9, 4])
    const job = { kernel: 'packWinograd', blocks: strips, elements: strips * k * 4, args: [m, k / 9, side] } as const
    const isDone = yield* packByJob(job, [w], packed, threads)
    return isDone && { w: packed }
  }
})

/** F(2x2, 3x3) and F(4x4, 3x3). */
const PLANES: Readonly<Record<TileSide, Way>> = { 2: winogradOf(2), 4: winogradOf(4) }

/** F(4, 4) along one axis. */
const LINES: Way = {
  template: (shape, extras) => dividedTemplate('winogradLines', shape, extras, lineDivision(shape)!),
  *pack({ w }, params, { allocate, threads }) {
    if (w === undefined || w.type !== 'float32') return undefined
    const { m, k } = weightSizes(w, params as unknown as FusedConvParams)
    const taps = w.dims[w.dims.length - 1]
    const strips = Math.ceil(m / 4)
    const packed = allocate('float32', [LINE_POINTS, strips, Math.ceil(taps / LINE_SIDE), k / taps, 4])
    const job = { kernel: 'packLines', blocks: strips, elements: strips * k * 4, args: [m, k / taps, taps] } as const
    const isDone = yield* packByJob(job, [w], packed, threads)
    return isDone && { w: packed }
  }
}
