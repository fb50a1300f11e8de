import { copyBytes } from '../host.ts'
import { bytesOf } from '../tensor/arrays.ts'
import type { NumericArray } from '../tensor/dtype.ts'
import { heapAllocate, heapFree, isOnHeap } from './heap.ts'
import { jobWatcher } from './job-watcher.ts'
import { runTiles } from './open-job.ts'
import { type DividedJob, isAtOnce, runAlone, runInPlace, runnerOf, workersFor, writeHeader } from './shared-jobs.ts'
import { BY_PART, firstOf, MIN_SHARED, runStaged } from './staged-job.ts'
import { alignedBytes, copyFrom, copyTo, type InputUse, isStaged, type OutputStaging, stageWhole } from './staging.ts'
import { type Tiling, tilingOf } from './tiling.ts'
import { PART_BYTES, STAGE_BYTES, type Workspace, workspaceOf } from './workspace.ts'

/**
 * A job as far as types and dims determine it: a list of output blocks, which threads compute tile by tile. The arrays
 * come with each run.
 */
export interface JobTemplate extends DividedJob {
  readonly inputs: readonly InputUse[]
  /** `whole` where left out; by parts only where blocks lie in their order, and any number can be computed. */
  readonly outputStaging?: OutputStaging
  /** The kernel's arguments after the addresses of the arrays, in the order of its class in assembly/. */
  readonly args: readonly number[]
}

/**
 * Whether a job may run where its output lies outside the heap.
 * @param bytes of the output
 * @param threads most threads to use
 */
export const servesOutside = ({ outputStaging }: JobTemplate, bytes: number, threads: number): boolean =>
  outputStaging === 'shared' ? threads > 1 && bytes > MIN_SHARED : outputStaging !== 'never'

/**
 * Runs a job by WebAssembly, in one go where it is short ({@link runAtOnce}); else it yields about every
 * {@link QUANTUM}. During a yield workers may go on with it; none does any more once the generator has ended.
 * @param inputs in the order of `template.inputs`; any array that does not lie on the heap must be one that may be
 *   staged
 * @param out an array that does not lie on the heap only where {@link servesOutside} says so
 * @param threads most threads to use, the calling one included
 * @returns false, with an output that may hold anything, where the heap has no room, and where the kernel stopped at a
 *   value that it cannot serve, such as an index out of range
 */
export function* runJob(
  template: JobTemplate,
  inputs: readonly NumericArray[],
  out: NumericArray,
  threads: number
): Generator<void, boolean> {
  if (runAtOnce(template, inputs, out, threads)) return true
  const copies: Uint8Array[] = []
  let isDone = false
  try {
    const workspace = workspaceOf()
    if (workspace === undefined) return false
    const addresses: number[] = []
    for (let i = 0; i < inputs.length; i++) {
      const first = firstOf(template, inputs, i)
      const address = first < i ? addresses[first] : placeInput(template.inputs[i], inputs[i], copies)
      if (address === undefined) return false
      addresses.push(address)
    }
    let outCopy: Uint8Array | undefined
    if (isOnHeap(out)) addresses.push(out.byteOffset)
    else if ((template.outputStaging ?? 'whole') !== 'whole') addresses.push(BY_PART)
    else {
      outCopy = heapAllocate(out.byteLength, { zero: false })
      if (outCopy === undefined) return false
      copies.push(outCopy)
      addresses.push(outCopy.byteOffset)
    }
    const write = (tiling: Tiling): void => writeJob(template, workspace, addresses, tiling)
    isDone = yield* addresses.includes(BY_PART)
      ? runStaged({ template, inputs, out, addresses, write }, workspace, threads)
      : runInPlace(template, workspace, write, threads)
    if (isDone && outCopy !== undefined) copyBytes(outCopy, bytesOf(out))
    if (isDone) tellWatcher(template, inputs, out)
    return isDone
  } finally {
    copies.forEach(heapFree)
    // The kernel goes on in another way, which is not recorded.
    if (!isDone) jobWatcher()?.missed()
  }
}

