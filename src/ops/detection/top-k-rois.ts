import { fail } from '../../errors.ts'
import { axisLayout } from '../../kernels/core/axis-layout.ts'
import { readNumbers } from '../../kernels/core/numbers.ts'
import { selectTop } from '../../kernels/core/select.ts'
import { gatherOffsets } from '../../kernels/gather/gather.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { checkDim, checkRank } from '../../op-kit/ranks.ts'
import { int } from '../../op-kit/sources.ts'
import { commonType, FLOATS } from '../../op-kit/types.ts'
import { meetDims, printDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params {
  /** Rows of the result. */
  count: number
}

/**
 * The regions `[x1, y1, x2, y2]` with the highest scores, best first: OpenVINO ExperimentalDetectronTopKROIs-6. The
 * specification leaves the order of equal scores open, and what rows hold for which there is no region: here the lower
 * index comes first, NaN comes after every number, and such rows are zero.
 */
export const topKRois = defineOp({
  name: 'ExperimentalDetectronTopKROIs',
  operands: { rois: 'tensor', scores: 'tensor' },
  params: params<Params>(),
  openvino: [{ since: 6, types: { rois: FLOATS, scores: FLOATS }, bind: { count: int('max_rois') } }],
  moves: ['rois'],

  shape({ rois, scores }, { count }) {
    const type = commonType({ rois, scores })
    checkRank('input_rois', rois, 2)
    checkRank('rois_probs', scores, 1)
    checkDim('input_rois', rois, 1, 4)
    if (rois.shape && scores.shape && meetDims(rois.shape[0], scores.shape[0]) === undefined)
      fail('dims-mismatch', `there are ${printDim(rois.shape[0])} regions and ${printDim(scores.shape[0])} scores`)
    if (count < 0) fail('value-out-of-range', `max_rois is ${count}; it cannot be negative`)
    return [tensorFact(type, [count, 4])]
  },

  *run({ rois, scores }, { count }, call) {
    const [size] = scores.dims
    const best = yield* selectTop(yield* readNumbers(scores), axisLayout(scores.dims, 0), Math.min(count, size), {
      largest: true,
      nan: 'last',
      order: 'value'
    })
    yield* gatherOffsets(rois, best, call.output(), 4)
  }
})
