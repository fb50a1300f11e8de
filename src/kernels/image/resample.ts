import { fail } from '../../errors.ts'
import { DTYPES, isFloat } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { allocate, product, stridesOf, type Tensor, withDims } from '../../tensor/tensor.ts'
import { axisLayout } from '../core/axis-layout.ts'
import { type AxisTable, copyByTables, tableOf } from '../core/copy-tables.ts'
import { doubles, nothingToFinish, readReals, targetOf } from '../core/numbers.ts'
import { chunkSize, COST, inChunks, Pace } from '../core/pace.ts'
import { blockUnitsOf, copyUnits, type UnitArray } from '../core/units.ts'
import { storeWhole } from '../core/whole.ts'

/**
 * The resampling of one axis to `count` elements, each the weighted sum of `taps` elements of the input: element `i` is
 * the sum over `t` of `weights[i * taps + t]` times element `indices[i * taps + t]`.
 */
export interface AxisTaps {
  readonly axis: number
  readonly count: number
  readonly taps: number
  readonly indices: Int32Array
  readonly weights: Float64Array
}

/** Limit on the taps of all elements along one axis; real models stay far below. */
const MAX_TABLE = 2 ** 26

/**
 * Makes {@link AxisTaps} of zeros.
 * @throws NodewiseError `limit-exceeded` before memory is allocated
 */
export function emptyTaps(axis: number, count: number, taps: number): AxisTaps {
  if (count * taps > MAX_TABLE)
    fail('limit-exceeded', `axis ${axis} takes ${taps} elements for each of ${count}, which is more than can be held`)
  return { axis, count, taps, indices: new Int32Array(count * taps), weights: new Float64Array(count * taps) }
}

/** What is kept between two axes: exact sums, or sums rounded to integers, as Pillow keeps 8-bit images. */
export type Between = 'exact' | 'whole'

/** What {@link takeIndices} or {@link resample} is told: the axes that change, in the order in which they do. */
export type Resampling =
  | { readonly kind: 'indices'; readonly axes: readonly AxisIndices[] }
  | { readonly kind: 'taps'; readonly axes: readonly AxisTaps[]; readonly between: Between }

/** Data within elements of one value: where they begin on each axis, or, below 0, where they are cropped. */
export interface Placement {
  readonly kind: 'inside'
  readonly begin: readonly number[]
  readonly value: number
}

/**
 * Resamples some axes, one after the other, in double precision. Integers are rounded at the end, ties to even, and
 * clamped to the range of their type; the two parts of complex numbers are resampled separately.
 */
export function* resample(
  x: Tensor,
  out: Tensor,
  axes: readonly AxisTaps[],
  between: Between = 'exact'
): Generator<void> {
  const { slots } = DTYPES[x.type]
  const inner = slots === 1 ? [] : [slots]
  let dims = [...x.dims, ...inner]
  let numbers: Numbers = slots > 1 ? (x.data as Float32Array) : yield* readReals(x)
  const type = (isFloat(x.type) && x.type !== 'float64') || x.type === 'complex64' ? 'float32' : 'float64'
  for (const table of axes) {
    // The last axis is written to its place: what is as large as the result is neither made nor copied once more.
    const isResult = table === axes.at(-1) && slots === 1 && out.type === type
    const next = isResult ? (out as Tensor<typeof type>) : allocate(type, dims.with(table.axis, table.count))
    yield* resampleAxis(numbers, dims, table, next.data)
    if (isResult) return
    dims = [...next.dims]
    numbers = next.data
    if (between === 'whole' && !isFloat(x.type)) numbers = yield* wholeNumbers(next)
  }
  if (isFloat(x.type) || slots === 2) {
    const target = slots === 1 ? targetOf(out) : { numbers: out.data as Numbers, finish: nothingToFinish }
    yield* inChunks(numbers.length, (from, to) => target.numbers.set(numbers.subarray(from, to), from))
    yield* target.finish()
  } else yield* storeWhole(numbers, out)
}

function* wholeNumbers({ data }: Tensor<'float32' | 'float64'>): Generator<void, Numbers> {
  yield* inChunks(data.length, (from, to) => {
    for (let i = from; i < to; i++) data[i] = Math.round(data[i])
  })
  return data
}

/** Elements of the inner dims that are summed at once, so that their sums stay in the first-level cache. */
const CHUNK = 2048

/** With fewer elements in the inner dims than this, elements are summed one by one. */
const SHORT_ROW = 8

/** Sums of rows or elements that are computed between two chances to yield. */
const BATCH = 1 << 14

