import { fail } from '../../errors.ts'
import { shareAs } from '../../kernels/core/share.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { int, is } from '../../op-kit/sources.ts'
import { type Dim, productOf } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { sizes, unknownDims } from '../../shapes/lists.ts'

interface Params {
  axis: number
  /** Whether a negative axis counts from the end (from version 11 on). */
  negative: boolean
}

/**
 * Reshapes to a matrix: dims before `axis` are multiplied into rows, the others into columns. ONNX Flatten-1, -9, -11,
 * -13.
 */
export const flatten = defineOp({
  name: 'Flatten',
  operands: { input: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 1, bind: { axis: int('axis'), negative: is(false) } },
    { since: 11, bind: { axis: int('axis'), negative: is(true) } }
  ],
  moves: ['input'],

  shape({ input }, p) {
    return [tensorFact(input.type, input.shape ? matrix(input.shape, p) : unknownDims(2))]
  },

  run({ input }, p, call) {
    call.give(0, shareAs(input, call.dimsOf?.(0) ?? sizes(matrix(input.dims, p))))
  }
})

function matrix(dims: readonly Dim[], { axis, negative }: Params): Dim[] {
  const rank = dims.length
  const lowest = negative ? -rank : 0
  if (axis < lowest || axis > rank) {
    fail('axis-out-of-range', `axis ${axis} is out of range for rank ${rank}; expected ${lowest}..${rank}`, {
      axis,
      rank
    })
  }
  const at = axis < 0 ? axis + rank : axis
  return [productOf(dims.slice(0, at)), productOf(dims.slice(at))]
}
