import { fail } from '../../errors.ts'
import { MAX_INT32 } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { COST, Pace } from '../core/pace.ts'
import { entriesOf, firstEntry, type PointTable, type SumPoints } from '../core/point-sums.ts'
import type { Positions } from '../core/positions.ts'

/** A region of interest, in elements of the feature map. */
export interface Region {
  readonly start: readonly [y: number, x: number]
  /** Size of a bin. */
  readonly bin: readonly [height: number, width: number]
  /** Sample points of a bin. */
  readonly samples: readonly [rows: number, columns: number]
  /** A rotation around a centre; `start` is then relative to the centre. */
  readonly rotation?: { readonly center: readonly [y: number, x: number]; readonly cos: number; readonly sin: number }
}

/**
 * How the samples of a bin are pooled. `max-of-samples`: their maximum, at least 0; `max-of-parts`: the maximum of all
 * weighted neighbours, which are not summed.
 */
export type RoiPooling = 'average' | 'max-of-samples' | 'max-of-parts'

/** Samples of some bins that lie on the map; each has four neighbours with their offsets and weights. */
interface Samples {
  /** Neighbours of all bins, of which those of bin `i` end at `ends[i]`, where those of the next begin. */
  count: number
  readonly Offsets: Int32ArrayConstructor | Float64ArrayConstructor
  offsets: Positions
  weights: Float64Array
  readonly ends: Int32Array
}

/** Limit on the samples of a bin; more are a mistake or an attack. */
const MAX_SAMPLES = 1 << 20
/** Neighbours after which the bins so far are pooled, before further ones are sampled. */
const TABLE = 1 << 14

export interface RoiPlan {
  readonly channels: number
  readonly height: number
  readonly width: number
  readonly pooled: readonly [height: number, width: number]
  readonly pooling: RoiPooling
}

/**
 * RoIAlign (Mask R-CNN, arXiv 1703.06870): pools bilinear samples of each bin of each region.
 * @param batches the image of each region
 * @param sum computes means faster than the reference, where most bins have as many samples
 * @throws NodewiseError `limit-exceeded`
 */
export function* alignRegions(
  x: Numbers,
  regions: readonly Region[],
  batches: Positions,
  out: Numbers,
  plan: RoiPlan,
  sum?: SumPoints
): Generator<void> {
  if (out.length === 0) return
  const { channels, height, width, pooled, pooling } = plan
  const plane = height * width
  const Offsets = plane > MAX_INT32 ? Float64Array : Int32Array
  const bins = pooled[0] * pooled[1]
  const samples: Samples = {
    count: 0,
    Offsets,
    offsets: new Offsets(64),
    weights: new Float64Array(64),
    ends: new Int32Array(Math.min(bins, TABLE))
  }
  const pace = new Pace()
  for (const [r, region] of regions.entries()) {
    const [rows, columns] = region.samples
    const total = rows < 1 || columns < 1 ? 0 : rows * columns
    const sample = region.rotation ? rotatedSamples : uprightSamples
    for (let bin = 0; bin < bins;) {
      const first = bin
      samples.count = 0
      while (bin < bins && samples.count < TABLE && bin - first < TABLE) {
        const looked =
          total > 0 ? sample(region, Math.floor(bin / pooled[1]), bin % pooled[1], height, width, samples) : 0
        samples.ends[bin++ - first] = samples.count
        if (pace.isDue((looked + 1) * COST.element)) yield
      }
      const planes = { base: batches[r] * channels * plane, plane, planes: channels, to: r * channels * bins + first }
      const table = sum && pooling === 'average' ? tableOf(samples, bin - first, Math.max(1, total)) : undefined
      if (sum && table) {
        yield* sum({ table, points: bin - first, x, out, step: bins, ...planes })
        continue
      }
      for (let c = 0; c < channels; c++) {
        const base = planes.base + c * plane
        const to = planes.to + c * bins
        if (pooling === 'average') averages(x, base, samples, Math.max(1, total), out, to, bin - first)
        else maxima(x, base, samples, total, pooling, out, to, bin - first)
        if (pace.isDue((samples.count + bin - first) * COST.element)) yield
      }
    }
  }
}

/** The samples of some bins as a table of means; undefined where it would be much larger than they are. */
function tableOf(
  { count, Offsets, offsets, weights, ends }: Samples,
  bins: number,
  total: number
): PointTable | undefined {
  let taps = 0
  for (let i = 0; i < bins; i++) taps = Math.max(taps, ends[i] - (i > 0 ? ends[i - 1] : 0))
  const entries = entriesOf(bins, taps)
  if (entries > 4 * count + TABLE) return undefined
  const table = { taps, indices: new Offsets(entries), weights: new Float64Array(entries) }
  for (let i = 0, k = 0; i < bins; i++)
    for (let to = firstEntry(i, taps); k < ends[i]; k++, to += 4) {
      table.indices[to] = offsets[k]
      table.weights[to] = weights[k] / total
    }
  return table
}

/** Means of the samples of some bins in one plane; samples outside the map count as 0. */
function averages(
  x: Numbers,
  base: number,
  { offsets, weights, ends }: Samples,
  total: number,
  out: Numbers,
  to: number,
  bins: number
): void {
  for (let i = 0, k = 0; i < bins; i++) {
    let sum = 0
    for (const end = ends[i]; k < end; k++) sum += weights[k] * x[base + offsets[k]]
    out[to + i] = sum / total
  }
}

