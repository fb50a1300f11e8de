import { fail } from '../../errors.ts'
import { axisLayout } from '../../kernels/core/axis-layout.ts'
import { storeManyIntegers } from '../../kernels/core/integers.ts'
import { orderKeys } from '../../kernels/core/order.ts'
import { selectBest } from '../../kernels/core/select.ts'
import { defineOp, type Op, params } from '../../op-kit/define.ts'
import { flag, int, is } from '../../op-kit/sources.ts'
import { maxDim, minDim, normalizeAxis } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'

interface Params {
  axis: number
  keepDims: boolean
  /** Of equal elements the index of the last one is given, else of the first. */
  last: boolean
}

/**
 * The index of the largest or smallest element along an axis. NaN counts as the largest (smallest), as in NumPy. ONNX
 * ArgMax and ArgMin-1, -11, -12 (select_last_index), -13.
 */
const argOp = (name: string, largest: boolean): Op =>
  defineOp({
    name,
    operands: { data: 'tensor' },
    params: params<Params>(),
    onnx: [
      { since: 1, bind: { axis: int('axis'), keepDims: flag('keepdims'), last: is(false) } },
      { since: 12, bind: { axis: int('axis'), keepDims: flag('keepdims'), last: flag('select_last_index') } }
    ],

    shape({ data }, p) {
      if (data.shape === undefined) return [tensorFact('int64', undefined)]
      const axis = normalizeAxis(p.axis, data.shape.length)
      const others = data.shape.filter((_, i) => i !== axis)
      if (maxDim(data.shape[axis]) === 0 && others.every(dim => minDim(dim) > 0)) {
        fail(
          'value-out-of-range',
          `axis ${axis} has no elements, so none of them is the ${largest ? 'largest' : 'smallest'}`
        )
      }
      return [tensorFact('int64', p.keepDims ? data.shape.map((dim, i) => (i === axis ? 1 : dim)) : others)]
    },

    *run({ data }, p, call) {
      const layout = axisLayout(data.dims, normalizeAxis(p.axis, data.dims.length))
      const out = call.output()
      if (out.data.length > 0)
        yield* storeManyIntegers(out, yield* selectBest(yield* orderKeys(data), layout, largest, p.last))
    }
  })

/** ONNX ArgMax and ArgMin. */
export const argOps: readonly Op[] = [argOp('ArgMax', true), argOp('ArgMin', false)]
