import { DTYPES } from '../../tensor/dtype.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import { isOnHeap } from '../../wasm/heap.ts'
import { type NumericArray, runJob } from '../../wasm/jobs.ts'
import { WORK_PER_YIELD } from '../core/elementwise.ts'
import { blockUnitsOf, copyUnits, SHORT, type UnitArray } from '../core/units.ts'
import { type IndexPolicy, type Positions, ravelPositions, resolvingIndices, resolvingTuples } from './indices.ts'

/** How Gather sees its data: `[batch, outer, size, inner]`, and its indices: `[batch, count]`. */
export interface GatherLayout {
  readonly batch: number
  readonly outer: number
  readonly size: number
  readonly inner: number
  readonly count: number
}

/**
 * Gather: `out[b, o, i, …] = data[b, o, indices[b, i], …]`, where an index is along `axis`.
 * @param threads most threads to use
 * @throws NodewiseError `index-out-of-range`, naming the first offender in row-major order
 */
export function* gatherAlong(
  data: Tensor,
  indices: Tensor,
  out: Tensor,
  layout: GatherLayout,
  axis: number,
  policy: IndexPolicy,
  threads: number
): Generator<void> {
  const { batch, outer, size, inner, count } = layout
  if (mayAccelerate(data, indices, out) && size <= MAX_INT32) {
    const result = yield* runJob(
      {
        data: arrayOf(data),
        indices: arrayOf(indices),
        out: arrayOf(out),
        policy,
        width: widthOf(data, inner),
        kernel: 'rows',
        blocks: batch * outer * count,
        size,
        count,
        outer,
        rowStride: size,
        indicesPerBlock: outer === 1 ? 1 : undefined
      },
      threads
    )
    if (result === 'done') return
  }
  yield* gatherBlocks(data, yield* resolvingIndices(indices, size, axis, policy), out, layout)
}

/**
 * GatherElements: each output element is read at its own coordinates, the one on `axis` replaced by its index; off the
 * axis the indices may
 * be smaller than the data.
 * @throws NodewiseError `index-out-of-range`, naming the first offender in row-major order
 */
export function* gatherElementsAlong(
  data: Tensor,
  indices: Tensor,
  out: Tensor,
  axis: number,
  policy: IndexPolicy,
  threads: number
): Generator<void> {
  const size = data.dims[axis]
  const layout = elementLayout(indices.dims, data.dims, axis)
  if (layout !== undefined && mayAccelerate(data, indices, out) && size <= MAX_INT32) {
    const { outer, count, inner, rowStride, axisStride } = layout
    const width = widthOf(data, 1)
    const columns = isOnHeap(arrayOf(indices)) && isOnHeap(arrayOf(out)) ? panelColumns(size, width, layout) : undefined
    const result = yield* runJob(
      {
        data: arrayOf(data),
        indices: arrayOf(indices),
        out: arrayOf(out),
        policy,
        width,
        outer,
        count,
        inner,
        rowStride,
        axisStride,
        size,
        kernel: columns === undefined ? 'elements' : 'columns',
        blocks: columns === undefined ? outer * count * inner : outer * Math.ceil(inner / columns),
        components: columns ?? 0,
        tile: columns && 1,
        scattered: columns !== undefined,
        indicesPerBlock: columns === undefined ? 1 : undefined
      },
      threads
    )
    if (result === 'done') return
  }
  const offsets = yield* resolvingIndices(indices, size, axis, policy, product(data.dims))
  yield* ravelPositions(offsets, indices.dims, data.dims, axis)
  yield* gatherOffsets(data, offsets, out, 1)
}

/**
 * GatherND: the slices that index tuples name, `sizes.length` components each, the first of them along axis
 * `batchDims`.
 * @throws NodewiseError `index-out-of-range`, naming the first offending component in row-major order
 */
export function* gatherTuples(
  data: Tensor,
  indices: Tensor,
  out: Tensor,
  batchDims: number,
  policy: IndexPolicy,
  threads: number
): Generator<void> {
  const components = indices.dims[indices.dims.length - 1]
  const deepest = batchDims + components
  const batches = product(data.dims.slice(0, batchDims))
  const sizes = data.dims.slice(batchDims, deepest)
  const inner = product(data.dims.slice(deepest))
  if (mayAccelerate(data, indices, out) && product(data.dims.slice(0, deepest)) <= MAX_INT32) {
    const blocks = indices.data.length / components
    const result = yield* runJob(
      {
        data: arrayOf(data),
        indices: arrayOf(indices),
        out: arrayOf(out),
        policy,
        width: widthOf(data, inner),
        kernel: 'tuples',
        blocks,
        count: blocks / batches,
        components,
        sizes,
        indicesPerBlock: components
      },
      threads
    )
    if (result === 'done') return
  }
  yield* gatherOffsets(data, yield* resolvingTuples(indices, batches, sizes, batchDims, policy), out, inner)
}

const MAX_INT32 = 0x7fffffff
/** Below as many bytes of indices and output the setting up of a job, some microseconds, costs more than it gains. */
const MIN_MOVED = 1 << 14

function mayAccelerate(data: Tensor, indices: Tensor, out: Tensor): boolean {
  const values: unknown = data.data
  if (Array.isArray(values) || out.data.length === 0) return false
  return (out.data as NumericArray).byteLength + (indices.data as NumericArray).byteLength >= MIN_MOVED
}

const arrayOf = ({ data }: Tensor): NumericArray => data as NumericArray

