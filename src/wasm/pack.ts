import { QUANTUM } from '../kernels/core/pace.ts'
import type { PackContext } from '../op-kit/define.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { heapFree, isOnHeap } from './heap.ts'
import { type NumericArray, stageWhole } from './staging.ts'
import { type Compute, wasm } from './wasm.ts'

/** A matrix [k][n] in a tensor; steps in bytes from row to row and from column to column. */
export interface MatrixLayout {
  readonly k: number
  readonly n: number
  readonly rowStep: number
  readonly columnStep: number
}

/** Columns of a panel. */
const PANEL = 8
/** Nanoseconds that packing one element takes, with the misses of a transposed matrix. */
const COST_OF_ELEMENT = 1.5

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
 * Calls `work` with the addresses of two tensors, the first copied to the heap if need be.
 * @returns false, with nothing done, when the heap is full
 */
export function onTheHeap(
  source: Tensor,
  target: Tensor,
  work: (compute: Compute, source: number, target: number) => void
): boolean {
  const compute = wasm()?.compute().exports
  const to = target.data as NumericArray
  const from = source.data as NumericArray
  if (compute === undefined || !isOnHeap(to)) return false
  if (isOnHeap(from)) {
    work(compute, from.byteOffset, to.byteOffset)
    return true
  }
  const copy = stageWhole({ staging: 'whole' }, from)
  if (copy === undefined) return false
  work(compute, copy.byteOffset, to.byteOffset)
  heapFree(copy)
  return true
}
