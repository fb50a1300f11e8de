import { fail } from '../../errors.ts'
import { storeManyIntegers } from '../../kernels/core/integers.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { sortPaced } from '../../kernels/core/sort.ts'
import { copyUnits, unitsOf } from '../../kernels/core/units.ts'
import { checkTuples, resolveTuples, resolveTuplesPaced } from '../../kernels/gather/indices.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { inputInts } from '../../op-kit/sources.ts'
import { commonType, NUMERIC } from '../../op-kit/types.ts'
import { FROM_START } from '../../op-kit/updates.ts'
import {
  asDim,
  type Dim,
  isConcrete,
  maxDim,
  meetDims,
  minDim,
  printDim,
  printShape,
  unknownDim
} from '../../shapes/dim.ts'
import { knownValue, type TensorFact, tensorFact } from '../../shapes/fact.ts'
import type { Tensor } from '../../tensor/tensor.ts'

const INDICES = ['int32', 'int64'] as const

/**
 * A sparse matrix in row-major order, with an element `[row, 0]` of a default value in each row that had none. Results:
 * indices, values, and which rows were empty. Indices beyond the matrix are refused; OpenVINO leaves out elements whose
 * row is beyond it. OpenVINO SparseFillEmptyRows-16.
 */
export const sparseFillEmptyRows = defineOp({
  name: 'SparseFillEmptyRows',
  operands: { values: 'tensor', indices: 'tensor', fallback: 'tensor' },
  params: params<{ dims: DataDependent<readonly number[]> }>(),
  openvino: [
    {
      since: 16,
      in: { values: 0, indices: 2, fallback: 3 },
      types: { values: NUMERIC, dims: INDICES, indices: INDICES, fallback: NUMERIC },
      bind: { dims: inputInts(1) }
    }
  ],

  shape({ values, indices, fallback }, { dims }) {
    checkRank('values', values, 1)
    checkRank('indices', indices, 2)
    checkRank('default_value', fallback, 0)
    if (dims !== 'unknown' && dims.length !== 2)
      fail('dims-mismatch', `dense_shape has ${dims.length} elements; a matrix has 2`)
    const count = countOf(values, indices)
    const rows = dims === 'unknown' ? unknownDim() : rowsOf(dims)
    const known = knownValue(indices)
    const filled =
      known && dims !== 'unknown' && isConcrete(dims)
        ? filledCount(known, dims)
        : unknownDim(Math.max(minDim(count), minDim(rows)), maxDim(count) + maxDim(rows))
    return [
      tensorFact(indices.type, [filled, 2]),
      tensorFact(commonType({ values, default_value: fallback }), [filled]),
      tensorFact('bool', [rows])
    ]
  },

  validate({ indices }, { dims }) {
    const known = knownValue(indices)
    if (known && dims !== 'unknown' && isConcrete(dims)) checkTuples(known, dims, 0, FROM_START)
  },

  *run({ values, indices, fallback }, { dims: [height, width] }, call) {
    const out = call.output(0)
    const from = unitsOf(values)
    const filling = unitsOf(fallback).array
    const to = unitsOf(call.output(1)).array
    const isEmpty = call.output(2).data as Uint8Array
    const places = yield* resolveTuplesPaced(indices, 1, [height, width], 0, FROM_START)
    const sorted = Array.from(places.keys())
    yield* sortPaced(sorted, (a, b) => places[a] - places[b] || a - b)
    const found = new Float64Array(out.data.length)
    const pace = new Pace()
    for (let row = 0, next = 0, at = 0; row < height; row++) {
      if (pace.isDue(COST.element)) yield
      const before = next
      for (; next < sorted.length && rowOf(places[sorted[next]], width) === row; next++, at++) {
        found.set([row, places[sorted[next]] % width], 2 * at)
        copyUnits(from.array, sorted[next] * from.per, to, at * from.per, from.per)
      }
      if (next > before) continue
      isEmpty[row] = 1
      found[2 * at] = row
      copyUnits(filling, 0, to, at * from.per, from.per)
      at++
    }
    yield* storeManyIntegers(out, found)
  }
})

const rowOf = (place: number, width: number): number => Math.floor(place / width)

/** Elements of the result: those that are there and one for each empty row. */
function filledCount(indices: Tensor, [height, width]: readonly number[]): number {
  const places = resolveTuples(indices, 1, [height, width], 0, FROM_START)
  if (height > 8 * places.length + 1024)
    return places.length + height - new Set(Array.from(places, place => rowOf(place, width))).size
  const isThere = new Uint8Array(height)
  for (const place of places) isThere[rowOf(place, width)] = 1
  return places.length + isThere.reduce((count, there) => count + 1 - there, 0)
}

function countOf({ shape: values }: TensorFact, { shape: indices }: TensorFact): Dim {
  if (indices && meetDims(indices[1], 2) === undefined)
    fail('dims-mismatch', `indices have shape ${printShape(indices)}; expected [..., 2]`)
  const [count, tuples] = [values?.[0] ?? unknownDim(), indices?.[0] ?? unknownDim()]
  return (
    meetDims(count, tuples) ??
    fail('dims-mismatch', `there are ${printDim(tuples)} indices for ${printDim(count)} values`)
  )
}

function rowsOf(dims: readonly Dim[]): Dim {
  const negative = dims.find(dim => maxDim(dim) < 0)
  if (negative !== undefined)
    fail('value-out-of-range', `dense_shape holds ${printDim(negative)}; it cannot be negative`)
  return asDim(dims[0])
}
