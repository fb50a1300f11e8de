import type { WindowAxis } from '../../shapes/window.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { product } from '../../tensor/tensor.ts'
import type { Box } from '../core/windows.ts'

/**
 * Sizes of a convolution or of its transpose. Windows slide over planes of elements: a convolution reads the elements
 * of a window and writes one sum; its transpose reads one number for a window and adds its products to the elements.
 * Weights are `[groups, windowChannels, elementChannels, taps]` in both.
 */
export interface ConvPlan {
  readonly batch: number
  readonly groups: number
  /** Channels of one group. */
  readonly windowChannels: number
  readonly elementChannels: number
  readonly axes: readonly WindowAxis[]
}

/** Fills the planes of each channel of an output with the channel's bias. */
export function fillWithBias(out: Numbers, bias: Numbers, batch: number): void {
  const plane = out.length / (batch * bias.length)
  for (let p = 0; p < batch * bias.length; p++) out.fill(bias[p % bias.length], p * plane, (p + 1) * plane)
}

/** A contiguous range of the windows of a plane, in row-major order. */
export interface WindowRange {
  readonly box: Box
  /** Number of the first window. */
  readonly start: number
  readonly count: number
}

/** Cuts a plane of windows into ranges of at most `maxCount` windows; `maxCount` is at least 1. */
export function* windowRanges(axes: readonly WindowAxis[], maxCount: number): Generator<WindowRange> {
  const counts = axes.map(axis => axis.count)
  if (counts.includes(0)) return
  let cut = counts.length - 1
  let inner = 1
  while (cut > 0 && inner * counts[cut] <= maxCount) inner *= counts[cut--]
  const step = Math.max(1, Math.floor(maxCount / inner))
  const whole = counts.slice(cut + 1).map(count => [0, count] as const)
  for (let row = 0; row < product(counts.slice(0, cut)); row++) {
    const outer: [number, number][] = []
    for (let a = cut - 1, rest = row; a >= 0; rest = Math.floor(rest / counts[a--]))
      outer.unshift([rest % counts[a], (rest % counts[a]) + 1])
    for (let from = 0; from < counts[cut]; from += step) {
      const to = Math.min(counts[cut], from + step)
      yield {
        box: [...outer, [from, to], ...whole],
        start: (row * counts[cut] + from) * inner,
        count: (to - from) * inner
      }
    }
  }
}
