import type { KernelContext, Pack } from '../../op-kit/define.ts'
import { factorsOf } from '../../op-kit/joined.ts'
import type { PackContext } from '../../op-kit/pack-context.ts'
import { withOutput } from '../../op-kit/with-output.ts'
import type { NumericArray } from '../../tensor/dtype.ts'
import { elementCount, Tensor } from '../../tensor/tensor.ts'
import { type JobTemplate, runJob } from '../jobs.ts'
import { type NarrowType, narrowTypeOf } from '../pack-narrow.ts'
import { areFloat32, arrayOf, selectorFor, type TensorOperands } from '../selector.ts'
import { temporaries } from '../temporary.ts'
import { packFactor, type Product, productOf, type ProductParams, productTemplates } from './matrix.ts'

const NOTHING_ADDED = { activation: undefined }

/**
 * Several products of one first factor. One row is multiplied by all second factors in one job, as if they were one
 * matrix: their panels lie one after the other. Of more rows each product is a job of its own.
 */
export const selectJoinedMatMul = selectorFor<ProductParams>(({ op, operands, parameters }) => {
  const { a } = operands
  if (a === undefined || !areFloat32(operands)) return undefined
  const found = factorsOf<Tensor>(operands).map(b => productOf(a.dims, b.dims, parameters))
  if (!found.every(each => each !== undefined && each.batches === 1)) return undefined
  const products = found as Product[]
  const [{ m }] = products
  const n = products.reduce((sum, each) => sum + each.n, 0)
  const whole = m === 1 ? productTemplates({ ...products[0], n }, NOTHING_ADDED) : undefined
  const alone = products.map(each => productTemplates(each, NOTHING_ADDED))
  return {
    pack: packTogether,
    looksAt: [],
    *kernel(given, own, context) {
      const inOne = whole && context.outputsInOne?.()
      const outs = products.map((_, i) => context.rawOutput(i))
      const a = arrayOf((given as TensorOperands).a!)
      const packed = context.packed?.b
      const template = packed && whole?.(packed.type)
      if (template && (yield* multiplyTogether(template, [a, arrayOf(packed), a, a], outs, inOne, context.threads)))
        return
      const seconds = secondsOf(given as TensorOperands, packed, products)
      for (const [i, out] of outs.entries()) {
        const job = alone[i](packed?.type)
        if (yield* runJob(job, [a, seconds[i], a, a], arrayOf(out), context.threads)) continue
        const rest = op.run(given, own, withOutputs(context, outs))
        if (rest) yield* rest
        return
      }
    }
  }
})

/**
 * One row by all second factors: the sums lie one after the other, and are copied where the outputs do not. False where
 * the heap is full.
 */
function* multiplyTogether(
  template: JobTemplate,
  inputs: readonly NumericArray[],
  outs: readonly Tensor[],
  inOne: NumericArray | undefined,
  threads: number
): Generator<void, boolean> {
  if (inOne) return yield* runJob(template, inputs, inOne, threads)
  const parts = temporaries()
  try {
    const sums = parts.allocate(outs.reduce((sum, { data }) => sum + data.length, 0))
    if (!(yield* runJob(template, inputs, sums, threads))) return false
    let at = 0
    for (const { data } of outs) {
      ;(data as Float32Array).set(sums.subarray(at, at + data.length))
      at += data.length
    }
    return true
  } finally {
    parts.free()
  }
}

/** The second factors, in panels where they have been packed. */
function secondsOf(
  given: TensorOperands,
  packed: Tensor | undefined,
  products: readonly Product[]
): readonly NumericArray[] {
  if (packed === undefined) return factorsOf<Tensor>(given).map(arrayOf)
  let at = 0
  return products.map(({ k, n }) => arrayOf(packed).subarray(at, (at += k * n)))
}

/** The context for a kernel that writes into tensors that have been made already. */
const withOutputs = (context: KernelContext, outs: readonly Tensor[]): KernelContext => ({
  ...withOutput(context, outs[0]),
  rawOutput: (index = 0) => outs[index]
})

/** Puts all second factors, constants of whole panels, one after the other into the memory of one. */
const packTogether: Pack = function* (constants, { transposeB }, context) {
  const factors = factorsOf<Tensor>(constants)
  const types = new Set<NarrowType | undefined>()
  for (const factor of factors) types.add(yield* narrowTypeOf(factor))
  const [narrow] = types
  const count = factors.reduce((sum, { dims }) => sum + elementCount(dims), 0)
  const all = context.allocate((types.size === 1 && narrow) || 'float32', [count])
  let at = 0
  const within: PackContext = {
    threads: context.threads,
    allocate: (type, dims) => new Tensor(type, arrayOf(all).subarray(at, (at += elementCount(dims))), dims)
  }
  for (const factor of factors)
    if ((yield* packFactor(factor, transposeB === true, within, all.type !== 'float32')) === undefined) return undefined
  return { b: all }
}
