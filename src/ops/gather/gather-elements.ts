import { fail } from '../../errors.ts'
import { gatherElementsAlong } from '../../kernels/gather/gather.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { checkKnownIndices } from '../../op-kit/known-indices.ts'
import { int, is } from '../../op-kit/sources.ts'
import { type Dim, meetDims, minDim, normalizeAxis, printDim, subDims, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params {
  axis: number
  /** Off the axis the dims of indices equal those of data, or are at most as large. */
  offAxis: 'equal' | 'at-most'
  negative: 'wrap' | 'error'
  outOfRange: 'error' | 'zero'
}

/**
 * Each output element is read at its own coordinates, the one on `axis` replaced by its index. ONNX GatherElements-11,
 * -13, whose equation allows indices that are smaller than data off the axis; OpenVINO GatherElements-6 as amended in
 * 2025.3.
 */
export const gatherElements = defineOp({
  name: 'GatherElements',
  operands: { data: 'tensor', indices: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 11, bind: { axis: int('axis'), offAxis: is('at-most'), negative: is('wrap'), outOfRange: is('error') } }
  ],
  openvino: [
    {
      since: 6,
      types: { indices: ['int32', 'int64'] },
      bind: { axis: int('axis'), offAxis: is('equal'), negative: is('wrap'), outOfRange: is('error') }
    }
  ],
  moves: ['data'],

  shape({ data, indices }, p) {
    if (data.shape?.length === 0) fail('rank-zero-data', 'data is a scalar; a gather needs at least one axis')
    if (indices.shape?.length === 0)
      fail('rank-mismatch', 'indices are a scalar; they need the rank of data, which is at least 1')
    const rank = data.shape?.length ?? indices.shape?.length
    if (rank === undefined) return [tensorFact(data.type, undefined)]
    if (indices.shape !== undefined && indices.shape.length !== rank) {
      fail('rank-mismatch', `indices have rank ${indices.shape.length}, data have rank ${rank}; expected the same`)
    }
    const axis = normalizeAxis(p.axis, rank)
    return [tensorFact(data.type, shapeOf(data.shape, indices.shape, axis, p.offAxis))]
  },

  validate({ data, indices }, p) {
    checkKnownIndices(indices, data, p.axis, p)
  },

  run({ data, indices }, p, call) {
    return gatherElementsAlong(
      data,
      indices,
      data.type === 'string' ? call.output() : call.rawOutput(),
      normalizeAxis(p.axis, data.dims.length),
      p
    )
  }
})

/** The dims of indices; where they must equal those of data, what both say together. */
function shapeOf(
  data: readonly Dim[] | undefined,
  indices: readonly Dim[] | undefined,
  axis: number,
  offAxis: Params['offAxis']
): Dim[] | undefined {
  if (indices === undefined) return data?.map((dim, i) => (i === axis || offAxis === 'at-most' ? unknownDim() : dim))
  if (data === undefined) return [...indices]
  return indices.map((dim, i) => {
    if (i === axis) return dim
    const merged = offAxis === 'equal' ? meetDims(dim, data[i]) : minDim(subDims(dim, data[i])) > 0 ? undefined : dim
    const expected = offAxis === 'equal' ? 'the same' : 'at most that'
    return (
      merged ??
      fail(
        'dims-mismatch',
        `dim ${i} is ${printDim(dim)} in indices and ${printDim(data[i])} in data; ` +
          `expected ${expected} off axis ${axis}`
      )
    )
  })
}
