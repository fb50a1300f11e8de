import { toDoubles } from '../tensor/elements.ts'
import { stridesOf, type Tensor, withDims } from '../tensor/tensor.ts'
import { permuted } from './permute.ts'
import { isNumeric } from './result.ts'

/** Ranks beyond which orders of axes are not tried. */
const MAX_AXES = 6
/** Elements that are looked at to tell one order of axes from another. */
const SAMPLES = 256

/**
 * The second tensor with its axes in the order in which it is nearest to the first: channels may come last in one and
 * second in the other. As it is where no other order fits the dims, or none is nearer, and where the elements are no
 * plain numbers.
 */
export function inLayoutOf(a: Tensor, b: Tensor): Tensor {
  const [from, to] = [a.dims, b.dims].map(dims => dims.filter(dim => dim !== 1))
  if (from.length !== to.length || from.length > MAX_AXES || a.size === 0) return b
  if (!isNumeric(a.type) || !isNumeric(b.type)) return b
  const [x, y] = [toDoubles(a), toDoubles(b)]
  const strides = stridesOf(to)
  const nearest = { order: [] as readonly number[], distance: Infinity }
  for (const order of ordersOf(from, to)) {
    let distance = 0
    const stride = Math.max(1, Math.floor(a.size / SAMPLES))
    for (let i = 0; i < a.size; i += stride) {
      let [rest, at] = [i, 0]
      for (let axis = from.length - 1; axis >= 0; axis--) {
        at += (rest % from[axis]) * strides[order[axis]]
        rest = Math.floor(rest / from[axis])
      }
      distance += Math.abs(x[i] - y[at])
    }
    if (distance < nearest.distance) Object.assign(nearest, { order, distance })
  }
  const { order } = nearest
  return order.every((axis, i) => axis === i) ? b : withDims(permuted(withDims(b, to), order), a.dims)
}

/** Every order of axes that turns the second dims into the first; the order as it is comes first. */
function* ordersOf(
  from: readonly number[],
  to: readonly number[],
  chosen: readonly number[] = []
): Generator<readonly number[]> {
  if (chosen.length === from.length) {
    yield chosen
    return
  }
  for (let axis = 0; axis < to.length; axis++)
    if (to[axis] === from[chosen.length] && !chosen.includes(axis)) yield* ordersOf(from, to, [...chosen, axis])
}
