import { fail } from '../../errors.ts'
import { convertedPaced, convertPaced } from '../../kernels/core/convert-paced.ts'
import { binary } from '../../kernels/core/elementwise.ts'
import { ADD, MULTIPLY } from '../../kernels/elementwise/binary.ts'
import { normalizeRows } from '../../kernels/normalization/normalize.ts'
import { type KernelContext, params } from '../../op-kit/define.ts'
import { checkRank, checkRankAtLeast, sharedDim } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { float, is } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { type Dim, mayMatch, meetDims, printShape } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { allocate, type Tensor } from '../../tensor/tensor.ts'
import { giveStatistics } from './layer-normalization.ts'

interface Params {
  epsilon: number
  /** Whether the mean is subtracted; otherwise rows are divided by their root mean square. */
  centers: boolean
}

/** Position of the result that is the sum of the operands. */
const SUM = 3

/** Rules of {@link skipLayerNormalization}. */
export const skipLayerNormalizationRules = defineRules({
  name: 'SkipLayerNormalization',
  operands: { x: 'tensor', skip: 'tensor', scale: 'tensor', shift: 'optional', bias: 'optional' },
  params: params<Params>(),
  onnx: [
    { domain: 'com.microsoft', since: 1, bind: { epsilon: float('epsilon'), centers: is(true) } },
    {
      domain: 'com.microsoft',
      type: 'SkipSimplifiedLayerNormalization',
      since: 1,
      in: { x: 0, skip: 1, scale: 2, bias: 3 },
      bind: { epsilon: float('epsilon'), centers: is(false) }
    }
  ],

  shape({ x, skip, scale, shift, bias }, _, { outputCount }) {
    const type = commonType({ input: x, skip, gamma: scale, beta: shift, bias })
    checkRank('input', x, 2, 3)
    checkRank('skip', skip, 2, 3)
    if (skip.shape) checkRankAtLeast('input', x, skip.shape.length)
    checkRank('gamma', scale, 1)
    checkRank('beta', shift, 1)
    checkRank('bias', bias, 1)
    const size = sharedDim({ input: [x, -1], skip: [skip, -1], gamma: [scale, 0], beta: [shift, 0], bias: [bias, 0] })
    const count = sharedDim({ input: [x, -2], skip: [skip, -2] })
    const rows = x.shape && [...batchOf(x.shape, skip.shape), count ?? x.shape[0]]
    const sum = tensorFact(type, rows && [...rows, size ?? rows[0]])
    const statistics = tensorFact('float32', rows && [...rows, 1])
    return [sum, statistics, statistics, sum].slice(0, outputCount)
  }
})

/**
 * Adds a skip connection and a bias, normalizes rows along the last axis, then scales and shifts. Results: the
 * normalized tensor, the means (zeros where rows are not centered), the inverse standard deviations, the sum that was
 * normalized. `x` has rank 2 or 3; of rank 3 its skip connection may lack the batch, or have one of 1, as ONNX Runtime
 * takes it. com.microsoft SkipLayerNormalization-1 and SkipSimplifiedLayerNormalization-1, which has no shift.
 */
export const skipLayerNormalization = /* @__PURE__ */ withKernel(skipLayerNormalizationRules, {
  *run({ x, skip, scale, shift, bias }, { epsilon, centers }, call) {
    const rows = allocate('float64', x.dims)
    yield* convertPaced(x, rows)
    yield* binary(ADD, rows, yield* convertedPaced(skip, 'float64'), rows)
    if (bias) yield* binary(ADD, rows, yield* convertedPaced(bias, 'float64'), rows)
    if (call.wanted(SUM)) yield* convertPaced(rows, call.rawOutput(SUM))
    const { mean, inverse } = yield* normalizeRows(rows, epsilon, centers)
    giveStatistics(call, 1, mean)
    giveStatistics(call, 2, inverse)
    yield* scaleRows(rows, scale, shift, call)
  }
})

/** Output 0: rows scaled, and shifted where there is something to shift by. */
export function* scaleRows(
  rows: Tensor<'float64'>,
  scale: Tensor,
  shift: Tensor | undefined,
  call: KernelContext
): Generator<void> {
  yield* binary(MULTIPLY, rows, yield* convertedPaced(scale, 'float64'), rows)
  if (shift) yield* binary(ADD, rows, yield* convertedPaced(shift, 'float64'), rows)
  yield* convertPaced(rows, call.rawOutput())
}

/** The dims before the last two: the skip connection may lack the batch, or have one of 1. */
function batchOf(x: readonly Dim[], skip: readonly Dim[] | undefined): Dim[] {
  const [batch] = x
  if (x.length === 2) return []
  if (skip?.length !== 3) return [batch]
  const met = mayMatch(skip[0], 1) ? batch : meetDims(batch, skip[0])
  if (met === undefined)
    fail(
      'dims-mismatch',
      `skip has shape ${printShape(skip)} and input ${printShape(x)}; a batch of 1 or the same is expected`
    )
  return [met]
}
