import type { Paced } from '../kernels/core/pace.ts'
import type { Kernel, KernelContext, Op, Packed, Parameters, Selection } from '../op-kit/define.ts'
import { withOutput } from '../op-kit/with-output.ts'
import type { DType, NumericArray } from '../tensor/dtype.ts'
import { product, type Tensor } from '../tensor/tensor.ts'
import { jobWatcher } from './job-watcher.ts'
import { type JobTemplate, runAtOnce, runJob } from './jobs.ts'

/** Operands that are tensors, by name; undefined where left out. */
export type TensorOperands = Readonly<Record<string, Tensor | undefined>>

/** A call for which an accelerated kernel may be picked. */
export interface Candidate<P = Parameters> {
  readonly op: Op
  readonly operands: TensorOperands
  readonly parameters: P
  /** Dims of output 0. */
  readonly dims: readonly number[]
}

/** Picks the kernel of a call of one operator; undefined: the operator's own. Looks at no elements. */
export type Selector = (call: Candidate) => Selection | undefined

/** A selector that sees the parameters with the types that the operator gives them. */
export const selectorFor = <P>(select: (call: Candidate<P>) => Selection | undefined): Selector => select as Selector

/** A job and the arrays that it reads, in the order of its inputs. */
export interface BoundJob {
  readonly template: JobTemplate
  readonly inputs: readonly NumericArray[]
}

/** What a kernel may do instead of one job: false where the heap is full. Undefined: the job it is. */
export type Otherwise = (
  operands: TensorOperands,
  packed: Packed | undefined,
  out: Tensor,
  threads: number
) => Generator<void, boolean> | undefined

/**
 * A kernel that computes output 0 by one job. Where the heap is full the operator's own kernel computes it.
 * @param bind makes the job for operands and what has been packed of them; undefined where it needs what could not be
 *   packed
 */
export const jobKernel =
  (
    op: Pick<Op, 'run'>,
    bind: (
      operands: TensorOperands,
      packed: Packed | undefined,
      out: Tensor,
      context: KernelContext
    ) => BoundJob | undefined,
    otherwise?: Otherwise
  ): Kernel =>
  (operands, parameters, context) => {
    const out = context.rawOutput()
    const { packed, threads } = context
    const reference = (): void | Paced => {
      jobWatcher()?.missed()
      return op.run(operands, parameters, withOutput(context, out))
    }
    const other = otherwise?.(operands as TensorOperands, packed, out, threads)
    if (other) return unlessFull(other, reference)
    const job = bind(operands as TensorOperands, packed, out, context)
    if (job === undefined) return reference()
    const { template, inputs } = job
    if (runAtOnce(template, inputs, arrayOf(out), threads)) return undefined
    return unlessFull(runJob(template, inputs, arrayOf(out), threads), reference)
  }

/** Does some work; `reference` where it says that the heap is full. */
function* unlessFull(work: Generator<void, boolean>, reference: () => void | Paced): Paced {
  if (yield* work) return
  const rest = reference()
  if (rest) yield* rest
}

/**
 * Selects a kernel of one job, which types and dims decide.
 * @param sources what the job reads: operands by name, and arrays that are the same in all runs
 */
export function jobSelection(
  op: Pick<Op, 'run'>,
  template: JobTemplate,
  sources: readonly (string | NumericArray)[]
): Selection & { readonly kernel: Kernel } {
  const kernel = jobKernel(op, given => {
    const inputs = sources.slice() as NumericArray[]
    for (let i = 0; i < sources.length; i++) {
      const source = sources[i]
      if (typeof source === 'string') inputs[i] = arrayOf(given[source]!)
    }
    return { template, inputs }
  })
  return { kernel, looksAt: [], isByParts: template.outputStaging === 'parts' }
}

/** The operands of a call that has a list of them. */
export const listOf = (operands: TensorOperands): readonly Tensor[] =>
  (operands as unknown as { readonly inputs: readonly Tensor[] }).inputs

/** Whether all operands that are given hold float32. */
export const areFloat32 = (operands: TensorOperands): boolean => areOf('float32', operands)

/** Whether all operands that are there have one type. */
export const areOf = (type: DType, operands: TensorOperands): boolean =>
  Object.values(operands).every(tensor => tensor === undefined || tensor.type === type)

export const arrayOf = (tensor: Tensor): NumericArray => tensor.data as NumericArray

/** Bytes of an element; no whole number where several share a byte. */
export const widthOf = (tensor: Tensor): number => arrayOf(tensor).byteLength / product(tensor.dims)

/** Whether two tensors begin at the same byte, as a result does that is written over an operand. */
export function liesOver(a: Tensor, b: Tensor): boolean {
  const [x, y] = [arrayOf(a), arrayOf(b)]
  return x.buffer === y.buffer && x.byteOffset === y.byteOffset
}

/** An argument that a kernel reads as float32. */
export function floatBits(value: number): number {
  FLOAT[0] = value
  return BITS[0]
}

const FLOAT = new Float32Array(1)
const BITS = new Int32Array(FLOAT.buffer)

/** Every input of a kernel that computes is copied to the heap as a whole where it lies elsewhere. */
export const staged = (count: number): JobTemplate['inputs'] => STAGED.slice(0, count)
const STAGED: JobTemplate['inputs'] = Array.from({ length: 7 }, () => ({ staging: 'whole' }))

/**
 * Work of multiplications and additions in the unit of {@link JobTemplate.work}, bytes that could be copied in the same
 * time: 20 GFLOP/s against 10 GB/s.
 */
export const workOfFlops = (flops: number): number => flops / 2

/** Blocks of a tile, so that a tile takes about 0.2 ms and worker threads share a job evenly. */
export const tileOfFlops = (flopsPerBlock: number, max: number): number =>
  Math.max(1, Math.min(max, Math.round(4e6 / Math.max(1, flopsPerBlock))))
