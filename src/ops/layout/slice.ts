import { fail } from '../../errors.ts'
import { copyStrided } from '../../kernels/core/copy-strided.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { inputInts, ints, is, optional, optionalInput } from '../../op-kit/sources.ts'
import { INDEX_TYPES } from '../../op-kit/types.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { sliceBounds, sliceShape } from '../../shapes/slice.ts'
import { stridesOf } from '../../tensor/tensor.ts'

interface Params {
  starts: DataDependent<readonly number[]>
  ends: DataDependent<readonly number[]>
  /** Undefined: the first axes. */
  axes: DataDependent<readonly number[] | undefined>
  /** Undefined: all 1. */
  steps: DataDependent<readonly number[] | undefined>
  /** Whether data may be a scalar, which stays as it is. */
  scalars: boolean
}

const onnx = { scalars: is(true) }

/**
 * `data[start:end:step, …]` along some axes. ONNX Slice-1 (attributes), -10 (inputs, steps), -11, -13, and
 * DynamicSlice-1 (inputs), which ONNX removed; OpenVINO Slice-8. `sliceRange` clamps ends (ONNX Runtime takes INT_MAX
 * as the end of a backward slice, too). An axis named twice is an error (OpenVINO requires distinct axes, ONNX leaves
 * it undefined).
 */
export const slice = defineOp({
  name: 'Slice',
  operands: { data: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      since: 1,
      bind: { starts: ints('starts'), ends: ints('ends'), axes: optional(ints('axes')), steps: is(undefined), ...onnx }
    },
    {
      since: 10,
      bind: {
        starts: inputInts(1),
        ends: inputInts(2),
        axes: optionalInput(inputInts(3)),
        steps: optionalInput(inputInts(4)),
        ...onnx
      }
    },
    {
      type: 'DynamicSlice',
      since: 1,
      bind: {
        starts: inputInts(1),
        ends: inputInts(2),
        axes: optionalInput(inputInts(3)),
        steps: is(undefined),
        ...onnx
      }
    }
  ],
  openvino: [
    {
      since: 8,
      types: { starts: INDEX_TYPES, ends: INDEX_TYPES, steps: INDEX_TYPES, axes: INDEX_TYPES },
      bind: {
        starts: inputInts(1),
        ends: inputInts(2),
        steps: inputInts(3),
        axes: optionalInput(inputInts(4)),
        scalars: is(false)
      }
    }
  ],
  moves: ['data'],

  shape({ data }, p) {
    if (data.shape?.length === 0 && !p.scalars)
      fail('rank-zero-data', 'data is a scalar; a slice needs at least one axis')
    return [tensorFact(data.type, data.shape && sliceShape(data.shape, p))]
  },

  run({ data }, { starts, ends, axes, steps }, call) {
    const out = call.rawOutput()
    const bounds = sliceBounds(data.dims, starts, ends, axes, steps)
    // Slices of lists are the most frequent, and take little time but for what is made on the way.
    if (out.dims.length === 1) {
      const { steps: from, offset } = bounds
      return copyStrided(data, out, [{ count: out.dims[0], from: from[0], to: 1 }], offset)
    }
    const to = stridesOf(out.dims)
    return copyStrided(
      data,
      out,
      out.dims.map((count, i) => ({ count, from: bounds.steps[i], to: to[i] })),
      bounds.offset
    )
  }
})