/** The highest of the samples of some bins in one plane. */
function maxima(
  x: Numbers,
  base: number,
  { offsets, weights, ends }: Samples,
  total: number,
  pooling: RoiPooling,
  out: Numbers,
  to: number,
  bins: number
): void {
  for (let i = 0, k = 0; i < bins; i++) {
    const end = ends[i]
    // Samples outside the map count as 0.
    let highest = pooling === 'max-of-samples' || end - k < 4 * total || total === 0 ? 0 : -Infinity
    for (; k < end; k += 4) {
      const a = weights[k] * x[base + offsets[k]]
      const b = weights[k + 1] * x[base + offsets[k + 1]]
      const c = weights[k + 2] * x[base + offsets[k + 2]]
      const d = weights[k + 3] * x[base + offsets[k + 3]]
      const sample = pooling === 'max-of-parts' ? Math.max(a, b, c, d) : a + b + c + d
      const isSeen = pooling !== 'max-of-parts' || !Number.isNaN(sample)
      highest = Math.max(highest, isSeen ? sample : highestPart(x, base, offsets, weights, k))
    }
    out[to + i] = highest
  }
}

/** The highest of the weighted neighbours of a sample, of which those without weight are 0 though they be infinite. */
function highestPart(x: Numbers, base: number, offsets: Positions, weights: Float64Array, from: number): number {
  let highest = -Infinity
  for (let k = from; k < from + 4; k++)
    highest = Math.max(highest, weights[k] === 0 ? 0 : weights[k] * x[base + offsets[k]])
  return highest
}

/**
 * Adds the samples of a bin of an upright region. Rows and columns are limited to those on the map first, so that a
 * huge region costs no more than the map.
 * @returns the number of coordinates computed
 */
function uprightSamples(
  { start, bin, samples: [rows, columns] }: Region,
  binY: number,
  binX: number,
  height: number,
  width: number,
  into: Samples
): number {
  const ys = axisPoints(start[0] + binY * bin[0], bin[0], rows, height)
  const xs = axisPoints(start[1] + binX * bin[1], bin[1], columns, width)
  reserve(into, ys.length * xs.length)
  for (const y of ys) for (const x of xs) addSample(into, y, x, height, width)
  return ys.length + xs.length
}

/** Sample coordinates along an axis that lie between -1 and `size`. */
function axisPoints(start: number, length: number, count: number, size: number): number[] {
  const step = length / count
  let first = 0
  let last = count - 1
  if (step > 0) {
    first = Math.max(0, Math.floor((-1 - start) / step - 0.5))
    last = Math.min(last, Math.ceil((size - start) / step - 0.5))
  }
  // From 2^53 on, `i++` does not change i.
  if (last - first > MAX_SAMPLES || last > Number.MAX_SAFE_INTEGER)
    fail('limit-exceeded', `a bin of a region has ${count} samples along an axis; at most ${MAX_SAMPLES} are taken`)
  const points: number[] = []
  for (let i = first; i <= last; i++) {
    const at = start + step * (i + 0.5)
    if (at >= -1 && at <= size) points.push(at)
  }
  return points
}

/**
 * Adds the samples of a bin of a rotated region.
 * @returns the number of samples computed
 */
function rotatedSamples(
  { start, bin, samples: [rows, columns], rotation }: Region,
  binY: number,
  binX: number,
  height: number,
  width: number,
  into: Samples
): number {
  if (rotation === undefined) return 0
  reserve(into, rows * columns)
  const { center, cos, sin } = rotation
  for (let i = 0; i < rows; i++) {
    const v = start[0] + (binY + (i + 0.5) / rows) * bin[0]
    for (let j = 0; j < columns; j++) {
      const u = start[1] + (binX + (j + 0.5) / columns) * bin[1]
      const y = v * cos - u * sin + center[0]
      const x = v * sin + u * cos + center[1]
      if (y >= -1 && y <= height && x >= -1 && x <= width) addSample(into, y, x, height, width)
    }
  }
  return rows * columns
}

function reserve(samples: Samples, count: number): void {
  if (count > MAX_SAMPLES)
    fail('limit-exceeded', `a bin of a region has ${count} samples; at most ${MAX_SAMPLES} are taken`)
  const { offsets, weights, Offsets } = samples
  const needed = samples.count + 4 * count
  if (offsets.length >= needed) return
  samples.offsets = new Offsets(2 * needed)
  samples.weights = new Float64Array(2 * needed)
  samples.offsets.set(offsets.subarray(0, samples.count))
  samples.weights.set(weights.subarray(0, samples.count))
}

/** Adds a sample; one up to one element outside the map is moved to its edge. */
function addSample(into: Samples, givenY: number, givenX: number, height: number, width: number): void {
  const y = Math.min(height - 1, Math.max(0, givenY))
  const x = Math.min(width - 1, Math.max(0, givenX))
  const top = Math.floor(y)
  const left = Math.floor(x)
  const down = top < height - 1 ? width : 0
  const right = left < width - 1 ? 1 : 0
  const low = y - top
  const far = x - left
  const k = into.count
  into.count += 4
  const { offsets, weights } = into
  offsets[k] = top * width + left
  offsets[k + 1] = offsets[k] + right
  offsets[k + 2] = offsets[k] + down
  offsets[k + 3] = offsets[k] + down + right
  weights[k] = (1 - low) * (1 - far)
  weights[k + 1] = (1 - low) * far
  weights[k + 2] = low * (1 - far)
  weights[k + 3] = low * far
}
