import { fail } from '../../errors.ts'
import { copyByTables } from '../../kernels/core/copy-tables.ts'
import { type DataDependent, defineOp, params } from '../../op-kit/define.ts'
import { inputInts } from '../../op-kit/sources.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { knownList } from '../../shapes/lists.ts'
import { stridesOf } from '../../tensor/tensor.ts'

interface Params {
  /** One shift for all axes, or one for each. */
  shift: DataDependent<readonly number[]>
  /** An axis may be repeated; its shifts add up. */
  axes: DataDependent<readonly number[]>
}

/** Rotates elements along axes: those shifted beyond the end come in at the beginning. OpenVINO Roll-7. */
export const roll = defineOp({
  name: 'Roll',
  operands: { data: 'tensor' },
  params: params<Params>(),
  openvino: [
    {
      since: 7,
      types: { shift: ['int32', 'int64'], axes: ['int32', 'int64'] },
      bind: { shift: inputInts(1), axes: inputInts(2) }
    }
  ],
  moves: ['data'],

  shape({ data }, { shift, axes }) {
    if (shift !== 'unknown' && axes !== 'unknown' && shift.length !== axes.length && shift.length !== 1) {
      fail('dims-mismatch', `there are ${shift.length} shifts for ${axes.length} axes`)
    }
    if (data.shape) for (const axis of knownList(axes) ?? []) normalizeAxis(axis, data.shape.length)
    return [tensorFact(data.type, data.shape)]
  },

  *run({ data }, { shift, axes }, call) {
    const out = call.output()
    if (out.data.length === 0) return
    const total = new Array<number>(data.dims.length).fill(0)
    axes.forEach((given, i) => {
      const axis = normalizeAxis(given, data.dims.length)
      const size = Math.max(1, data.dims[axis])
      total[axis] = (total[axis] + (shift[shift.length === 1 ? 0 : i] % size) + size) % size
    })
    const strides = stridesOf(data.dims)
    yield* copyByTables(
      data,
      out,
      data.dims.map((size, axis) => ({
        from: Float64Array.from({ length: size }, (_, i) => i * strides[axis]),
        to: Float64Array.from({ length: size }, (_, i) => ((i + total[axis]) % size) * strides[axis])
      }))
    )
  }
})
