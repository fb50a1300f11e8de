import {
  isBuiltIn,
  type Kernel,
  type Op,
  type Preparation,
  type Selection,
  type SelectKernel,
  type ValueOperands
} from '../op-kit/define.ts'
import { isConcrete } from '../shapes/dim.ts'
import { isTensor, product, type Tensor } from '../tensor/tensor.ts'
import { byJobs } from './by-jobs.ts'
import { gatherTreeJobs } from './kernels/gather-tree.ts'
import { featureJobs, gatherElementsJobs, gatherJobs, gatherNDJobs } from './kernels/gather.ts'
import type { Candidate, Selector, TensorOperands } from './selector.ts'
import { identicalSelector, roundedSelector, widenedSelector } from './selectors.ts'
import { isComputeMade, wasm } from './wasm.ts'

/** Selectors of gathers, whose kernels give the same numbers as the reference, by the name of the operator. */
const GATHERS: ReadonlyMap<string, Selector> = new Map([
  ['Gather', byJobs(['data', 'indices'], gatherJobs)],
  ['GatherElements', byJobs(['data', 'indices'], gatherElementsJobs)],
  ['GatherND', byJobs(['data', 'indices'], gatherNDJobs)],
  ['ArrayFeatureExtractor', byJobs(['x', 'indices'], featureJobs)],
  ['GatherTree', byJobs(['stepIds', 'parentIds', 'maxSeqLen', 'endToken'], gatherTreeJobs)]
])

// A call of a gather asks for none of the other selectors, which a program that only gathers need not load.
const identical = (name: string): Selector | undefined => GATHERS.get(name) ?? identicalSelector(name)
const rounded = (name: string): Selector | undefined => (GATHERS.has(name) ? undefined : roundedSelector(name))
const widened = (name: string, prepared: Preparation): Selector | undefined =>
  GATHERS.has(name) ? undefined : widenedSelector(name, prepared)

/**
 * - `fast`: float32 is computed in float32
 * - `exact`: sums are in double precision, and results are the same on every machine
 */
export type Precision = 'fast' | 'exact'

/**
 * Decides whether an accelerated kernel computes a call: from types, dims and parameters, and from where the operands
 * lie. Without WebAssembly, or with `NODEWISE_KERNELS=ts`, none does.
 */
export const select: SelectKernel = (op, operands, prepared) =>
  selectIdentical(op, operands, prepared) ??
  selectAmong(rounded(op.name), op, operands, prepared) ??
  selectAmong(widened(op.name, prepared), op, operands, prepared)

/** {@link select} among kernels that give the same numbers as the reference. */
const selectIdentical: SelectKernel = (op, operands, prepared) =>
  selectAmong(identical(op.name), op, operands, prepared)

export const selectorOf = (precision: Precision): SelectKernel => (precision === 'exact' ? selectIdentical : select)

/** Whether there is a kernel in WebAssembly for some calls of an operator, by its name in the library. */
export const hasAcceleratedKernel = (name: string): boolean => (identical(name) ?? rounded(name)) !== undefined

/** Elements of a call that the reference computes as fast as the module that computes is made. */
const SMALL = 1 << 12
/** Calls of so few elements after which the module is made, which takes some milliseconds. */
const MAX_EARLY_CALLS = 256
let earlyCalls = 0

/**
 * Whether a call looks at few elements: neither the output nor an operand that is computed with has many. A maximum of
 * many numbers is one number; of what is only moved the reference reads what it writes.
 */
function isSmall({ moves }: Op, operands: ValueOperands, { outputs: [first] }: Preparation): boolean {
  if (first?.kind !== 'tensor' || first.shape === undefined || !isConcrete(first.shape)) return false
  if (product(first.shape) >= SMALL) return false
  for (const name in operands) {
    const value = operands[name] as Tensor | undefined
    if (value?.dims !== undefined && moves?.includes(name) !== true && product(value.dims) >= SMALL) return false
  }
  return true
}

/** A kernel that the reference stands for while the module that computes has not been made, and may never be. */
const laterOn =
  (op: Op, kernel: Kernel): Kernel =>
  (operands, parameters, context) => {
    if (isComputeMade() || earlyCalls >= MAX_EARLY_CALLS) {
      if (wasm()) return kernel(operands, parameters, context)
    } else earlyCalls++
    return op.run(operands, parameters, context)
  }

/** @param selector by the name of the operator, which must be built in: a caller's own runs its own kernel */
function selectAmong(
  selector: Selector | undefined,
  op: Op,
  operands: ValueOperands,
  prepared: Preparation
): Selection | undefined {
  if (selector === undefined || !isBuiltIn(op)) return undefined
  const call = candidateOf(op, operands, prepared)
  const selection = call && selector(call)
  if (selection?.kernel === undefined) return selection
  if (selector === identical(op.name) && isSmall(op, operands, prepared))
    return { ...selection, kernel: laterOn(op, selection.kernel) }
  // WebAssembly takes milliseconds to start, so it is started when the first kernel is picked; most small models pick
  // none.
  return wasm() && selection
}

/** Operators whose selectors know operands that are lists. */
const TAKES_LISTS: ReadonlySet<string> = new Set([
  'ByteConcat',
  'QLinearConcat',
  'Concat',
  'Einsum',
  'Max',
  'Mean',
  'Min',
  'Sum'
])

/** Undefined where an operand is no single tensor, and where the kernel decides on the dims of the output. */
function candidateOf(op: Op, operands: ValueOperands, { parameters, outputs }: Preparation): Candidate | undefined {
  const [first] = outputs
  if (first?.kind !== 'tensor' || first.shape === undefined || !isConcrete(first.shape)) return undefined
  for (const name in operands) {
    const value = operands[name]
    const isList = Array.isArray(value) && TAKES_LISTS.has(op.name) && value.every(isTensor)
    if (value !== undefined && !isList && (Array.isArray(value) || !isTensor(value as Tensor))) return undefined
  }
  return { op, operands: operands as TensorOperands, parameters, dims: first.shape }
}
