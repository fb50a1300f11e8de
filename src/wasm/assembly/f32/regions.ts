import { fma, splat } from './simd'

/** Pools bilinear samples in the bins of regions of planes: x is [images][channels][height][width]. */
@unmanaged
export class RegionArguments {
  x: usize
  /** Corners [x1, y1, x2, y2] of each region, and its image. */
  rois: usize
  images: usize
  /** [regions][channels][rows][columns]. */
  y: usize
  imageCount: u32
  channels: u32
  height: u32
  width: u32
  /** Bins of a region. */
  rows: u32
  columns: u32
  /** Samples of a bin along an axis; 0: as many as it has elements. */
  samples: i32
  /** Bytes of an image's index. */
  indexWidth: u32
  /** A corner lies at `(corner + before) * scale + after`. */
  before: f32
  scale: f32
  after: f32
  /** The least height and width of a region. */
  least: f32
  /** What becomes of the samples of a bin, as numbered below. */
  pooling: u32
}

/** The mean of the samples; the highest of their weighted neighbours, each by itself; the highest sample, or 0. */
const MEAN: u32 = 0
const HIGHEST_PART: u32 = 1
const HIGHEST_SAMPLE: u32 = 2

/** Samples of a bin along an axis above which it is left to the reference, which limits those of both together. */
const MAX_POINTS: f64 = 1024
/** Taps of an axis above which a region is left to the reference. */
const MAX_TAPS: u32 = 8192
/** Bins along an axis; the selector declines more, and longer lines. */
const MAX_BINS: u32 = 1024

/** A list of taps: an offset in bytes and a weight. Those of all bins of an axis lie one after the other. */
const TAP: usize = 8
/** Where in the scratch memory the lists of rows and columns are, where each bin's list ends, and a line of sums. */
const COLUMN_TAPS: usize = <usize>MAX_TAPS * TAP
const ROW_ENDS: usize = 2 * COLUMN_TAPS
const COLUMN_ENDS: usize = ROW_ENDS + 4 * <usize>MAX_BINS
const LINE: usize = COLUMN_ENDS + 4 * <usize>MAX_BINS

/** In where a list ends, a multiple of 8: whether 0 is among what the bin's samples weigh, or one is off the map. */
const HAS_ZERO: u32 = 1

/**
 * Computes regions `from … to - 1`. A mean is a sum over rows of sums over columns, since the weights of a sample are
 * products of one for each axis: the rows of a bin are added up four columns at a time, and then its columns. Likewise
 * the highest part is the highest over columns of the highest over rows, since no weight is below 0.
 * @returns whether it stopped at a region that it cannot serve
 */
export function alignRegions(args: RegionArguments, scratch: usize, from: u32, to: u32): bool {
  const image = <usize>args.channels * args.height * args.width
  const block = <usize>args.channels * args.rows * args.columns
  for (let r = <usize>from; r < <usize>to; r++) {
    const index = args.indexWidth == 8 ? load<i64>(args.images + (r << 3)) : <i64>load<i32>(args.images + (r << 2))
    // Negative ones are above it as unsigned numbers.
    if (<u64>index >= <u64>args.imageCount) return true
    const x = args.x + ((<usize>index * image) << 2)
    const y = args.y + ((r * block) << 2)
    const corners = args.rois + (r << 4)
    const left = placed(args, load<f32>(corners))
    const top = placed(args, load<f32>(corners, 4))
    const width = <f32>max(args.least, placed(args, load<f32>(corners, 8)) - left)
    const height = <f32>max(args.least, placed(args, load<f32>(corners, 12)) - top)
    const binHeight = height / <f32>args.rows
    const binWidth = width / <f32>args.columns
    const sampleRows = args.samples > 0 ? <f64>args.samples : ceil<f64>(binHeight)
    const sampleColumns = args.samples > 0 ? <f64>args.samples : ceil<f64>(binWidth)
    // Where a number is infinite or none, its difference from itself is none.
    if (!(height - height == 0 && width - width == 0 && top - top == 0 && left - left == 0)) return true
    if (sampleRows < 1 || sampleColumns < 1) {
      memory.fill(y, 0, block << 2)
      continue
    }
    const lineBytes = args.width << 2
    const rowEnds = scratch + ROW_ENDS
    const columnEnds = scratch + COLUMN_ENDS
    if (listTaps(scratch, rowEnds, top, binHeight, sampleRows, args.rows, args.height, lineBytes, args.pooling))
      return true
    const columnTaps = scratch + COLUMN_TAPS
    if (listTaps(columnTaps, columnEnds, left, binWidth, sampleColumns, args.columns, args.width, 4, args.pooling))
      return true
    poolPlanes(args, scratch, x, y)
  }
  return false
}

