import { copyBytes } from '../host.ts'
import { QUANTUM } from '../kernels/core/pace.ts'
import type { PackContext } from '../op-kit/define.ts'
import { bytesOf } from '../tensor/arrays.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { heapFree, isOnHeap } from './heap.ts'
import { type NumericArray, stageWhole } from './staging.ts'
import { type Compute, wasm } from './wasm.ts'
import { PANEL } from './workspace.ts'

/** A matrix [k][n] in a tensor; steps in bytes from row to row and from column to column. */
export interface MatrixLayout {
  readonly k: number
  readonly n: number
  readonly rowStep: number
  readonly columnStep: number
}

/** Nanoseconds that packing one element takes, with the misses of a transposed matrix. */
export const COST_OF_ELEMENT = 1.5

/**
 * A matrix in panels of eight columns, [ceil(n / 8)][k][8].
 * @returns undefined when the heap is full
 */
export function* packMatrix(
  matrix: Tensor,
  { k, n, rowStep, columnStep }: MatrixLayout,
  context: PackContext
): Generator<void, Tensor | undefined> {
  const panels = Math.ceil(n / PANEL)
  const packed = context.allocate('float32', [panels, k, PANEL])
  const perQuantum = Math.max(1, Math.floor(QUANTUM / (k * PANEL * COST_OF_ELEMENT)))
  for (let from = 0; from < panels; from += perQuantum) {
    if (from > 0) yield
    const end = Math.min(panels, from + perQuantum)
    const isDone = onTheHeap(matrix, packed, (compute, source, target) =>
      compute.packPanels(source, rowStep, columnStep, k, n, target, from, end)
    )
    if (!isDone) return undefined
  }
  return packed
}

/**
 * Calls `work` with the addresses of two tensors on the heap: copies, where they are elsewhere, as small tensors are.
 * @returns false, with nothing done, when the heap is full
 */
export function onTheHeap(
  source: Tensor,
  target: Tensor,
  work: (compute: Compute, source: number, target: number) => void
): boolean {
  const compute = wasm()?.compute().exports
  const [from, to] = [source, target].map(({ data }) => data as NumericArray)
  const fromCopy = isOnHeap(from) ? undefined : stageWhole({ staging: 'whole' }, from)
  const toCopy = isOnHeap(to) ? undefined : stageWhole({ staging: 'whole' }, to)
  const fromAt = isOnHeap(from) ? from.byteOffset : fromCopy?.byteOffset
  const toAt = isOnHeap(to) ? to.byteOffset : toCopy?.byteOffset
  const isServed = compute !== undefined && fromAt !== undefined && toAt !== undefined
  if (isServed) {
    work(compute, fromAt, toAt)
    if (toCopy) copyBytes(toCopy.subarray(0, to.byteLength), bytesOf(to))
  }
  for (const copy of [fromCopy, toCopy]) if (copy) heapFree(copy)
  return isServed
}
