import type { Paced } from '../../kernels/core/pace.ts'
import { entriesOf, firstEntry, type PointSums, type SumPoints, sumPoints } from '../../kernels/core/point-sums.ts'
import type { Selection } from '../../op-kit/define.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import { copyArray } from '../../tensor/arrays.ts'
import { product, Tensor } from '../../tensor/tensor.ts'
import { isOnHeap } from '../heap.ts'
import { type JobTemplate, runJob } from '../jobs.ts'
import { arrayOf, type Candidate, jobSelection, type Selector } from '../selector.ts'
import { temporaries, type Temporaries } from '../temporary.ts'
import { LINE_FLOPS, resampleTemplate, ROW_FLOPS } from './resample.ts'
import { matrixTemplate } from './transpose.ts'

/** Elements of the output below which setting jobs up costs more than it gains. */
const MIN_ELEMENTS = 1 << 8
/** Planes of a tile at most. */
const MAX_TILE = 1 << 10

/** Planes from which sums of rows of planes, for which the data are transposed, are faster. */
const MIN_ROW = 32

/**
 * Operators that sum weighted elements around points, of float32: they run themselves, with a faster kernel of these
 * sums. The reference computes the sums for which there is no room on the heap.
 */
export const selectSampled: Selector = ({ op, operands, dims }) => {
  if (operands.x?.type !== 'float32' || product(dims) < MIN_ELEMENTS || product(operands.x.dims) === 0) return undefined
  return {
    *kernel(given, parameters, context): Paced {
      const x = given.x as Tensor
      const out = context.rawOutput()
      const { allocate, free } = temporaries()
      try {
        const placed = (tensor: Tensor): Tensor =>
          isOnHeap(arrayOf(tensor))
            ? tensor
            : new Tensor('float32', allocate(arrayOf(tensor).length) as Float32Array<ArrayBuffer>, tensor.dims)
        const from = placed(x)
        const to = placed(out)
        if (from !== x) copyArray(arrayOf(x), arrayOf(from))
        const own = { ...withOutput(context, to), sumPoints: fastSums(context.threads, allocate) }
        const rest = op.run({ ...given, x: from }, parameters, own)
        if (rest) yield* rest
        if (to !== out) copyArray(arrayOf(to), arrayOf(out))
      } finally {
        free()
      }
    }
  }
}

/**
 * A kernel that computes a call by one job; where the job stops, the kernel for sums of points does, or the reference.
 * @param names operands that the job reads, in its order
 */
export function orSampled(call: Candidate, names: readonly string[], template: JobTemplate): Selection {
  const { op } = call
  return jobSelection({ run: selectSampled(call)?.kernel ?? op.run.bind(op) }, template, names)
}

/** Planes of which points have been summed. */
interface Seen {
  /** Entries of all tables so far. */
  entries: number
  /** The planes with the element of each plane side by side. */
  transposed?: Float32Array
}

/** Sums over some planes, plane by plane until the tables are as large as a plane, and then over transposed ones. */
function fastSums(threads: number, allocate: Temporaries['allocate']): SumPoints {
  const seen = new Map<number, Seen>()
  let scratch = new Float32Array()
  const rowsOf = (count: number): Float32Array => {
    if (scratch.length < count) scratch = allocate(count) as typeof scratch
    return scratch.subarray(0, count)
  }
  return function* (sums) {
    const { table, points, x, base, plane, planes, out } = sums
    const isPlaced = x instanceof Float32Array && isOnHeap(x) && out instanceof Float32Array && isOnHeap(out)
    // Where no point has an entry there is no table, of which the kernel of lines reads an entry at least.
    if (!isPlaced || table.taps === 0) return yield* sumPoints(sums)
    const known: Seen = seen.get(base) ?? { entries: 0 }
    seen.set(base, known)
    known.entries += points * table.taps
    const source = x.subarray(base, base + planes * plane)
    if (planes >= MIN_ROW && known.transposed === undefined && known.entries > plane) {
      const made = allocate(planes * plane)
      const loops = [
        { size: plane, xStep: 4, yStep: planes * 4 },
        { size: planes, xStep: plane * 4, yStep: 4 }
      ]
      if (yield* runJob(matrixTemplate(loops, made.byteLength, 4)!, [source], made, threads)) known.transposed = made
    }
    const isDone = known.transposed
      ? yield* sumRows(sums, known.transposed, out, threads, rowsOf)
      : yield* sumLines(sums, source, out, threads)
    if (!isDone) yield* sumPoints(sums)
  }
}

/** The arguments are those of LinesResampleArguments in ../assembly/f32/resample.ts. */
function sumLines(
  { table: { taps, indices, weights }, points, plane, planes, to, step }: PointSums,
  x: Float32Array,
  out: Float32Array,
  threads: number
): Generator<void, boolean> {
  const template = resampleTemplate(
    'resampleLines',
    { blocks: planes, elements: points, flops: taps * LINE_FLOPS, maxTile: MAX_TILE },
    [plane, points, step, taps, 0, 0]
  )
  const entries = entriesOf(points, taps)
  const tables = [new Int32Array(indices.subarray(0, entries)), new Float32Array(weights.subarray(0, entries))]
  return runJob(template, [x, ...tables], out.subarray(to, to + (planes - 1) * step + points), threads)
}

/** The arguments are those of RowsResampleArguments in ../assembly/f32/resample.ts. */
function* sumRows(
  { table: { taps, indices, weights }, points, plane, planes, to, step }: PointSums,
  x: Float32Array,
  out: Float32Array,
  threads: number,
  rowsOf: Temporaries['allocate']
): Generator<void, boolean> {
  const rows = new Int32Array(points * taps)
  const shares = new Float32Array(points * taps)
  for (let i = 0; i < points; i++) {
    const first = firstEntry(i, taps)
    for (let k = first, at = i * taps; k < first + 4 * taps; k += 4) {
      if (weights[k] === 0) continue
      rows[at] = indices[k]
      shares[at++] = weights[k]
    }
  }
  const template = resampleTemplate(
    'resampleRows',
    { blocks: points, elements: planes, flops: taps * ROW_FLOPS, maxTile: MAX_TILE },
    [plane, points, planes, taps, 0, 0]
  )
  const sums = rowsOf(points * planes)
  if (!(yield* runJob(template, [x, rows, shares], sums, threads))) return false
  const loops = [
    { size: planes, xStep: 4, yStep: step * 4 },
    { size: points, xStep: planes * 4, yStep: 4 }
  ]
  const target = out.subarray(to, to + (planes - 1) * step + points)
  return yield* runJob(matrixTemplate(loops, sums.byteLength, 4)!, [sums], target, threads)
}
