import { clock } from '../host.ts'
import { QUANTUM } from '../kernels/core/pace.ts'
import { closeOpenJob, OpenJob } from './open-job.ts'
import { areWorkersMissing, isOneAwake, requestWorkers, workersReady } from './threads.ts'
import { type Divided, type Tiling, tilingOf } from './tiling.ts'
import { type JobRunner, type KernelName, KERNELS, type Wasm } from './wasm.ts'
import { HEADER, type Workspace, workspaceOf } from './workspace.ts'

/** What of a job says how it is divided, and which kernel computes it. */
export interface DividedJob extends Divided {
  readonly kernel: KernelName
}

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
export const isShared = (work: number, header: Int32Array): boolean =>
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
  const wanted = isShared(work, workspace.header) ? threads - 1 : 0
  const tiling = tilingOf({ ...divided, work }, wanted + 1)
  const job = new OpenJob(runnerOf(kernel, workspace.accelerated), workspace, tiling, write)
  try {
    for (let isLeft = true; isLeft;) {
      const begin = clock()
      const workers = wanted > 0 ? workersReady(workspace.header, wanted) : 0
      isLeft = job.turn(QUANTUM_MS, workers)
      if (job.hasFailed) return false
      const took = clock() - begin
      if (workers < wanted) requestWorkers(workspace, wanted, took)
      // After the last tiles, too: many jobs of a few long tiles may follow each other.
      if (isLeft || took > QUANTUM_MS / 2) yield
    }
    return true
  } finally {
    job.close()
  }
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
 * Writes the header of a job, but the words that threads share. A job that is open there is closed first: arguments and
 * what is staged for them may be written after this, not before.
 * @param args address of the arguments
 */
export function writeHeader(
  { kernel, blocks }: Pick<DividedJob, 'kernel' | 'blocks'>,
  header: Int32Array,
  args: number,
  { tile, whole, part }: Tiling
): void {
  if (header === workspaceOf()?.header) closeOpenJob()
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
