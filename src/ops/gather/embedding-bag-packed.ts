import { fail } from '../../errors.ts'
import { doubles } from '../../kernels/core/numbers.ts'
import { inChunks } from '../../kernels/core/pace.ts'
import { reduceBags } from '../../kernels/gather/bags.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { bagShape, rowsOf } from '../../op-kit/embedding.ts'
import { checkKnownIndices } from '../../op-kit/known-indices.ts'
import { choice, is } from '../../op-kit/sources.ts'
import { NUMERIC } from '../../op-kit/types.ts'
import { FROM_START } from '../../op-kit/updates.ts'
import { unknownDim } from '../../shapes/dim.ts'

interface Params {
  reduction: 'sum' | 'mean'
}

const TYPES = { table: NUMERIC, indices: ['int32', 'int64'], weights: NUMERIC } as const

/**
 * Sums or means of rows of a table; each row of the indices is a bag. OpenVINO EmbeddingBagPackedSum-3,
 * EmbeddingBagPacked-15.
 */
export const embeddingBagPacked = defineOp({
  name: 'EmbeddingBagPacked',
  operands: { table: 'tensor', indices: 'tensor', weights: 'optional' },
  params: params<Params>(),
  openvino: [
    { type: 'EmbeddingBagPackedSum', since: 3, types: TYPES, bind: { reduction: is('sum') } },
    { since: 15, types: TYPES, bind: { reduction: choice('reduction', { sum: 'sum', mean: 'mean' }) } }
  ],

  shape({ table, indices, weights }, p) {
    if (weights && p.reduction === 'mean')
      fail('wrong-input-count', 'per_sample_weights go with the reduction sum only')
    return [bagShape({ table, indices, weights }, 2, indices.shape?.[0] ?? unknownDim())]
  },

  validate({ table, indices }) {
    checkKnownIndices(indices, table, 0, FROM_START)
  },

  rows: { table: 'table', indices: 'indices', at: () => ({ axis: 0, policy: FROM_START }) },

  *run({ table, indices, weights }, p, call) {
    const rows = yield* rowsOf(table, indices)
    const bagOf = doubles(rows.length)
    yield* inChunks(rows.length, (from, to) => {
      for (let i = from; i < to; i++) bagOf[i] = Math.floor(i / indices.dims[1])
    })
    yield* reduceBags(
      table,
      { rows, bagOf, reduction: p.reduction, defaultRow: -1, ...(weights && { weights }) },
      call.output()
    )
  }
})
