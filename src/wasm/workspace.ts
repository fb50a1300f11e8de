import { heapAllocate } from './heap.ts'
import type { Stage } from './staging.ts'
import { type Wasm, wasm } from './wasm.ts'

/** Where the fields of a job's header lie, in words of 32 bits; see assembly/job.ts. */
export const HEADER = {
  next: 0,
  admitted: 1,
  active: 2,
  failed: 3,
  limit: 4,
  tile: 5,
  blocks: 6,
  whole: 7,
  part: 8,
  kernel: 9,
  args: 10,
  module: 11
} as const
/** Value of `next` while no tile may be taken, as in assembly/index.ts: above every limit. */
export const CLOSED = 2 ** 30

/** Bytes of a job: its header, the words by which workers are woken, and the kernel's arguments. */
const JOB_BYTES = 1024
/** Where in a job the arguments lie, in words of 32 bits; cache lines apart from what workers write. */
const ARGUMENTS = 64
/** Bytes that one thread needs beside the arrays: packed columns, positions, transformed tiles. */
export const SCRATCH_BYTES = 1536 << 10
/** Bytes of it before a kernel's own, where a product of panels computes the edges of C; see assembly/f32/gemm.ts. */
export const EDGE = 192
/** Columns of a panel of a packed matrix, or positions of one of im2col; see assembly/f32/panels.ts. */
export const PANEL = 8
/** Bytes of scratch memory for a tap of im2col; see assembly/windows.ts. */
export const TAP = 40
/** Bytes of the memory through which inputs are staged, and as many for the output. */
export const STAGE_BYTES = 1 << 20
/**
 * Bytes of a part of a job whose arrays pass through the stage, of inputs and output each. The caches of a core hold
 * them: the kernel finds its inputs there, and the copy to the caller's array the output. Parts of 512 KiB that threads
 * share take 1.03 of the time.
 */
export const PART_BYTES = 1 << 18

/** Heap memory of the main thread's jobs. Its content need not outlive a yield, so all jobs of a process share it. */
export interface Workspace {
  readonly accelerated: Wasm
  /** Addresses of the job and of the main thread's scratch memory. */
  readonly job: number
  readonly scratch: number
  /** The words of the job's header, and those of the kernel's arguments. */
  readonly header: Int32Array
  readonly args: Int32Array
  readonly inputStage: Stage
  readonly outputStage: Stage
}

let workspace: Workspace | undefined

/** The workspace, made when first asked for; undefined where there is no heap, or no room on it. */
export function workspaceOf(): Workspace | undefined {
  workspace ??= makeWorkspace()
  return workspace
}

function makeWorkspace(): Workspace | undefined {
  const accelerated = wasm()
  const block = heapAllocate(JOB_BYTES + SCRATCH_BYTES + 2 * STAGE_BYTES)
  if (accelerated === undefined || block === undefined) return undefined
  const { buffer, byteOffset: job } = block
  const scratch = job + JOB_BYTES
  const stage = scratch + SCRATCH_BYTES
  const header = new Int32Array(buffer, job, ARGUMENTS)
  header[HEADER.next] = CLOSED
  return {
    accelerated,
    job,
    scratch,
    header,
    args: new Int32Array(buffer, job + 4 * ARGUMENTS, JOB_BYTES / 4 - ARGUMENTS),
    inputStage: stageAt(buffer, stage),
    outputStage: stageAt(buffer, stage + STAGE_BYTES)
  }
}

const stageAt = (buffer: ArrayBufferLike, at: number): Stage => ({
  bytes: new Uint8Array(buffer, at, STAGE_BYTES),
  floats: new Float32Array(buffer, at, STAGE_BYTES / 4)
})
