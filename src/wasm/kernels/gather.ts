import { isEarlyV8, isZen5 } from '../../host.ts'
import { gatherLayout, tupleLayout } from '../../kernels/gather/gather.ts'
import type { IndexPolicy } from '../../kernels/gather/indices.ts'
import { FROM_START } from '../../op-kit/updates.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { DTYPES, MAX_INT32, type NumericArray } from '../../tensor/dtype.ts'
import { product, type Tensor } from '../../tensor/tensor.ts'
import { LINE } from '../heap.ts'
import type { JobTemplate } from '../jobs.ts'
import type { InputUse, OutputStaging, Staging } from '../staging.ts'

interface Operands {
  readonly data: Tensor
  readonly indices: Tensor
}

/** Bytes of indices and output below which setting up a job, some microseconds, costs more than it gains. */
const MIN_MOVED = 1 << 14
/** Bytes of a block from which on a copy of its own to an array outside the heap takes less time than staging. */
const MIN_OWN_COPY = isEarlyV8 ? 1 << 12 : 1 << 11
/** The same where threads share the parts that are staged. */
const MIN_OWN_COPY_SHARED = 1 << 14
/**
 * Data elsewhere are copied to the heap only for blocks of at most this many bytes, only up to so many bytes of data,
 * and only where so many bytes are moved; see {@link dataStaging}.
 */
const MAX_COPIED_WIDTH = 256
const MAX_COPIED = 1 << 26
const MIN_MOVED_TO_COPY = 1 << 16
/**
 * Bytes of a block, and of all blocks that are gathered from one slice of the data, from which on these are likely to
 * come from memory: more than the nearer caches hold. On Zen 5 all lines of some blocks are read before these are
 * copied, since a loop that only reads has three times as many cache misses under way there as one that copies. On
 * other processors, Zen 4 among them, reads and writes of one copy overlap: to read first takes up to 1.8 of the time.
 */
const MIN_FAR_WIDTH = 512
const MIN_FAR = 8 << 20
/** Work of moving an element of any width, in bytes that could be copied in the same time. */
const ELEMENT_WORK = 16

/** Gather: the arguments are those of RowsArguments in ../assembly/gather/arguments.ts. */
export function gatherJobs(
  { data, indices }: Operands,
  params: { readonly axis: number; readonly batchDims: number } & IndexPolicy
): readonly JobTemplate[] {
  const axis = normalizeAxis(params.axis, data.dims.length)
  const { batch, outer, size, inner, count } = gatherLayout(data.dims, indices.dims, axis, params.batchDims)
  const form = formOf(data, indices, batch * outer * count, inner)
  if (form === undefined || size > MAX_INT32) return []
  const indicesUse: InputUse =
    outer === 1
      ? { staging: 'parts', elementsPerBlock: 1, isWidened: form.isWidened }
      : { staging: 'whole', isWidened: form.isWidened }
  return [
    {
      kernel: 'rows',
      blocks: form.blocks,
      blockBytes: form.width,
      work: form.work,
      inputs: [form.dataUse, indicesUse],
      outputStaging: form.outputStaging,
      args: [...commonArguments(form, size, count, params), outer, count]
    }
  ]
}

/** ArrayFeatureExtractor: a Gather along the last axis, whose indices do not count from the end. */
export const featureJobs = ({ x, indices }: { readonly x: Tensor; readonly indices: Tensor }): readonly JobTemplate[] =>
  gatherJobs({ data: x, indices }, { axis: -1, batchDims: 0, ...FROM_START })

/** GatherElements: the arguments are those of ElementsArguments in ../assembly/gather/arguments.ts. */
export function gatherElementsJobs(
  { data, indices }: Operands,
  params: { readonly axis: number } & IndexPolicy
): readonly JobTemplate[] {
  const axis = normalizeAxis(params.axis, data.dims.length)
  const size = data.dims[axis]
  const layout = elementLayout(indices.dims, data.dims, axis)
  const form = formOf(data, indices, product(indices.dims), 1)
  if (form === undefined || layout === undefined || size > MAX_INT32) return []
  const { outer, count, inner, outerStride, axisStride } = layout
  const common = [...commonArguments(form, size, count, params), count, inner, outerStride, axisStride]
  const byElement: JobTemplate = {
    kernel: 'elements',
    blocks: form.blocks,
    blockBytes: form.width,
    work: form.work,
    inputs: [form.dataUse, { staging: 'parts', elementsPerBlock: 1, isWidened: form.isWidened }],
    outputStaging: form.outputStaging,
    args: [...common, 0]
  }
  const columns = form.isWidened ? undefined : panelColumns(size, form.width, layout)
  if (columns === undefined) return [byElement]
  // The indices and outputs of a panel lie far apart, so they are not staged.
  const byPanel: JobTemplate = {
    ...byElement,
    kernel: 'columns',
    blocks: outer * Math.ceil(inner / columns),
    tile: 1,
    inputs: [form.dataUse, { staging: 'never' }],
    outputStaging: 'never',
    args: [...common, columns]
  }
  return [byPanel, byElement]
}

