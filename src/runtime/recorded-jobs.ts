import type { NumericArray } from '../tensor/dtype.ts'
import { type Arena, liesIn } from '../wasm/arena.ts'
import { type FixedJob, fixJob } from '../wasm/fixed-jobs.ts'
import type { JobWatcher, WatchedJob } from '../wasm/job-watcher.ts'
import { liesOnHeap } from './memory.ts'

/** Of values, whose memory later values may have, and of jobs, which stay as they are. */
export interface Arenas {
  readonly values: Arena
  readonly jobs: Arena
}

/** Most bytes that lie between two jobs of a kernel: those of more take so long that writing them would gain little. */
const MAX_BETWEEN = 1 << 18

/** Writes the jobs of a step. */
export class RecordedJobs implements JobWatcher {
  made: readonly FixedJob[] = []
  private readonly arenas: Arenas
  private readonly constants: readonly ArrayBufferView[]
  private readonly threads: number
  private readonly between: Uint8Array[] = []
  private isWhole = true

  constructor(arenas: Arenas, constants: readonly ArrayBufferView[], threads: number) {
    this.arenas = arenas
    this.constants = constants
    this.threads = threads
  }

  ran(job: WatchedJob, inputs: readonly NumericArray[], out: NumericArray): void {
    const { values, jobs } = this.arenas
    // Memory that a kernel takes for itself is another one each time.
    const isKnown =
      values.holds(out) && inputs.every(input => !liesOnHeap(input) || values.holds(input) || this.isOfConstant(input))
    const fixed = this.isWhole && isKnown ? fixJob(job, inputs, out, jobs, this.threads) : undefined
    if (fixed) this.made = [...this.made, fixed]
    else this.missed()
  }

  missed(): void {
    this.isWhole = false
    this.made = []
  }

  take(bytes: number): Uint8Array | undefined {
    const memory = this.isWhole && bytes <= MAX_BETWEEN ? this.arenas.values.take(bytes) : undefined
    if (memory) this.between.push(memory)
    return memory
  }

  /** The kernel is done: later steps may have the memory that lay between its jobs. */
  giveBack(): void {
    for (const memory of this.between.splice(0)) this.arenas.values.giveBack(memory)
  }

  private isOfConstant(input: NumericArray): boolean {
    return this.constants.some(other => liesIn(input, other))
  }
}
