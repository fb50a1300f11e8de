import { clock, copyBytes } from '../host.ts'
import { bytesOf } from '../tensor/arrays.ts'
import type { NumericArray } from '../tensor/dtype.ts'
import { heapAllocate, heapFree, isOnHeap } from './heap.ts'
import { jobWatcher } from './job-watcher.ts'
import { runTiles } from './open-job.ts'
import {
  type DividedJob,
  isAtOnce,
  QUANTUM_MS,
  runAlone,
  runInPlace,
  runnerOf,
  workersFor,
  writeHeader
} from './shared-jobs.ts'
import {
  copyElements,
  copyFrom,
  copyTo,
  type InputUse,
  isStaged,
  stagedBytes,
  stageWhole,
  type Staging
} from './staging.ts'
import { inWholeTiles, tileOf, type Tiling, tilingOf } from './tiling.ts'
import { STAGE_BYTES, type Workspace, workspaceOf } from './workspace.ts'

/**
 * A job as far as types and dims determine it: a list of output blocks, which threads compute tile by tile. The arrays
 * come with each run.
 */
export interface JobTemplate extends DividedJob {
  readonly inputs: readonly InputUse[]
  /** `tiles` only where the output blocks lie in their order. */
  readonly outputStaging: Staging
  /** The kernel's arguments after the addresses of the arrays, in the order of its class in assembly/. */
  readonly args: readonly number[]
}

/**
 * - `done`: the output is written
 * - `failed`: the kernel stopped at a value that it cannot serve, such as an index out of range
 * - `full`: the heap has no room
 */
export type JobResult = 'done' | 'failed' | 'full'

/** Most blocks of a tile where arrays are staged. Tiles of fewer bytes than the stage take up to a third longer. */
const MAX_STAGED_BLOCKS = 1 << 18
/** Alignment of arrays that share the stage. */
const ALIGNMENT = 64
/** Instead of an address: the array is staged tile by tile. */
const BY_TILE = -1

/**
 * Runs a job by WebAssembly, in one go where it is short ({@link runAtOnce}); else it yields about every
 * {@link QUANTUM}. During a yield workers may go on with it; none does any more once the generator has ended.
 * @param inputs in the order of `template.inputs`; any array that does not lie on the heap must be one that may be
 *   staged
 * @param threads most threads to use, the calling one included
 */
