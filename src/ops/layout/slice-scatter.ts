import { fail } from '../../errors.ts'
import { copyStrided } from '../../kernels/core/copy-strided.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { inputInts, optionalInput } from '../../op-kit/sources.ts'
import { commonType, INDEX_TYPES } from '../../op-kit/types.ts'
import { type Dim, meetDims, printShape } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { sliceBounds, sliceShape } from '../../shapes/slice.ts'
import { elementCount, stridesOf } from '../../tensor/tensor.ts'

interface Params {
  starts: DataDependent<readonly number[]>
  ends: DataDependent<readonly number[]>
  steps: DataDependent<readonly number[]>
  axes: DataDependent<readonly number[] | undefined>
}

/** `data` with one slice replaced by `updates`, which have the shape of the slice: OpenVINO SliceScatter-15. */
export const sliceScatter = defineOp({
  name: 'SliceScatter',
  operands: { data: 'tensor', updates: 'tensor' },
  params: params<Params>(),
  openvino: [
    {
      since: 15,
      types: { starts: INDEX_TYPES, ends: INDEX_TYPES, steps: INDEX_TYPES, axes: INDEX_TYPES },
      bind: { starts: inputInts(2), ends: inputInts(3), steps: inputInts(4), axes: optionalInput(inputInts(5)) }
    }
  ],
  moves: ['data', 'updates'],

  shape({ data, updates }, p) {
    if (data.shape?.length === 0) fail('rank-zero-data', 'data is a scalar; a slice needs at least one axis')
    if (data.shape && updates.shape) holdUpdates(sliceShape(data.shape, p), updates.shape)
    return [tensorFact(commonType({ data, updates }), data.shape)]
  },

  *run({ data, updates }, { starts, ends, axes, steps }, call) {
    const out = call.output()
    const bounds = sliceBounds(data.dims, starts, ends, axes, steps)
    const from = stridesOf(updates.dims)
    yield* copyStrided(data, out, [{ count: elementCount(data.dims), from: 1, to: 1 }])
    yield* copyStrided(
      updates,
      out,
      updates.dims.map((count, i) => ({ count, from: from[i], to: bounds.steps[i] })),
      0,
      bounds.offset
    )
  }
})

function holdUpdates(expected: readonly Dim[], found: readonly Dim[]): void {
  const fits = expected.length === found.length && expected.every((dim, i) => meetDims(dim, found[i]) !== undefined)
  if (!fits) fail('shape-mismatch', `updates have shape ${printShape(found)}; the slice has ${printShape(expected)}`)
}
