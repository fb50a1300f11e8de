import { elementwise, gathered, joined, reduced, shapeOf, upTo } from './conversion-kit.ts'
import { add, sub } from './conversion-parts.ts'
import { inputOf, reshapedExactly } from './conversion-sizes.ts'
import { type Made, rankOf, type SourceCall, type Writer } from './conversion.ts'

/** A tensor along an axis that is known only while the model runs: `[before, size, after]`. */
export interface AxisBlocks {
  readonly data: Made
  /** Dims of the tensor, as a list. */
  readonly shape: Made
  /** The axis, not negative, as a list of one. */
  readonly axis: Made
}

/** Views a tensor as blocks along the axis that an input gives. For ONNX. */
export function blocksAlong(call: SourceCall, w: Writer, x: Made): AxisBlocks {
  const rank = rankOf(x)
  const list = w.reshape(w.cast(inputOf(call, 'axis'), 'int64'), [1])
  const isNegative = elementwise(w, 'Less', list, w.constant('int64', [0]))
  const axis = elementwise(w, 'Where', isNegative, add(w, list, w.constant('int64', [rank])), list)
  const shape = shapeOf(w, x)
  const axes = w.constant('int64', upTo(rank))
  const one = w.constant('int64', [1])
  const product = (where: 'Less' | 'Greater'): Made =>
    reduced(w, 'ReduceProd', elementwise(w, 'Where', elementwise(w, where, axes, axis), shape, one), [0], true)
  const dims = joined(w, [product('Less'), gathered(w, shape, axis, 0), product('Greater')], 0)
  return { data: reshapedExactly(w, x, dims), shape, axis }
}

/**
 * Blocks back in dims of which `inner` take the place of the axis.
 * @param rank of `inner`, a list
 */
export function unblocked(
  w: Writer,
  data: Made,
  { shape, axis }: AxisBlocks,
  inner: Made,
  rank: number,
  all: number
): Made {
  const result = upTo(all - 1 + rank)
  const positions = w.constant('int64', result)
  const end = add(w, axis, w.constant('int64', [rank]))
  const moved = (count: number): Made => add(w, positions, w.constant('int64', [count]))
  // Positions in the dims of the tensor, followed by those of `inner`.
  const ofInner = sub(w, moved(all), axis)
  const later = elementwise(w, 'Where', elementwise(w, 'Less', positions, end), ofInner, moved(1 - rank))
  const from = elementwise(w, 'Where', elementwise(w, 'Less', positions, axis), positions, later)
  return reshapedExactly(w, data, gathered(w, joined(w, [shape, inner], 0), from, 0))
}
