import { fail } from '../../errors.ts'
import { type AxisLayout, axisLayout } from '../../kernels/core/axis-layout.ts'
import { countNonZero, nonZeroPositions } from '../../kernels/core/non-zero.ts'
import { gatherBlocks } from '../../kernels/gather/gather.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { checkRank, checkRankAtLeast } from '../../op-kit/ranks.ts'
import { int, optional } from '../../op-kit/sources.ts'
import { type Dim, maxDim, normalizeAxis, productOf, unknownDim } from '../../shapes/dim.ts'
import { knownValue, tensorFact } from '../../shapes/fact.ts'
import { elementCount, type Tensor } from '../../tensor/tensor.ts'

interface Params {
  /** Undefined: the data are flattened. */
  axis: number | undefined
}

/**
 * Keeps the slices along an axis whose condition holds. ONNX Compress-9, -11, -28. A condition may be shorter than the
 * axis; a longer one must not hold beyond it, as in NumPy.
 */
export const compress = defineOp({
  name: 'Compress',
  operands: { data: 'tensor', condition: 'tensor' },
  params: params<Params>(),
  onnx: [{ since: 9, bind: { axis: optional(int('axis')) } }],
  moves: ['data'],

  shape({ data, condition }, p) {
    checkRankAtLeast('the input', data, 1)
    checkRank('the condition', condition, 1)
    if (data.shape === undefined) return [tensorFact(data.type, p.axis === undefined ? [unknownDim()] : undefined)]
    const axis = p.axis === undefined ? undefined : normalizeAxis(p.axis, data.shape.length)
    const size = axis === undefined ? productOf(data.shape) : data.shape[axis]
    const known = knownValue(condition)
    const most = Math.min(maxDim(size), condition.shape ? maxDim(condition.shape[0]) : Infinity)
    const kept = known ? keptOf(known, size) : unknownDim(0, most)
    return [tensorFact(data.type, axis === undefined ? [kept] : data.shape.map((dim, i) => (i === axis ? kept : dim)))]
  },

  *run({ data, condition }, p, call) {
    const slices: AxisLayout =
      p.axis === undefined
        ? { outer: 1, size: elementCount(data.dims), inner: 1 }
        : axisLayout(data.dims, normalizeAxis(p.axis, data.dims.length))
    const positions = yield* nonZeroPositions(condition)
    checkLast(positions.at(-1) ?? -1, slices.size)
    yield* gatherBlocks(data, positions, call.output(), { batch: 1, ...slices, count: positions.length })
  }
})

/** How many elements are kept. */
function keptOf(condition: Tensor, size: Dim): number {
  const flags = condition.data as Uint8Array
  checkLast(flags.lastIndexOf(1), size)
  return countNonZero(flags)
}

function checkLast(last: number, size: Dim): void {
  if (last >= maxDim(size))
    fail('value-out-of-range', `the condition holds at ${last}, beyond the ${maxDim(size)} elements of the axis`)
}
