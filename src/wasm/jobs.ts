import { clock, copyBytes } from '../host.ts'
import { QUANTUM } from '../kernels/core/pace.ts'
import { bytesOf } from '../tensor/arrays.ts'
import type { NumericArray } from '../tensor/dtype.ts'
import { runAlone, runnerOf } from './fixed-jobs.ts'
import { heapAllocate, heapFree, isOnHeap } from './heap.ts'
import { jobWatcher } from './job-watcher.ts'
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
import { areWorkersMissing, awaitWorkers, isOneAwake, requestWorkers, wakeWorkers, workersReady } from './threads.ts'
import { type Divided, inWholeTiles, tileOf, type Tiling, tilingOf } from './tiling.ts'
import { type JobRunner, type KernelName, KERNELS } from './wasm.ts'
import { CLOSED, HEADER, STAGE_BYTES, type Workspace, workspaceOf } from './workspace.ts'

/**
 * A job as far as types and dims determine it: a list of output blocks, which threads compute tile by tile. The arrays
 * come with each run.
 */
export interface JobTemplate extends Divided {
  readonly kernel: KernelName
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
/** The unit of {@link JobTemplate.work}: bytes that are copied in a nanosecond. */
const BYTES_PER_NANOSECOND = 10
/** Milliseconds between two yields. */
const QUANTUM_MS = QUANTUM / 1e6
/** Work below which waking a worker, 15 to 50 microseconds, costs more than it gains. */
const MIN_SHARED_WORK = 1 << 20
/** The same where a worker is awake. */
const MIN_AWAKE_WORK = 1 << 18
/** Work below which a job is run in one go: to yield and to watch the clock pays from some quanta on. */
const MAX_AT_ONCE = 1 << 22
/** Alignment of arrays that share the stage. */
const ALIGNMENT = 64
/** Instead of an address: the array is staged tile by tile. */
const BY_TILE = -1

/**
 * Runs a job by WebAssembly, in one go where it is short ({@link runAtOnce}); else it yields about every
 * {@link QUANTUM}. No worker is active during a yield.
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
  jobWatcher()?.missed()
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
    const isDone = yield* addresses.includes(BY_TILE) ? runStaged(job) : runInPlace(job, threads)
    if (isDone && outCopy !== undefined) copyBytes(outCopy, bytesOf(out))
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
  const wanted = threads - 1
  if (work >= MAX_AT_ONCE || (wanted > 0 && work >= MIN_SHARED_WORK && areWorkersMissing(wanted))) return false
  const workspace = workspaceOf()
  if (workspace === undefined) return false
  const { accelerated, header, args, outputStage } = workspace
  const count = inputs.length
  if (!stageAll(template, inputs, workspace)) return false
  const isOutOnHeap = isOnHeap(out)
  if (!isOutOnHeap && (template.outputStaging !== 'whole' || out.byteLength > STAGE_BYTES)) return false
  args[count] = isOutOnHeap ? out.byteOffset : outputStage.bytes.byteOffset
  const { args: own } = template
  const workers = isShared(work, header) ? workersReady(header, wanted) : 0
  const tiling = tilingOf(template, workers + 1)
  writeHeader(template, header, args, tiling)
  for (let i = 0; i < own.length; i++) args[count + 1 + i] = own[i]
  const runner = runnerOf(KERNELS[template.kernel][0], accelerated)
  const isDone = workers > 0 ? runShared(runner, workspace, tiling, workers) : runAlone(runner, workspace, tiling)
  if (!isDone) return false
  if (!isOutOnHeap) copyFrom(outputStage, out)
  const watcher = jobWatcher()
  if (wanted > 0 && work >= MIN_AWAKE_WORK) watcher?.missed()
  else watcher?.ran(template, tiling.tile, inputs, out)
  return true
}

function runShared(runner: JobRunner, workspace: Workspace, { tiles }: Tiling, workers: number): boolean {
  runTiles(runner, workspace, 0, tiles, workers)
  return workspace.header[HEADER.failed] === 0
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

/** Whether workers are to take part in a job, where there are any. */
const isShared = (work: number, header: Int32Array): boolean =>
  work >= MIN_SHARED_WORK || (work >= MIN_AWAKE_WORK && isOneAwake(header))

/**
 * Runs a job all of whose arrays lie on the heap: between two yields as many tiles as fit into a quantum, shared with
 * workers where there is much work.
 */
function* runInPlace(job: Job, threads: number): Generator<void, boolean> {
  const { template, workspace } = job
  const runner = runnerOf(KERNELS[template.kernel][0], workspace.accelerated)
  const wanted = isShared(template.work, workspace.header) ? threads - 1 : 0
  const least = wanted > 0 ? threads : 1
  const tiling = tilingOf(template, wanted + 1)
  const { tiles } = tiling
  // A first estimate, half of what work tells; then what the clock tells.
  const tilesPerNanosecond = (tiles / template.work) * BYTES_PER_NANOSECOND * (wanted > 0 ? threads : 1)
  let perQuantum = wholeTurns((QUANTUM / 2) * tilesPerNanosecond, least)
  for (let start = 0; start < tiles;) {
    const end = Math.min(tiles, start + perQuantum)
    const begin = clock()
    const workers = wanted > 0 ? workersReady(workspace.header, wanted) : 0
    writeJob(job, tiling)
    runTiles(runner, workspace, start, end, workers)
    if (workspace.header[HEADER.failed] !== 0) return false
    start = end
    const took = clock() - begin
    if (took < QUANTUM_MS / 2) perQuantum *= 2
    else if (took > 2 * QUANTUM_MS) perQuantum = wholeTurns((perQuantum * QUANTUM_MS) / took, least)
    if (workers < wanted) requestWorkers(workspace, wanted, took)
    // After the last tiles, too: many jobs of a few long tiles may follow each other.
    if (start < tiles || took > QUANTUM_MS / 2) yield
  }
  return true
}

/** So many tiles, less what would leave threads without one in the last turn; at least one for each thread. */
const wholeTurns = (tiles: number, threads: number): number => Math.max(1, Math.floor(tiles / threads)) * threads

/** Computes the tiles `start … end-1` of the job that has been written, together with `workers` workers. */
function runTiles(
  runner: JobRunner,
  { header, job, scratch }: Workspace,
  start: number,
  end: number,
  workers: number
): void {
  header[HEADER.limit] = end
  Atomics.store(header, HEADER.admitted, workers)
  Atomics.store(header, HEADER.next, start)
  if (workers > 0) wakeWorkers(header, workers)
  try {
    runner.work(job, scratch)
  } finally {
    // A worker that joins a closed job finds no tile, so the job can be written again once no worker is active.
    Atomics.store(header, HEADER.next, CLOSED)
    awaitWorkers(header, HEADER.active)
  }
}

/** Runs a job some of whose arrays are staged tile by tile, in the calling thread. */
function* runStaged(job: Job): Generator<void, boolean> {
  const { template, workspace, inputs, out, addresses } = job
  const { blocks, blockBytes } = template
  const { args, outputStage } = workspace
  const runner = runnerOf(KERNELS[template.kernel][0], workspace.accelerated)
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
  writeHeader(template, header, args, tiling)
  for (let i = 0; i < addresses.length; i++) args[i] = addresses[i]
  for (let i = 0; i < template.args.length; i++) args[addresses.length + i] = template.args[i]
}

function writeHeader(template: JobTemplate, header: Int32Array, args: Int32Array, tiling: Tiling): void {
  header[HEADER.failed] = 0
  header[HEADER.tile] = tiling.tile
  header[HEADER.whole] = tiling.whole
  header[HEADER.part] = tiling.part
  header[HEADER.blocks] = template.blocks
  const [module, kernel] = KERNELS[template.kernel]
  header[HEADER.module] = module
  header[HEADER.kernel] = kernel
  header[HEADER.args] = args.byteOffset
}
