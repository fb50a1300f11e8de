import { elementwise, gathered, swappedLast, unsqueezed } from '../../op-kit/conversion-kit.ts'
import { div, linearSampling, sub, wideType } from '../../op-kit/conversion-parts.ts'
import { counted, type Size, sizeAt, sizeScalar } from '../../op-kit/conversion-sizes.ts'
import { type Made, type SourceCall, typeOf, type Writer } from '../../op-kit/conversion.ts'
import type { DType } from '../../tensor/dtype.ts'

/** A number of a type, as a scalar. */
export const sizeAs = (w: Writer, size: Size, type: DType): Made =>
  typeof size === 'number' ? w.scalar(type, size) : w.cast(sizeScalar(w, size), type)

/** `0, 1, …` up to a size. */
export const stepsTo = (w: Writer, size: Size, type: DType): Made => w.cast(counted(w, 0, size), type)

/** A column of the regions, `[regions, 1]`. */
export const columnOf = (w: Writer, rois: Made, index: number): Made =>
  gathered(w, rois, w.constant('int64', [index]), 1)

/** The maps of the regions `[image, …]`, one for each. */
export const mapsOf = (w: Writer, x: Made, rois: Made): Made =>
  gathered(w, x, w.reshape(w.cast(columnOf(w, rois, 0), 'int64'), [-1]), 0)

/** Whether points `[regions, points]` lie in `0 <= point <= last`, or `< end`, as 1 or 0. */
export function within(w: Writer, points: Made, end: Made, isClosed: boolean): Made {
  const type = typeOf(points)
  const low = elementwise(w, 'GreaterOrEqual', points, w.scalar(type, 0))
  return w.cast(elementwise(w, 'And', low, elementwise(w, isClosed ? 'LessOrEqual' : 'Less', points, end)), type)
}

/** What the elements of an axis count for points `[regions, points]` between them: `[regions, points, size]`. */
export function linearWeights(w: Writer, points: Made, size: Size): Made {
  const type = typeOf(points)
  const away = elementwise(w, 'Abs', sub(w, unsqueezed(w, points, [2]), stepsTo(w, size, type)))
  return w.node('Relu', [sub(w, w.scalar(type, 1), away)])
}

/** Maps `[regions, channels, height, width]` times the weights of rows and of columns of each region. */
export function weighted(w: Writer, maps: Made, rows: Made, columns: Made): Made {
  const left = w.node('MatMul', [unsqueezed(w, rows, [1]), maps])
  return w.node('MatMul', [left, swappedLast(w, unsqueezed(w, columns, [1]))])
}

/** Maps and regions in the type in which they are computed. */
export function operandsOf(call: SourceCall, w: Writer): { x: Made; rois: Made; type: DType; own: DType } {
  const type = typeOf(call.operand('x'))
  const own = wideType(type)
  return { x: w.cast(call.operand('x'), own), rois: w.cast(call.operand('rois'), own), type, own }
}

/** Points of a map in rows and columns, `[maps, rows, columns]` each. */
export interface Points {
  readonly y: Made
  readonly x: Made
}

/** Maps `[maps, channels, height, width]` at points inside of them. */
export function sampledAt(w: Writer, maps: Made, { y, x }: Points): Made {
  const type = typeOf(maps)
  const scaled = (points: Made, axis: number): Made => {
    const last = sub(w, sizeAs(w, sizeAt(w, maps, axis), type), w.scalar(type, 1))
    const half = div(w, w.node('Max', [last, w.scalar(type, 1)]), w.scalar(type, 2))
    return unsqueezed(w, sub(w, div(w, points, half), w.scalar(type, 1)), [3])
  }
  const grid = w.node('Concat', [scaled(x, 3), scaled(y, 2)], { axis: 3 })
  return w.node('GridSample', [maps, grid], { mode: linearSampling(w), padding_mode: 'border', align_corners: 1 })
}

/** Points moved to `0 … size - 1`. */
export function movedInside(w: Writer, points: Made, size: Size): Made {
  const type = typeOf(points)
  const last = sub(w, sizeAs(w, size, type), w.scalar(type, 1))
  return w.node('Max', [w.node('Min', [points, last]), w.scalar(type, 0)])
}
