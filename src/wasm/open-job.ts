import { clock } from '../host.ts'
import { awaitWorkers, wakeWorkers } from './threads.ts'
import type { Tiling } from './tiling.ts'
import type { JobRunner } from './wasm.ts'
import { CLOSED, HEADER, type Workspace } from './workspace.ts'

/** The job that may be open between two turns, and with it its words in the workspace. */
let current: OpenJob | undefined

/** Closes the job that is open, if any: anything that its threads read may be written anew then. */
export function closeOpenJob(): void {
  current?.close()
}

function makeCurrent(job: OpenJob): void {
  current = job
}

/**
 * A job that is computed in turns. It stays open between them, so that workers go on with its tiles while the calling
 * thread does something else. Where another job is written meanwhile, this one is closed, and the next turn opens it
 * again, from the first tile on that nobody has taken.
 */
export class OpenJob {
  private readonly runner: JobRunner
  private readonly workspace: Workspace
  private readonly tiling: Tiling
  private readonly write: (tiling: Tiling) => void
  /** While it is closed: the first tile that nobody has taken. */
  private next = 0
  /** Workers that it admits while it is open. */
  private workers = 0
  private isStopped = false

  /** @param write writes all of the job but the words that threads share */
  constructor(runner: JobRunner, workspace: Workspace, tiling: Tiling, write: (tiling: Tiling) => void) {
    this.runner = runner
    this.workspace = workspace
    this.tiling = tiling
    this.write = write
  }

  /** Whether the kernel has stopped at a value that it cannot serve. */
  get hasFailed(): boolean {
    return this.isStopped
  }

  /**
   * Computes tiles in the calling thread for about so many milliseconds, together with `workers` workers, which may go
   * on afterwards.
   * @returns whether tiles may be left; where not, the job is closed
   */
  turn(milliseconds: number, workers: number): boolean {
    if (current !== this || workers > this.workers) this.open(workers)
    const { job, scratch } = this.workspace
    const begin = clock()
    for (let isNew = true; this.runner.step(job, scratch, isNew) !== 0; isNew = false)
      if (clock() - begin > milliseconds) return true
    this.close()
    return false
  }

  /** Sees to it that no worker computes the job any more, until the next turn. */
  close(): void {
    if (current !== this) return
    current = undefined
    const { header } = this.workspace
    this.next = Math.min(this.tiling.tiles, closeTiles(header))
    if (header[HEADER.failed] !== 0) this.isStopped = true
  }

  private open(workers: number): void {
    this.close()
    this.write(this.tiling)
    this.workers = workers
    makeCurrent(this)
    openTiles(this.workspace.header, this.next, this.tiling.tiles, workers)
  }
}

/**
 * Computes all tiles of a job that has been written, together with `workers` workers.
 * @returns false where the kernel stopped
 */
export function runTiles(
  runner: JobRunner,
  { header, job, scratch }: Workspace,
  { tiles }: Tiling,
  workers: number
): boolean {
  openTiles(header, 0, tiles, workers)
  try {
    for (let isNew = true; runner.step(job, scratch, isNew) !== 0;) isNew = false
  } finally {
    closeTiles(header)
  }
  return header[HEADER.failed] === 0
}

/** Lets threads take the tiles `start … end-1` of the job that has been written. */
export function openTiles(header: Int32Array, start: number, end: number, workers: number): void {
  header[HEADER.limit] = end
  Atomics.store(header, HEADER.admitted, workers)
  Atomics.store(header, HEADER.next, start)
  if (workers > 0) wakeWorkers(header, workers)
}

/**
 * Returns once no worker is active. One that joins later finds no tile, so the job may be written anew.
 * @returns the first tile that nobody has taken; more than there are where the last one has been taken
 */
export function closeTiles(header: Int32Array): number {
  const next = Atomics.exchange(header, HEADER.next, CLOSED)
  awaitWorkers(header, HEADER.active)
  return next
}
