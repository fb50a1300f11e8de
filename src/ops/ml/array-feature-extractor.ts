import { fail } from '../../errors.ts'
import { gatherBlocks } from '../../kernels/gather/gather.ts'
import { resolveIndicesPaced } from '../../kernels/gather/indices.ts'
import { defineOp } from '../../op-kit/define.ts'
import { checkKnownIndices } from '../../op-kit/known-indices.ts'
import { FROM_START } from '../../op-kit/updates.ts'
import { productOf } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { product } from '../../tensor/tensor.ts'

/**
 * Gathers elements along the last axis; a vector gives a matrix of one row, as in ONNX Runtime. ai.onnx.ml
 * ArrayFeatureExtractor-1.
 */
export const arrayFeatureExtractor = defineOp({
  name: 'ArrayFeatureExtractor',
  operands: { x: 'tensor', indices: 'tensor' },
  onnx: [{ domain: 'ai.onnx.ml', since: 1, bind: {} }],
  moves: ['x'],

  shape({ x, indices }) {
    if (x.shape?.length === 0) fail('rank-zero-data', 'the input is a scalar; at least one axis is needed')
    if (x.shape === undefined || indices.shape === undefined) return [tensorFact(x.type, undefined)]
    const kept = x.shape.length === 1 ? [1] : x.shape.slice(0, -1)
    return [tensorFact(x.type, [...kept, productOf(indices.shape)])]
  },

  validate({ x, indices }) {
    checkKnownIndices(indices, x, -1, FROM_START)
  },

  *run({ x, indices }, _, call) {
    const axis = x.dims.length - 1
    const size = x.dims[axis]
    const positions = yield* resolveIndicesPaced(indices, size, axis, FROM_START)
    const outer = product(x.dims.slice(0, -1))
    yield* gatherBlocks(x, positions, call.rawOutput(), { batch: 1, outer, size, inner: 1, count: positions.length })
  }
})
