import { axisLayout } from '../../kernels/core/axis-layout.ts'
import { type LossRule, storeLoss } from '../../kernels/normalization/losses.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { product } from '../../tensor/tensor.ts'
import { attemptKernel } from '../attempt.ts'
import { arrayOf, type Selector, selectorFor } from '../selector.ts'
import { softmaxTemplate } from './softmax.ts'

/** Scores below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 8

/** SoftmaxCrossEntropyLoss of float32 and float64, whose logarithms are those of LogSoftmax. */
export const selectSoftmaxLoss: Selector = selectorFor<LossRule>(({ op, operands: { scores }, parameters }) => {
  const type = scores?.type
  if (scores === undefined || (type !== 'float32' && type !== 'float64')) return undefined
  const { dims } = scores
  const count = product(dims)
  if (count < MIN_ELEMENTS) return undefined
  const template = softmaxTemplate(axisLayout(dims, 1), true, type)
  const kernel = attemptKernel(op, function* ({ scores, labels, weights }, out, work, context) {
    const logarithms = (): Numbers => (type === 'float64' ? work.allocateDoubles(count) : work.allocate(count))
    const found = context.outputCount > 1 ? (arrayOf(out(1)) as Numbers) : logarithms()
    if (!(yield* work.run(template, [arrayOf(scores!)], found))) return false
    yield* storeLoss(found, dims, labels!, weights, parameters, out())
    return true
  })
  return { kernel }
})
