import { copyBytes } from '../host.ts'
import { QUANTUM } from '../kernels/core/pace.ts'
import type { PackContext } from '../op-kit/pack-context.ts'
import { bytesOf } from '../tensor/arrays.ts'
import type { NumericArray } from '../tensor/dtype.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { heapFree, isOnHeap } from './heap.ts'
import { stageWhole } from './staging.ts'
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

/** Elements that one call packs, some tens of microseconds: see {@link inShortCalls}. */
const ELEMENTS_PER_CALL = 1 << 14

/**
 * Divides items among calls. A call ends in the code in which it began, so what the engine optimizes meanwhile only
 * serves calls that begin later: one long call would run unoptimized code to its end.
 * @param elements of an item
 */
export function inShortCalls(items: number, elements: number, call: (from: number, end: number) => void): void {
  const perCall = Math.max(1, Math.floor(ELEMENTS_PER_CALL / elements))
  for (let from = 0; from < items; from += perCall) call(from, Math.min(items, from + perCall))
}

/** Packs rows of length k into strips of four, [ceil(rows / 4)][k][4]; steps in bytes. */
export function packStrips(
  compute: Compute,
  from: number,
  { rowStep, kStep, rows, k }: { rowStep: number; kStep: number; rows: number; k: number },
  to: number
): void {
  inShortCalls(Math.ceil(rows / 4), 4 * k, (first, end) => {
    const count = Math.min(rows, 4 * end) - 4 * first
    compute.packStrips(from + 4 * first * rowStep, rowStep, kStep, count, k, to + first * k * 16)
  })
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
