import { fail } from '../../errors.ts'
import { ravelPositions, resolveIndicesPaced } from '../../kernels/gather/indices.ts'
import { type Reduction, scatter } from '../../kernels/gather/scatter.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { checkKnownIndices } from '../../op-kit/known-indices.ts'
import { checkRank, checkRankAtLeast } from '../../op-kit/ranks.ts'
import { choice, flag, inputInt, int, is } from '../../op-kit/sources.ts'
import { commonType, INDEX_TYPES } from '../../op-kit/types.ts'
import { checkReduction, checkUpdates, FROM_BOTH_ENDS, REDUCTION } from '../../op-kit/updates.ts'
import { type Dim, minDim, normalizeAxis, printDim, subDims } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { elementCount } from '../../tensor/tensor.ts'

interface Params {
  axis: DataDependent<number>
  reduction: Reduction
  /** False: the elements that are updated do not take part in the reduction. */
  useInitial: boolean
}

/**
 * A copy of the data, each update written at its own coordinates, the one on `axis` replaced by its index; of several
 * updates to one element the last one stays. ONNX Scatter-9, ScatterElements-11, -13, -16 (reductions), -18 (max and
 * min, which ONNX Runtime takes from -16 on); OpenVINO ScatterElementsUpdate-3, -12. Means of integers are rounded
 * down. Negative indices count from the end; the specification of -3 refuses them, OpenVINO does not.
 */
export const scatterElements = defineOp({
  name: 'ScatterElements',
  operands: { data: 'tensor', indices: 'tensor', updates: 'tensor' },
  params: params<Params>(),
  onnx: [
    { type: 'Scatter', since: 9, bind: { axis: int('axis'), reduction: is('none'), useInitial: is(true) } },
    { since: 11, bind: { axis: int('axis'), reduction: is('none'), useInitial: is(true) } },
    { since: 16, bind: { axis: int('axis'), reduction: REDUCTION, useInitial: is(true) } }
  ],
  openvino: [
    {
      type: 'ScatterElementsUpdate',
      since: 3,
      types: { indices: INDEX_TYPES, axis: INDEX_TYPES },
      bind: { axis: inputInt(3), reduction: is('none'), useInitial: is(true) }
    },
    {
      type: 'ScatterElementsUpdate',
      since: 12,
      types: { indices: INDEX_TYPES, axis: INDEX_TYPES },
      bind: {
        axis: inputInt(3),
        reduction: choice('reduction', { none: 'none', sum: 'add', prod: 'mul', min: 'min', max: 'max', mean: 'mean' }),
        useInitial: flag('use_init_val')
      }
    }
  ],
  moves: ['data', 'updates'],
  movesWith: p => p.reduction === 'none',
  inPlace: ['data'],

  shape({ data, indices, updates }, p) {
    const type = commonType({ data, updates })
    checkReduction(p.reduction, type)
    checkRankAtLeast('data', data, 1)
    if (data.shape) {
      checkRank('indices', indices, data.shape.length)
      checkRank('updates', updates, data.shape.length)
    }
    if (indices.shape) checkUpdates(updates, indices.shape)
    const axis = data.shape && typeof p.axis === 'number' ? normalizeAxis(p.axis, data.shape.length) : undefined
    if (data.shape && indices.shape && axis !== undefined) checkOffAxis(data.shape, indices.shape, axis)
    return [tensorFact(type, data.shape)]
  },

  validate({ data, indices }, p) {
    if (typeof p.axis === 'number') checkKnownIndices(indices, data, p.axis, FROM_BOTH_ENDS)
  },

  *run({ data, indices, updates }, p, call) {
    const axis = normalizeAxis(p.axis, data.dims.length)
    const size = elementCount(data.dims)
    const offsets = yield* resolveIndicesPaced(indices, data.dims[axis], axis, FROM_BOTH_ENDS, size)
    yield* ravelPositions(offsets, indices.dims, data.dims, axis)
    yield* scatter(
      data,
      offsets,
      updates,
      call.rawOutput(),
      { outer: 1, size, inner: 1, count: offsets.length },
      p.reduction,
      p.useInitial
    )
  }
})

/** Off the axis indices may be smaller than the data, not larger. */
function checkOffAxis(data: readonly Dim[], indices: readonly Dim[], axis: number): void {
  const bad = indices.findIndex((dim, i) => i !== axis && minDim(subDims(dim, data[i])) > 0)
  if (bad < 0) return
  fail(
    'dims-mismatch',
    `dim ${bad} of indices is ${printDim(indices[bad])}; expected at most ${printDim(data[bad])} off axis ${axis}`
  )
}
