import type { WindowAxis } from '../../src/shapes/window.ts'

/** A window that reads an element through a tap, each by its place in row-major order. */
export interface Pair {
  readonly window: number
  readonly tap: number
  readonly element: number
}

/** Everything that windows read, straight from the definition; taps of a window in order. */
export function pairsOf(axes: readonly WindowAxis[]): Pair[] {
  let pairs: Pair[] = [{ window: 0, tap: 0, element: 0 }]
  for (const { size, count, kernel, stride, dilation, begin } of axes) {
    pairs = pairs.flatMap(outer =>
      Array.from({ length: count * kernel }, (_, i) => ({ window: Math.floor(i / kernel), tap: i % kernel }))
        .map(({ window, tap }) => ({ window, tap, at: window * stride + tap * dilation - begin }))
        .filter(({ at }) => at >= 0 && at < size)
        .map(({ window, tap, at }) => ({
          window: outer.window * count + window,
          tap: outer.tap * kernel + tap,
          element: outer.element * size + at
        }))
    )
  }
  return pairs.sort((a, b) => a.window - b.window || a.tap - b.tap)
}

/** An axis; what is left out is 1, pads 0, and there are as many windows as fit. */
export function axisOf(parts: Partial<WindowAxis> & { size: number }): WindowAxis {
  const { size, kernel = 1, stride = 1, dilation = 1, begin = 0, end = 0, count } = parts
  const fitting = Math.floor((size + begin + end - (kernel - 1) * dilation - 1) / stride) + 1
  return { size, kernel, stride, dilation, begin, end, count: count ?? fitting }
}
