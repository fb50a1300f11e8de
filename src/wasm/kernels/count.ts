import { type DType, isInteger } from '../../tensor/dtype.ts'
import { product } from '../../tensor/tensor.ts'
import type { JobTemplate } from '../jobs.ts'
import { jobKernel, type Selector, selectorFor, staged } from '../selector.ts'

/** Elements below which setting a job up costs more than it gains. */
const MIN_ELEMENTS = 1 << 8
/** Elements of a tile. */
const TILE = 1 << 15

/** Numbers of the types in ../assembly/wide/count.ts, and bytes of an element. */
const TYPES: Readonly<Partial<Record<DType, readonly [type: number, width: number]>>> = {
  int32: [0, 4],
  int64: [1, 8],
  float64: [2, 8],
  float32: [3, 4]
}

/** Range whose operands have the type of the result. */
export const selectRange: Selector = selectorFor<{ readonly type: DType | undefined }>(
  ({ op, operands, parameters, dims }) => {
    const { start, limit, delta } = operands
    const type = start?.type
    const found = type && TYPES[type]
    const isOther = (parameters.type ?? type) !== type || [limit, delta].some(own => own && own.type !== type)
    if (type === undefined || found === undefined || isOther) return undefined
    const count = product(dims)
    if (count < MIN_ELEMENTS) return undefined
    const [number, width] = found
    // The arguments are those of CountArguments in ../assembly/wide/count.ts.
    const template: JobTemplate = {
      kernel: 'count',
      blocks: count,
      blockBytes: width,
      tile: TILE,
      work: count * width,
      inputs: staged(1),
      args: [number]
    }
    const one = isInteger(type) ? 1n : 1
    return {
      kernel: jobKernel(op, given => {
        const values = [given.start, given.delta].map(own => own?.data[0] ?? one)
        const table = isInteger(type)
          ? BigInt64Array.from(values, value => BigInt(value))
          : Float64Array.from(values, Number)
        return { template, inputs: [table] }
      })
    }
  }
)