function* resampleAxis(x: Numbers, dims: readonly number[], table: AxisTaps, out: Numbers): Generator<void> {
  const { axis, count, taps } = table
  const { outer, size, inner } = axisLayout(dims, axis)
  const sums = new Float64Array(Math.min(inner, CHUNK))
  const pace = new Pace()
  const isShort = inner < SHORT_ROW
  const sumBatch = inner > 1 ? sumElements : taps === 2 ? sumPairs : sumTaps
  const batch = isShort ? Math.max(1, Math.floor(BATCH / (taps * inner))) : 1
  for (let block = 0; block < outer; block++) {
    const from = block * size * inner
    for (let i = 0; i < count; i += batch) {
      const to = (block * count + i) * inner
      const end = Math.min(count, i + batch)
      if (isShort) sumBatch(x, from, inner, table, i, end, out, to)
      else {
        for (let start = 0; start < inner; start += CHUNK) {
          const length = Math.min(CHUNK, inner - start)
          if (taps === 2) sumTwoRows(x, from + start, inner, length, table, i, out, to + start)
          else sumRows(x, from + start, inner, length, table, i, sums, out, to + start)
        }
      }
      if (pace.isDue(((end - i) * taps * inner + 32) * COST.element)) yield
    }
  }
}

/** Elements `i … end-1` along the axis, with `inner` elements at each. */
function sumElements(
  x: Numbers,
  from: number,
  inner: number,
  { taps, indices, weights }: AxisTaps,
  i: number,
  end: number,
  out: Numbers,
  to: number
): void {
  for (; i < end; i++) {
    for (let j = 0; j < inner; j++) {
      let sum = 0
      for (let t = i * taps; t < (i + 1) * taps; t++) {
        // An element of weight 0 is left out, since NaN and infinity times 0 would be NaN.
        if (weights[t] !== 0) sum += weights[t] * x[from + indices[t] * inner + j]
      }
      out[to++] = sum
    }
  }
}

/** {@link sumElements} along the innermost axis. */
function sumTaps(
  x: Numbers,
  from: number,
  _: number,
  { taps, indices, weights }: AxisTaps,
  i: number,
  end: number,
  out: Numbers,
  to: number
): void {
  for (let t = i * taps; i < end; i++) {
    let sum = 0
    for (const last = t + taps; t < last; t++) {
      const weight = weights[t]
      if (weight !== 0) sum += weight * x[from + indices[t]]
    }
    out[to++] = sum
  }
}

/** {@link sumElements} of two taps along the innermost axis. */
function sumPairs(
  x: Numbers,
  from: number,
  _: number,
  { indices, weights }: AxisTaps,
  i: number,
  end: number,
  out: Numbers,
  to: number
): void {
  for (let t = 2 * i; t < 2 * end; t += 2) {
    const first = weights[t]
    const second = weights[t + 1]
    let sum = 0
    if (first !== 0) sum += first * x[from + indices[t]]
    if (second !== 0) sum += second * x[from + indices[t + 1]]
    out[to++] = sum
  }
}

/** The sum of two rows, which is rounded once, as that of {@link sumRows}. */
function sumTwoRows(
  x: Numbers,
  from: number,
  inner: number,
  length: number,
  { indices, weights }: AxisTaps,
  i: number,
  out: Numbers,
  to: number
): void {
  const [first, second] = [weights[2 * i], weights[2 * i + 1]]
  const [p, q] = [from + indices[2 * i] * inner, from + indices[2 * i + 1] * inner]
  if (first !== 0 && second !== 0) {
    for (let j = 0; j < length; j++) out[to + j] = 0 + first * x[p + j] + second * x[q + j]
    return
  }
  const weight = first === 0 ? second : first
  const row = first === 0 ? q : p
  if (weight === 0) out.fill(0, to, to + length)
  else for (let j = 0; j < length; j++) out[to + j] = 0 + weight * x[row + j]
}

function sumRows(
  x: Numbers,
  from: number,
  inner: number,
  length: number,
  { taps, indices, weights }: AxisTaps,
  i: number,
  sums: Float64Array,
  out: Numbers,
  to: number
): void {
  sums.fill(0)
  for (let t = i * taps, end = t + taps; t < end; t++) {
    const weight = weights[t]
    if (weight === 0) continue
    const row = from + indices[t] * inner
    const next = t + 1 < end ? weights[t + 1] : 0
    if (next === 0) for (let j = 0; j < length; j++) sums[j] += weight * x[row + j]
    else {
      // Two rows in one pass, added in the same order.
      const other = from + indices[++t] * inner
      for (let j = 0; j < length; j++) sums[j] = sums[j] + weight * x[row + j] + next * x[other + j]
    }
  }
  for (let j = 0; j < length; j++) out[to + j] = sums[j]
}

