import { product } from '../../tensor/tensor.ts'

/** A tensor seen as `[outer, size, inner]` around one axis, which has `size` positions. */
export interface AxisLayout {
  readonly outer: number
  readonly size: number
  readonly inner: number
}

export const axisLayout = (dims: readonly number[], axis: number): AxisLayout => ({
  outer: product(dims.slice(0, axis)),
  size: dims[axis],
  inner: product(dims.slice(axis + 1))
})
