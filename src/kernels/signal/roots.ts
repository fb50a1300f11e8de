import { allocate } from '../../tensor/tensor.ts'
import { inChunks } from '../core/pace.ts'
import { type Complex, ROOT_COST } from './complex.ts'

/** Roots of a list that is kept for other transforms of its length at most. */
const MAX_KEPT_ROOTS = 1 << 10
/** Lists that are kept at most: the latest. */
const MAX_KEPT = 16
const kept = new Map<string, Complex>()

/** The roots of unity `exp(-2πi k/n)` for all k below `count`, which are not to be changed. */
export function* rootsOf(n: number, count = n): Generator<void, Complex> {
  if (count > MAX_KEPT_ROOTS) return yield* computeRoots(n, count)
  const key = `${count} of ${n}`
  const known = kept.get(key)
  if (known) return known
  const roots = yield* computeRoots(n, count)
  if (kept.size === MAX_KEPT) kept.delete(kept.keys().next().value!)
  kept.set(key, roots)
  return roots
}

function* computeRoots(n: number, count: number): Generator<void, Complex> {
  // They may stay for long, so they lie in memory of their own.
  const re = allocate('float64', [count]).data
  const im = allocate('float64', [count]).data
  yield* inChunks(
    count,
    (from, to) => {
      for (let k = from; k < to; k++) {
        re[k] = Math.cos((2 * Math.PI * k) / n)
        im[k] = -Math.sin((2 * Math.PI * k) / n)
      }
    },
    ROOT_COST
  )
  return { re, im }
}
