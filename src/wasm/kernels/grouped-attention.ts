import type { Grouped } from '../../kernels/attention/grouped.ts'
import type { Heads } from '../../kernels/attention/heads.ts'
import type { Pace } from '../../kernels/core/pace.ts'
import type { Kernel } from '../../op-kit/define.ts'
import type { Attend, GroupedRunParams } from '../../op-kit/grouped-run.ts'
import type { GroupedOperands } from '../../op-kit/grouped.ts'
import type { DType } from '../../tensor/dtype.ts'
import type { Tensor } from '../../tensor/tensor.ts'
import { isHalf } from '../halves.ts'
import { runJob } from '../jobs.ts'
import { areFloat32, selectorFor } from '../selector.ts'
import { attentionTemplate, type Strides } from './attention.ts'
import { attendInJobs } from './grouped-jobs.ts'

/**
 * GroupQueryAttention of float32, or of floats of 16 bits, which the operator widens, over a cache of the same type;
 * without masks, windows and sinks.
 */
export const selectGroupQueryAttention = selectorFor<GroupedRunParams>(({ op, operands, parameters: p }) => {
  const { query, pastKey, pastValue, bias, sinks } = operands
  const areServed = [query, pastKey, pastValue].every(tensor => tensor === undefined || isServed(tensor.type))
  const isPlain = p.bits === 0 && p.block === 0 && !p.slides && !p.smooth && p.shown === 'nothing'
  if (!areServed || !isPlain || bias || sinks || (p.window > 0 && p.window < p.total)) return undefined
  const kernel: Kernel = (given, parameters, call) => {
    const attend: Attend = (heads, pace, reference) => attendByJobs(heads, call.threads, pace, reference)
    return op.run(given, { ...parameters, attend }, call)
  }
  const { key, value, cos, sin, positions, queryNorm, keyNorm } = operands
  const areFloats = areFloat32({ query, key, value, pastKey, pastValue, cos, sin })
  if (!areFloats || !key || !value || positions || queryNorm || keyNorm) return { kernel }
  return {
    *kernel(given, parameters, call) {
      const operands = given as unknown as GroupedOperands<Tensor>
      if (yield* attendInJobs(operands, parameters as unknown as GroupedRunParams, call)) return
      const rest = kernel(given, parameters, call)
      if (rest) yield* rest
    }
  }
})

const isServed = (type: DType): boolean => type === 'float32' || isHalf(type)

/** Attention by a job for each entry of the batch, or for all where they have as many keys. */
function* attendByJobs(given: Grouped, threads: number, pace: Pace, reference: Parameters<Attend>[2]): Generator<void> {
  const { batches, keyCounts } = given
  const isEven = keyCounts.past.every(
    (past, i) => past === keyCounts.past[0] && keyCounts.valid[i] === keyCounts.valid[0]
  )
  const each = isEven ? batches : 1
  for (let batch = 0; batch < batches; batch += each)
    if (!(yield* attendByJob(given, batch, each, threads))) return yield* reference(cleared(given), pace)
}

/** @returns false, where there is too little to do or no room; the output may hold anything then */
function* attendByJob(given: Grouped, batch: number, count: number, threads: number): Generator<void, boolean> {
  const { q, k, v, out, keyCounts } = given
  const [keys, values, target] = [singles(k, batch), singles(v, batch), singles(out, batch)]
  if (!keys || !values || !target) return false
  const template = attentionTemplate(
    {
      batches: count,
      heads: q.count,
      group: q.count / k.count,
      queries: q.length,
      keys: keyCounts.valid[batch],
      depth: q.size,
      width: v.size,
      q: stridesOf(q),
      k: stridesOf(k),
      v: stridesOf(v),
      y: stridesOf(out)
    },
    {
      scale: given.scale === 0 ? 1 / Math.sqrt(q.size) : given.scale,
      softcap: given.softcap,
      causalOffset: given.causal ? keyCounts.past[batch] : undefined,
      unseen: 0
    }
  )
  if (template === undefined) return false
  // Rotated queries are in double precision.
  const queries = singles(q, batch) ?? new Float32Array(startingAt(q, batch))
  return (yield* runJob(template, [queries, keys, values, queries], target, threads)) === 'done'
}

const startingAt = <A extends Heads['numbers']>({ numbers, offset, batchStride }: Heads<A>, batch: number): A =>
  numbers.subarray(offset + batch * batchStride) as A

/** The numbers from an entry of the batch on; undefined where they are not of single precision. */
const singles = (heads: Heads, batch: number): Float32Array | undefined =>
  heads.numbers instanceof Float32Array ? startingAt(heads as Heads<Float32Array>, batch) : undefined

const stridesOf = ({ batchStride, headStride, rowStride }: Heads): Strides => [batchStride, headStride, rowStride, 1]

/** The same with zeros where results are added. */
function cleared(given: Grouped): Grouped {
  given.out.numbers.fill(0)
  return given
}
