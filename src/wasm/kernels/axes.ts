import { type AxisLayout, axisLayout } from '../../kernels/core/axis-layout.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { product } from '../../tensor/tensor.ts'

/**
 * Dims seen as `[outer, size, inner]` around one axis.
 * @param axis may count from the end
 * @param flattens whether the axes after it belong to it
 */
export function aroundAxis(dims: readonly number[], axis: number, flattens: boolean): AxisLayout {
  const { outer, size, inner } = axisLayout(dims, normalizeAxis(axis, dims.length))
  return flattens ? { outer, size: size * inner, inner: 1 } : { outer, size, inner }
}

/**
 * Dims seen as `[outer, size, inner]` around axes that lie side by side once dims of size 1 are left out.
 * @param axes counted from 0
 * @returns undefined where they do not lie side by side
 */
export function aroundAxes(dims: readonly number[], axes: readonly number[]): AxisLayout | undefined {
  const wide = axes.filter(axis => dims[axis] !== 1)
  if (wide.length === 0) return { outer: product(dims), size: 1, inner: 1 }
  const first = Math.min(...wide)
  const last = Math.max(...wide)
  for (let axis = first; axis <= last; axis++) if (dims[axis] !== 1 && !wide.includes(axis)) return undefined
  return { outer: product(dims, 0, first), size: product(dims, first, last + 1), inner: product(dims, last + 1) }
}
