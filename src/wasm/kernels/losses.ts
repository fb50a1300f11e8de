import { axisLayout } from '../../kernels/core/axis-layout.ts'
import type { Paced } from '../../kernels/core/pace.ts'
import { type LossRule, storeLoss } from '../../kernels/normalization/losses.ts'
import { makingOnce } from '../../op-kit/with-output.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { product } from '../../tensor/tensor.ts'
import { runJob } from '../jobs.ts'
import { arrayOf, type Selector, selectorFor, type TensorOperands } from '../selector.ts'
import { temporaries } from '../temporary.ts'
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
  return {
    *kernel(given, own, context): Paced {
      const operands = given as TensorOperands
      const { allocate, allocateDoubles, free } = temporaries()
      const call = makingOnce(context)
      try {
        const logarithms = (): Numbers => (type === 'float64' ? allocateDoubles(count) : allocate(count))
        const found = context.outputCount > 1 ? arrayOf(call.rawOutput(1)) : logarithms()
        if (yield* runJob(template, [arrayOf(operands.scores!)], found, context.threads)) {
          const { labels, weights } = operands
          return yield* storeLoss(found as Numbers, dims, labels!, weights, parameters, call.rawOutput())
        }
      } finally {
        free()
      }
      const rest = op.run(given, own, call)
      if (rest) yield* rest
    }
  }
})
