import { type DType, DTYPES, is64BitInteger } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { type BigInts, readNumbers, targetOf } from '../core/numbers.ts'
import { COST, Pace } from '../core/pace.ts'
import type { Positions } from '../core/positions.ts'

/**
 * The highest elements of each segment: `out[s, :] = max(data[i, :])` over all `i` with `segments[i] = s`. Segments
 * beyond the output are left out.
 * @param segments ascending
 * @param inner elements of a slice
 * @param empty what a segment without slices holds: zeros, or the lowest value of the type
 */
export function* reduceSegments(
  data: Tensor,
  segments: Positions,
  out: Tensor,
  inner: number,
  empty: 'zero' | 'lowest'
): Generator<void> {
  if (out.data.length === 0) return
  const count = out.dims[0]
  const started = new Uint8Array(count)
  const wide = is64BitInteger(data.type)
  const target = targetOf(out)
  const numbers = wide ? undefined : yield* readNumbers(data)
  const pace = new Pace()
  const cost = inner * COST.element
  for (let i = 0; i < segments.length && segments[i] < count; i++) {
    const first = started[segments[i]] === 0
    started[segments[i]] = 1
    if (numbers) raise(numbers, i * inner, target.numbers, segments[i] * inner, inner, first)
    else raiseBig(data.data as BigInts, i * inner, out.data as BigInts, segments[i] * inner, inner, first)
    if (pace.isDue(cost)) yield
  }
  const lowest = empty === 'zero' ? undefined : lowestOf(out.type)
  for (let s = 0; lowest !== undefined && s < count; s++) {
    if (started[s] !== 0) continue
    const [from, to] = [s * inner, (s + 1) * inner]
    if (typeof lowest === 'bigint') (out.data as BigInts).fill(lowest, from, to)
    else target.numbers.fill(lowest, from, to)
  }
  yield* target.finish()
}

function raise(from: Numbers, at: number, to: Numbers, target: number, n: number, first: boolean): void {
  for (let i = 0; i < n; i++) to[target + i] = first ? from[at + i] : Math.max(to[target + i], from[at + i])
}

function raiseBig(from: BigInts, at: number, to: BigInts, target: number, n: number, first: boolean): void {
  for (let i = 0; i < n; i++) if (first || from[at + i] > to[target + i]) to[target + i] = from[at + i]
}

/** Lowest finite numbers. */
const LOWEST: Partial<Record<DType, number>> = {
  float16: -65504,
  bfloat16: -(2 - 2 ** -7) * 2 ** 127,
  float32: -(2 - 2 ** -23) * 2 ** 127,
  float64: -Number.MAX_VALUE
}

function lowestOf(type: DType): number | bigint {
  const { kind, bits } = DTYPES[type]
  if (type === 'int64') return -(2n ** 63n)
  if (type === 'uint64') return 0n
  return LOWEST[type] ?? (kind === 'int' ? -(2 ** (bits - 1)) : 0)
}