/**
 * Runs a job of little work in one go; arrays that are not on the heap pass through the stage. To look for memory and
 * to watch the clock would take longer than many a job.
 * @param threads most threads to use, the calling one included
 * @returns false, with nothing done, where there is more to do, where workers are to be started, and where arrays have
 *   to be placed otherwise
 */
export function runAtOnce(
  template: JobTemplate,
  inputs: readonly NumericArray[],
  out: NumericArray,
  threads: number
): boolean {
  const { work } = template
  if (!isAtOnce(work, threads)) return false
  const workspace = workspaceOf()
  if (workspace === undefined) return false
  const { accelerated, header, args, outputStage } = workspace
  const isOutOnHeap = isOnHeap(out)
  if (!isOutOnHeap && (!servesOutside(template, out.byteLength, threads) || out.byteLength > PART_BYTES)) return false
  const workers = workersFor(work, header, threads - 1)
  const tiling = tilingOf(template, workers + 1)
  writeHeader(template, header, args.byteOffset, tiling)
  if (!stageAll(template, inputs, workspace)) return false
  const count = inputs.length
  args[count] = isOutOnHeap ? out.byteOffset : outputStage.bytes.byteOffset
  const { args: own } = template
  for (let i = 0; i < own.length; i++) args[count + 1 + i] = own[i]
  const runner = runnerOf(template.kernel, accelerated)
  const isDone = workers > 0 ? runTiles(runner, workspace, tiling, workers) : runAlone(runner, workspace, tiling)
  if (!isDone) return false
  if (!isOutOnHeap) copyFrom(outputStage, out)
  tellWatcher(template, inputs, out)
  return true
}

/** Writes the addresses of inputs, those of the stage where they are copied to it; false where they may not be. */
function stageAll(
  { inputs: uses }: JobTemplate,
  inputs: readonly NumericArray[],
  { args, inputStage }: Workspace
): boolean {
  let used = 0
  for (let i = 0; i < inputs.length; i++) {
    const array = inputs[i]
    // Kernels are given another operand instead of one that is left out.
    const first = inputs.indexOf(array)
    if (first < i) args[i] = args[first]
    else if (!isStaged(uses[i], array)) args[i] = array.byteOffset
    else {
      if (uses[i].staging === 'never' || uses[i].isWidened === true) return false
      if (used + array.byteLength > STAGE_BYTES) return false
      copyTo(inputStage, used, array)
      args[i] = inputStage.bytes.byteOffset + used
      used += alignedBytes(array.byteLength)
    }
  }
  return true
}

function tellWatcher(template: JobTemplate, inputs: readonly NumericArray[], out: NumericArray): void {
  const watcher = jobWatcher()
  if (watcher === undefined) return
  if (isOnHeap(out) && inputs.every((_, i) => template.inputs[i].isWidened !== true)) watcher.ran(template, inputs, out)
  else watcher.missed()
}

/** The address of an input, copied to the heap if need be; {@link BY_PART}; undefined when the heap is full. */
function placeInput(use: InputUse, array: NumericArray, copies: Uint8Array[]): number | undefined {
  if (!isStaged(use, array)) return array.byteOffset
  if (use.staging === 'parts') return BY_PART
  const copy = stageWhole(use, array)
  if (copy !== undefined) copies.push(copy)
  return copy?.byteOffset
}

/** Writes all of a job but the words that threads share and the addresses of what is staged part by part. */
function writeJob(
  template: JobTemplate,
  { header, args }: Workspace,
  addresses: readonly number[],
  tiling: Tiling
): void {
  writeHeader(template, header, args.byteOffset, tiling)
  for (let i = 0; i < addresses.length; i++) args[i] = addresses[i]
  for (let i = 0; i < template.args.length; i++) args[addresses.length + i] = template.args[i]
}
