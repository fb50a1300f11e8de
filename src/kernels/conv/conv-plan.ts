import type { WindowAxis } from '../../shapes/window.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { product } from '../../tensor/tensor.ts'
import type { Box } from '../core/windows.ts'

/**
 * What a convolution or its transpose pairs: windows slide over the planes of elements. A convolution reads elements
 * and writes one
 * sum a window, its transpose reads one number a window and spreads it over elements. Weights lie as
 * `[groups, windowChannels, elementChannels, taps]` in both.
 */
export interface ConvPlan {
  readonly batch: number
  readonly groups: number
  /** Channels of one group. */
  readonly windowChannels: number
  readonly elementChannels: number
  readonly axes: readonly WindowAxis[]
}

/** Elements, windows and taps of a plane. */
export interface PlaneSizes {
  readonly elements: number
  readonly windows: number
  readonly taps: number
}

export const planeSizes = (axes: readonly WindowAxis[]): PlaneSizes => ({
  elements: product(axes.map(axis => axis.size)),
  windows: product(axes.map(axis => axis.count)),
  taps: product(axes.map(axis => axis.kernel))
})

/** Fills the planes of each channel of a result with the channel's bias. */
export function fillWithBias(out: Numbers, bias: Numbers, batch: number): void {
  const plane = out.length / (batch * bias.length)
  for (let p = 0; p < batch * bias.length; p++) out.fill(bias[p % bias.length], p * plane, (p + 1) * plane)
}

/** A run of neighbouring windows of a plane: its place, and how many they are. */
export interface Part {
  readonly box: Box
  readonly start: number
  readonly count: number
}

/** Cuts a plane of windows into parts of at most `most` neighbours (at least 1). */
export function* partsOf(axes: readonly WindowAxis[], most: number): Generator<Part> {
  const counts = axes.map(axis => axis.count)
  if (counts.includes(0)) return
  let cut = counts.length - 1
  let inner = 1
  while (cut > 0 && inner * counts[cut] <= most) inner *= counts[cut--]
  const step = Math.max(1, Math.floor(most / inner))
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