/** For each index along an axis of the output the index that is read; -1 leaves the (zeroed) output as it is. */
export interface AxisIndices {
  readonly axis: number
  readonly indices: Int32Array
}

/**
 * {@link takeIndices} where every element is written. A row along the last of the axes is taken element by element, or
 * block by block; a row that the one before it repeats is copied as a whole.
 */
function* takeRows(x: Tensor, out: Tensor, axes: readonly AxisIndices[]): Generator<void> {
  const last = axes.reduce((a, b) => (b.axis > a.axis ? b : a))
  const outer = out.dims.slice(0, last.axis)
  const outerIndices = outer.map((_, d) => axes.find(({ axis }) => axis === d)?.indices)
  const { from, to, block } = blockUnitsOf(x, out, product(x.dims, last.axis + 1))
  const count = last.indices.length
  const step = Math.max(1, Math.floor(ROW_UNITS / block))
  const pace = new Pace()
  let before = -1
  for (let row = 0; row < product(outer); row++) {
    let source = 0
    for (let d = outer.length - 1, rest = row, stride = 1; d >= 0; d--) {
      const at = rest % outer[d]
      source += (outerIndices[d]?.[at] ?? at) * stride
      rest = (rest - at) / outer[d]
      stride *= x.dims[d]
    }
    const at = row * count * block
    const isRepeated = source === before
    before = source
    source *= x.dims[last.axis] * block
    for (let i = 0; i < count; i += step) {
      const end = Math.min(count, i + step)
      if (isRepeated) to.copyWithin(at + i * block, at + (i - count) * block, at + (end - count) * block)
      else takeBlocks(from, source, last.indices, i, end, to, at, block)
      if (pace.isDue(COST.element + (end - i) * block * COST.copy)) yield
    }
  }
}

/** Units of a row that are copied between two chances to yield. */
const ROW_UNITS = chunkSize(COST.copy)

function takeBlocks(
  from: UnitArray,
  source: number,
  indices: Int32Array,
  i: number,
  end: number,
  to: UnitArray,
  at: number,
  block: number
): void {
  if (block === 1) for (; i < end; i++) to[at + i] = from[source + indices[i]]
  else for (; i < end; i++) copyUnits(from, source + indices[i] * block, to, at + i * block, block)
}

/** The indices below `count` that pass the filter, ascending. */
function* filteredIndices(count: number, passes: (i: number) => boolean): Generator<void, Float64Array> {
  const found = doubles(count)
  let length = 0
  yield* inChunks(
    count,
    (from, to) => {
      for (let i = from; i < to; i++) if (passes(i)) found[length++] = i
    },
    2 * COST.element
  )
  return found.subarray(0, length)
}

/** Copies elements of any type from the given indices along some axes. */
export function* takeIndices(x: Tensor, out: Tensor, axes: readonly AxisIndices[]): Generator<void> {
  if (axes.length > 0 && axes.every(({ indices }) => !indices.includes(-1))) return yield* takeRows(x, out, axes)
  const from = stridesOf(x.dims)
  const to = stridesOf(out.dims)
  const tables: AxisTable[] = []
  for (const [axis, count] of out.dims.entries()) {
    const indices = axes.find(item => item.axis === axis)?.indices
    const kept = yield* filteredIndices(count, i => indices === undefined || indices[i] >= 0)
    tables.push({
      from: yield* tableOf(kept.length, i => (indices ? indices[kept[i]] : kept[i]) * from[axis]),
      to: yield* tableOf(kept.length, i => kept[i] * to[axis])
    })
  }
  yield* copyByTables(x, out, tables)
}

/** An axis, and which of its indices are marked. */
export interface MarkedAxis {
  readonly axis: number
  readonly marked: (i: number) => boolean
}

/** Sets every element of `out` that lies at a marked index of some axis. */
export function* fillMarked(out: Tensor, value: Tensor, marks: readonly MarkedAxis[]): Generator<void> {
  const strides = stridesOf(out.dims)
  const one = withDims(value, [1])
  for (const { axis, marked } of marks) {
    const tables: AxisTable[] = []
    for (const [d, count] of out.dims.entries()) {
      const at = yield* filteredIndices(count, i => d !== axis || marked(i))
      tables.push({ from: doubles(at.length), to: yield* tableOf(at.length, i => at[i] * strides[d]) })
    }
    yield* copyByTables(one, out, tables)
  }
}
