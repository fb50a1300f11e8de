import type { Grouped } from '../../kernels/attention/grouped.ts'
import { headOf, type Heads, headsInBlocks } from '../../kernels/attention/heads.ts'
import { convertedPaced } from '../../kernels/core/convert-paced.ts'
import { broadcastStrides } from '../../kernels/core/elementwise.ts'
import type { Pace } from '../../kernels/core/pace.ts'
import type { Kernel } from '../../op-kit/define.ts'
import type { Attend, GroupedRunParams } from '../../op-kit/grouped-run.ts'
import type { GroupedOperands } from '../../op-kit/grouped.ts'
import { makingOnce } from '../../op-kit/with-output.ts'
import { type DType, isHalf } from '../../tensor/dtype.ts'
import type { Numbers } from '../../tensor/elements.ts'
import { Tensor } from '../../tensor/tensor.ts'
import { runJob } from '../jobs.ts'
import { areOf, selectorFor, type TensorOperands } from '../selector.ts'
import { attentionTemplate, matrixStrides, type Strides, stridesOfHeads } from './attention.ts'
import { attendInJobs } from './grouped-jobs.ts'

/**
 * GroupQueryAttention of float32, or of floats of 16 bits, which are widened, over a cache of such a type or of codes,
 * which the operator decodes; without masks of blocks.
 */
export const selectGroupQueryAttention = selectorFor<GroupedRunParams>(({ op, operands, parameters: p }) => {
  const { query, key, value, pastKey, pastValue, cos, sin, positions, bias, queryNorm, keyNorm, sinks } = operands
  const floats = { query, key, value, pastKey, pastValue, cos, sin, bias }
  const isCoded = p.bits !== 0
  const read = isCoded ? [query, bias] : Object.values(floats)
  const isPlain = p.block === 0 && !p.slides && p.shown === 'nothing'
  if (!isPlain || !read.every(tensor => tensor === undefined || isServed(tensor.type))) return undefined
  const kernel: Kernel = (given, parameters, call) => {
    const { bias: own } = given as TensorOperands
    const attend: Attend = (heads, pace, reference) => attendByJobs(heads, own, call.threads, pace, reference)
    return op.run(given, { ...parameters, attend }, call)
  }
  const isWindowed = p.window > 0 && p.window < p.total
  const hasSinks = sinks !== undefined || p.smooth
  const isUsual = !isCoded && key && value && !positions && !queryNorm && !keyNorm && !isWindowed && !hasSinks
  if (!isUsual || !areOf(query!.type, floats)) return { kernel }
  return {
    *kernel(given, parameters, context) {
      const call = makingOnce(context)
      const operands = given as unknown as GroupedOperands<Tensor>
      if (yield* attendInJobs(operands, parameters as unknown as GroupedRunParams, call)) return
      const rest = kernel(given, parameters, call)
      if (rest) yield* rest
    }
  }
})

const isServed = (type: DType): boolean => type === 'float32' || isHalf(type)

/** Attention by jobs for each entry of the batch, or for all where they have as many keys. */
function* attendByJobs(
  given: Grouped,
  own: Tensor | undefined,
  threads: number,
  pace: Pace,
  reference: Parameters<Attend>[2]
): Generator<void> {
  const { batches, keyCounts } = given
  const bias = own && (yield* convertedPaced(own, 'float32'))
  const isEven = keyCounts.past.every(
    (past, i) => past === keyCounts.past[0] && keyCounts.valid[i] === keyCounts.valid[0]
  )
  // Parts are rows of one entry, and so are the keys that stand for sinks.
  const each = isEven && given.window <= 0 && !given.sinks ? batches : 1
  for (let batch = 0; batch < batches; batch += each)
    if (!(yield* attendByJob(given, bias, batch, each, threads))) return yield* reference(cleared(given), pace)
}

/** @returns false, where there is too little to do or no room; the output may hold anything then */
function* attendByJob(
  given: Grouped,
  bias: Tensor<'float32'> | undefined,
  batch: number,
  count: number,
  threads: number
): Generator<void, boolean> {
  const { q, k, v, out, keyCounts, causal } = given
  const [keys, values, target] = [singles(k, batch), singles(v, batch), singles(out, batch)]
  // The key of zeros that stands for sinks has no column in a bias.
  if (!keys || !values || !target || (bias && given.sinks)) return false
  const biasSteps = bias && matrixStrides(broadcastStrides(bias.dims, [given.batches, q.count, q.length, bias.dims[3]]))
  const leading = given.sinks ? 1 : 0
  const past = keyCounts.past[batch]
  // Rotated queries are in double precision.
  const queries = singles(q, batch) ?? new Float32Array(startingAt(q, batch))
  for (const part of partsOf(q.length, past, keyCounts.valid[batch], given.window, leading)) {
    const { mask } = part
    const seen = part.keys + leading
    const sinks = given.sinks && sinkMask(given.sinks, seen)
    const [ownKeys, ownValues] = [k, v].map(heads => (leading > 0 ? afterZeros(heads, batch, part) : heads))
    const template = attentionTemplate(
      {
        batches: count,
        heads: q.count,
        group: q.count / k.count,
        queries: part.rows,
        keys: seen,
        depth: q.size,
        width: v.size,
        q: stridesOfHeads(q),
        k: stridesOfHeads(ownKeys),
        v: stridesOfHeads(ownValues),
        y: stridesOfHeads(out)
      },
      {
        scale: given.scale === 0 ? 1 / Math.sqrt(q.size) : given.scale,
        softcap: given.softcap,
        mask: mask && { type: mask.type, strides: [0, 0, seen, 1] },
        further: sinks
          ? { type: sinks.type, strides: [0, seen, 0, 1] }
          : biasSteps && { type: 'float32', strides: biasSteps },
        causalOffset: causal ? past + part.first - part.from + leading : undefined,
        unseen: 0
      }
    )
    if (template === undefined) return false
    const [first, end] = count > 1 ? [0, undefined] : [part.first, part.first + part.rows]
    const rows = rowsOf(queries, q, first, end)
    const inputs = [
      rows,
      leading > 0 ? (ownKeys.numbers as Float32Array) : keys.subarray(part.from * k.rowStride),
      leading > 0 ? (ownValues.numbers as Float32Array) : values.subarray(part.from * v.rowStride),
      mask?.data ?? rows,
      sinks?.data ?? (bias && biasSteps ? biasFrom(bias, biasSteps, batch, part) : rows)
    ]
    if (!(yield* runJob(template, inputs, rowsOf(target, out, first, end), threads))) return false
  }
  return true
}

