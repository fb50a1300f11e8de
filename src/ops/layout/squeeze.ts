import { fail } from '../../errors.ts'
import { shareAs } from '../../kernels/core/share.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { flag, inputInts, ints, is, optional, optionalInput } from '../../op-kit/sources.ts'
import { type Dim, mayMatch, normalizeAxis, printDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { type DataDependentList, knownList, sizes, unknownDims } from '../../shapes/lists.ts'
import { dtypesOf } from '../../tensor/dtype.ts'

interface Params {
  axes: DataDependent<readonly number[] | undefined>
  /** Whether negative axes count from the end (not in ONNX-1). */
  negative: boolean
  /** Whether an empty list means all dims of 1, as a missing list does. */
  emptyMeansAll: boolean
  /** What happens to a listed dim that is not 1. */
  otherDims: 'error' | 'keep'
  /** Whether a listed dim that may or may not be 1 makes the rank unknown. */
  openRank: boolean
}

const onnx = { emptyMeansAll: is(false), otherDims: is('error'), openRank: is(false) } as const
const openvino = {
  axes: optionalInput(inputInts(1)),
  negative: is(true),
  emptyMeansAll: is(true),
  otherDims: is('keep')
} as const
const types = { axes: dtypesOf('int', 'uint') }

/**
 * Removes dims of 1: those at `axes`, or all. ONNX Squeeze-1, -11 (attribute), -13 (input): a dim at `axes` must be 1,
 * and an empty list removes nothing (ONNX Runtime removes all). OpenVINO Squeeze-1, -15: other dims stay (since
 * 2024.3), and an empty list means all. An axis may be repeated.
 */
export const squeeze = defineOp({
  name: 'Squeeze',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 1, bind: { axes: optional(ints('axes')), negative: is(false), ...onnx } },
    { since: 11, bind: { axes: optional(ints('axes')), negative: is(true), ...onnx } },
    { since: 13, bind: { axes: optionalInput(inputInts(1)), negative: is(true), ...onnx } }
  ],
  openvino: [
    { since: 1, types, bind: { ...openvino, openRank: is(false) } },
    { since: 15, types, bind: { ...openvino, openRank: flag('allow_axis_skip') } }
  ],
  moves: ['data'],

  shape({ data }, p) {
    return [tensorFact(data.type, data.shape && squeezed(data.shape, p.axes, p))]
  },

  run({ data }, p, call) {
    call.give(0, shareAs(data, call.dimsOf?.(0) ?? sizes(squeezed(data.dims, p.axes, p))))
  }
})

const mayBeOne = (dim: Dim): boolean => mayMatch(dim, 1)

function squeezed(
  dims: readonly Dim[],
  list: DataDependentList | undefined,
  p: Omit<Params, 'axes'>
): Dim[] | undefined {
  if (list === undefined || (p.emptyMeansAll && list.length === 0)) {
    return dims.some(dim => dim !== 1 && mayBeOne(dim)) ? undefined : dims.filter(dim => dim !== 1)
  }
  const axes = knownList(list)
  if (axes === undefined) {
    const goesAway = list !== 'unknown' && list.length === 1 && p.otherDims === 'error' && dims.length > 0
    return goesAway ? unknownDims(dims.length - 1) : undefined
  }
  const away = new Set(
    axes.map(axis => {
      if (axis < 0 && !p.negative) {
        fail('axis-out-of-range', `axis ${axis} is negative, which this version does not allow`, {
          axis,
          rank: dims.length
        })
      }
      return normalizeAxis(axis, dims.length)
    })
  )
  for (const axis of away) {
    if (mayBeOne(dims[axis])) continue
    if (p.otherDims === 'error')
      fail('dims-mismatch', `dim ${axis} is ${printDim(dims[axis])}; only dims of 1 can be taken away`)
    away.delete(axis)
  }
  if (p.openRank && [...away].some(axis => dims[axis] !== 1)) return undefined
  return dims.filter((_, i) => !away.has(i))
}
