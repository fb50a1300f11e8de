import { fail } from '../../errors.ts'
import { indexReader } from '../../tensor/elements.ts'
import { elementCount, stridesOf, type Tensor } from '../../tensor/tensor.ts'
import { COST, Pace } from '../core/pace.ts'
import { copyUnits, unitsOf } from '../core/units.ts'

/** Nanoseconds for one axis of one index. */
const AXIS_COST = COST.element

/**
 * Writes each element of `x` where its index says; the rest of `out` stays zero. Indices are flat indices into a tensor
 * of `dims`, which is placed at the beginning of `out` along every axis.
 * @throws NodewiseError `index-out-of-range`
 */
export function* maxUnpool(x: Tensor, indices: Tensor, dims: readonly number[], out: Tensor): Generator<void> {
  const { array: from, per } = unitsOf(x)
  const to = unitsOf(out).array
  const read = indexReader(indices)
  const size = elementCount(dims)
  const strides = stridesOf(dims)
  const outStrides = stridesOf(out.dims)
  const pace = new Pace()
  for (let i = 0; i < x.data.length; i++) {
    const index = read(i)
    if (!(index >= 0 && index < size)) {
      fail(
        'index-out-of-range',
        `index ${String(indices.data[i])} at element ${i} is out of range for ${size} elements`
      )
    }
    let target = 0
    for (let a = 0; a < dims.length; a++) {
      const at = Math.floor(index / strides[a]) % dims[a]
      if (at >= out.dims[a]) {
        fail(
          'index-out-of-range',
          `index ${index} at element ${i} is at ${at} of axis ${a}, where the result has ${out.dims[a]} elements`
        )
      }
      target += at * outStrides[a]
    }
    copyUnits(from, i * per, to, target * per, per)
    if (pace.isDue((dims.length + 1) * AXIS_COST)) yield
  }
}
