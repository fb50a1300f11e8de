import { dimAt, elementwise, extreme, joined, reduced, upTo } from '../../op-kit/conversion-kit.ts'
import { add, div, mul, sub } from '../../op-kit/conversion-parts.ts'
import type { Made, Writer } from '../../op-kit/conversion.ts'

/** Sizes of equal parts of which the last may be smaller, along an axis whose size is known while the model runs. */
export function unevenSizes(w: Writer, data: Made, axis: number, count: number): Made {
  const size = dimAt(w, data, axis)
  const raised = add(w, size, w.constant('int64', [count - 1]))
  const part = div(w, raised, w.constant('int64', [count]))
  const others = mul(w, part, w.constant('int64', [count - 1]))
  return joined(w, [...upTo(count - 1).map(() => part), sub(w, size, others)], 0)
}

/** Sizes of which one may be -1, which stands for what the others leave. */
export function withoutRest(w: Writer, data: Made, axis: number, sizes: Made): Made {
  const zero = w.constant('int64', [0])
  const known = reduced(w, 'ReduceSum', extreme(w, 'Max', sizes, zero), [0], true)
  const rest = sub(w, dimAt(w, data, axis), known)
  return elementwise(w, 'Where', elementwise(w, 'Less', sizes, zero), rest, sizes)
}
