import type { Paced } from '../../kernels/core/pace.ts'
import type { Kernel, Op } from '../../op-kit/define.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import { unreadTensor } from '../../tensor/unread.ts'
import { runJob } from '../jobs.ts'
import { arrayOf, type Selector, type TensorOperands } from '../selector.ts'
import { temporaries } from '../temporary.ts'
import { conversionTemplate } from './convert.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 8

/**
 * Operators of ai.onnx.ml whose data are 64-bit integers, by their own kernel of float64: reading them one by one as
 * numbers takes several times as long as converting them at once, which gives the same numbers.
 */
export const selectOfDoubles: Selector = ({ op, operands: { x } }) => {
  if (x?.type !== 'int64' || product(x.dims) < MIN_ELEMENTS) return undefined
  return { kernel: ofConverted(op, 'float64', x.dims, op.run) }
}

/** The same by a kernel of float32, which holds every integer within its rounding. */
export const ofFloats =
  (select: Selector): Selector =>
  call => {
    const { x } = call.operands
    if (x?.type !== 'int64') return undefined
    const wide = unreadTensor({ type: 'float32', dims: x.dims }, () => x)
    const kernel = select({ ...call, operands: { ...call.operands, x: wide } })?.kernel
    return kernel && { kernel: ofConverted(call.op, 'float32', x.dims, kernel) }
  }

/** Converts 64-bit integers, and runs a kernel on what they are then; where the heap is full, the operator's own. */
function ofConverted(op: Op, type: 'float32' | 'float64', dims: readonly number[], kernel: Kernel): Kernel {
  const count = product(dims)
  const template = conversionTemplate('int64', type, count)
  return function* (given, parameters, context): Paced {
    const { allocate, allocateDoubles, free } = temporaries()
    try {
      const numbers = type === 'float64' ? allocateDoubles(count) : (allocate(count) as Float32Array<ArrayBuffer>)
      const isDone = yield* runJob(template, [arrayOf((given as TensorOperands).x!)], numbers, context.threads)
      const operands = { ...given, x: new Tensor<'float32' | 'float64'>(type, numbers, dims) }
      const rest = isDone ? kernel(operands, parameters, context) : op.run(given, parameters, context)
      if (rest) yield* rest
    } finally {
      free()
    }
  }
}