/** Bytes of a block of `inner` elements. */
const widthOf = ({ type, data }: Tensor, inner: number): number =>
  inner * (data as NumericArray).BYTES_PER_ELEMENT * DTYPES[type].slots

interface ElementLayout {
  readonly outer: number
  readonly count: number
  readonly inner: number
  readonly rowStride: number
  readonly axisStride: number
}

/**
 * Indices as `[outer, count, inner]`, with what lies between rows and positions of the data; undefined when more loops
 * are needed.
 */
function elementLayout(dims: readonly number[], dataDims: readonly number[], axis: number): ElementLayout | undefined {
  if (
    !isOneLoop(dims.slice(0, axis), dataDims.slice(0, axis)) ||
    !isOneLoop(dims.slice(axis + 1), dataDims.slice(axis + 1))
  )
    return undefined
  return {
    outer: product(dims.slice(0, axis)),
    count: dims[axis],
    inner: product(dims.slice(axis + 1)),
    rowStride: product(dataDims.slice(axis)),
    axisStride: product(dataDims.slice(axis + 1))
  }
}

/** Whether elements of `dims` lie side by side among those of `dataDims`. */
const isOneLoop = (dims: readonly number[], dataDims: readonly number[]): boolean =>
  dims.every((dim, i) => dim === 1 || product(dims.slice(i + 1)) === product(dataDims.slice(i + 1)))

/**
 * Panels suit arrays on the heap only, since their indices and outputs lie far apart. What fits in the caches anyway is
 * not packed; what is, goes to a panel of at most so many bytes and columns.
 */
const CACHED_BYTES = 1 << 19
const PANEL_BYTES = 1 << 18
const PANEL_COLUMNS = 256
/** A line of the cache. */
const LINE = 64

/**
 * Columns of a panel when packing pays: the data exceed the cache, lines are used whole, and each column is read often
 * enough.
 */
function panelColumns(size: number, width: number, { count, inner, axisStride }: ElementLayout): number | undefined {
  if (
    size * axisStride * width <= CACHED_BYTES ||
    inner * width < 2 * LINE ||
    4 * count < size ||
    size * LINE > PANEL_BYTES
  )
    return undefined
  const line = Math.min(Math.floor(PANEL_BYTES / size / LINE) * LINE, PANEL_COLUMNS * width)
  return Math.min(inner, line / width)
}

/**
 * `out[b, o, i, …] = data[b, o, positions[b, i], …]`; position -1 gives zeros, in an array that is not typed it leaves
 * what is there.
 */
export function* gatherBlocks(data: Tensor, positions: Positions, out: Tensor, layout: GatherLayout): Generator<void> {
  const { batch, outer, size, inner, count } = layout
  if (out.data.length === 0) return
  const { from, to, block } = blockUnitsOf(data, out, inner)
  const turn = Math.max(1, Math.floor(WORK_PER_YIELD / block))
  let target = 0
  let moved = 0
  for (let b = 0; b < batch; b++) {
    for (let o = 0; o < outer; o++) {
      const base = (b * outer + o) * size
      for (let start = 0; start < count; start += turn) {
        const end = Math.min(count, start + turn)
        moveBlocks(from, base, positions, b * count + start, b * count + end, to, target, block)
        target += (end - start) * block
        moved += (end - start) * block
        if (moved < WORK_PER_YIELD) continue
        moved = 0
        yield
      }
    }
  }
}

/**
 * `out[t] = data[offsets[t]]` for blocks of `inner` elements; offsets count blocks, -1 is as in {@link gatherBlocks}.
 */
export const gatherOffsets = (data: Tensor, offsets: Positions, out: Tensor, inner: number): Generator<void> =>
  gatherBlocks(data, offsets, out, { batch: 1, outer: 1, size: 0, inner, count: offsets.length })

/** Copies the blocks at `base + positions[start … end-1]` to `target`, one after the other. */
function moveBlocks(
  from: UnitArray,
  base: number,
  positions: Positions,
  start: number,
  end: number,
  to: UnitArray,
  target: number,
  block: number
): void {
  if (block === 1 && !Array.isArray(from)) {
    const typed = to as Int32Array
    for (let i = start; i < end; i++, target++) {
      const position = positions[i]
      typed[target] = position >= 0 ? from[base + position] : 0
    }
  } else if (block === 2 && !Array.isArray(from)) {
    const typed = to as Int32Array
    for (let i = start; i < end; i++, target += 2) {
      const position = positions[i]
      const at = 2 * (base + position)
      typed[target] = position >= 0 ? from[at] : 0
      typed[target + 1] = position >= 0 ? from[at + 1] : 0
    }
  } else if (block <= SHORT && from instanceof Int32Array) {
    moveWords(from, base, positions, start, end, to as Int32Array, target, block)
  } else {
    for (let i = start; i < end; i++, target += block) {
      const position = positions[i]
      if (position >= 0) copyUnits(from, (base + position) * block, to, target, block)
      else if (!Array.isArray(to)) to.fill(0, target, target + block)
    }
  }
}

/**
 * {@link moveBlocks} for short blocks of whole words: a loop that sees one type of array only is several times faster.
 */
function moveWords(
  from: Int32Array,
  base: number,
  positions: Positions,
  start: number,
  end: number,
  to: Int32Array,
  target: number,
  block: number
): void {
  for (let i = start; i < end; i++, target += block) {
    const at = (base + positions[i]) * block
    if (positions[i] < 0) to.fill(0, target, target + block)
    else for (let j = 0; j < block; j++) to[target + j] = from[at + j]
  }
}
