import type { Numbers } from '../../tensor/elements.ts'
import { attemptKernel } from '../attempt.ts'
import type { JobTemplate } from '../jobs.ts'
import { arrayOf, floatBits, selectorFor, staged, workOfFlops } from '../selector.ts'

/** Differences below which setting a job up costs more than it gains. */
const MIN_DIFFERENCES = 1 << 10
/** What is made of sums; the numbers are those in ../assembly/f32/distances.ts. */
const ENDS = { none: 0, radial: 1, root: 2 } as const

/** Sums of powers of what each of `rows` rows differs by from each of `count` vectors. */
interface Distances {
  readonly rows: number
  readonly features: number
  readonly count: number
  readonly power: number
  readonly end: keyof typeof ENDS
  readonly gamma?: number
  readonly flops: number
}

/** The job whose inputs are rows and vectors in columns. The arguments are those of DistanceArguments. */
export const distanceTemplate = ({ rows, features, count, power, end, gamma = 0, flops }: Distances): JobTemplate => ({
  kernel: 'distances',
  blocks: rows,
  blockBytes: count * 4,
  work: workOfFlops(flops),
  inputs: staged(2),
  args: [features, count, power, ENDS[end], floatBits(gamma)]
})

/** Columns that room is needed for. */
export const columnsFor = (count: number): number => Math.ceil(count / 4) * 4

/** Puts vectors, one after the other, side by side. */
export function putInColumns(vectors: Numbers, count: number, features: number, to: Float32Array): void {
  const width = columnsFor(count)
  for (let k = 0, from = 0; k < count; k++)
    for (let at = k; from < (k + 1) * features; from++, at += width) to[at] = vectors[from]
}

/** CDist of float32, of the powers that are products. */
export const selectDistances = selectorFor<{ readonly power: number; readonly isRoot: boolean }>(
  ({ op, operands: { a, b }, parameters: { power, isRoot } }) => {
    if (a?.type !== 'float32' || b === undefined || (power !== 1 && power !== 2 && power !== 3)) return undefined
    const [rows, features] = a.dims
    const [count] = b.dims
    const differences = rows * count * features
    if (differences < MIN_DIFFERENCES) return undefined
    const end = isRoot ? 'root' : 'none'
    const template = distanceTemplate({ rows, features, count, power, end, flops: differences * 3 })
    const kernel = attemptKernel(op, function* (given, out, { allocate, run }) {
      const y = arrayOf(out())
      const columns = allocate(features * columnsFor(count))
      putInColumns(arrayOf(given.b!) as Float32Array, count, features, columns)
      return yield* run(template, [arrayOf(given.a!), columns], y)
    })
    return { kernel }
  }
)
