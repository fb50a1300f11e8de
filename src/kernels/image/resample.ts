import { fail } from '../../errors.ts'
import { DTYPES, is64BitInteger, isFloat } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { allocate, stridesOf, type Tensor, withDims } from '../../tensor/tensor.ts'
import { convertedPaced } from '../core/convert-paced.ts'
import { type AxisTable, copyByTables, tableOf } from '../core/copy-tables.ts'
import { axisLayout } from '../core/lines.ts'
import { doubles, nothingToFinish, readNumbers, targetOf } from '../core/numbers.ts'
import { inSteps, WORK_PER_YIELD } from '../core/steps.ts'
import { storeWhole } from '../core/whole.ts'

/**
 * Element `i` along an axis of the result is the sum over `t` of `weights[i * taps + t]` times the element at `places[i
 * taps + t]`.
 */
export interface AxisTaps {
  readonly axis: number
  readonly count: number
  readonly taps: number
  readonly places: Int32Array
  readonly weights: Float64Array
}

/** Most places and weights of one axis; a real model stays far below. */
const MAX_TABLE = 2 ** 26

/** Empty {@link AxisTaps}. @throws NodewiseError `limit-exceeded` before memory is taken */
export function emptyTaps(axis: number, count: number, taps: number): AxisTaps {
  if (count * taps > MAX_TABLE)
    fail('limit-exceeded', `axis ${axis} takes ${taps} elements for each of ${count}, which is more than can be held`)
  return { axis, count, taps, places: new Int32Array(count * taps), weights: new Float64Array(count * taps) }
}

/**
 * Elements as the axes are worked through: whole numbers after every axis, as Pillow keeps 8-bit images, or in full
 * precision.
 */
export type Between = 'exact' | 'whole'

/**
 * Weighted sums along some axes, one axis after the other, in double precision. Integers are rounded, ties to even, and
 * cut to what their type holds;
 * complex numbers are taken part by part.
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
  let numbers: Numbers =
    slots > 1
      ? (x.data as Float32Array)
      : is64BitInteger(x.type)
        ? (yield* convertedPaced(x, 'float64')).data
        : yield* readNumbers(x)
  const fits = (isFloat(x.type) && x.type !== 'float64') || x.type === 'complex64' ? 'float32' : 'float64'
  for (const table of axes) {
    const next = allocate(fits, dims.with(table.axis, table.count))
    yield* resampleAxis(numbers, dims, table, next.data)
    dims = [...next.dims]
    numbers = next.data
    if (between === 'whole' && !isFloat(x.type)) numbers = yield* wholeNumbers(next)
  }
  if (isFloat(x.type) || slots === 2) {
    const target = slots === 1 ? targetOf(out) : { numbers: out.data as Numbers, finish: nothingToFinish }
    yield* inSteps(numbers.length, (from, to) => target.numbers.set(numbers.subarray(from, to), from))
    yield* target.finish()
  } else yield* storeWhole(numbers, out)
}

function* wholeNumbers({ data }: Tensor<'float32' | 'float64'>): Generator<void, Numbers> {
  yield* inSteps(data.length, (from, to) => {
    for (let i = from; i < to; i++) data[i] = Math.round(data[i])
  })
  return data
}

/** Elements summed together: their sums stay in the first-level cache. */
const CHUNK = 2048

/** Rows shorter than this are summed element by element. */
const SHORT_ROW = 8

function* resampleAxis(x: Numbers, dims: readonly number[], table: AxisTaps, out: Numbers): Generator<void> {
  const { axis, count, taps } = table
  const { outer, size, inner } = axisLayout(dims, axis)
  const sums = new Float64Array(Math.min(inner, CHUNK))
  let work = 0
  for (let block = 0; block < outer; block++) {
    for (let i = 0; i < count; i++) {
      const from = block * size * inner
      const to = (block * count + i) * inner
      if (inner < SHORT_ROW) sumElements(x, from, inner, table, i, out, to)
      else {
        for (let start = 0; start < inner; start += CHUNK) {
          const length = Math.min(CHUNK, inner - start)
          sumRows(x, from + start, inner, length, table, i, sums)
          for (let j = 0; j < length; j++) out[to + start + j] = sums[j]
        }
      }
      work += taps * inner + 32
      if (work < WORK_PER_YIELD) continue
      work = 0
      yield
    }
  }
}

function sumElements(
  x: Numbers,
  from: number,
  inner: number,
  { taps, places, weights }: AxisTaps,
  i: number,
  out: Numbers,
  to: number
): void {
  for (let j = 0; j < inner; j++) {
    let sum = 0
    for (let t = i * taps; t < (i + 1) * taps; t++) {
      // An element without weight is not looked at: NaN and infinity do not reach beyond their neighbours.
      if (weights[t] !== 0) sum += weights[t] * x[from + places[t] * inner + j]
    }
    out[to + j] = sum
  }
}

function sumRows(
  x: Numbers,
  from: number,
  inner: number,
  length: number,
  { taps, places, weights }: AxisTaps,
  i: number,
  sums: Float64Array
): void {
  sums.fill(0)
  for (let t = i * taps; t < (i + 1) * taps; t++) {
    const weight = weights[t]
    if (weight === 0) continue
    const row = from + places[t] * inner
    for (let j = 0; j < length; j++) sums[j] += weight * x[row + j]
  }
}

/** Where each position along an axis is read; -1 leaves the (zeroed) output as it is. */
export interface AxisPositions {
  readonly axis: number
  readonly places: Int32Array
}

/** Those of the first numbers that are wanted. */
function* chosen(count: number, wanted: (i: number) => boolean): Generator<void, Float64Array> {
  const found = doubles(count)
  let length = 0
  yield* inSteps(
    count,
    (from, to) => {
      for (let i = from; i < to; i++) if (wanted(i)) found[length++] = i
    },
    2
  )
  return found.subarray(0, length)
}

/** Takes elements of any type along some axes. */
export function* takePositions(x: Tensor, out: Tensor, axes: readonly AxisPositions[]): Generator<void> {
  const from = stridesOf(x.dims)
  const to = stridesOf(out.dims)
  const tables: AxisTable[] = []
  for (const [axis, count] of out.dims.entries()) {
    const places = axes.find(item => item.axis === axis)?.places
    const kept = yield* chosen(count, i => places === undefined || places[i] >= 0)
    tables.push({
      from: yield* tableOf(kept.length, i => (places ? places[kept[i]] : kept[i]) * from[axis]),
      to: yield* tableOf(kept.length, i => kept[i] * to[axis])
    })
  }
  yield* copyByTables(x, out, tables)
}

/** Sets every element of `out` that lies at a marked position of some axis. */
export function* fillMarked(
  out: Tensor,
  value: Tensor,
  marks: readonly { axis: number; marked: (i: number) => boolean }[]
): Generator<void> {
  const strides = stridesOf(out.dims)
  const one = withDims(value, [1])
  for (const { axis, marked } of marks) {
    const tables: AxisTable[] = []
    for (const [d, count] of out.dims.entries()) {
      const at = yield* chosen(count, i => d !== axis || marked(i))
      tables.push({ from: doubles(at.length), to: yield* tableOf(at.length, i => at[i] * strides[d]) })
    }
    yield* copyByTables(one, out, tables)
  }
}
