import { fail } from '../../errors.ts'
import { gatherFew } from '../../kernels/gather/gather-few.ts'
import { gatherAlong, gatherLayout } from '../../kernels/gather/gather.ts'
import { type DataDependent, defineOp, params, type ShapeParams } from '../../op-kit/define.ts'
import { checkKnownIndices } from '../../op-kit/known-indices.ts'
import { inputInt, int, is } from '../../op-kit/sources.ts'
import { INDEX_TYPES } from '../../op-kit/types.ts'
import { type Dim, hullDims, mayMatch, meetDims, normalizeAxis, printDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params {
  axis: DataDependent<number>
  batchDims: number
  /** Gather-8 of OpenVINO lets batch_dims equal a rank. */
  batchDimsMayBeRank: boolean
  negative: 'wrap' | 'error'
  outOfRange: 'error' | 'zero'
}

/**
 * Takes slices of `data` along `axis`. Meaning of every version: ONNX Gather-1, -11, -13; OpenVINO Gather-1, -7, -8.
 */
export const gather = defineOp({
  name: 'Gather',
  operands: { data: 'tensor', indices: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      since: 1,
      bind: {
        axis: int('axis'),
        batchDims: is(0),
        batchDimsMayBeRank: is(false),
        negative: is('wrap'),
        outOfRange: is('error')
      }
    }
  ],
  openvino: [
    {
      since: 1,
      types: { indices: INDEX_TYPES, axis: INDEX_TYPES },
      bind: {
        axis: inputInt(2),
        batchDims: is(0),
        batchDimsMayBeRank: is(false),
        negative: is('error'),
        outOfRange: is('error')
      }
    },
    {
      since: 7,
      types: { indices: ['int32', 'int64'], axis: ['int32', 'int64'] },
      bind: {
        axis: inputInt(2),
        batchDims: int('batch_dims'),
        batchDimsMayBeRank: is(false),
        negative: is('error'),
        outOfRange: is('error')
      }
    },
    {
      since: 8,
      types: { indices: INDEX_TYPES, axis: INDEX_TYPES },
      bind: {
        axis: inputInt(2),
        batchDims: int('batch_dims'),
        batchDimsMayBeRank: is(true),
        negative: is('wrap'),
        outOfRange: is('zero')
      }
    }
  ],
  rows: {
    table: 'data',
    indices: 'indices',
    at: (dims, p) => ({ axis: normalizeAxis(p.axis, dims.length), policy: p })
  },
  moves: ['data'],

  shape({ data, indices }, p) {
    if (data.shape?.length === 0) fail('rank-zero-data', 'data is a scalar; a gather needs at least one axis')
    const batchDims = checkBatchDims(p, data.shape?.length, indices.shape?.length)
    if (data.shape === undefined) return [tensorFact(data.type, undefined)]
    const axes = possibleAxes(p.axis, data.shape.length).filter(axis => batchDims === undefined || batchDims <= axis)
    if (axes.length === 0) {
      fail(
        'batch-dims-out-of-range',
        `batch_dims ${batchDims} is greater than axis ${printDim(p.axis)} for rank ${data.shape.length}`
      )
    }
    if (indices.shape === undefined || batchDims === undefined) return [tensorFact(data.type, undefined)]
    const shapes = shapesOver(axes, data.shape, indices.shape, batchDims)
    return [
      tensorFact(
        data.type,
        shapes.reduce((a, b) => a.map((dim, i) => hullDims(dim, b[i])))
      )
    ]
  },

  validate({ data, indices }, p) {
    if (typeof p.axis === 'number') checkKnownIndices(indices, data, p.axis, p)
  },

  run({ data, indices }, p, call) {
    const axis = normalizeAxis(p.axis, data.dims.length)
    const layout = gatherLayout(data.dims, indices.dims, axis, p.batchDims)
    // The kernel leaves strings alone where an index is out of range: those are the empty strings of a fresh output.
    const out = data.type === 'string' && p.outOfRange === 'zero' ? call.output() : call.rawOutput()
    if (!gatherFew(data, indices, out, layout, axis, p)) return gatherAlong(data, indices, out, layout, axis, p)
  }
})

/**
 * batch_dims counted from 0; undefined where it counts from an unknown rank. Gather-8 allows `[-min, min]` of the two
 * ranks, negative ones counted from the rank of the indices. Gather-7 says `[0, min)`, but OpenVINO takes and writes
 * negative ones there too, so they have the same meaning here.
 */
function checkBatchDims(p: ShapeParams<Params>, dataRank = Infinity, indicesRank = Infinity): number | undefined {
  const { batchDims, batchDimsMayBeRank } = p
  const limit = Math.min(dataRank, indicesRank)
  const highest = batchDimsMayBeRank ? limit : Math.max(0, limit - 1)
  const lowest = -limit
  if (batchDims < lowest || batchDims > highest) {
    const ranks = [dataRank, indicesRank].map(rank => (rank === Infinity ? 'unknown' : `${rank}`)).join(' and ')
    fail(
      'batch-dims-out-of-range',
      `batch_dims ${batchDims} is out of range for ranks ${ranks}; expected ${lowest}..${highest}`
    )
  }
  if (batchDims >= 0) return batchDims
  return indicesRank === Infinity ? undefined : batchDims + indicesRank
}

/** The axis, or all axes that a data-dependent one may be. */
function possibleAxes(axis: Dim, rank: number): number[] {
  if (typeof axis === 'number') return [normalizeAxis(axis, rank)]
  const possible = Array.from({ length: rank }, (_, i) => i).filter(i => mayMatch(axis, i) || mayMatch(axis, i - rank))
  return possible.length > 0 ? possible : [normalizeAxis(axis.min, rank)]
}

/** The output shape for each of the axes. */
function shapesOver(
  axes: readonly number[],
  data: readonly Dim[],
  indices: readonly Dim[],
  batchDims: number
): Dim[][] {
  const batch = mergeBatch(data, indices, batchDims)
  return axes.map(axis => [
    ...batch,
    ...data.slice(batchDims, axis),
    ...indices.slice(batchDims),
    ...data.slice(axis + 1)
  ])
}

/** What the batch dims of both say together: each must be the same in both. Symbols are those of `data`. */
function mergeBatch(data: readonly Dim[], indices: readonly Dim[], batchDims: number): Dim[] {
  return data
    .slice(0, batchDims)
    .map(
      (dim, i) =>
        meetDims(dim, indices[i]) ??
        fail('batch-dims-mismatch', `batch dim ${i} is ${printDim(dim)} in data and ${printDim(indices[i])} in indices`)
    )
}
