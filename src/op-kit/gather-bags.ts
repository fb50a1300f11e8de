import { fail } from '../errors.ts'
import { type Positions, positionsArray } from '../kernels/core/positions.ts'
import { bagBounds, type BagSlices, reduceBagSlices } from '../kernels/gather/bag-slices.ts'
import { type IndexPolicy, reportIndex, resolveIndicesPaced } from '../kernels/gather/indices.ts'
import { maxDims, subDims, unknownDim } from '../shapes/dim.ts'
import { tensorFact } from '../shapes/fact.ts'
import { toIndices } from '../tensor/elements.ts'
import { product, type Tensor } from '../tensor/tensor.ts'
import { defineOp, params } from './define.ts'

export interface GatherBagsParams extends IndexPolicy {
  readonly reduction: BagSlices['reduction']
  /**
   * Whether a bag has zeros where its start is its end, and a mean may not start before 0; else bounds mean what those
   * of a Slice mean, and what is highest in an empty bag is -Infinity.
   */
  readonly areOffsets: boolean
}

/**
 * Sums, means or highest elements of rows of a table of float32, bag by bag: bag i has those that the indices
 * `starts[i]` to `ends[i] - 1` name. Without indices it has these rows themselves, and without `ends` a bag ends where
 * the next one starts, so that there is one start more than there are bags. It has no version: it is what the planner
 * makes of a Loop over bags (`plan/loop-bags.ts`, `plan/sequence-bags.ts`). All indices are checked, those that are in
 * no bag, too.
 */
export const gatherBags = /* @__PURE__ */ defineOp({
  name: 'GatherBags',
  operands: { table: 'tensor', indices: 'optional', starts: 'tensor', ends: 'optional', weights: 'optional' },
  params: params<GatherBagsParams>(),
  rows: { table: 'table', indices: 'indices', at: (_, policy) => ({ axis: 0, policy }) },

  shape({ table, starts, ends }) {
    const [count] = (ends ?? starts).shape ?? [unknownDim()]
    return [
      tensorFact(table.type, table.shape && [ends ? count : maxDims(0, subDims(count, 1)), ...table.shape.slice(1)])
    ]
  },

  *run(operands, p, call) {
    const bags = yield* bagSlicesOf(operands, p)
    const { table } = operands
    yield* reduceBagSlices(
      table.data as Float32Array,
      product(table.dims, 1),
      bags,
      call.rawOutput().data as Float32Array
    )
  }
})

/** Operands of {@link gatherBags} that have values. */
export interface BagOperands {
  readonly table: Tensor
  readonly indices?: Tensor | undefined
  readonly starts: Tensor
  readonly ends?: Tensor | undefined
  readonly weights?: Tensor | undefined
}

/**
 * The bags of a call.
 * @throws NodewiseError `index-out-of-range`, of an index, or where there are fewer starts than ends;
 *   `value-out-of-range`
 */
export function* bagSlicesOf(
  { table, indices, starts, ends, weights }: BagOperands,
  { reduction, areOffsets, ...policy }: GatherBagsParams
): Generator<void, BagSlices> {
  const from = toIndices(starts)
  const to = ends ? toIndices(ends) : from.subarray(1)
  if (from.length < to.length) reportIndex(`${from.length}`, [], 0, from.length)
  const negative = areOffsets && reduction === 'mean' ? from.findIndex(start => start < 0) : -1
  if (negative >= 0) fail('value-out-of-range', `bag ${negative} starts at ${from[negative]}; expected 0 or more`)
  const size = table.dims[0]
  const rows = indices ? yield* resolveIndicesPaced(indices, size, 0, policy) : positionsArray(size, size)
  if (!indices) for (let row = 0; row < size; row++) rows[row] = row
  return {
    rows,
    bounds: bagBounds(from, to, rows.length),
    zeros: areOffsets && reduction === 'max' ? bagsOfZeros(from, to) : [],
    weights: weights?.data as Float32Array | undefined,
    reduction
  }
}

function bagsOfZeros(starts: Positions, ends: Positions): number[] {
  const bags: number[] = []
  for (let i = 0; i < ends.length; i++) if (starts[i] === ends[i]) bags.push(i)
  return bags
}