// @ts-ignore: decorator
@inline
function placed(args: RegionArguments, corner: f32): f32 {
  return (corner + args.before) * args.scale + args.after
}

/**
 * Lists what the bins of an axis read: for each sample that lies on the map, or up to an element beside it, two
 * neighbours. For means, one that samples share is listed once; of parts those without weight are 0, whatever they are
 * of, and left out.
 * @returns whether there are too many
 */
function listTaps(
  taps: usize,
  ends: usize,
  start: f64,
  length: f64,
  samples: f64,
  bins: u32,
  size: u32,
  stride: u32,
  pooling: u32
): bool {
  const step = length / samples
  const last = <f64>(size - 1)
  const limit = taps + <usize>MAX_TAPS * TAP
  let end = taps
  for (let bin: u32 = 0; bin < bins; bin++) {
    const begin = start + <f64>bin * length
    const list = end
    let i: f64 = 0
    let final = samples - 1
    if (step > 0) {
      i = max<f64>(0, floor<f64>((-1 - begin) / step - 0.5))
      final = min<f64>(final, ceil<f64>((<f64>size - begin) / step - 0.5))
    }
    if (final - i >= MAX_POINTS) return true
    let seen: f64 = 0
    let zero: u32 = 0
    for (; i <= final; i++) {
      const given = begin + step * (i + 0.5)
      if (!(given >= -1 && given <= <f64>size)) continue
      const at = min<f64>(last, max<f64>(0, given))
      const low = floor<f64>(at)
      const near = <u32>low
      if (end + 2 * TAP > limit) return true
      const far = min(near + 1, size - 1) * stride
      seen++
      if (pooling == MEAN) {
        end = addTap(list, end, near * stride, (1 - (at - low)) / samples)
        end = addTap(list, end, far, (at - low) / samples)
        continue
      }
      end = storeTap(end, near * stride, 1 - (at - low))
      if (pooling == HIGHEST_SAMPLE || at > low) end = storeTap(end, far, at - low)
      else zero = HAS_ZERO
    }
    if (seen < samples) zero = HAS_ZERO
    store<u32>(ends + ((<usize>bin) << 2), <u32>(end - taps) | zero)
  }
  return false
}

/** Adds to one of the last two taps of a list, or a further one. @returns where the list ends */
function addTap(list: usize, end: usize, offset: u32, weight: f64): usize {
  for (let at = end, k = 0; at > list && k < 2; k++) {
    at -= TAP
    if (load<u32>(at) != offset) continue
    store<f32>(at, load<f32>(at, 4) + <f32>weight, 4)
    return end
  }
  return storeTap(end, offset, weight)
}

// @ts-ignore: decorator
@inline
function storeTap(end: usize, offset: u32, weight: f64): usize {
  store<u32>(end, offset)
  store<f32>(end, <f32>weight, 4)
  return end + TAP
}

/** The ends of the lists of a bin of an axis: {@link HAS_ZERO} beside the bytes before it. */
// @ts-ignore: decorator
@inline
function endOf(ends: usize, bin: u32): u32 {
  return load<u32>(ends + ((<usize>bin) << 2))
}

function poolPlanes(args: RegionArguments, scratch: usize, x: usize, y: usize): void {
  const columnTaps = scratch + COLUMN_TAPS
  const columnsEnd = columnTaps + (endOf(scratch + COLUMN_ENDS, args.columns - 1) & ~HAS_ZERO)
  // What the columns of all bins read of a line, in bytes.
  let first = args.width << 2
  let last: u32 = 0
  for (let at = columnTaps; at < columnsEnd; at += TAP) {
    first = min(first, load<u32>(at))
    last = max(last, load<u32>(at) + 4)
  }
  const plane = (<usize>(args.height * args.width)) << 2
  const rowBytes = (<usize>args.columns) << 2
  for (let c: u32 = 0; c < args.channels; c++, x += plane) {
    let rowTaps = scratch
    for (let row: u32 = 0; row < args.rows; row++, y += rowBytes) {
      const rowEnd = endOf(scratch + ROW_ENDS, row)
      const rowsEnd = scratch + (rowEnd & ~HAS_ZERO)
      if (args.pooling == MEAN) averageBins(args, scratch, x, y, rowTaps, rowsEnd, first, last)
      else if (args.pooling == HIGHEST_PART)
        highestParts(args, scratch, x, y, rowTaps, rowsEnd, rowEnd & HAS_ZERO, first, last)
      else highestSamples(args, scratch, x, y, rowTaps, rowsEnd, first, last)
      rowTaps = rowsEnd
    }
  }
}

