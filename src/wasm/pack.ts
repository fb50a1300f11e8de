import type { PackContext } from '../op-kit/pack-context.ts'
import type { Tensor } from '../tensor/tensor.ts'
import { runJob } from './jobs.ts'
import { arrayOf, staged } from './selector.ts'
import type { KernelName } from './wasm.ts'
import { PANEL } from './workspace.ts'

/** A matrix [k][n] in a tensor; steps in bytes from row to row and from column to column. */
export interface MatrixLayout {
  readonly k: number
  readonly n: number
  readonly rowStep: number
  readonly columnStep: number
}

/** Matrices [rows][k], one behind the other; steps in bytes. */
export interface RowsLayout {
  readonly groups: number
  readonly rows: number
  readonly k: number
  readonly rowStep: number
  readonly kStep: number
}

/** A kernel that packs, the parts that it makes, their elements, and its arguments after the addresses. */
export interface PackJob {
  readonly kernel: KernelName
  readonly blocks: number
  readonly elements: number
  /** Blocks of a tile, where it matters how many are packed together. */
  readonly tile?: number
  readonly args: readonly number[]
}

/** Work of packing one element: 1.5 nanoseconds, with the misses of a transposed matrix. */
const WORK_OF_ELEMENT = 15
/**
 * Elements of a tile, some tens of microseconds. A call ends in the code in which it began, so what the engine
 * optimizes meanwhile only serves calls that begin later: one long call would run unoptimized code to its end.
 */
const ELEMENTS_OF_TILE = 1 << 14
/** Panels that are packed together of a matrix that lies by rows, so that no short pieces of rows are read. */
const TOGETHER = { least: 16, most: 64 }
/** Tiles into which such a matrix is divided, if they have enough panels. */
const TILES = 8

/**
 * Packs tensors by a job, in which all threads take part.
 * @returns the packed form; undefined when the heap is full
 */
export function* packByJob(
  { kernel, blocks, elements, tile = Math.ceil((ELEMENTS_OF_TILE * blocks) / elements), args }: PackJob,
  sources: readonly Tensor[],
  packed: Tensor,
  threads: number
): Generator<void, Tensor | undefined> {
  if (elements === 0) return packed
  const inputs = staged(sources.length)
  const work = elements * WORK_OF_ELEMENT
  const template = { kernel, blocks, blockBytes: 1, tile, work, inputs, args } as const
  return (yield* runJob(template, sources.map(arrayOf), arrayOf(packed), threads)) ? packed : undefined
}

/**
 * The job that puts a matrix into panels of eight columns, [ceil(n / 8)][k][8].
 * @param more arguments of the kernel
 */
export function panelsJob(
  { k, n, rowStep, columnStep }: MatrixLayout,
  kernel: KernelName = 'packPanels',
  more: readonly number[] = []
): PackJob {
  const blocks = Math.ceil(n / PANEL)
  const isByRows = columnStep < rowStep
  const tile = Math.max(TOGETHER.least, Math.min(TOGETHER.most, Math.ceil(blocks / TILES)))
  const elements = blocks * k * PANEL
  return { kernel, blocks, elements, ...(isByRows && { tile }), args: [rowStep, columnStep, k, n, ...more] }
}

/**
 * A matrix in panels of eight columns.
 * @returns undefined when the heap is full
 */
export function packMatrix(
  matrix: Tensor,
  layout: MatrixLayout,
  { allocate, threads }: PackContext
): Generator<void, Tensor | undefined> {
  const job = panelsJob(layout)
  return packByJob(job, [matrix], allocate('float32', [job.blocks, layout.k, PANEL]), threads)
}

/**
 * Rows in strips of four, [groups][ceil(rows / 4)][k][4].
 * @returns undefined when the heap is full
 */
export function packStrips(
  weights: Tensor,
  { groups, rows, k, rowStep, kStep }: RowsLayout,
  { allocate, threads }: PackContext
): Generator<void, Tensor | undefined> {
  const strips = Math.ceil(rows / 4)
  const [blocks, args] = [groups * strips, [rowStep, kStep, rows, k]]
  const job = { kernel: 'packStrips', blocks, elements: blocks * k * 4, args } as const
  return packByJob(job, [weights], allocate('float32', [groups, strips, k, 4]), threads)
}
