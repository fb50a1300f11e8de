import { ALONE, type WindowAxis } from '../../shapes/window.ts'
import type { Numbers } from '../../tensor/elements.ts'
import type { BigInts } from '../core/numbers.ts'
import { COST, type Pace } from '../core/pace.ts'

/** For each window along an axis the first element that it reads, and the one after the last; equal: none. */
interface Spans {
  readonly first: Int32Array
  readonly end: Int32Array
  readonly dilation: number
}

/** The windows of a plane over depth, height and width. */
export interface Spatial {
  readonly depth: Spans
  readonly height: Spans
  readonly width: Spans
  readonly lines: number
  readonly columns: number
}

/** @returns undefined for windows over more than three axes */
export function spatialOf(axes: readonly WindowAxis[]): Spatial | undefined {
  if (axes.length > 3) return undefined
  const [d, h, w] = [...new Array<WindowAxis>(3 - axes.length).fill(ALONE), ...axes]
  return { depth: spansOf(d), height: spansOf(h), width: spansOf(w), lines: h.size, columns: w.size }
}

function spansOf({ size, count, kernel, stride, dilation, begin }: WindowAxis): Spans {
  const first = new Int32Array(count)
  const end = new Int32Array(count)
  for (let i = 0; i < count; i++) {
    const start = i * stride - begin
    first[i] = start < 0 ? start + Math.ceil(-start / dilation) * dilation : start
    end[i] = Math.max(first[i], Math.min(size, start + (kernel - 1) * dilation + 1))
  }
  return { first, end, dilation }
}

/**
 * Finds the highest element of each window of a plane, the first of equal ones, or the first NaN. A window without
 * elements leaves its place in `out` as it is.
 * @param plane where the plane begins in `x`
 * @param to where its windows begin in `out`
 * @param elements becomes the highest element of each window, counted in the plane; -1: none
 */
export function* highestElements<A extends Numbers | BigInts>(
  x: A,
  plane: number,
  { depth, height, width, lines, columns }: Spatial,
  out: A,
  to: number,
  elements: Float64Array,
  pace: Pace
): Generator<void> {
  let window = 0
  for (let d = 0; d < depth.first.length; d++)
    for (let h = 0; h < height.first.length; h++) {
      const before = window
      for (let w = 0; w < width.first.length; w++, window++) {
        let at = -1
        let most = out[to + window]
        for (let i = depth.first[d]; i < depth.end[d]; i += depth.dilation)
          for (let j = height.first[h]; j < height.end[h]; j += height.dilation) {
            const line = plane + (i * lines + j) * columns
            for (let k = width.first[w]; k < width.end[w]; k += width.dilation) {
              const value = x[line + k]
              // Only NaN differs from itself.
              if (value > most || at < 0 || (value !== value && most === most)) {
                most = value
                at = line + k
              }
            }
          }
        out[to + window] = most
        elements[window] = at < 0 ? -1 : at - plane
      }
      if (pace.isDue((window - before) * tapsOf(depth, height, width, d, h) * COST.copy + 1)) yield
    }
}

/** Most elements that the windows of a line read, each. */
function tapsOf(depth: Spans, height: Spans, width: Spans, d: number, h: number): number {
  const widest = width.end[width.first.length >> 1] - width.first[width.first.length >> 1]
  return 1 + (depth.end[d] - depth.first[d]) * (height.end[h] - height.first[h]) * widest
}
