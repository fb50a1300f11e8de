import { fail } from '../errors.ts'
import type { SvmKernel } from '../kernels/ml/svm.ts'
import { choice, floats, type NodeFacts, optional } from './sources.ts'

const TYPES: Readonly<Record<SvmKernel['type'], SvmKernel['type']>> = {
  LINEAR: 'LINEAR',
  POLY: 'POLY',
  RBF: 'RBF',
  SIGMOID: 'SIGMOID'
}

/**
 * Reads how rows and support vectors are compared; parameters that are left out are 0.
 * @throws NodewiseError `unknown-attribute-value`
 */
export function svmKernelOf(node: NodeFacts): SvmKernel {
  const parameters = node.get(optional(floats('kernel_params'))) ?? []
  if (parameters.length !== 0 && parameters.length !== 3)
    fail('unknown-attribute-value', `"kernel_params" has ${parameters.length} entries; 3 are expected`)
  const [gamma = 0, coef0 = 0, degree = 0] = parameters
  return { type: node.get(choice('kernel_type', TYPES)) ?? 'LINEAR', gamma, coef0, degree }
}

/**
 * A list of numbers that must have `count` entries.
 * @throws NodewiseError `missing-attribute`, `unknown-attribute-value` for another number of them
 */
export function numbersOfLength(node: NodeFacts, name: string, count: number): readonly number[] {
  const list = node.get(optional(floats(name))) ?? fail('missing-attribute', `attribute "${name}" is missing`)
  if (list.length !== count)
    fail('unknown-attribute-value', `"${name}" has ${list.length} entries; ${count} are expected`)
  return list
}

/**
 * A list of numbers that is shared evenly: how many are for each of `count`.
 * @throws NodewiseError `unknown-attribute-value` where some would be left
 */
export function evenShare(name: string, { length }: readonly number[], count: number): number {
  if (length % count !== 0)
    fail('unknown-attribute-value', `"${name}" has ${length} entries, which ${count} cannot share evenly`)
  return length / count
}
