import { axisLayout } from '../../kernels/core/axis-layout.ts'
import type { Granularity } from '../../op-kit/granularity.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'

/**
 * Which scale belongs to which element: see CodesArguments in ../assembly/int8/codes.ts. Rows of few scales are spread,
 * so that the kernel takes several elements at once.
 */
export interface CodesLayout {
  readonly count: number
  readonly group: number
  readonly segment: number
  /** Scales of a row and rows, as they are given. */
  readonly period: number
  readonly channels: number
  /** Elements side by side that share a scale of a row. */
  readonly each: number
  /** How many times the kernel writes a row side by side. */
  readonly times: number
}

/** Elements that rows should have at least, and at most where they are written several times. */
const MIN_ROW = 16
const LONG_ROW = 256
/** Elements of spread rows at most. */
const MAX_SPREAD = 1 << 14

/** One scale for all. */
export const layoutOfOne = (count: number): CodesLayout => ({ ...ROW, count, group: count, segment: count })

const ROW = { period: 1, channels: 1, each: 1, times: 1 }

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
    return { count, group: size * inner, segment, period: inner, channels, each: 1, times }
  }
  const isThin = inner < MIN_ROW && outer > 1 && size * inner <= MAX_SPREAD
  if (inner > 1 && !isThin) return { ...ROW, count, group: inner, segment: inner, channels: size }
  // One row is that of a line.
  const times = Math.min(outer, Math.max(1, Math.ceil(LONG_ROW / (size * inner))))
  return { count, group: count, segment: count, period: size, channels: 1, each: inner, times }
}

/** Writes each scale, or zero point, as often as the kernel reads it. */
export function spreadRows<T extends Float32Array | Int32Array>(from: ArrayLike<number>, each: number, to: T): T {
  if (each === 1) to.set(from)
  else for (let i = 0, at = 0; i < from.length; i++) for (let k = 0; k < each; k++) to[at++] = from[i]
  return to
}
