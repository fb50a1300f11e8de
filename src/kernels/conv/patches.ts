import { fail } from '../../errors.ts'
import type { Movable } from '../../shapes/fact.ts'
import { planeSizes, type WindowAxis } from '../../shapes/window.ts'
import { DTYPES, is64BitInteger } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { isCodedFloat } from '../../tensor/floats.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { type BigInts, readNumbers, targetOf } from '../core/numbers.ts'
import { Pace } from '../core/pace.ts'
import { unitsOf } from '../core/units.ts'
import { eachRun, tapsOf } from '../core/windows.ts'

/**
 * im2col: what each tap reads at each window. From `[batch, channels, …]` it makes
 * `[batch, taps * channels, …windows]`, a plane of windows for each tap and channel. `out` starts as zeros, which stand
 * for padding. Any element type.
 */
export function* extractPatches(x: Movable, out: Movable, axes: readonly WindowAxis[]): Generator<void> {
  const { array: from, per } = unitsOf(x)
  const to = unitsOf(out).array
  const [batch, channels] = x.dims
  const { elements, windows, taps } = planeSizes(axes)
  if (to.length === 0) return
  const reads = tapsOf(axes)
  const pace = new Pace()
  for (let plane = 0; plane < batch * channels; plane++) {
    const channel = plane % channels
    const first = (plane - channel) * taps
    yield* eachRun(reads, pace, (tap, window, element, count, step) => {
      let target = ((first + tap * channels + channel) * windows + window) * per
      let source = (plane * elements + element) * per
      for (let i = 0; i < count; i++, target += per, source += step * per) {
        for (let unit = 0; unit < per; unit++) to[target + unit] = from[source + unit]
      }
    })
  }
}

/**
 * col2im: adds blocks `[batch, channels * taps, windows]` to the image `[batch, channels, …]` from which im2col takes
 * them. The image starts as zeros. Booleans are combined by or, integers wrap, float16 and bfloat16 are rounded once.
 * @throws NodewiseError `type-not-allowed` for strings
 */
export function* addBlocks(x: Tensor, out: Tensor, axes: readonly WindowAxis[]): Generator<void> {
  const { kind, slots } = DTYPES[x.type]
  if (kind === 'string') fail('type-not-allowed', 'strings cannot be added')
  if (is64BitInteger(x.type)) return yield* addPlanes(x.data as BigInts, out.data as BigInts, 1, axes, ADD)
  const numbers = isCodedFloat(x.type) ? yield* readNumbers(x) : (x.data as Numbers)
  const target = targetOf(out)
  yield* addPlanes(numbers, target.numbers, slots, axes, kind === 'bool' ? OR : ADD)
  yield* target.finish()
}

type AddRun = <A extends Numbers | BigInts>(
  x: A,
  from: number,
  fromStep: number,
  out: A,
  to: number,
  toStep: number,
  count: number
) => void

const ADD: AddRun = (x, from, fromStep, out, to, toStep, count) => {
  for (let i = 0; i < count; i++, from += fromStep, to += toStep) (out as Numbers)[to] += (x as Numbers)[from]
}

const OR: AddRun = (x, from, fromStep, out, to, toStep, count) => {
  for (let i = 0; i < count; i++, from += fromStep, to += toStep) (out as Numbers)[to] |= (x as Numbers)[from]
}

function* addPlanes<A extends Numbers | BigInts>(
  x: A,
  out: A,
  slots: number,
  axes: readonly WindowAxis[],
  add: AddRun
): Generator<void> {
  if (out.length === 0) return
  const { elements, windows, taps } = planeSizes(axes)
  const reads = tapsOf(axes)
  const pace = new Pace()
  for (let plane = 0; plane < out.length / (elements * slots); plane++) {
    for (let slot = 0; slot < slots; slot++) {
      yield* eachRun(reads, pace, (tap, window, element, count, step) => {
        const from = ((plane * taps + tap) * windows + window) * slots + slot
        add(x, from, slots, out, (plane * elements + element) * slots + slot, step * slots, count)
      })
    }
  }
}
