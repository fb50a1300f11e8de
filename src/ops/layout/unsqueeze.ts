import { fail } from '../../errors.ts'
import { shareAs } from '../../kernels/core/share.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { inputInts, ints, is } from '../../op-kit/sources.ts'
import { type Dim, normalizeAxes } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { type DataDependentList, knownList, limitRank, sizes, unknownDims } from '../../shapes/lists.ts'
import { dtypesOf } from '../../tensor/dtype.ts'

interface Params {
  axes: DataDependent<readonly number[]>
  /** Whether negative axes count from the end (not in ONNX-1). */
  negative: boolean
  /** Whether there is one axis. */
  single: boolean
}

/**
 * Inserts dims of 1 at `axes` of the output. ONNX Unsqueeze-1, -11 (attribute), -13 (input), OpenVINO Unsqueeze-1,
 * com.microsoft ExpandDims-1 (one axis). A repeated axis is an error (stated by ONNX-11; OpenVINO counts it once).
 */
export const unsqueeze = defineOp({
  name: 'Unsqueeze',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [
    { since: 1, bind: { axes: ints('axes'), negative: is(false), single: is(false) } },
    { since: 11, bind: { axes: ints('axes'), negative: is(true), single: is(false) } },
    { since: 13, bind: { axes: inputInts(1), negative: is(true), single: is(false) } },
    {
      domain: 'com.microsoft',
      type: 'ExpandDims',
      since: 1,
      bind: { axes: inputInts(1), negative: is(true), single: is(true) }
    }
  ],
  openvino: [
    {
      since: 1,
      types: { axes: dtypesOf('int', 'uint') },
      bind: { axes: inputInts(1), negative: is(true), single: is(false) }
    }
  ],
  moves: ['data'],

  shape({ data }, p) {
    if (p.single && p.axes !== 'unknown' && p.axes.length !== 1)
      fail('dims-mismatch', `there are ${p.axes.length} axes; one is expected`)
    return [tensorFact(data.type, data.shape && expanded(data.shape, p.axes, p.negative))]
  },

  run({ data }, p, call) {
    call.give(0, shareAs(data, call.dimsOf?.(0) ?? sizes(expanded(data.dims, p.axes, p.negative))))
  }
})

function expanded(dims: readonly Dim[], list: DataDependentList, negative: boolean): Dim[] | undefined {
  if (list === 'unknown') return undefined
  const rank = dims.length + list.length
  limitRank(rank)
  const given = knownList(list)
  if (given === undefined) return unknownDims(rank)
  const below = negative ? undefined : given.find(axis => axis < 0)
  if (below !== undefined)
    fail('axis-out-of-range', `axis ${below} is negative, which this version does not allow`, { axis: below, rank })
  const axes = new Set(normalizeAxes(given, rank))
  const rest = dims.values()
  return Array.from({ length: rank }, (_, i) => (axes.has(i) ? 1 : (rest.next().value as Dim)))
}
