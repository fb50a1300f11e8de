import { inChunks } from '../core/pace.ts'
import { type Complex, complexLine, ROOT_COST } from './complex.ts'

/** The roots of unity `exp(-2πi k/n)` for all k below `count`. */
export function* rootsOf(n: number, count = n): Generator<void, Complex> {
  const { re, im } = complexLine(count)
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
