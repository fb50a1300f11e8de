import { checkIndices, type IndexPolicy } from '../kernels/gather/indices.ts'
import { normalizeAxis } from '../shapes/dim.ts'
import { knownValue, type TensorFact } from '../shapes/fact.ts'

/**
 * Checks indices along an axis of `data`, from the end where it is negative, as far as inference knows them. What is
 * not known is checked when the node runs.
 * @throws NodewiseError `index-out-of-range`, with the element of the indices; `axis-out-of-range`
 */
export function checkKnownIndices(
  indices: TensorFact | undefined,
  { shape }: TensorFact,
  axis: number,
  policy: IndexPolicy
): void {
  const known = indices && knownValue(indices)
  if (known === undefined || shape === undefined) return
  const at = normalizeAxis(axis, shape.length)
  checkIndices(known, shape[at], at, policy)
}