/** The numbers of a bias from an entry of the batch and the first query and key of a part on. */
const biasFrom = ({ data }: Tensor<'float32'>, steps: Strides, batch: number, { first, from }: Part): Float32Array =>
  data.subarray(batch * steps[0] + first * steps[2] + from * steps[3])

/** Queries that are computed together where a window hides keys: of a part, all but their windows is passed over. */
const WINDOWED_ROWS = 128

/** Queries `[first, first + rows)` and the keys `[from, from + keys)` that they see. */
interface Part {
  readonly first: number
  readonly rows: number
  readonly from: number
  readonly keys: number
  /** Hides keys before the window of each query; undefined where there are none. */
  readonly mask: Tensor<'float32'> | undefined
}

/**
 * Parts of the queries, which are all of them without a window; where there is one attention is causal.
 * @param leading columns of the masks before those of keys, which hide nothing
 */
function* partsOf(queries: number, past: number, valid: number, window: number, leading: number): Generator<Part> {
  if (window <= 0 || window >= past + queries)
    return yield { first: 0, rows: queries, from: 0, keys: valid, mask: undefined }
  let mask: Tensor<'float32'> | undefined
  let masked = -1
  for (let first = 0; first < queries; first += WINDOWED_ROWS) {
    const rows = Math.min(WINDOWED_ROWS, queries - first)
    const position = past + first
    const from = Math.max(0, position - window + 1)
    const keys = Math.min(valid, position + rows) - from
    // Queries beyond the valid keys are padding, and see fewer and fewer.
    if (keys <= 0) return
    const isHiding = position + rows - window > from
    // The masks of parts in the middle are the same.
    const isSame = mask?.dims[0] === rows && mask.dims[1] === keys + leading && masked === position - from
    if (isHiding && !isSame) {
      masked = position - from
      mask = windowMask(rows, keys, masked, window, leading)
    }
    yield { first, rows, from, keys, mask: isHiding ? mask : undefined }
  }
}

/** @param position of the first query, counted from the first key */
function windowMask(rows: number, keys: number, position: number, window: number, leading: number): Tensor<'float32'> {
  const columns = keys + leading
  const data = new Float32Array(rows * columns)
  for (let row = 0; row < rows; row++) {
    const hidden = Math.min(keys, position + row - window + 1)
    const start = row * columns + leading
    if (hidden > 0) data.fill(-Infinity, start, start + hidden)
  }
  return new Tensor('float32', data, [rows, columns])
}

/**
 * The keys or values of a part after a row of zeros, copied. The product of any query with the key of zeros is 0, so
 * what {@link sinkMask} adds is its score, and its value adds nothing: it takes a share of the weights as a sink does.
 */
function afterZeros(heads: Heads, batch: number, { from, keys }: Part): Heads {
  const { count, size, rowStride } = heads
  const rows = keys + 1
  const copy = new Float32Array(count * rows * size)
  // Rows that lie one after the other are copied at once.
  const step = rowStride === size ? keys : 1
  for (let head = 0; head < count; head++) {
    const { data, offset } = headOf(heads, batch, head)
    for (let row = 0; row < keys; row += step) {
      const start = offset + (from + row) * rowStride
      copy.set((data as Float32Array).subarray(start, start + step * size), (head * rows + 1 + row) * size)
    }
  }
  return headsInBlocks(copy, count, rows, size)
}

/** The sink of each head for the key of zeros, and 0 for the others: `[heads, keys]`. */
function sinkMask(sinks: Numbers, keys: number): Tensor<'float32'> {
  const data = new Float32Array(sinks.length * keys)
  for (let head = 0; head < sinks.length; head++) data[head * keys] = sinks[head]
  return new Tensor('float32', data, [sinks.length, keys])
}

/** The numbers of some rows of an entry; of no others where rows lie one after the other. */
const rowsOf = (numbers: Float32Array, { rowStride, headStride }: Heads, first: number, end?: number): Float32Array =>
  numbers.subarray(first * rowStride, headStride < rowStride && end !== undefined ? end * rowStride : undefined)

const startingAt = <A extends Heads['numbers']>({ numbers, offset, batchStride }: Heads<A>, batch: number): A =>
  numbers.subarray(offset + batch * batchStride) as A

/** The numbers from an entry of the batch on; undefined where they are not of single precision. */
const singles = (heads: Heads, batch: number): Float32Array | undefined =>
  heads.numbers instanceof Float32Array ? startingAt(heads as Heads<Float32Array>, batch) : undefined

/** The same with zeros where results are added. */
function cleared(given: Grouped): Grouped {
  given.out.numbers.fill(0)
  return given
}
