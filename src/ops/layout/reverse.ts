import { fail } from '../../errors.ts'
import { copyStrided } from '../../kernels/core/copy-strided.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { choice, inputInts } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { type DataDependentList, knownList } from '../../shapes/lists.ts'
import { dtypesOf } from '../../tensor/dtype.ts'
import { stridesOf } from '../../tensor/tensor.ts'

interface Params {
  /** Indices of the axes, or a boolean for each axis. */
  axes: DataDependent<readonly number[]>
  mode: 'index' | 'mask'
}

/** Reverses some axes: OpenVINO Reverse-1. */
export const reverse = defineOp({
  name: 'Reverse',
  operands: { data: 'tensor' },
  params: params<Params>(),
  openvino: [
    {
      since: 1,
      types: { axes: dtypesOf('int', 'uint', 'bool') },
      bind: { axes: inputInts(1), mode: choice('mode', { index: 'index', mask: 'mask' }) }
    }
  ],
  moves: ['data'],

  shape({ data }, p) {
    if (data.shape) reversedAxes(p.axes, data.shape.length, p.mode)
    return [tensorFact(data.type, data.shape)]
  },

  *run({ data }, p, call) {
    const reversed = reversedAxes(p.axes, data.dims.length, p.mode)
    const strides = stridesOf(data.dims)
    let offset = 0
    const loops = data.dims.map((count, axis) => {
      if (!reversed.has(axis)) return { count, from: strides[axis], to: strides[axis] }
      offset += (count - 1) * strides[axis]
      return { count, from: -strides[axis], to: strides[axis] }
    })
    yield* copyStrided(data, call.rawOutput(), loops, offset)
  }
})

/** The axes to reverse, as far as they are known. */
function reversedAxes(list: DataDependentList, rank: number, mode: 'index' | 'mask'): ReadonlySet<number> {
  const length = list === 'unknown' ? undefined : list.length
  if (length !== undefined && (mode === 'mask' ? length !== rank : length > rank)) {
    fail(
      'dims-mismatch',
      `axis has ${length} elements; expected ${mode === 'mask' ? '' : 'at most '}${rank}, the rank of the data`
    )
  }
  const known = knownList(list) ?? []
  if (mode === 'mask') return new Set(known.flatMap((flag, axis) => (flag !== 0 ? [axis] : [])))
  const wrong = known.find(axis => axis < 0 || axis >= rank)
  if (wrong !== undefined) {
    fail('axis-out-of-range', `axis ${wrong} is out of range for rank ${rank}; expected 0..${rank - 1}`, {
      axis: wrong,
      rank
    })
  }
  return new Set(known)
}
