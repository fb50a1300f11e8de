import { clock } from '../host.ts'
import { QUANTUM } from '../kernels/core/pace.ts'
import { areWorkersMissing, awaitWorkers, isOneAwake, requestWorkers, wakeWorkers, workersReady } from './threads.ts'
import { type Divided, type Tiling, tilingOf } from './tiling.ts'
import { type JobRunner, type KernelName, KERNELS, type Wasm } from './wasm.ts'
import { CLOSED, HEADER, type Workspace } from './workspace.ts'

/** What of a job says how it is divided, and which kernel computes it. */
export interface DividedJob extends Divided {
  readonly kernel: KernelName
}

/** The unit of {@link DividedJob.work}: bytes that are copied in a nanosecond. */
const BYTES_PER_NANOSECOND = 10
/** Milliseconds between two yields. */
export const QUANTUM_MS = QUANTUM / 1e6
/** Work below which waking a worker, 15 to 50 microseconds, costs more than it gains. */
const MIN_SHARED_WORK = 1 << 20
/** The same where a worker is awake. */
const MIN_AWAKE_WORK = 1 << 18
/** Work below which a job is run in one go: to yield and to watch the clock pays from some quanta on. */
const MAX_AT_ONCE = 1 << 22

/** The exports of the module that has a kernel. */
export const runnerOf = (kernel: KernelName, accelerated: Wasm): JobRunner =>
  KERNELS[kernel][0] === 0 ? accelerated.kernels : accelerated.compute().exports

/** Whether a job is run in one go: there is little to do, and no workers are to be started for it. */
export function isAtOnce(work: number, threads: number): boolean {
  return work < MAX_AT_ONCE && !(threads > 1 && work >= MIN_SHARED_WORK && areWorkersMissing(threads - 1))
}

/** Workers that take part in a job now, at most `wanted`. */
export const workersFor = (work: number, header: Int32Array, wanted: number): number =>
  isShared(work, header) ? workersReady(header, wanted) : 0

/** Whether workers are to take part in a job, where there are any. */
const isShared = (work: number, header: Int32Array): boolean =>
  work >= MIN_SHARED_WORK || (work >= MIN_AWAKE_WORK && isOneAwake(header))

/**
 * Runs a job all of whose arrays lie on the heap: between two yields as many tiles as fit into a quantum, shared with
 * workers where there is much work.
 * @param write writes all of the job but the words that threads share
 * @returns false where the kernel stopped at a value that it cannot serve
 */
export function* runInPlace(
  { kernel, work, ...divided }: DividedJob,
  workspace: Workspace,
  write: (tiling: Tiling) => void,
  threads: number
): Generator<void, boolean> {
  const { header } = workspace
  const runner = runnerOf(kernel, workspace.accelerated)
  const wanted = isShared(work, header) ? threads - 1 : 0
  const least = wanted > 0 ? threads : 1
  const tiling = tilingOf({ ...divided, work }, wanted + 1)
  const { tiles } = tiling
  // A first estimate, half of what work tells; then what the clock tells. Threads that share a product wait for each
  // other at the end of a turn, and take half the time that work tells: they are given longer turns.
  const estimate = wanted > 0 && divided.isDivisible === true ? 2 * QUANTUM : QUANTUM / 2
  const tilesPerNanosecond = (tiles / work) * BYTES_PER_NANOSECOND * (wanted > 0 ? threads : 1)
  let perQuantum = wholeTurns(estimate * tilesPerNanosecond, least)
  for (let start = 0; start < tiles;) {
    const end = Math.min(tiles, start + perQuantum)
    const begin = clock()
    const workers = wanted > 0 ? workersReady(header, wanted) : 0
    write(tiling)
    if (!runTiles(runner, workspace, start, end, workers)) return false
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

/** About so many tiles, as many for each thread: none is without one in the last turn. */
const wholeTurns = (tiles: number, threads: number): number => Math.max(1, Math.round(tiles / threads)) * threads

/**
 * Computes the tiles `start … end-1` of the job that has been written, together with `workers` workers.
 * @returns false where the kernel stopped
 */
export function runTiles(
  runner: JobRunner,
  { header, job, scratch }: Workspace,
  start: number,
  end: number,
  workers: number
): boolean {
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
  return header[HEADER.failed] === 0
}

/** Computes all blocks of a job that has been written in the calling thread; false where the kernel stopped. */
export function runAlone(
  runner: JobRunner,
  { job, scratch }: Pick<Workspace, 'job' | 'scratch'>,
  { tile, blocks }: Pick<Tiling, 'tile' | 'blocks'>
): boolean {
  for (let start = 0; start < blocks; start += tile)
    if (runner.run(job, scratch, start, Math.min(blocks, start + tile)) !== 0) return false
  return true
}

/**
 * Writes the header of a job, but the words that threads share.
 * @param args address of the arguments
 */
export function writeHeader(
  { kernel, blocks }: Pick<DividedJob, 'kernel' | 'blocks'>,
  header: Int32Array,
  args: number,
  { tile, whole, part }: Tiling
): void {
  header[HEADER.failed] = 0
  header[HEADER.tile] = tile
  header[HEADER.whole] = whole
  header[HEADER.part] = part
  header[HEADER.blocks] = blocks
  const [module, number] = KERNELS[kernel]
  header[HEADER.module] = module
  header[HEADER.kernel] = number
  header[HEADER.args] = args
}
