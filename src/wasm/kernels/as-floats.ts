import type { Paced } from '../../kernels/core/pace.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import { unreadTensor } from '../../tensor/unread.ts'
import { arrayOf, runHere, type Selector, type TensorOperands } from '../selector.ts'
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
  const count = product(x.dims)
  const template = conversionTemplate('int64', 'float64', count)
  return {
    *kernel(given, parameters, context): Paced {
      const { allocate, free } = temporaries()
      try {
        const room = allocate(2 * count)
        const doubles = new Float64Array(room.buffer as ArrayBuffer, room.byteOffset, count)
        const isDone = yield* runHere(template, [arrayOf((given as TensorOperands).x!)], doubles, context.threads)
        const operands = isDone ? { ...given, x: new Tensor('float64', doubles, x.dims) } : given
        const rest = op.run(operands, parameters, context)
        if (rest) yield* rest
      } finally {
        free()
      }
    }
  }
}

/** The same by a kernel of float32, which holds every integer within its rounding. */
export const ofFloats =
  (select: Selector): Selector =>
  call => {
    const { x } = call.operands
    if (x?.type !== 'int64') return undefined
    const wide = unreadTensor({ type: 'float32', dims: x.dims }, () => x)
    const kernel = select({ ...call, operands: { ...call.operands, x: wide } })?.kernel
    if (kernel === undefined) return undefined
    const count = product(x.dims)
    const template = conversionTemplate('int64', 'float32', count)
    return {
      *kernel(given, parameters, context): Paced {
        const { allocate, free } = temporaries()
        try {
          const floats = allocate(count) as Float32Array<ArrayBuffer>
          const isDone = yield* runHere(template, [arrayOf((given as TensorOperands).x!)], floats, context.threads)
          const operands = { ...given, x: new Tensor('float32', floats, x.dims) }
          const rest = isDone ? kernel(operands, parameters, context) : call.op.run(given, parameters, context)
          if (rest) yield* rest
        } finally {
          free()
        }
      }
    }
  }
