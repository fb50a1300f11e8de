import { fail } from '../../errors.ts'
import { reduceSegments } from '../../kernels/gather/segments.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { checkRank, checkRankAtLeast } from '../../op-kit/ranks.ts'
import { choice, inputInt, optionalInput } from '../../op-kit/sources.ts'
import { NUMERIC } from '../../op-kit/types.ts'
import { asDim, type Dim, maxDim, meetDims, printDim, unknownDim } from '../../shapes/dim.ts'
import { knownValue, type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { indexReader, toIndices } from '../../tensor/elements.ts'
import { positionOf, product, type Tensor } from '../../tensor/tensor.ts'

interface Params {
  /** Undefined: up to the last segment that an id names. */
  count: DataDependent<number | undefined>
  /** What segments without elements hold. */
  fill: 'zero' | 'lowest'
}

const INDICES = ['int32', 'int64'] as const

/**
 * The highest elements of each segment, a run of consecutive slices along dim 0; `segmentIds`, which ascend, say to
 * which segment a slice belongs. Slices of segments beyond `count` are left out, as OpenVINO does. A NaN counts as
 * highest. OpenVINO SegmentMax-16.
 */
export const segmentMax = defineOp({
  name: 'SegmentMax',
  operands: { data: 'tensor', segmentIds: 'tensor' },
  params: params<Params>(),
  openvino: [
    {
      since: 16,
      types: { data: NUMERIC, segmentIds: INDICES, count: INDICES },
      bind: { count: optionalInput(inputInt(2)), fill: choice('fill_mode', { zero: 'zero', lowest: 'lowest' }) }
    }
  ],

  shape({ data, segmentIds }, { count }) {
    checkRankAtLeast('data', data, 1)
    checkRank('segment_ids', segmentIds, 1)
    if (count !== undefined && maxDim(count) < 0)
      fail('value-out-of-range', `num_segments is ${printDim(count)}; it cannot be negative`)
    const [rows, ids] = [data.shape?.[0], segmentIds.shape?.[0]]
    if (rows !== undefined && ids !== undefined && meetDims(rows, ids) === undefined) {
      fail('dims-mismatch', `there are ${printDim(ids)} segment_ids for ${printDim(rows)} slices of data`)
    }
    return [
      tensorFact(
        data.type,
        data.shape && [count === undefined ? countOf(segmentIds) : asDim(count), ...data.shape.slice(1)]
      )
    ]
  },

  validate({ segmentIds }) {
    const known = knownValue(segmentIds)
    if (known) checkSegments(known)
  },

  run({ data, segmentIds }, { fill }, call) {
    checkSegments(segmentIds)
    const out = call.output()
    if (out.data.length === 0) return undefined
    return reduceSegments(data, toIndices(segmentIds), out, product(data.dims.slice(1)), fill)
  }
})

function countOf(segmentIds: TensorFact): Dim {
  const known = knownValue(segmentIds)
  if (known === undefined) return unknownDim()
  checkSegments(known)
  return known.data.length === 0 ? 0 : Number(known.data[known.data.length - 1]) + 1
}

function checkSegments(ids: Tensor): void {
  const read = indexReader(ids)
  for (let i = 0, lowest = 0; i < ids.data.length; i++) {
    const id = read(i)
    if (id < lowest) {
      const expected = `expected ${lowest} or more, none less than the one before`
      fail(
        'value-out-of-range',
        `segment_ids is ${ids.data[i]} at [${positionOf(i, ids.dims).join(', ')}]; ${expected}`
      )
    }
    lowest = id
  }
}