/** GatherND: the arguments are those of TuplesArguments in ../assembly/gather/arguments.ts. */
export function gatherNDJobs(
  { data, indices }: Operands,
  params: { readonly batchDims: number } & IndexPolicy
): readonly JobTemplate[] {
  const { batches, sizes, inner } = tupleLayout(data.dims, indices.dims, params.batchDims)
  const components = sizes.length
  const form = formOf(data, indices, product(indices.dims, 0, indices.dims.length - 1), inner)
  if (form === undefined || batches * product(sizes) > MAX_INT32) return []
  const count = form.blocks / batches
  return [
    {
      kernel: 'tuples',
      blocks: form.blocks,
      blockBytes: form.width,
      work: form.work,
      inputs: [form.dataUse, { staging: 'parts', elementsPerBlock: components, isWidened: form.isWidened }],
      outputStaging: form.outputStaging,
      args: [...commonArguments(form, 0, count, params), count, components, ...sizes]
    }
  ]
}

/** What the jobs of all gathers have in common. */
interface Form {
  readonly blocks: number
  /** Bytes of a block. */
  readonly width: number
  readonly work: number
  readonly dataUse: InputUse
  readonly outputStaging: OutputStaging
  /** Whether an index is read as 8 bytes, and whether as 4 though it has fewer. */
  readonly isWide: boolean
  readonly isWidened: boolean
}

/**
 * @param blocks blocks of the output, of `inner` elements each
 * @returns undefined where the kernels do not know a type, and where there is too little to move
 */
function formOf(data: Tensor, indices: Tensor, blocks: number, inner: number): Form | undefined {
  const { array: Storage, slots } = DTYPES[data.type]
  if (Storage === undefined || indices.type === 'uint32' || indices.type === 'uint64') return undefined
  const width = inner * Storage.BYTES_PER_ELEMENT * slots
  const moved = blocks * width + (indices.data as NumericArray).byteLength
  if (blocks * width === 0 || moved < MIN_MOVED) return undefined
  return {
    blocks,
    width,
    work: blocks * Math.max(width, ELEMENT_WORK),
    dataUse: { staging: dataStaging((data.data as NumericArray).byteLength, width, moved) },
    outputStaging: width < MIN_OWN_COPY ? 'parts' : width < MIN_OWN_COPY_SHARED ? 'shared' : 'never',
    isWide: indices.type === 'int64',
    isWidened: indices.type !== 'int64' && indices.type !== 'int32'
  }
}

/** Data elsewhere are worth a copy where many short blocks are read: each of those costs the reference more. */
const dataStaging = (bytes: number, width: number, moved: number): Staging =>
  width <= MAX_COPIED_WIDTH && moved >= MIN_MOVED_TO_COPY && bytes <= Math.min(2 * moved, MAX_COPIED)
    ? 'whole'
    : 'never'

/**
 * The fields of GatherArguments after the addresses.
 * @param size of the axis along which the indices count
 * @param count blocks that are gathered from one slice of the data
 */
const commonArguments = ({ width, isWide }: Form, size: number, count: number, policy: IndexPolicy): number[] => [
  width,
  size,
  Number(isWide),
  Number(policy.negative === 'wrap'),
  Number(policy.outOfRange === 'zero'),
  Number(width > MIN_FAR_WIDTH && count * width >= MIN_FAR && isZen5())
]

/** Indices as `[outer, count, inner]`, and the strides of the data in elements. */
interface ElementLayout {
  readonly outer: number
  readonly count: number
  readonly inner: number
  readonly outerStride: number
  readonly axisStride: number
}

/** Undefined where more loops are needed, since indices are smaller than data on several dims. */
function elementLayout(dims: readonly number[], dataDims: readonly number[], axis: number): ElementLayout | undefined {
  const isServed =
    isOneLoop(dims.slice(0, axis), dataDims.slice(0, axis)) && isOneLoop(dims.slice(axis + 1), dataDims.slice(axis + 1))
  if (!isServed) return undefined
  return {
    outer: product(dims, 0, axis),
    count: dims[axis],
    inner: product(dims, axis + 1),
    outerStride: product(dataDims, axis),
    axisStride: product(dataDims, axis + 1)
  }
}

/** Whether elements of `dims` lie side by side among those of `dataDims`. */
const isOneLoop = (dims: readonly number[], dataDims: readonly number[]): boolean =>
  dims.every((dim, i) => dim === 1 || product(dims, i + 1) === product(dataDims, i + 1))

/** Data of at most so many bytes stay in the cache, and are not packed. */
const CACHED_BYTES = 1 << 19
/** Bounds of a packed panel. */
const MAX_PANEL_BYTES = 1 << 18
const MAX_PANEL_COLUMNS = 256

/**
 * Columns of a panel; undefined where packing does not pay, which takes data beyond the cache, panels of whole cache
 * lines, and columns each of which is read often enough.
 */
function panelColumns(size: number, width: number, { count, inner, axisStride }: ElementLayout): number | undefined {
  const isCached = size * axisStride * width <= CACHED_BYTES
  if (isCached || inner * width < 2 * LINE || 4 * count < size || size * LINE > MAX_PANEL_BYTES) return undefined
  const line = Math.min(Math.floor(MAX_PANEL_BYTES / size / LINE) * LINE, MAX_PANEL_COLUMNS * width)
  return Math.min(inner, line / width)
}
