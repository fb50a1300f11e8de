import { fail } from '../../errors.ts'
import { doubles } from '../../kernels/core/numbers.ts'
import { COST, inChunks } from '../../kernels/core/pace.ts'
import type { Positions } from '../../kernels/core/positions.ts'
import { reduceBags } from '../../kernels/gather/bags.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { bagShape, checkAscending, defaultRowOf, rowsOf } from '../../op-kit/embedding.ts'
import { checkKnownIndices } from '../../op-kit/known-indices.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { choice, inputInt, is, optionalInput } from '../../op-kit/sources.ts'
import { NUMERIC } from '../../op-kit/types.ts'
import { FROM_START } from '../../op-kit/updates.ts'
import { unknownDim } from '../../shapes/dim.ts'
import { knownValue } from '../../shapes/fact.ts'
import { toIndices } from '../../tensor/elements.ts'

interface Params {
  defaultIndex: DataDependent<number | undefined>
  reduction: 'sum' | 'mean'
}

const INDICES = ['int32', 'int64'] as const
const FORM = {
  in: { table: 0, indices: 1, offsets: 2, weights: 4 },
  types: { table: NUMERIC, indices: INDICES, offsets: INDICES, defaultIndex: INDICES, weights: NUMERIC }
}
const DEFAULT_INDEX = optionalInput(inputInt(3))

/**
 * Sums or means of rows of a table, bag by bag; `offsets` say where each bag starts in the indices. OpenVINO
 * EmbeddingBagOffsetsSum-3, EmbeddingBagOffsets-15. An offset may equal the number of indices, which makes an empty
 * bag: the specification allows that, OpenVINO refuses it.
 */
export const embeddingBagOffsets = defineOp({
  name: 'EmbeddingBagOffsets',
  operands: { table: 'tensor', indices: 'tensor', offsets: 'tensor', weights: 'optional' },
  params: params<Params>(),
  openvino: [
    { type: 'EmbeddingBagOffsetsSum', since: 3, ...FORM, bind: { defaultIndex: DEFAULT_INDEX, reduction: is('sum') } },
    {
      since: 15,
      ...FORM,
      bind: { defaultIndex: DEFAULT_INDEX, reduction: choice('reduction', { sum: 'sum', mean: 'mean' }) }
    }
  ],

  shape({ table, indices, offsets, weights }, p) {
    if (weights && p.reduction === 'mean')
      fail('wrong-input-count', 'per_sample_weights go with the reduction sum only')
    checkRank('offsets', offsets, 1)
    return [bagShape({ table, indices, weights }, 1, offsets.shape?.[0] ?? unknownDim())]
  },

  validate({ table, indices, offsets }) {
    checkKnownIndices(indices, table, 0, FROM_START)
    const known = knownValue(offsets)
    if (known && indices.shape) checkAscending('offsets', known, indices.shape[0])
  },

  rows: {
    table: 'table',
    indices: 'indices',
    row: 'defaultIndex',
    at: (dims, { defaultIndex }) => ({ axis: 0, policy: FROM_START, row: defaultRowOf({ dims }, defaultIndex, -1) })
  },

  *run({ table, indices, offsets, weights }, p, call) {
    const defaultRow = defaultRowOf(table, p.defaultIndex, -1)
    const rows = yield* rowsOf(table, indices)
    checkAscending('offsets', offsets, rows.length)
    const bagOf = yield* bagsOf(toIndices(offsets), rows.length)
    yield* reduceBags(
      table,
      { rows, bagOf, reduction: p.reduction, defaultRow, ...(weights && { weights }) },
      call.output()
    )
  }
})

/** The bag of each index; -1 for indices before the first offset, which are in no bag. */
function* bagsOf(offsets: Positions, count: number): Generator<void, Positions> {
  const bagOf = doubles(count).fill(-1)
  yield* inChunks(
    offsets.length,
    (from, to) => {
      for (let bag = from; bag < to; bag++) bagOf.fill(bag, offsets[bag], offsets[bag + 1] ?? count)
    },
    COST.allocation
  )
  return bagOf
}
