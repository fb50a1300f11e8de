import { axisLayout } from '../../kernels/core/axis-layout.ts'
import type { Granularity } from '../../op-kit/granularity.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'

/** Which scale belongs to which element: see CodesArguments in ../assembly/int8/codes.ts. */
export interface CodesLayout {
  readonly count: number
  readonly group: number
  readonly segment: number
  /** Scales of a row, and rows. */
  readonly period: number
  readonly channels: number
  /** How many times the kernel writes a row side by side, so that it takes several elements at once. */
  readonly times: number
}

/** Elements that rows should have at least, and at most where they are written several times. */
const MIN_ROW = 16
const LONG_ROW = 256

/** One scale for all. */
export const layoutOfOne = (count: number): CodesLayout => ({ ...ROW, count, group: count, segment: count })

const ROW = { period: 1, channels: 1, times: 1 }

/** Undefined where there are no elements, and where nobody says along which axis scales lie. */
export function codesLayout(
  dims: readonly number[],
  scale: Tensor,
  { axis, blockSize }: Granularity
): CodesLayout | undefined {
  const count = product(dims)
  if (count === 0) return undefined
  if (product(scale.dims) === 1) return layoutOfOne(count)
  if (axis === undefined) return undefined
  const { outer, size, inner } = axisLayout(dims, normalizeAxis(axis, dims.length))
  if (blockSize > 0) {
    // A row is that of a block: the elements of one position along the axis.
    const segment = Math.min(blockSize, size) * inner
    const times = inner === 1 || inner >= MIN_ROW ? 1 : Math.min(blockSize, Math.ceil(MIN_ROW / inner))
    const channels = outer * Math.ceil(size / blockSize)
    return { count, group: size * inner, segment, period: inner, channels, times }
  }
  if (inner > 1) return { ...ROW, count, group: inner, segment: inner, channels: size }
  // One row is that of a line.
  const times = Math.min(outer, Math.max(1, Math.ceil(LONG_ROW / size)))
  return { count, group: count, segment: count, period: size, channels: 1, times }
}
