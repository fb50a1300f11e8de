import { axisLayout } from '../../kernels/core/axis-layout.ts'
import { resolveIndicesPaced } from '../../kernels/gather/indices.ts'
import { scatter } from '../../kernels/gather/scatter.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { checkKnownIndices } from '../../op-kit/known-indices.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { inputInt } from '../../op-kit/sources.ts'
import { commonType, INDEX_TYPES } from '../../op-kit/types.ts'
import { checkUpdates, FROM_START } from '../../op-kit/updates.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params {
  axis: DataDependent<number>
}

/**
 * A copy of the data, the slices along an axis that indices name replaced by updates. OpenVINO ScatterUpdate-3, indices
 * from 0.
 */
export const scatterUpdate = defineOp({
  name: 'ScatterUpdate',
  operands: { data: 'tensor', indices: 'tensor', updates: 'tensor' },
  params: params<Params>(),
  openvino: [{ since: 3, types: { indices: INDEX_TYPES, axis: INDEX_TYPES }, bind: { axis: inputInt(3) } }],
  moves: ['data', 'updates'],

  shape({ data, indices, updates }, p) {
    const type = commonType({ data, updates })
    if (data.shape === undefined) return [tensorFact(type, undefined)]
    const axis = typeof p.axis === 'number' ? normalizeAxis(p.axis, data.shape.length) : undefined
    if (indices.shape) checkRank('updates', updates, data.shape.length + indices.shape.length - 1)
    if (indices.shape && axis !== undefined) {
      checkUpdates(updates, [...data.shape.slice(0, axis), ...indices.shape, ...data.shape.slice(axis + 1)])
    }
    return [tensorFact(type, data.shape)]
  },

  validate({ data, indices }, p) {
    if (typeof p.axis === 'number') checkKnownIndices(indices, data, p.axis, FROM_START)
  },

  *run({ data, indices, updates }, p, call) {
    const axis = normalizeAxis(p.axis, data.dims.length)
    const positions = yield* resolveIndicesPaced(indices, data.dims[axis], axis, FROM_START)
    yield* scatter(data, positions, updates, call.output(), {
      ...axisLayout(data.dims, axis),
      count: positions.length
    })
  }
})
