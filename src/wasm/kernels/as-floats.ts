import type { Kernel } from '../../op-kit/define.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import { unreadTensor } from '../../tensor/unread.ts'
import { attemptKernel } from '../attempt.ts'
import { arrayOf, type Candidate, type Selector } from '../selector.ts'
import { conversionTemplate } from './convert.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 8

/**
 * Operators of ai.onnx.ml whose data are 64-bit integers, by their own kernel of float64: reading them one by one as
 * numbers takes several times as long as converting them at once, which gives the same numbers.
 */
export const selectOfDoubles: Selector = call => {
  const { x } = call.operands
  if (x?.type !== 'int64' || product(x.dims) < MIN_ELEMENTS) return undefined
  return { kernel: ofConverted(call, 'float64', call.op.run) }
}

/** The same by a kernel of float32, which holds every integer within its rounding. */
export const ofFloats =
  (select: Selector): Selector =>
  call => {
    const { x } = call.operands
    if (x?.type !== 'int64') return undefined
    const wide = unreadTensor({ type: 'float32', dims: x.dims }, () => x)
    const kernel = select({ ...call, operands: { ...call.operands, x: wide } })?.kernel
    return kernel && { kernel: ofConverted(call, 'float32', kernel) }
  }

/** Converts 64-bit integers, and runs a kernel on what they are then. */
function ofConverted({ op, operands, parameters }: Candidate, type: 'float32' | 'float64', kernel: Kernel): Kernel {
  const { dims } = operands.x!
  const count = product(dims)
  const template = conversionTemplate('int64', type, count)
  return attemptKernel(op, function* (given, _out, { allocate, allocateDoubles, run }, context) {
    const numbers = type === 'float64' ? allocateDoubles(count) : (allocate(count) as Float32Array<ArrayBuffer>)
    if (!(yield* run(template, [arrayOf(given.x!)], numbers))) return false
    const x = new Tensor<'float32' | 'float64'>(type, numbers, dims)
    const rest = kernel({ ...given, x }, parameters, context)
    if (rest) yield* rest
    return true
  })
}
