import type { IndexPolicy } from '../kernels/gather/indices.ts'
import { heapAllocate, heapFree, isOnHeap } from './heap.ts'
import { awaitWorkers, requestWorkers, wakeWorkers, workersReady } from './threads.ts'
import { type Wasm, wasm } from './wasm.ts'

/** The kernels by their number in assembly/index.ts. */
const KERNELS = { rows: 0, elements: 1, columns: 2, tuples: 3, beams: 4 } as const

/** Where the fields of a job lie, in words of 32 bits; see assembly/job.ts. */
const AT = {
  next: 0,
  seats: 1,
  active: 2,
  bad: 3,
  limit: 4,
  tile: 5,
  blocks: 6,
  kernel: 7,
  data: 8,
  indices: 9,
  out: 10,
  origin: 11,
  width: 12,
  size: 13,
  wide: 14,
  wrap: 15,
  zero: 16,
  count: 17,
  outer: 18,
  inner: 19,
  rowStride: 20,
  axisStride: 21,
  components: 22,
  sizes: 23
} as const

export type NumericArray =
  | Float32Array
  | Float64Array
  | Uint8Array
  | Int8Array
  | Uint16Array
  | Int16Array
  | Uint32Array
  | Int32Array
  | BigInt64Array
  | BigUint64Array

/**
 * A gather as an accelerated kernel sees it: a list of output blocks of `width` bytes. What a kernel does not use may
 * be left out.
 */
export interface GatherJob extends Partial<
  Readonly<Record<'size' | 'count' | 'outer' | 'inner' | 'rowStride' | 'axisStride' | 'components' | 'wide', number>>
> {
  readonly kernel: keyof typeof KERNELS
  readonly data: NumericArray
  readonly indices: NumericArray
  readonly out: NumericArray
  readonly policy: IndexPolicy
  readonly blocks: number
  readonly width: number
  /** Sizes of the axes that the components of a tuple belong to. */
  readonly sizes?: readonly number[]
  /** Blocks that are computed at once, where the kernel is bound to a number. */
  readonly tile?: number | undefined
  /** Indices of each block, where they lie in the order of the blocks. */
  readonly indicesPerBlock?: number | undefined
  /** The blocks do not lie in the output in their order. */
  readonly scattered?: boolean | undefined
}

/** Bytes of output that a tile has. */
const TILE_BYTES = 1 << 18
/** And its most blocks: each may cost a miss of all caches. */
const TILE_BLOCKS = 1 << 16
/**
 * The same where output or indices are staged: what stays in the cache while it is copied on. Smaller pieces take up to
 * a third longer.
 */
const STAGE_BYTES = 1 << 20
const STAGE_BLOCKS = 1 << 18
/** Longer blocks are copied straight from the heap to an ordinary array. */
const MAX_STAGED = 1024
/**
 * Data elsewhere are copied to the heap for blocks up to this, when they have no more bytes than that, and when so many
 * are moved.
 */
const MAX_COPIED = 256
const MOST_COPIED = 1 << 26
const MIN_COPYING = 1 << 16
/** What a thread needs: packed columns, or positions. */
const SCRATCH_BYTES = 320 << 10
const JOB_BYTES = 1024
/** Milliseconds that a kernel runs before it gives way. */
const TURN = 5
/**
 * Bytes of output below which waking a worker, some 20 microseconds, costs more than it gains; an element costs as much
 * as so many bytes.
 */
const MIN_SHARED = 1 << 20
const ELEMENT_BYTES = 16
/** Tiles for each thread, so that none waits long for the others at the end. */
const TILES_A_THREAD = 8
/** What `next` is while no tile may be taken, as in assembly/index.ts: above every limit. */
const CLOSED = 2 ** 30

/** Memory of the main thread, whose content only lives from one yield to the next. */
interface Workspace {
  readonly accelerated: Wasm
  readonly words: Int32Array
  readonly job: number
  readonly scratch: number
  readonly indices: Uint8Array
  readonly out: Uint8Array
}

let bench: Workspace | undefined

function benchOf(): Workspace | undefined {
  if (bench !== undefined) return bench
  const accelerated = wasm()
  const block = heapAllocate(JOB_BYTES + SCRATCH_BYTES + 2 * STAGE_BYTES)
  if (accelerated === undefined || block === undefined) return undefined
  const { buffer, byteOffset: job } = block
  const scratch = job + JOB_BYTES
  const stage = scratch + SCRATCH_BYTES
  bench = {
    accelerated,
    words: new Int32Array(buffer, job, JOB_BYTES / 4),
    job,
    scratch,
    indices: new Uint8Array(buffer, stage, STAGE_BYTES),
    out: new Uint8Array(buffer, stage + STAGE_BYTES, STAGE_BYTES)
  }
  bench.words[AT.next] = CLOSED
  return bench
}

