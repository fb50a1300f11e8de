import { clock, copyBytes } from '../host.ts'
import { bytesOf } from '../tensor/arrays.ts'
import type { NumericArray } from '../tensor/dtype.ts'
import { LINE } from './heap.ts'
import { closeTiles, openTiles } from './open-job.ts'
import { type DividedJob, isShared, QUANTUM_MS, runnerOf } from './shared-jobs.ts'
import { alignedBytes, copyElements, type InputUse, stagedBytes } from './staging.ts'
import { requestWorkers, workersReady } from './threads.ts'
import { inWholeTiles, type Tiling } from './tiling.ts'
import type { JobRunner } from './wasm.ts'
import { HEADER, PART_BYTES, type Workspace } from './workspace.ts'

/** Instead of an address: the array is staged part by part. */
export const BY_PART = -1
/** Most blocks of a part. */
const MAX_BLOCKS = 1 << 16
/**
 * Bytes of output of a piece: what one thread computes of a part and copies to the caller's array while the first cache
 * holds it. Rows of 3 and 8 KB take 0.75 of the time of copies from the second cache. Blocks shorter than a line of the
 * cache take the kernel longer than the copy, so their parts are not divided.
 */
const PIECE_BYTES = 1 << 14
/** Bytes of output up to which one thread takes less time for whole lines than two that share them: 0.88 of it. */
export const MIN_SHARED = 1 << 21
/** Tiles of a part, which threads share: the main thread joins the workers late, when it has copied. */
const TILES = 8

/** A job some of whose arrays pass through the stage, a part of its blocks at a time. */
export interface StagedJob {
  readonly template: DividedJob & { readonly inputs: readonly InputUse[] }
  readonly inputs: readonly NumericArray[]
  readonly out: NumericArray
  /** Of the inputs, then of the output: an address on the heap, or {@link BY_PART}. */
  readonly addresses: readonly number[]
  /** Writes all of the job but the words that threads share and the addresses of what is staged. */
  write(tiling: Tiling): void
}

/**
 * Runs a job part by part; it yields about every {@link QUANTUM_MS}. Where workers take part, they compute one part
 * while the main thread copies the one before to the output, and the inputs of the next to the stage.
 * @param threads most threads to use, the calling one included
 * @returns false where the kernel stopped at a value that it cannot serve
 */
export function* runStaged(job: StagedJob, workspace: Workspace, threads: number): Generator<void, boolean> {
  const { header } = workspace
  const { blocks, work } = job.template
  const run = new StagedRun(job, workspace)
  const wanted = isShared(work, header) && run.gainsByThreads ? threads - 1 : 0
  for (let done = 0; done < blocks;) {
    if (done > 0) yield
    const begin = clock()
    const workers = wanted > 0 ? workersReady(header, wanted) : 0
    const next = workers > 0 ? run.computeTogether(done, workers) : run.computeAlone(done)
    if (next === undefined) return false
    done = next
    if (workers < wanted) requestWorkers(workspace, wanted, clock() - begin)
  }
  return true
}

/** The first input that is the same array and read alike, by its index: such inputs are copied to the heap once. */
export function firstOf({ inputs: uses }: StagedJob['template'], inputs: readonly NumericArray[], i: number): number {
  const { staging, elementsPerBlock, isWidened } = uses[i]
  const isAlike = (use: InputUse): boolean =>
    use.staging === staging && use.elementsPerBlock === elementsPerBlock && use.isWidened === isWidened
  return inputs.findIndex((array, k) => array === inputs[i] && isAlike(uses[k]))
}

/** An input that is staged, with others that are the same. */
interface StagedInput {
  readonly indices: readonly number[]
  readonly elementsPerBlock: number
  readonly bytesPerBlock: number
}

class StagedRun {
  private readonly job: StagedJob
  private readonly workspace: Workspace
  private readonly runner: JobRunner
  private readonly staged: readonly StagedInput[]
  private readonly isOutStaged: boolean
  private readonly target: Uint8Array
  /** Blocks of a piece, and the beginning of the stage, where each is computed; undefined where parts are whole. */
  private readonly piece: { readonly blocks: number; readonly bytes: Uint8Array } | undefined
  /** Blocks of a tile, and of a part: whole tiles, so that threads may go on behind any part. */
  private readonly tile: number
  private readonly part: number

  constructor(job: StagedJob, workspace: Workspace) {
    const { template, inputs, addresses, out } = job
    this.job = job
    this.workspace = workspace
    this.runner = runnerOf(template.kernel, workspace.accelerated)
    this.isOutStaged = addresses[inputs.length] === BY_PART
    this.target = bytesOf(out)
    this.staged = inputs.flatMap((array, index) => {
      if (addresses[index] !== BY_PART || firstOf(template, inputs, index) < index) return []
      const use = template.inputs[index]
      const indices = [...inputs.keys()].filter(k => firstOf(template, inputs, k) === index)
      const { elementsPerBlock = 0 } = use
      return { indices, elementsPerBlock, bytesPerBlock: elementsPerBlock * stagedBytes(use, array) }
    })
    const most = this.blocksPerPart()
    this.tile = Math.max(1, Math.floor(most / TILES))
    this.part = most - (most % this.tile)
    this.piece = this.isOutStaged && template.blockBytes >= LINE ? this.pieceOf(template.blockBytes) : undefined
  }

  /** Whether threads together take less time than one. */
  get gainsByThreads(): boolean {
    return this.piece === undefined || this.target.byteLength > MIN_SHARED
  }

