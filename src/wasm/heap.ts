import { fail } from '../errors.ts'
import { growMemory, isWasmBuffer, type Wasm, wasm } from './wasm.ts'

/** Tensors of fewer bytes become ordinary arrays: making a view of the heap would cost more than it gains. */
export const MIN_HEAP_BYTES = 4096

/** Bytes of a line of the cache. Blocks are whole lines, so each is aligned for SIMD and starts a line. */
export const LINE = 64
/** Bytes of a page, by which WebAssembly memory grows. */
const PAGE = 65536
/** The lines below belong to the module's own static data. */
const FIRST_LINE = 1024 / LINE
/** One page less than 4 GiB, so that the address of a block's end fits 32 bits too. */
const LAST_LINE = (65535 * PAGE) / LINE
const MIN_GROWTH = (16 * 2 ** 20) / LINE
/** Free blocks of the class of a size that are tried: not every block of the class is large enough. */
const MAX_TRIES = 8

/** Consecutive lines, in use or free. Blocks cover the heap without gaps, and free blocks are never neighbours. */
interface Block {
  readonly start: number
  size: number
  free: boolean
  /** Neighbours in the heap. */
  before: Block | undefined
  after: Block | undefined
  /** Neighbours in the list of free blocks of this class. */
  previous: Block | undefined
  next: Block | undefined
}

/** Blocks in use by their first line. */
const taken = new Map<number, Block>()
/** Lists of free blocks by class of size; there are 8 classes between a power of two and the next. */
const free: (Block | undefined)[] = new Array<Block | undefined>(200).fill(undefined)
/** One bit for each class that has a free block. */
const filled = new Int32Array(7)
let last: Block | undefined
let lines = FIRST_LINE
/** Lines from here on have never been used, so they are zero. */
let untouched = FIRST_LINE
let used = 0

/**
 * Takes a block of the heap: aligned to 64 bytes, zeroed unless `zero` is false. {@link heapFree} gives it back.
 * @returns undefined when the heap is full, or where there is none (no shared memory, or `NODEWISE_KERNELS=ts`)
 */
export function heapAllocate(bytes: number, { zero = true } = {}): Uint8Array | undefined {
  const accelerated = wasm()
  if (accelerated === undefined) return undefined
  const size = Math.max(1, Math.ceil(bytes / LINE))
  if (size > LAST_LINE) return undefined
  const block = find(size) ?? grow(accelerated, size)
  if (block === undefined) return undefined
  unlist(block)
  split(block, size)
  block.free = false
  taken.set(block.start, block)
  used += size
  const end = block.start + size
  if (zero && block.start < untouched) {
    accelerated.kernels.zero(block.start * LINE, (Math.min(end, untouched) - block.start) * LINE)
  }
  untouched = Math.max(untouched, end)
  return new Uint8Array(accelerated.buffer, block.start * LINE, bytes)
}

/**
 * Gives a block back.
 * @param view any view that starts where the block starts
 * @throws NodewiseError `internal` when no block starts there, or when it has been given back before
 */
export function heapFree(view: ArrayBufferView): void {
  const block = isOnHeap(view) ? taken.get(view.byteOffset / LINE) : undefined
  if (block === undefined) fail('internal', `no block of the heap starts at ${view.byteOffset}`)
  taken.delete(block.start)
  used -= block.size
  list(join(block))
}

/** Whether a view lies on the heap. Views made before the heap grew have another buffer object of the same memory. */
export const isOnHeap = (view: ArrayBufferView): boolean =>
  // Nothing lies at its start; to ask a small array for its buffer has the engine make one, for half a microsecond.
  view.byteOffset > 0 && isWasmBuffer(view.buffer)

/** Bytes in use, bytes that the memory has grown to, and blocks in use. */
export const heapStats = (): { used: number; reserved: number; blocks: number } => ({
  used: used * LINE,
  reserved: last === undefined ? 0 : lines * LINE,
  blocks: taken.size
})

function classOf(size: number): number {
  if (size < 8) return size
  const power = 31 - Math.clz32(size)
  return 8 * (power - 2) + ((size >>> (power - 3)) & 7)
}

/** A free block of at least `size` lines: of its class if a few tries find one, else of the next class with any. */
function find(size: number): Block | undefined {
  const own = classOf(size)
  let block = free[own]
  for (let tries = 0; block !== undefined && tries < MAX_TRIES; tries++, block = block.next)
    if (block.size >= size) return block
  const first = own + 1
  for (let word = first >> 5; word < filled.length; word++) {
    const bits = word === first >> 5 ? filled[word] & (-1 << (first & 31)) : filled[word]
    if (bits !== 0) return free[32 * word + 31 - Math.clz32(bits & -bits)]
  }
  return undefined
}

/** Grows the memory so that its last block is free and has at least `size` lines; undefined when it cannot grow. */
function grow(accelerated: Wasm, size: number): Block | undefined {
  const room = last?.free ? last.size : 0
  const needed = size - room
  for (const wish of [Math.max(needed, MIN_GROWTH, lines >> 2), needed]) {
    const end = Math.min(LAST_LINE, (Math.ceil(((lines + wish) * LINE) / PAGE) * PAGE) / LINE)
    if (end < lines + needed || !growMemory(accelerated, end * LINE)) continue
    const block: Block = {
      start: lines,
      size: end - lines,
      free: false,
      before: last,
      after: undefined,
      previous: undefined,
      next: undefined
    }
    if (last !== undefined) last.after = block
    last = block
    lines = end
    const joined = join(block)
    list(joined)
    return joined
  }
  return undefined
}

/** Shortens a block to `size` lines; the rest becomes a free block. */
function split(block: Block, size: number): void {
  if (block.size === size) return
  const rest: Block = {
    start: block.start + size,
    size: block.size - size,
    free: false,
    before: block,
    after: block.after,
    previous: undefined,
    next: undefined
  }
  if (rest.after === undefined) last = rest
  else rest.after.before = rest
  block.after = rest
  block.size = size
  list(rest)
}

/** Joins a block that is in no list with its free neighbours. */
function join(block: Block): Block {
  const { before, after } = block
  if (after?.free) {
    unlist(after)
    swallowNext(block, after)
  }
  if (!before?.free) return block
  unlist(before)
  swallowNext(before, block)
  return before
}

function swallowNext(block: Block, next: Block): void {
  block.size += next.size
  block.after = next.after
  if (next.after === undefined) last = block
  else next.after.before = block
}

function list(block: Block): void {
  const at = classOf(block.size)
  block.free = true
  block.previous = undefined
  block.next = free[at]
  if (block.next !== undefined) block.next.previous = block
  free[at] = block
  filled[at >> 5] |= 1 << (at & 31)
}

function unlist(block: Block): void {
  const at = classOf(block.size)
  if (block.next !== undefined) block.next.previous = block.previous
  if (block.previous !== undefined) block.previous.next = block.next
  else {
    free[at] = block.next
    if (block.next === undefined) filled[at >> 5] &= ~(1 << (at & 31))
  }
  block.free = false
}