export function* runJob(
  template: JobTemplate,
  inputs: readonly NumericArray[],
  out: NumericArray,
  threads: number
): Generator<void, JobResult> {
  if (runAtOnce(template, inputs, out, threads)) return 'done'
  const workspace = workspaceOf()
  if (workspace === undefined) return 'full'
  const copies: Uint8Array[] = []
  try {
    const addresses: number[] = []
    for (let i = 0; i < inputs.length; i++) {
      const address = placeInput(template.inputs[i], inputs[i], copies)
      if (address === undefined) return 'full'
      addresses.push(address)
    }
    let outCopy: Uint8Array | undefined
    if (isOnHeap(out)) addresses.push(out.byteOffset)
    else if (template.outputStaging === 'tiles') addresses.push(BY_TILE)
    else {
      outCopy = heapAllocate(out.byteLength, { zero: false })
      if (outCopy === undefined) return 'full'
      copies.push(outCopy)
      addresses.push(outCopy.byteOffset)
    }
    const job = { template, workspace, inputs, out, addresses }
    const isDone = yield* addresses.includes(BY_TILE)
      ? runStaged(job)
      : runInPlace(template, workspace, tiling => writeJob(job, tiling), threads)
    if (isDone && outCopy !== undefined) copyBytes(outCopy, bytesOf(out))
    if (isDone) tellWatcher(template, inputs, out)
    return isDone ? 'done' : 'failed'
  } finally {
    copies.forEach(heapFree)
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
  if (!isOutOnHeap && (template.outputStaging !== 'whole' || out.byteLength > STAGE_BYTES)) return false
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
      if (uses[i].staging !== 'whole' || uses[i].isWidened === true) return false
      if (used + array.byteLength > STAGE_BYTES) return false
      copyTo(inputStage, used, array)
      args[i] = inputStage.bytes.byteOffset + used
      used += Math.ceil(array.byteLength / ALIGNMENT) * ALIGNMENT
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

/** The address of an input, copied to the heap if need be; {@link BY_TILE}; undefined when the heap is full. */
function placeInput(use: InputUse, array: NumericArray, copies: Uint8Array[]): number | undefined {
  if (!isStaged(use, array)) return array.byteOffset
  if (use.staging === 'tiles') return BY_TILE
  const copy = stageWhole(use, array)
  if (copy !== undefined) copies.push(copy)
  return copy?.byteOffset
}

/** A template with its arrays. */
interface Job {
  readonly template: JobTemplate
  readonly workspace: Workspace
  readonly inputs: readonly NumericArray[]
  readonly out: NumericArray
  /** Of the inputs, then of the output: an address on the heap, or {@link BY_TILE}. */
  readonly addresses: readonly number[]
}

/** Runs a job some of whose arrays are staged tile by tile, in the calling thread. */
function* runStaged(job: Job): Generator<void, boolean> {
  const { template, workspace, inputs, out, addresses } = job
  const { blocks, blockBytes } = template
  const { args, outputStage } = workspace
  const runner = runnerOf(template.kernel, workspace.accelerated)
  const outAt = inputs.length
  const isOutStaged = addresses[outAt] === BY_TILE
  const staged = stagedInputs(job)
  const tile = stagedTile(job, staged)
  const target = bytesOf(out)
  let yielded = -Infinity
  for (let start = 0; start < blocks; start += tile) {
    const now = clock()
    if (now - yielded > QUANTUM_MS) {
      if (start > 0) yield
      writeJob(job, inWholeTiles(blocks, tile))
      yielded = clock()
    }
    const end = Math.min(blocks, start + tile)
    stageTile(job, staged, start, end, tile)
    // An argument is the address of block 0: the kernel adds the offset of block `start` modulo 2^32.
    if (isOutStaged) args[outAt] = outputStage.bytes.byteOffset - start * blockBytes
    if (runner.run(workspace.job, workspace.scratch, start, end) !== 0) return false
    if (isOutStaged) copyBytes(outputStage.bytes.subarray(0, (end - start) * blockBytes), target, start * blockBytes)
  }
  return true
}

/** An input that is staged tile by tile. */
interface StagedInput {
  readonly index: number
  readonly elementsPerBlock: number
  readonly bytesPerBlock: number
}

function stagedInputs({ template, inputs, addresses }: Job): StagedInput[] {
  const staged: StagedInput[] = []
  inputs.forEach((array, index) => {
    if (addresses[index] !== BY_TILE) return
    const use = template.inputs[index]
    const { elementsPerBlock = 0 } = use
    staged.push({ index, elementsPerBlock, bytesPerBlock: elementsPerBlock * stagedBytes(use, array) })
  })
  return staged
}

/** Blocks of a tile so that its inputs fit into the stage, and its output too. */
function stagedTile({ template }: Job, staged: readonly StagedInput[]): number {
  const tile = tileOf(template, STAGE_BYTES, MAX_STAGED_BLOCKS)
  if (staged.length === 0) return tile
  const room = STAGE_BYTES - (staged.length - 1) * ALIGNMENT
  const bytesPerBlock = staged.reduce((sum, input) => sum + input.bytesPerBlock, 0)
  return Math.min(tile, Math.floor(room / bytesPerBlock))
}

/** Copies the parts of the staged inputs that belong to the blocks `start … end-1`, and writes their addresses. */
function stageTile(
  { template, inputs, workspace: { args, inputStage } }: Job,
  staged: readonly StagedInput[],
  start: number,
  end: number,
  tile: number
): void {
  let offset = 0
  for (const { index, elementsPerBlock: count, bytesPerBlock } of staged) {
    copyElements(template.inputs[index], inputs[index], start * count, end * count, inputStage.bytes, offset)
    args[index] = inputStage.bytes.byteOffset + offset - start * bytesPerBlock
    offset += Math.ceil((tile * bytesPerBlock) / ALIGNMENT) * ALIGNMENT
  }
}

/** Writes all of a job but the words that threads share and the addresses of staged tiles. */
function writeJob({ template, workspace: { header, args }, addresses }: Job, tiling: Tiling): void {
  writeHeader(template, header, args.byteOffset, tiling)
  for (let i = 0; i < addresses.length; i++) args[i] = addresses[i]
  for (let i = 0; i < template.args.length; i++) args[addresses.length + i] = template.args[i]
}
