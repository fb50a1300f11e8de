import type { WindowAxis } from '../../shapes/window.ts'
import { stridesOf } from '../../tensor/tensor.ts'
import { chunkSize, COST, type Pace } from './pace.ts'

/**
 * One tap of a kernel along one axis, with the windows in which it reads an element and not padding. `tap`, `window`
 * and `element` are multiplied by the axis' stride: their sums over all axes are positions, in row-major order, in the
 * kernel, in the plane of windows and in the plane of elements.
 */
interface Tap {
  readonly tap: number
  /** The first of these windows, and the element that the tap reads there. */
  readonly window: number
  readonly element: number
  /** Number of these windows, which are neighbours. */
  readonly count: number
}

/** All elements that the windows of a plane read. */
export interface Taps {
  /** The taps along each axis. */
  readonly axes: readonly (readonly Tap[])[]
  /** Distance, along each axis, from a window to the next one. */
  readonly windowSteps: readonly number[]
  /** Distance, along each axis, from the element that a window reads to the one that the next window reads. */
  readonly elementSteps: readonly number[]
}

/** A box of the windows of a plane: `[from, to)` along each axis. */
export type Box = readonly (readonly [from: number, to: number])[]

/** What the windows of a plane, or those of a box of it, read. */
export function tapsOf(axes: readonly WindowAxis[], box?: Box): Taps {
  const tapStrides = stridesOf(axes.map(axis => axis.kernel))
  const windowSteps = stridesOf(axes.map(axis => axis.count))
  const elementStrides = stridesOf(axes.map(axis => axis.size))
  return {
    axes: axes.map((axis, i) =>
      axisTaps(axis, box?.[i] ?? [0, axis.count]).map(({ tap, window, element, count }) => ({
        tap: tap * tapStrides[i],
        window: window * windowSteps[i],
        element: element * elementStrides[i],
        count
      }))
    ),
    windowSteps,
    elementSteps: axes.map(({ stride }, i) => stride * elementStrides[i])
  }
}

/** The taps that read an element in some window, ascending. Skips taps that read only padding without visiting them. */
function axisTaps({ size, kernel, stride, dilation, begin }: WindowAxis, [from, to]: Box[number]): Tap[] {
  const taps: Tap[] = []
  if (from >= to || size === 0) return taps
  let tap = Math.max(0, Math.ceil((begin - (to - 1) * stride) / dilation))
  while (tap < kernel) {
    const shift = tap * dilation - begin
    const first = Math.max(from, Math.ceil(-shift / stride))
    const last = Math.min(to, Math.floor((size - 1 - shift) / stride) + 1)
    if (first < last) taps.push({ tap: tap++, window: first, element: first * stride + shift, count: last - first })
    else if (first === from) break
    // Window `first` reads beyond the end: go to the first tap with which the window before it reads an element.
    else tap = Math.ceil((begin - (first - 1) * stride) / dilation)
  }
  return taps
}

/** Windows of different sizes along an axis of `size` elements: window `w` reads elements `[start, end)`. */
export interface RangeAxis {
  readonly size: number
  readonly ranges: readonly (readonly [start: number, end: number])[]
}

/** {@link tapsOf} for windows of different sizes; taps are numbered within the widest window. */
export function tapsOfRanges(axes: readonly RangeAxis[]): Taps {
  const widest = axes.map(({ ranges }) => ranges.reduce((width, [start, end]) => Math.max(width, end - start), 0))
  const tapStrides = stridesOf(widest)
  const windowSteps = stridesOf(axes.map(axis => axis.ranges.length))
  const elementSteps = stridesOf(axes.map(axis => axis.size))
  const tapsAt = (i: number, tap: number): Tap[] =>
    axes[i].ranges.flatMap(([start, end], w) =>
      start + tap < end
        ? [{ tap: tap * tapStrides[i], window: w * windowSteps[i], element: (start + tap) * elementSteps[i], count: 1 }]
        : []
    )
  return {
    axes: axes.map((_, i) => Array.from({ length: widest[i] }, (_, tap) => tapsAt(i, tap)).flat()),
    windowSteps,
    elementSteps
  }
}

/** Nanoseconds that a call of a {@link Run} takes besides its elements. */
const RUN_COST = 40

/** `count` windows from `window` on read through `tap`: the first reads `element`, each next one `step` elements on. */
export type Run = (tap: number, window: number, element: number, count: number, step: number) => void

/**
 * Calls `run` for everything that the windows read. A window sees its taps in row-major order.
 * @param cost nanoseconds that `run` takes for one element
 */
export function* eachRun(
  { axes, windowSteps, elementSteps }: Taps,
  pace: Pace,
  run: Run,
  cost: number = COST.copy
): Generator<void> {
  const chunk = chunkSize(cost)
  if (axes.some(own => own.length === 0)) return
  const inner = axes.length - 1
  const step = elementSteps[inner]
  /** The number of the tap along each axis, and of the window within the tap's windows. */
  const taps = new Array<number>(axes.length).fill(0)
  const windows = new Array<number>(axes.length).fill(0)
  for (;;) {
    let tap = 0
    let window = 0
    let element = 0
    for (let a = 0; a <= inner; a++) {
      const part = axes[a][taps[a]]
      tap += part.tap
      window += part.window
      element += part.element
    }
    const { count } = axes[inner][taps[inner]]
    for (let a = 0; a >= 0;) {
      for (let i = 0; i < count; i += chunk) {
        const part = Math.min(count - i, chunk)
        run(tap, window + i, element + i * step, part, step)
        if (pace.isDue(part * cost + RUN_COST)) yield
      }
      for (a = inner - 1; a >= 0; a--) {
        window += windowSteps[a]
        element += elementSteps[a]
        const { count: rows } = axes[a][taps[a]]
        if (++windows[a] < rows) break
        window -= rows * windowSteps[a]
        element -= rows * elementSteps[a]
        windows[a] = 0
      }
    }
    let a = inner
    while (a >= 0 && ++taps[a] === axes[a].length) taps[a--] = 0
    if (a < 0) return
  }
}