/** Index types that the kernels read, themselves or widened to 32 bits. */
const isReadable = (indices: NumericArray): boolean =>
  !(indices instanceof Uint32Array || indices instanceof BigUint64Array)

const isKernelIndex = (indices: NumericArray): boolean =>
  indices instanceof Int32Array || indices instanceof BigInt64Array

/**
 * Runs a gather by WebAssembly, giving way about every 5 ms. Nothing is under way in other threads while it does.
 * @param threads most threads to use
 * @returns `bad` when an index is out of range: the caller finds out which; `declined` when nothing was done: the
 *   caller does it
 */
export function* runJob(job: GatherJob, threads: number): Generator<void, 'done' | 'bad' | 'declined'> {
  const dataStaged = !isOnHeap(job.data)
  const outStaged = !isOnHeap(job.out)
  const indicesStaged = !(isOnHeap(job.indices) && isKernelIndex(job.indices))
  if (!isReadable(job.indices) || (dataStaged && !isWorthCopying(job))) return 'declined'
  if (outStaged && job.scattered !== true && job.width > MAX_STAGED) return 'declined'
  const place = benchOf()
  if (place === undefined) return 'declined'
  const copies: Uint8Array[] = []
  /** Heap memory for the whole of an array. */
  const take = (bytes: number): Uint8Array | undefined => {
    const block = heapAllocate(bytes, { zero: false })
    if (block !== undefined) copies.push(block)
    return block
  }
  try {
    const data = dataStaged ? take(job.data.byteLength) : job.data
    const out = outStaged && job.scattered === true ? take(job.out.byteLength) : job.out
    const indices =
      indicesStaged && job.indicesPerBlock === undefined ? take(job.indices.length * indexBytes(job)) : job.indices
    if (data === undefined || out === undefined || indices === undefined) return 'declined'
    if (data !== job.data) (data as Uint8Array).set(bytesOf(job.data))
    if (indices !== job.indices) copyIndices(job, 0, job.indices.length, indices as Uint8Array)
    const steps: Steps = { job, place, dataAt: data.byteOffset, outAt: out.byteOffset, indicesAt: indices.byteOffset }
    const outByTile = outStaged && out === job.out
    const indicesByTile = indicesStaged && indices === job.indices
    const bad =
      outByTile || indicesByTile ? yield* runStaged(steps, outByTile, indicesByTile) : yield* runInPlace(steps, threads)
    if (out !== job.out && !bad) bytesOf(job.out).set(out as Uint8Array)
    return bad ? 'bad' : 'done'
  } finally {
    copies.forEach(heapFree)
  }
}

/** Whether data elsewhere are worth a copy on the heap: short blocks, many of which are read, cost more one by one. */
function isWorthCopying({ data, indices, out, width }: GatherJob): boolean {
  const moved = out.byteLength + indices.byteLength
  return width <= MAX_COPIED && moved >= MIN_COPYING && data.byteLength <= Math.min(2 * moved, MOST_COPIED)
}

interface Steps {
  readonly job: GatherJob
  readonly place: Workspace
  /** Places on the heap; those of arrays that are copied tile by tile are not used. */
  readonly dataAt: number
  readonly outAt: number
  readonly indicesAt: number
}

const indexBytes = (job: GatherJob): number => (job.indices instanceof BigInt64Array ? 8 : 4)

const tileOf = (job: GatherJob, bytes = TILE_BYTES, blocks = TILE_BLOCKS): number =>
  job.tile ?? Math.max(1, Math.min(blocks, Math.floor(bytes / job.width)))

/**
 * All of it lies on the heap: as many tiles a call as fit in a turn, shared with other threads where there is much to
 * do.
 */
function* runInPlace(steps: Steps, threads: number): Generator<void, boolean> {
  const {
    place,
    job: { blocks, width, out }
  } = steps
  const wanted = out.byteLength * Math.max(1, ELEMENT_BYTES / width) < MIN_SHARED ? 0 : threads - 1
  const tile =
    wanted > 0 ? Math.min(tileOf(steps.job), Math.ceil(blocks / threads / TILES_A_THREAD)) : tileOf(steps.job)
  const tiles = Math.ceil(blocks / tile)
  let turn = 4 * threads
  for (let start = 0; start < tiles;) {
    if (start > 0) yield
    const end = Math.min(tiles, start + turn)
    const begin = performance.now()
    const helpers = wanted > 0 ? workersReady(place.words, wanted) : 0
    writeJob(steps, tile)
    runTiles(place, start, end, helpers)
    if (place.words[AT.bad] !== 0) return true
    start = end
    const took = performance.now() - begin
    if (took < TURN / 2) turn *= 2
    if (helpers < wanted) requestWorkers(place.accelerated, place.job, SCRATCH_BYTES, wanted, took)
  }
  return false
}

