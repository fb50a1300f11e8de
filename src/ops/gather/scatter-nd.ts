import { fail } from '../../errors.ts'
import { checkTuples, resolveTuplesPaced } from '../../kernels/gather/indices.ts'
import { type Reduction, scatter } from '../../kernels/gather/scatter.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { checkRankAtLeast } from '../../op-kit/ranks.ts'
import { choice, is } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { checkReduction, checkUpdates, FROM_BOTH_ENDS, REDUCTION } from '../../op-kit/updates.ts'
import { minDim, printDim } from '../../shapes/dim.ts'
import { knownValue, tensorFact } from '../../shapes/fact.ts'
import { allocate, elementCount } from '../../tensor/tensor.ts'

interface Params {
  reduction: Reduction
  /** OpenVINO takes any tensor of one element for a scalar update. */
  scalarUpdates: 'exact' | 'any-rank'
}

const TYPES = { indices: ['int32', 'int64'] } as const

/**
 * A copy of the data, each update written to the element or slice that its index tuple names; an empty tuple names all
 * of the data. ONNX ScatterND-11, -13, -16 (reductions), -18; OpenVINO ScatterNDUpdate-3 (opset4), -15. Negative
 * indices count from the end; the specification of -3 refuses them, OpenVINO does not.
 */
export const scatterND = defineOp({
  name: 'ScatterND',
  operands: { data: 'tensor', indices: 'tensor', updates: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 11, bind: { reduction: is('none'), scalarUpdates: is('exact') } },
    { since: 16, bind: { reduction: REDUCTION, scalarUpdates: is('exact') } }
  ],
  openvino: [
    { type: 'ScatterNDUpdate', since: 4, types: TYPES, bind: { reduction: is('none'), scalarUpdates: is('any-rank') } },
    {
      type: 'ScatterNDUpdate',
      since: 15,
      types: TYPES,
      bind: {
        reduction: choice('reduction', { none: 'none', sum: 'add', sub: 'sub', prod: 'mul', min: 'min', max: 'max' }),
        scalarUpdates: is('any-rank')
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
    checkRankAtLeast('indices', indices, 1)
    const width = indices.shape?.[indices.shape.length - 1]
    if (data.shape && width !== undefined && minDim(width) > data.shape.length) {
      fail(
        'dims-mismatch',
        `the last dim of indices is ${printDim(width)}; data of rank ${data.shape.length} have no more axes than that`
      )
    }
    if (data.shape && indices.shape && typeof width === 'number') {
      const expected = [...indices.shape.slice(0, -1), ...data.shape.slice(width)]
      const isOne = p.scalarUpdates === 'any-rank' && expected.length === 0 && updates.shape?.every(dim => dim === 1)
      if (!isOne) checkUpdates(updates, expected)
    }
    return [tensorFact(type, data.shape)]
  },

  validate({ data, indices }) {
    const known = knownValue(indices)
    if (known === undefined || data.shape === undefined) return
    const width = known.dims[known.dims.length - 1]
    if (width > 0) checkTuples(known, data.shape.slice(0, width), 0, FROM_BOTH_ENDS)
  },

  *run({ data, indices, updates }, p, call) {
    const width = indices.dims[indices.dims.length - 1]
    const [named, block] = [data.dims.slice(0, width), data.dims.slice(width)]
    const offsets =
      width > 0
        ? yield* resolveTuplesPaced(indices, 1, named, 0, FROM_BOTH_ENDS)
        : allocate('int32', indices.dims.slice(0, -1)).data
    const layout = { outer: 1, size: elementCount(named), inner: elementCount(block), count: offsets.length }
    yield* scatter(data, offsets, updates, call.rawOutput(), layout, p.reduction)
  }
})
