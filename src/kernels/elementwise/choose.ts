import type { Numbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { eachInnerLoop, innermost, loopsOf } from '../core/elementwise.ts'
import { type UnitArray, unitsOf } from '../core/units.ts'

/** `out = condition ? a : b`, all three broadcast by NumPy's rules; elements of any type. */
export function* choose(condition: Tensor, a: Tensor, b: Tensor, out: Tensor): Generator<void> {
  const loops = loopsOf(out.dims, [condition.dims, a.dims, b.dims])
  const strides = innermost(loops)
  const { array: to, per } = unitsOf(out)
  const flags = condition.data as Numbers
  const x = unitsOf(a).array
  const y = unitsOf(b).array
  yield* eachInnerLoop(loops, (at, n) => chooseInnerLoop(flags, x, y, to, per, at, strides, n))
}

/** The inner loop: positions and strides are those of the condition, a, b and the result. */
function chooseInnerLoop(
  flags: Numbers,
  x: UnitArray,
  y: UnitArray,
  to: UnitArray,
  per: number,
  [c, p, q, o]: readonly number[],
  [dc, dp, dq, dt]: readonly number[],
  n: number
): void {
  if (per > 1) {
    for (let i = 0; i < n; i++) {
      const from = flags[c + i * dc] !== 0 ? x : y
      const at = per * (from === x ? p + i * dp : q + i * dq)
      for (let u = 0; u < per; u++) to[per * (o + i * dt) + u] = from[at + u]
    }
    return
  }
  for (let i = 0; i < n; i++, c += dc, p += dp, q += dq, o += dt) to[o] = flags[c] !== 0 ? x[p] : y[q]
}