/** Computes the tiles `start … end-1` of the job that has been written. */
function runTiles(
  { accelerated: { kernels }, words, job, scratch }: Workspace,
  start: number,
  end: number,
  helpers: number
): void {
  words[AT.limit] = end
  Atomics.store(words, AT.seats, helpers)
  Atomics.store(words, AT.next, start)
  if (helpers > 0) wakeWorkers(words, helpers)
  kernels.work(job, scratch)
  // Closed, the job can be written again as soon as nobody is active: whoever joins later finds no tile.
  Atomics.store(words, AT.next, CLOSED)
  awaitWorkers(words, AT.active)
}

/** Indices or output lie elsewhere: they are copied tile by tile. */
function* runStaged(steps: Steps, outStaged: boolean, indicesStaged: boolean): Generator<void, boolean> {
  const {
    place: {
      accelerated: { kernels },
      words,
      job: at,
      scratch,
      indices,
      out
    },
    job
  } = steps
  const { indicesPerBlock = 0, width, blocks } = job
  const bytesPerBlock = indicesPerBlock * indexBytes(job)
  const staged = tileOf(job, STAGE_BYTES, STAGE_BLOCKS)
  const tile = indicesStaged ? Math.min(staged, Math.floor(STAGE_BYTES / bytesPerBlock)) : staged
  const target = bytesOf(job.out)
  let turned = -Infinity
  for (let start = 0; start < blocks; start += tile) {
    const now = performance.now()
    if (now - turned > TURN) {
      if (start > 0) yield
      writeJob(steps, tile)
      turned = performance.now()
    }
    const end = Math.min(blocks, start + tile)
    words[AT.origin] = start
    if (indicesStaged) copyIndices(job, start * indicesPerBlock, end * indicesPerBlock, indices)
    words[AT.indices] = indicesStaged ? indices.byteOffset : steps.indicesAt + start * bytesPerBlock
    words[AT.out] = outStaged ? out.byteOffset : steps.outAt + start * width
    if (kernels.run(at, scratch, start, end) !== 0) return true
    if (outStaged) target.set(out.subarray(0, (end - start) * width), start * width)
  }
  return false
}

/** Writes what does not change while the job runs; not the words that threads share. */
function writeJob({ job, place: { words }, dataAt, outAt, indicesAt }: Steps, tile: number): void {
  const { policy, sizes = NO_SIZES } = job
  words[AT.bad] = 0
  words[AT.tile] = tile
  words[AT.blocks] = job.blocks
  words[AT.kernel] = KERNELS[job.kernel]
  words[AT.data] = dataAt
  words[AT.indices] = indicesAt
  words[AT.out] = outAt
  words[AT.origin] = 0
  words[AT.width] = job.width
  words[AT.size] = job.size ?? 0
  words[AT.wide] = job.wide ?? Number(job.indices instanceof BigInt64Array)
  words[AT.wrap] = Number(policy.negative === 'wrap')
  words[AT.zero] = Number(policy.outOfRange === 'zero')
  words[AT.count] = job.count ?? 0
  words[AT.outer] = job.outer ?? 0
  words[AT.inner] = job.inner ?? 0
  words[AT.rowStride] = job.rowStride ?? 0
  words[AT.axisStride] = job.axisStride ?? 0
  words[AT.components] = job.components ?? 0
  for (let i = 0; i < sizes.length; i++) words[AT.sizes + i] = sizes[i]
}

const NO_SIZES: readonly number[] = []

/** Copies indices `from … to-1` to the heap, widened to 32 bits where they are shorter. */
function copyIndices({ indices }: GatherJob, from: number, to: number, target: Uint8Array): void {
  const { buffer, byteOffset } = target
  if (indices instanceof BigInt64Array) new BigInt64Array(buffer, byteOffset, to - from).set(indices.subarray(from, to))
  else new Int32Array(buffer, byteOffset, to - from).set(indices.subarray(from, to) as Int32Array)
}

/** The bytes of an array, where they lie. */
export const bytesOf = ({ buffer, byteOffset, byteLength }: NumericArray): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)
