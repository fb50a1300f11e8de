import type { Grouped } from '../../kernels/attention/grouped.ts'
import type { Heads } from '../../kernels/attention/heads.ts'
import { convertedPaced } from '../../kernels/core/convert-paced.ts'
import { broadcastStrides } from '../../kernels/core/elementwise.ts'
import type { Pace } from '../../kernels/core/pace.ts'
import type { Kernel } from '../../op-kit/define.ts'
import type { Attend, GroupedRunParams } from '../../op-kit/grouped-run.ts'
import type { GroupedOperands } from '../../op-kit/grouped.ts'
import { makingOnce } from '../../op-kit/with-output.ts'
import { type DType, isHalf } from '../../tensor/dtype.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { runJob } from '../jobs.ts'
import { areOf, selectorFor, type TensorOperands } from '../selector.ts'
import { attentionInputs, attentionTemplate, layoutOfHeads, matrixStrides } from './attention.ts'
import { attendInJobs } from './grouped-jobs.ts'

/**
 * GroupQueryAttention of float32, or of floats of 16 bits, which are widened, over a cache of such a type or of codes,
 * which the operator decodes; without masks of blocks.
 */
export const selectGroupQueryAttention = selectorFor<GroupedRunParams>(({ op, operands, parameters: p }) => {
  const { query, key, value, pastKey, pastValue, cos, sin, bias, queryNorm, keyNorm, sinks } = operands
  const floats = { query, key, value, pastKey, pastValue, cos, sin, bias }
  const isCoded = p.bits !== 0
  const read = isCoded ? [query, bias] : Object.values(floats)
  const isPlain = p.block === 0 && !p.slides
  if (!isPlain || !read.every(tensor => tensor === undefined || isServed(tensor.type))) return undefined
  const kernel: Kernel = (given, parameters, call) => {
    const { bias: own } = given as TensorOperands
    const attend: Attend = (heads, pace, reference) => attendByJobs(heads, own, call.threads, pace, reference)
    return op.run(given, { ...parameters, ...(p.shown === 'nothing' && { attend }) }, call)
  }
  const isUsual = !isCoded && !queryNorm && !keyNorm && areOf(query!.type, { ...floats, sinks })
  if (!isUsual) return p.shown === 'nothing' ? { kernel } : undefined
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
  const each = isEven ? batches : 1
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
  const { q, k, v, out, keyCounts, causal, window } = given
  const [keys, values, target] = [singles(k, batch), singles(v, batch), singles(out, batch)]
  if (!keys || !values || !target) return false
  const biasSteps = bias && matrixStrides(broadcastStrides(bias.dims, [given.batches, q.count, q.length, bias.dims[3]]))
  const past = keyCounts.past[batch]
  // Rotated queries are in double precision.
  const queries = singles(q, batch) ?? new Float32Array(startingAt(q, batch))
  const sinks = given.sinks && Float32Array.from(given.sinks)
  const template = attentionTemplate(
    { ...layoutOfHeads(count, q, k, v, out), keys: keyCounts.valid[batch] },
    {
      scale: given.scale === 0 ? 1 / Math.sqrt(q.size) : given.scale,
      softcap: given.softcap,
      mask: biasSteps && { type: 'float32', strides: biasSteps },
      causalOffset: causal ? past : undefined,
      windowOffset: window > 0 ? past - window + 1 : undefined,
      hasSinks: sinks !== undefined,
      unseen: 0
    }
  )
  if (template === undefined) return false
  const mask = bias && bias.data.subarray(batch * biasSteps![0])
  return yield* runJob(template, attentionInputs(queries, keys, values, { mask, sinks }), target, threads)
}

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