/** The bins of a row. */
// @ts-ignore: decorator
@inline
function averageBins(
  args: RegionArguments,
  scratch: usize,
  x: usize,
  y: usize,
  rowTaps: usize,
  rowsEnd: usize,
  first: u32,
  last: u32
): void {
  const line = scratch + LINE
  addRows(x, rowTaps, rowsEnd, line, first, last)
  let tap = scratch + COLUMN_TAPS
  for (let column: u32 = 0; column < args.columns; column++, y += 4) {
    const end = scratch + COLUMN_TAPS + (endOf(scratch + COLUMN_ENDS, column) & ~HAS_ZERO)
    let sum: f32 = 0
    for (; tap < end; tap += TAP) sum += load<f32>(tap, 4) * load<f32>(line + load<u32>(tap))
    store<f32>(y, sum)
  }
}

function highestParts(
  args: RegionArguments,
  scratch: usize,
  x: usize,
  y: usize,
  rowTaps: usize,
  rowsEnd: usize,
  zero: u32,
  first: u32,
  last: u32
): void {
  const line = scratch + LINE
  let at = <usize>first
  for (; at + 16 <= <usize>last; at += 16) {
    let highest = splat(-Infinity)
    for (let tap = rowTaps; tap < rowsEnd; tap += TAP)
      highest = f32x4.max(highest, f32x4.mul(v128.load32_splat(tap, 4), v128.load(x + at + load<u32>(tap))))
    v128.store(line + at, highest)
  }
  for (; at < <usize>last; at += 4) {
    let highest: f32 = -Infinity
    for (let tap = rowTaps; tap < rowsEnd; tap += TAP)
      highest = max<f32>(highest, load<f32>(tap, 4) * load<f32>(x + at + load<u32>(tap)))
    store<f32>(line + at, highest)
  }
  let tap = scratch + COLUMN_TAPS
  for (let column: u32 = 0; column < args.columns; column++, y += 4) {
    const columnEnd = endOf(scratch + COLUMN_ENDS, column)
    const end = scratch + COLUMN_TAPS + (columnEnd & ~HAS_ZERO)
    let highest: f32 = ((columnEnd & HAS_ZERO) | zero) != 0 ? 0 : -Infinity
    for (; tap < end; tap += TAP) highest = max<f32>(highest, load<f32>(tap, 4) * load<f32>(line + load<u32>(tap)))
    store<f32>(y, highest)
  }
}

/** The two taps of a sample follow each other. */
function highestSamples(
  args: RegionArguments,
  scratch: usize,
  x: usize,
  y: usize,
  rowTaps: usize,
  rowsEnd: usize,
  first: u32,
  last: u32
): void {
  const line = scratch + LINE
  memory.fill(y, 0, (<usize>args.columns) << 2)
  for (let row = rowTaps; row < rowsEnd; row += 2 * TAP) {
    addRows(x, row, row + 2 * TAP, line, first, last)
    let tap = scratch + COLUMN_TAPS
    for (let column: usize = 0; column < <usize>args.columns; column++) {
      const end = scratch + COLUMN_TAPS + (endOf(scratch + COLUMN_ENDS, <u32>column) & ~HAS_ZERO)
      let highest = load<f32>(y + (column << 2))
      for (; tap < end; tap += 2 * TAP) {
        const near = load<f32>(tap, 4) * load<f32>(line + load<u32>(tap))
        highest = max<f32>(highest, near + load<f32>(tap, TAP + 4) * load<f32>(line + load<u32>(tap, TAP)))
      }
      store<f32>(y + (column << 2), highest)
    }
  }
}

/** The weighted sum of rows, of their bytes `first … last - 1`. */
// @ts-ignore: decorator
@inline
function addRows(x: usize, taps: usize, end: usize, line: usize, first: u32, last: u32): void {
  let at = <usize>first
  for (; at + 16 <= <usize>last; at += 16) {
    let sum = splat(0)
    for (let tap = taps; tap < end; tap += TAP)
      sum = fma(sum, v128.load32_splat(tap, 4), v128.load(x + at + load<u32>(tap)))
    v128.store(line + at, sum)
  }
  for (; at < <usize>last; at += 4) {
    let sum: f32 = 0
    for (let tap = taps; tap < end; tap += TAP) sum += load<f32>(tap, 4) * load<f32>(x + at + load<u32>(tap))
    store<f32>(line + at, sum)
  }
}
