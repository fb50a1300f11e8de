import { fail } from '../../errors.ts'
import { gatherTuples } from '../../kernels/gather/gather.ts'
import { checkTuples } from '../../kernels/gather/indices.ts'
import { defineOp, params, type ShapeParams } from '../../op-kit/define.ts'
import { int, is } from '../../op-kit/sources.ts'
import { INDEX_TYPES } from '../../op-kit/types.ts'
import { type Dim, maxDim, meetDims, minDim, printDim, productOf } from '../../shapes/dim.ts'
import { knownValue, tensorFact } from '../../shapes/fact.ts'

interface Params {
  batchDims: number
  /** GatherND-5 of OpenVINO multiplies several batch dims into one. */
  batchOutput: 'kept' | 'fused'
  negative: 'wrap' | 'error'
  outOfRange: 'error' | 'zero'
}

const withoutBatch = {
  batchDims: is(0),
  batchOutput: is('kept'),
  negative: is('wrap'),
  outOfRange: is('error')
} as const

/**
 * Takes the slices that index tuples name: the last dim of `indices` holds the components of a tuple, which belong to
 * the axes after the batch dims. ONNX GatherND-11, -12 (batch_dims), -13; com.microsoft GatherND-1; OpenVINO
 * GatherND-5 and -8, the latter as amended in 2025.3.
 */
export const gatherND = defineOp({
  name: 'GatherND',
  operands: { data: 'tensor', indices: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 11, bind: withoutBatch },
    { domain: 'com.microsoft', since: 1, bind: withoutBatch },
    {
      since: 12,
      bind: { batchDims: int('batch_dims'), batchOutput: is('kept'), negative: is('wrap'), outOfRange: is('error') }
    }
  ],
  openvino: [
    {
      since: 5,
      types: { indices: INDEX_TYPES },
      bind: { batchDims: int('batch_dims'), batchOutput: is('fused'), negative: is('error'), outOfRange: is('error') }
    },
    {
      since: 8,
      types: { indices: INDEX_TYPES },
      bind: { batchDims: int('batch_dims'), batchOutput: is('kept'), negative: is('wrap'), outOfRange: is('error') }
    }
  ],
  moves: ['data'],

  shape({ data, indices }, p) {
    if (data.shape?.length === 0) fail('rank-zero-data', 'data is a scalar; a gather needs at least one axis')
    if (indices.shape?.length === 0)
      fail('rank-mismatch', 'indices are a scalar; their last dim must hold the index tuples')
    checkBatchDims(p, data.shape?.length, indices.shape?.length)
    const batch = data.shape && indices.shape && mergeBatch(data.shape, indices.shape, p.batchDims)
    const width = indices.shape?.[indices.shape.length - 1]
    if (width !== undefined) checkWidth(width, data.shape && data.shape.length - p.batchDims)
    if (!data.shape || !indices.shape || !batch || typeof width !== 'number') return [tensorFact(data.type, undefined)]
    const kept = p.batchOutput === 'fused' && batch.length > 1 ? [productOf(batch)] : batch
    return [
      tensorFact(data.type, [
        ...kept,
        ...indices.shape.slice(p.batchDims, -1),
        ...data.shape.slice(p.batchDims + width)
      ])
    ]
  },

  validate({ data, indices }, p) {
    const known = knownValue(indices)
    if (data.shape === undefined || known === undefined) return
    const width = known.dims[known.dims.length - 1]
    checkTuples(known, data.shape.slice(p.batchDims, p.batchDims + width), p.batchDims, p)
  },

  run({ data, indices }, p, call) {
    const out = data.type === 'string' ? call.output() : call.rawOutput()
    if (indices.data.length === 0) return undefined
    return gatherTuples(data, indices, out, p.batchDims, p)
  }
})

/** Range: `[0, min(ranks))`. */
function checkBatchDims({ batchDims }: ShapeParams<Params>, dataRank = Infinity, indicesRank = Infinity): void {
  const limit = Math.min(dataRank, indicesRank)
  if (batchDims < 0 || batchDims >= limit) {
    const highest = limit === Infinity ? '' : limit - 1
    fail(
      'batch-dims-out-of-range',
      `batch_dims ${batchDims} is out of range; expected 0..${highest}, below the ranks of data and indices`
    )
  }
}

/** A tuple has at least one component, and at most one for each axis that is no batch dim. */
function checkWidth(width: Dim, axes = Infinity): void {
  if (maxDim(width) >= 1 && minDim(width) <= axes) return
  const expected = axes === Infinity ? 'at least 1' : `1..${axes}`
  fail(
    'dims-mismatch',
    `the last dim of indices is ${printDim(width)}; expected ${expected}, one for each axis that is gathered`
  )
}

/** What the batch dims of both say together: each must be the same in both. Symbols are those of the indices. */
function mergeBatch(data: readonly Dim[], indices: readonly Dim[], batchDims: number): Dim[] {
  return indices
    .slice(0, batchDims)
    .map(
      (dim, i) =>
        meetDims(dim, data[i]) ??
        fail('batch-dims-mismatch', `batch dim ${i} is ${printDim(data[i])} in data and ${printDim(dim)} in indices`)
    )
}
