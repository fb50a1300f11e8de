import { fail } from '../../errors.ts'
import { reduceBags } from '../../kernels/gather/bags.ts'
import { checkIndices, resolveIndicesPaced } from '../../kernels/gather/indices.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { bagShape, checkAscending, defaultRowOf, rowsOf, sameDims } from '../../op-kit/embedding.ts'
import { checkKnownIndices } from '../../op-kit/known-indices.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { inputInt, optionalInput } from '../../op-kit/sources.ts'
import { NUMERIC } from '../../op-kit/types.ts'
import { FROM_START } from '../../op-kit/updates.ts'
import { asDim, maxDim, printDim } from '../../shapes/dim.ts'
import { knownValue } from '../../shapes/fact.ts'

const INDICES = ['int32', 'int64'] as const

interface Params {
  segments: DataDependent<number>
  defaultIndex: DataDependent<number | undefined>
}

/** Sums of rows of a table by segment; the segment ids of the indices ascend. OpenVINO EmbeddingSegmentsSum-3. */
export const embeddingSegmentsSum = defineOp({
  name: 'EmbeddingSegmentsSum',
  operands: { table: 'tensor', indices: 'tensor', segmentIds: 'tensor', weights: 'optional' },
  params: params<Params>(),
  openvino: [
    {
      since: 3,
      in: { table: 0, indices: 1, segmentIds: 2, weights: 5 },
      types: {
        table: NUMERIC,
        indices: INDICES,
        segmentIds: INDICES,
        segments: INDICES,
        defaultIndex: INDICES,
        weights: NUMERIC
      },
      bind: { segments: inputInt(3), defaultIndex: optionalInput(inputInt(4)) }
    }
  ],

  shape({ table, indices, segmentIds, weights }, p) {
    checkRank('segment_ids', segmentIds, 1)
    if (maxDim(p.segments) < 0)
      fail('value-out-of-range', `num_segments is ${printDim(p.segments)}; it cannot be negative`)
    const fact = bagShape({ table, indices, weights }, 1, asDim(p.segments))
    sameDims('indices', indices, 'segment_ids', segmentIds)
    return [fact]
  },

  validate({ table, indices, segmentIds }, p) {
    checkKnownIndices(indices, table, 0, FROM_START)
    const known = knownValue(segmentIds)
    if (known) checkIndices(known, asDim(p.segments), 0, FROM_START)
  },

  rows: {
    table: 'table',
    indices: 'indices',
    row: 'defaultIndex',
    at: (dims, { defaultIndex }) => ({ axis: 0, policy: FROM_START, row: defaultRowOf({ dims }, defaultIndex, 0) })
  },

  *run({ table, indices, segmentIds, weights }, p, call) {
    const defaultRow = defaultRowOf(table, p.defaultIndex, 0)
    const rows = yield* rowsOf(table, indices)
    const bagOf = yield* resolveIndicesPaced(segmentIds, p.segments, 0, FROM_START)
    checkAscending('segment_ids', segmentIds, p.segments)
    const bags = { rows, bagOf, reduction: 'sum', defaultRow } as const
    yield* reduceBags(table, { ...bags, ...(weights && { weights }) }, call.output())
  }
})
