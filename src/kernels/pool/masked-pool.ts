import type { WindowAxis } from '../../shapes/window.ts'
import { MAX_FLOAT32 } from '../../tensor/dtype.ts'
import { product } from '../../tensor/tensor.ts'
import { COST, Pace } from '../core/pace.ts'

/** The elements of a window along one axis, `[from, to)`. */
const spanOf = ({ size, kernel, stride, begin }: WindowAxis, window: number): [from: number, to: number] => {
  const start = window * stride - begin
  return [Math.max(0, start), Math.min(size, start + kernel)]
}

/**
 * The highest element of each window, where a mask is set: along the last axis a window ends at its first element whose
 * mask is 0. NaN is passed over.
 * @param maskStart where the mask of a plane begins
 * @param sparesFirst whether the first element of a plane counts whatever its mask
 */
export function* maskedMaxPool(
  x: Float32Array,
  mask: Int32Array,
  out: Float32Array,
  axes: readonly WindowAxis[],
  planes: number,
  maskStart: (plane: number) => number,
  sparesFirst: boolean
): Generator<void> {
  const outer = axes.slice(0, -1)
  const last = axes[axes.length - 1]
  const elements = product(axes.map(({ size }) => size))
  const pace = new Pace()
  let to = 0
  for (let plane = 0; plane < planes; plane++) {
    const data: MaskedPlane = { x, mask, plane: plane * elements, maskStart: maskStart(plane), sparesFirst }
    for (const windows of countersOf(outer.map(({ count }) => count))) {
      const lines = linesOf(outer, windows, last.size)
      for (let window = 0; window < last.count; window++) {
        const [start, end] = spanOf(last, window)
        // What a window without elements gives.
        let highest = -MAX_FLOAT32
        for (const line of lines) highest = Math.max(highest, highestOf(data, line + start, line + end))
        out[to++] = highest
        if (pace.isDue((1 + lines.length * (1 + Math.max(0, end - start))) * COST.element)) yield
      }
    }
  }
}

interface MaskedPlane {
  readonly x: Float32Array
  readonly mask: Int32Array
  readonly plane: number
  readonly maskStart: number
  readonly sparesFirst: boolean
}

/** The highest of elements `[from, to)` of a plane up to the first whose mask is 0. */
function highestOf({ x, mask, plane, maskStart, sparesFirst }: MaskedPlane, from: number, to: number): number {
  let highest = -MAX_FLOAT32
  for (let i = from; i < to; i++) {
    if (mask[maskStart + i] === 0 && !(sparesFirst && i === 0)) break
    if (x[plane + i] > highest) highest = x[plane + i]
  }
  return highest
}

/** Where the lines along the last axis begin that a window covers. */
function linesOf(axes: readonly WindowAxis[], windows: readonly number[], length: number): number[] {
  let lines = [0]
  axes.forEach((axis, i) => {
    const [start, end] = spanOf(axis, windows[i])
    lines = lines.flatMap(line =>
      Array.from({ length: Math.max(0, end - start) }, (_, j) => line * axis.size + start + j)
    )
  })
  return lines.map(line => line * length)
}

/** All positions of `counts` in row-major order. */
function* countersOf(counts: readonly number[]): Generator<readonly number[]> {
  if (counts.includes(0)) return
  const at = counts.map(() => 0)
  for (;;) {
    yield at
    let axis = counts.length - 1
    while (axis >= 0 && ++at[axis] === counts[axis]) at[axis--] = 0
    if (axis < 0) return
  }
}