  /** The view of the stage is made once: each costs as much as to copy 3 KB. */
  private pieceOf(blockBytes: number): { blocks: number; bytes: Uint8Array } {
    const blocks = Math.max(1, Math.floor(PIECE_BYTES / blockBytes))
    return { blocks, bytes: this.workspace.outputStage.bytes.subarray(0, blocks * blockBytes) }
  }

  /** Most blocks whose staged inputs, and whose output, have {@link PART_BYTES}; at least one. */
  private blocksPerPart(): number {
    const perBlock = this.staged.reduce((sum, { bytesPerBlock }) => sum + bytesPerBlock, 0)
    const room = PART_BYTES - LINE * this.staged.length
    return Math.max(1, Math.floor(Math.min(MAX_BLOCKS, PART_BYTES / this.job.template.blockBytes, room / perBlock)))
  }

  /**
   * Computes blocks from `first` on in the calling thread, a part at a time.
   * @returns the first block that is left when the quantum has passed; undefined where the kernel stopped
   */
  computeAlone(first: number): number | undefined {
    const { job, part } = this
    const { blocks } = job.template
    job.write(inWholeTiles(blocks, part))
    const begin = clock()
    // At two places in turn: on processors of AMD, jobs that read the data from one end to the other take 1.3 to 1.5
    // times as long where parts lie at one place, and where two places together have less than 512 KiB.
    for (let start = first, at = 0; start < blocks; start += part, at = PART_BYTES - at) {
      if (start > first && clock() - begin > QUANTUM_MS) return start
      const end = Math.min(blocks, start + part)
      this.stage(start, end, at)
      this.placeInputs(start, end, at)
      if (!this.computePart(start, end, at)) return undefined
    }
    return blocks
  }

  /**
   * Computes a part whose inputs are staged, and copies it to the output; see {@link PIECE_BYTES}.
   * @returns false where the kernel stopped
   */
  private computePart(start: number, end: number, at: number): boolean {
    const { piece } = this
    if (piece === undefined) return this.compute(start, end, at)
    for (let from = start; from < end; from += piece.blocks)
      if (!this.compute(from, Math.min(end, from + piece.blocks), 0)) return false
    return true
  }

  private compute(start: number, end: number, at: number): boolean {
    const { runner, workspace } = this
    this.placeOut(start, at)
    if (runner.run(workspace.job, workspace.scratch, start, end) !== 0) return false
    this.copyOut(start, end, at)
    return true
  }

  /** The same together with workers: the parts lie at two places of the stage in turn. */
  computeTogether(first: number, workers: number): number | undefined {
    const { job, runner, part, tile, workspace } = this
    const { header } = workspace
    const { blocks } = job.template
    job.write(inWholeTiles(blocks, tile))
    const begin = clock()
    const endOf = (start: number): number => Math.min(blocks, start + part)
    this.stage(first, endOf(first), 0)
    for (let start = first, at = 0; ; start += part, at = PART_BYTES - at) {
      const other = PART_BYTES - at
      const end = endOf(start)
      const isLast = end === blocks || clock() - begin > QUANTUM_MS
      this.placeInputs(start, end, at)
      this.placeOut(start, at)
      openTiles(header, start / tile, Math.ceil(end / tile), workers)
      try {
        if (start > first) this.copyOut(start - part, start, other)
        if (!isLast) this.stage(end, endOf(end), other)
        for (let isNew = true; runner.step(workspace.job, workspace.scratch, isNew) !== 0;) isNew = false
      } finally {
        closeTiles(header)
      }
      if (header[HEADER.failed] !== 0) return undefined
      if (!isLast) continue
      this.copyOut(start, end, at)
      return end
    }
  }

  /** Copies what the blocks `start … end-1` read of the staged inputs to the stage, from byte `at` of it on. */
  private stage(start: number, end: number, at: number): void {
    const { template, inputs } = this.job
    const { bytes } = this.workspace.inputStage
    let offset = at
    for (const { indices, elementsPerBlock: count, bytesPerBlock } of this.staged) {
      const [index] = indices
      copyElements(template.inputs[index], inputs[index], start * count, end * count, bytes, offset)
      offset += alignedBytes((end - start) * bytesPerBlock)
    }
  }

  /**
   * Writes the addresses of the inputs that are staged there. An argument is the address of block 0: the kernel adds
   * the offset of block `start` modulo 2^32.
   */
  private placeInputs(start: number, end: number, at: number): void {
    const { args, inputStage } = this.workspace
    let offset = at
    for (const { indices, bytesPerBlock } of this.staged) {
      for (const index of indices) args[index] = inputStage.bytes.byteOffset + offset - start * bytesPerBlock
      offset += alignedBytes((end - start) * bytesPerBlock)
    }
  }

  /** The same for the output, whose block `start` is written at byte `at` of the stage. */
  private placeOut(start: number, at: number): void {
    if (!this.isOutStaged) return
    const { args, outputStage } = this.workspace
    args[this.job.inputs.length] = outputStage.bytes.byteOffset + at - start * this.job.template.blockBytes
  }

  /** Copies blocks of the output from byte `at` of the stage on to the caller's array. */
  private copyOut(start: number, end: number, at: number): void {
    if (!this.isOutStaged) return
    const { piece, target } = this
    const { blockBytes } = this.job.template
    const { bytes } = this.workspace.outputStage
    const isPiece = at === 0 && end - start === piece?.blocks
    copyBytes(isPiece ? piece.bytes : bytes.subarray(at, at + (end - start) * blockBytes), target, start * blockBytes)
  }
}
