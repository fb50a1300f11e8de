import { bytesOf } from '../tensor/arrays.ts'
import type { NumericArray } from '../tensor/dtype.ts'
import { heapAllocate, heapFree, isOnHeap } from './heap.ts'
import type { WatchedJob } from './job-watcher.ts'
import type { Tiling } from './tiling.ts'
import { type JobRunner, KERNELS, type Wasm } from './wasm.ts'
import { HEADER, type Workspace, workspaceOf } from './workspace.ts'

/** Bytes that are taken of the heap at once. */
const CHUNK_BYTES = 1 << 16
/** Blocks start at lines of the cache. */
const LINE = 64
/** Words of a job before its arguments. */
const HEADER_WORDS = 16

/** Memory on the heap that is taken bit by bit and given back as a whole. */
export class Arena {
  readonly blocks: Uint8Array[] = []
  /** Bytes of {@link blocks}. */
  bytes = 0
  private readonly limit: number
  private rest = 0

  /** @param limit most bytes */
  constructor(limit: number) {
    this.limit = limit
  }

  /** Zeroed memory; undefined where there is no more. */
  take(bytes: number): Uint8Array | undefined {
    const lines = Math.max(1, Math.ceil(bytes / LINE)) * LINE
    if (lines > this.rest && !this.grow(Math.max(lines, CHUNK_BYTES))) return undefined
    const block = this.blocks[this.blocks.length - 1]
    const at = block.byteLength - this.rest
    this.rest -= lines
    return block.subarray(at, at + bytes)
  }

  /** Whether an array lies here. */
  holds(array: NumericArray): boolean {
    return isOnHeap(array) && this.blocks.some(block => liesIn(array, block))
  }

  free(): void {
    for (const block of this.blocks.splice(0)) heapFree(block)
  }

  private grow(bytes: number): boolean {
    const block = this.bytes + bytes > this.limit ? undefined : heapAllocate(bytes)
    if (block === undefined) return false
    this.blocks.push(block)
    this.bytes += bytes
    this.rest = bytes
    return true
  }
}

/** Whether an array on the heap lies within another one. */
export const liesIn = (array: ArrayBufferView, other: ArrayBufferView): boolean =>
  array.byteOffset >= other.byteOffset && array.byteOffset + array.byteLength <= other.byteOffset + other.byteLength

/** A job all of whose words have been written once, for arrays that stay where they are. */
export class FixedJob {
  readonly job: number
  readonly scratch: number
  readonly blocks: number
  readonly tile: number
  private readonly runner: JobRunner

  constructor(runner: JobRunner, job: number, scratch: number, blocks: number, tile: number) {
    this.runner = runner
    this.job = job
    this.scratch = scratch
    this.blocks = blocks
    this.tile = tile
  }

  /** Computes all blocks in the calling thread; false where the kernel stopped at a value that it cannot serve. */
  run(): boolean {
    return runAlone(this.runner, this, this)
  }
}

/**
 * Writes a job that has been run. Inputs that do not lie on the heap are copied as they are now.
 * @returns undefined where the arena has no room
 */
export function fixJob(
  { kernel, blocks, args }: WatchedJob,
  tile: number,
  inputs: readonly NumericArray[],
  out: NumericArray,
  arena: Arena
): FixedJob | undefined {
  const workspace = workspaceOf()
  const addresses: number[] = []
  for (const input of inputs) {
    const first = inputs.indexOf(input)
    const address = first < addresses.length ? addresses[first] : addressOf(input, arena)
    if (address === undefined) return undefined
    addresses.push(address)
  }
  const own = arena.take(4 * (HEADER_WORDS + addresses.length + 1 + args.length))
  if (workspace === undefined || own === undefined) return undefined
  const words = new Int32Array(own.buffer, own.byteOffset, own.byteLength / 4)
  const [module, number] = KERNELS[kernel]
  words[HEADER.tile] = tile
  words[HEADER.blocks] = blocks
  words[HEADER.module] = module
  words[HEADER.kernel] = number
  words[HEADER.args] = own.byteOffset + 4 * HEADER_WORDS
  words.set([...addresses, out.byteOffset, ...args], HEADER_WORDS)
  return new FixedJob(runnerOf(module, workspace.accelerated), own.byteOffset, workspace.scratch, blocks, tile)
}

function addressOf(input: NumericArray, arena: Arena): number | undefined {
  if (isOnHeap(input)) return input.byteOffset
  const copy = arena.take(input.byteLength)
  copy?.set(bytesOf(input))
  return copy?.byteOffset
}

/** Computes all blocks of the job that has been written; false where the kernel stopped. */
export function runAlone(
  runner: JobRunner,
  { job, scratch }: Pick<Workspace, 'job' | 'scratch'>,
  { tile, blocks }: Pick<Tiling, 'tile' | 'blocks'>
): boolean {
  for (let start = 0; start < blocks; start += tile)
    if (runner.run(job, scratch, start, Math.min(blocks, start + tile)) !== 0) return false
  return true
}

/** The exports of the module with this number. */
export const runnerOf = (module: number, accelerated: Wasm): JobRunner =>
  module === 0 ? accelerated.kernels : accelerated.compute().exports
