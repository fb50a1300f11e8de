import { bytesOf } from '../tensor/arrays.ts'
import type { NumericArray } from '../tensor/dtype.ts'
import type { Arena } from './arena.ts'
import { isOnHeap } from './heap.ts'
import type { WatchedJob } from './job-watcher.ts'
import { runTiles } from './open-job.ts'
import { type DividedJob, isAtOnce, runAlone, runInPlace, runnerOf, workersFor, writeHeader } from './shared-jobs.ts'
import { type Tiling, tilingOf } from './tiling.ts'
import type { JobRunner } from './wasm.ts'
import { type Workspace, workspaceOf } from './workspace.ts'

/** Words of a job before its arguments. */
const HEADER_WORDS = 16

/** A job whose words have been written once, for arrays that stay where they are. */
export class FixedJob {
  private readonly job: DividedJob
  private readonly workspace: Workspace
  private readonly runner: JobRunner
  /** Where the job and its arguments lie, and the scratch memory of the calling thread. */
  private readonly own: Pick<Workspace, 'job' | 'scratch'>
  private readonly args: number
  private readonly threads: number
  private readonly alone: Tiling
  private shared: Tiling | undefined
  private sharing = 0

  /** @param words of the job, on the heap: room for its header, then its arguments */
  constructor(job: DividedJob, words: Int32Array, workspace: Workspace, threads: number) {
    this.job = job
    this.workspace = workspace
    this.threads = threads
    this.runner = runnerOf(job.kernel, workspace.accelerated)
    this.own = { job: words.byteOffset, scratch: workspace.scratch }
    this.args = words.byteOffset + 4 * HEADER_WORDS
    this.alone = tilingOf(job, 1)
    writeHeader(job, words, this.args, this.alone)
  }

  /**
   * Computes all blocks.
   * @returns false where the kernel stopped at a value that it cannot serve; what is left to do where that takes long
   */
  run(): boolean | Generator<void, boolean> {
    const { job, workspace, threads, own, runner, alone } = this
    if (!isAtOnce(job.work, threads)) return runInPlace(job, workspace, tiling => this.write(tiling), threads)
    const workers = workersFor(job.work, workspace.header, threads - 1)
    if (workers === 0) return runAlone(runner, own, alone)
    if (this.shared === undefined || this.sharing !== workers) {
      this.sharing = workers
      this.shared = tilingOf(job, workers + 1)
    }
    this.write(this.shared)
    return runTiles(runner, workspace, this.shared, workers)
  }

  /** Writes the job where threads share one. */
  private write(tiling: Tiling): void {
    writeHeader(this.job, this.workspace.header, this.args, tiling)
  }
}

/**
 * Writes a job that has been run. Inputs that do not lie on the heap are copied as they are now.
 * @returns undefined where the arena has no room
 */
export function fixJob(
  template: WatchedJob,
  inputs: readonly NumericArray[],
  out: NumericArray,
  arena: Arena,
  threads: number
): FixedJob | undefined {
  const workspace = workspaceOf()
  const addresses: number[] = []
  for (const input of inputs) {
    const first = inputs.indexOf(input)
    const address = first < addresses.length ? addresses[first] : addressOf(input, arena)
    if (address === undefined) return undefined
    addresses.push(address)
  }
  const args = [...addresses, out.byteOffset, ...template.args]
  const own = arena.take(4 * (HEADER_WORDS + args.length))
  if (workspace === undefined || own === undefined) return undefined
  const words = new Int32Array(own.buffer, own.byteOffset, own.byteLength / 4)
  words.fill(0, 0, HEADER_WORDS)
  words.set(args, HEADER_WORDS)
  return new FixedJob(template, words, workspace, threads)
}

function addressOf(input: NumericArray, arena: Arena): number | undefined {
  if (isOnHeap(input)) return input.byteOffset
  const copy = arena.take(input.byteLength)
  copy?.set(bytesOf(input))
  return copy?.byteOffset
}
