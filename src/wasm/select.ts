import type { Kernel, KernelContext, Op, Parameters, Selection, ValueOperands } from '../op-kit/define.ts'
import { gatherElements } from '../ops/gather/gather-elements.ts'
import { gatherND } from '../ops/gather/gather-nd.ts'
import { gatherTree } from '../ops/gather/gather-tree.ts'
import { gather } from '../ops/gather/gather.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { isOnHeap } from './heap.ts'
import { type JobTemplate, runJob } from './jobs.ts'
import { gatherTreeJobs } from './kernels/gather-tree.ts'
import { gatherElementsJobs, gatherJobs, gatherNDJobs } from './kernels/gather.ts'
import { bytesOf, isStaged, type NumericArray } from './staging.ts'
import { wasm } from './wasm.ts'

/** A row of the selector's table: an operator with one output for which there are accelerated kernels. */
interface Row {
  /** Operands whose arrays are the inputs of its jobs, in their order. */
  readonly inputs: readonly string[]
  /**
   * The jobs that can compute a call with operands of these types and dims, best first; none where the reference kernel
   * is faster. Looks at no elements.
   */
  jobs(operands: Readonly<Record<string, Tensor>>, params: Parameters): readonly JobTemplate[]
}

/** @param jobs takes operands and parameters as the operator defines them */
const row = (inputs: readonly string[], jobs: (operands: never, params: never) => readonly JobTemplate[]): Row => ({
  inputs,
  jobs
})

/** By the operator itself, not by its name, which an operator of the caller's own may have too. */
const TABLE: ReadonlyMap<Op, Row> = new Map([
  [gather, row(['data', 'indices'], gatherJobs)],
  [gatherElements, row(['data', 'indices'], gatherElementsJobs)],
  [gatherND, row(['data', 'indices'], gatherNDJobs)],
  [gatherTree, row(['stepIds', 'parentIds', 'maxSeqLen', 'endToken'], gatherTreeJobs)]
])

/**
 * Decides whether an accelerated kernel computes a call: from types, dims and parameters, and from where the operands
 * lie. Without WebAssembly, or with `NODEWISE_KERNELS=ts`, none does.
 */
export function select(
  op: Op,
  operands: ValueOperands,
  { parameters }: { readonly parameters: Parameters }
): Selection | undefined {
  const found = TABLE.get(op)
  if (found === undefined) return undefined
  const { inputs: names } = found
  const jobs = found.jobs(operands as Record<string, Tensor>, parameters)
  if (jobs.length === 0 || wasm() === undefined) return undefined
  const serving = jobs.filter(job => servesInputs(job, arraysOf(names, operands)))
  const kernel = serving.length > 0 ? acceleratedKernel(op, names, serving) : undefined
  const decisive = names.filter((_, i) => jobs.some(job => job.inputs[i].staging === 'never'))
  if (decisive.length === 0) return { kernel }
  const lieOnHeap = decisive.map(name => isOnHeap(arrayOf(operands, name)))
  return { kernel, holds: others => decisive.every((name, i) => isOnHeap(arrayOf(others, name)) === lieOnHeap[i]) }
}

/** Whether each input lies on the heap or may be staged. */
const servesInputs = ({ inputs }: JobTemplate, arrays: readonly NumericArray[]): boolean =>
  inputs.every((use, i) => use.staging !== 'never' || !isStaged(use, arrays[i]))

/**
 * A kernel that runs the first of `jobs` whose output may lie where it does: that is known only once it is made. The
 * reference kernel takes over where no job may run, where the heap is full, and where an element is at fault, which
 * the reference names in its error.
 */
function acceleratedKernel(op: Op, names: readonly string[], jobs: readonly JobTemplate[]): Kernel {
  return function* (operands, params, context) {
    const out = context.rawOutput()
    const outArray = out.data as NumericArray
    const template = isOnHeap(outArray) ? jobs[0] : jobs.find(({ outputStaging }) => outputStaging !== 'never')
    if (template !== undefined) {
      const result = yield* runJob(template, arraysOf(names, operands), outArray, context.threads)
      if (result === 'done') return
    }
    const rest = op.run(operands, params, withOutput(context, out))
    if (rest) yield* rest
  }
}

const arrayOf = (operands: ValueOperands, name: string): NumericArray => (operands[name] as Tensor).data as NumericArray

const arraysOf = (names: readonly string[], operands: ValueOperands): NumericArray[] =>
  names.map(name => arrayOf(operands, name))

/** The context of the same call for another kernel, with the output that has been made already. */
function withOutput(context: KernelContext, out: Tensor): KernelContext {
  return {
    dialect: context.dialect,
    version: context.version,
    outputCount: context.outputCount,
    state: context.state,
    threads: context.threads,
    packed: context.packed,
    wanted: index => context.wanted(index),
    random: seed => context.random(seed),
    give: (index, value) => context.give(index, value),
    output: () => {
      bytesOf(out.data as NumericArray).fill(0)
      return out
    },
    rawOutput: () => out
  }
}
