import { fail } from '../errors.ts'
import { scriptMemory } from '../host.ts'
import { copyOfArray } from '../tensor/arrays.ts'
import { type DType, DTYPES, type NumericArray } from '../tensor/dtype.ts'
import { type Room, storageOf } from '../tensor/room.ts'
import { MAX_SLAB_ARRAY, Slab } from '../tensor/slab.ts'
import {
  allocate,
  allocateRaw,
  elementCount,
  infoOf,
  isTensor,
  type MapValue,
  memoryBytes,
  product,
  soundTensor,
  Tensor,
  type Value,
  zero
} from '../tensor/tensor.ts'
import { heapAllocate, heapFree, isOnHeap, MIN_HEAP_BYTES } from '../wasm/heap.ts'
import type { MemoryLimit } from './memory-limit.ts'

/** Memory that all runs of a session share. */
export interface CommonMemory {
  readonly bytes: number
  /** Lets go of at least so many bytes that need not be held. @returns whether there were that many */
  giveUp(bytes: number): boolean
}

/** Memory that callers have given back. */
export interface Returned {
  /** Memory of so many bytes, which holds anything; undefined where there is none. */
  take(bytes: number): ArrayBuffer | undefined
}

/**
 * Where a tensor is to lie. `heap` is a wish: strings, and what it has no room for become ordinary arrays. `output`: in
 * an array that the caller gets, of memory that he has given back where there is some. `body`: a value of a body, which
 * never lies on the heap; `result`: one that it hands out, which may be there for long. Small arrays are cut from slabs
 * but for `array` and `output`; results have one of their own, so that no other values stay with them.
 */
export type Region = 'heap' | 'array' | 'output' | 'body' | 'result'

const values = new Slab()
const results = new Slab()
const SLABS = { heap: values, body: values, result: results, array: undefined, output: undefined } as const

interface Holder {
  readonly bytes: number
  readonly isOnHeap: boolean
  /** Whether it is a part of memory that others have parts of, too. */
  readonly isCut: boolean
  /** Bytes of JavaScript's own memory. */
  readonly scripted: number
  count: number
}

/** Bytes of a string tensor for each element, and bytes that the string itself takes on average. */
const POINTER_BYTES = 8
const STRING_BYTES = 64
/** Bytes of a map and of a pair in it, measured with 1 to 300,000 pairs; keys are mostly shared. */
const MAP_BYTES = 240
const PAIR_BYTES = 60
/** Rows of room that there are at least, and by how much room grows. */
const MIN_ROOM = 32
const GROWTH = 1.5
/** Bytes of strings and maps for which no JavaScript heap is too small. */
const MIN_SCRIPT = 2 ** 20

/**
 * Bytes that a run holds, counted by storage: tensors that share a storage count once. What the session's runs share
 * counts too.
 */
export class Budget {
  private readonly limit: MemoryLimit
  private used = 0
  private scriptLimit: number | undefined
  private scripted = 0
  private readonly common: CommonMemory
  /** Memory for {@link Region} `output`. */
  readonly spares: Returned | undefined
  private readonly holders = new Map<unknown, Holder>()
  /** The storage that was made last, and its holder: it is asked for next, most often, and finding it takes time. */
  private latest: unknown = undefined
  private latestHolder: Holder | undefined

  /**
   * @param scriptLimit bytes that strings and maps may take, by default half of JavaScript's own memory, in which they
   *   lie: the process ends where that overflows
   */
  constructor(limit: MemoryLimit, common: CommonMemory, scriptLimit?: number, spares?: Returned) {
    this.limit = limit
    this.scriptLimit = scriptLimit
    this.common = common
    this.spares = spares
  }

  /** Whether so many bytes more may be held. */
  fits(bytes: number): boolean {
    return this.limit.allows(this.used + this.common.bytes + bytes)
  }

  /**
   * Makes room for so many bytes more: the session lets go of what it need not hold.
   * @throws NodewiseError `limit-exceeded` where so many bytes more may not be held
   */
  require(bytes: number, what: () => string): void {
    if (this.fits(bytes)) return
    const inUse = this.used + this.common.bytes
    const limit = this.limit.bytes
    if (this.common.giveUp(inUse + bytes - limit)) return
    fail('limit-exceeded', `${what()} takes ${bytes} bytes; ${inUse} of ${limit} are in use`)
  }

  /**
   * @param isZeroed whether the elements must be zero; else they may be anything
   * @throws NodewiseError `limit-exceeded` before memory is taken
   */
  allocate(type: DType, dims: readonly number[], region: Region, isZeroed: boolean): Tensor {
    const bytes = memoryBytes(type, elementCount(dims))
    if (!this.fits(bytes)) this.require(bytes, () => `a ${type} tensor of dims [${dims.join(', ')}]`)
    const scripted = type === 'string' ? (bytes / POINTER_BYTES) * STRING_BYTES : 0
    if (scripted > 0) this.requireScripted(scripted, `${bytes / POINTER_BYTES} strings`)
    const cut = bytes <= MAX_SLAB_ARRAY ? cutFrom(SLABS[region], type, dims, bytes) : undefined
    const onTheHeap = region === 'heap' && !cut ? onHeap(type, dims, isZeroed) : undefined
    const spare = region === 'output' && type !== 'string' ? this.spares?.take(bytes) : undefined
    const tensor =
      cut ?? onTheHeap ?? (spare ? tensorOver(spare, type, dims) : (isZeroed ? allocate : allocateRaw)(type, dims))
    if (spare && isZeroed) zero(tensor)
    this.used += bytes
    this.scripted += scripted
    const isOnHeap = onTheHeap !== undefined
    this.latestHolder = { bytes, isOnHeap, isCut: cut !== undefined, scripted, count: 0 }
    this.latest = tensor.data
    this.holders.set(tensor.data, this.latestHolder)
    return tensor
  }

  /**
   * A copy of a result of a body, held once.
   * @throws NodewiseError `limit-exceeded` before memory is taken
   */
  copy({ type, dims, data }: Tensor): Tensor {
    const array = data as NumericArray
    const bytes = array.byteLength
    if (!this.fits(bytes)) this.require(bytes, () => `a copy of a ${type} tensor of dims [${dims.join(', ')}]`)
    const isCut = bytes <= MAX_SLAB_ARRAY
    const copy = soundTensor(type, isCut ? results.copy(array) : copyOfArray(array), dims)
    this.used += bytes
    this.holders.set(copy.data, { bytes, isOnHeap: false, isCut, scripted: 0, count: 1 })
    return copy
  }

  /**
   * Memory in which a tensor of these dims grows along an axis, by half until it is copied again: what is copied in the
   * end is twice what there is. Undefined where it would be small, or memory does not suffice for the room.
   */
  room(type: DType, dims: readonly number[], axis: number): Room | undefined {
    const capacity = Math.ceil(Math.max(dims[axis] + MIN_ROOM, dims[axis] * GROWTH) / MIN_ROOM) * MIN_ROOM
    const whole = dims.with(axis, capacity)
    const bytes = memoryBytes(type, elementCount(whole))
    if (bytes < MIN_HEAP_BYTES || !this.fits(bytes)) return undefined
    const { data } = this.allocate(type, whole, 'heap', false)
    const [outer, inner] = [product(dims, 0, axis), product(dims, axis + 1)]
    return { array: data as Room['array'], axis, outer, inner, capacity, used: dims[axis] }
  }

  /** Whether this storage was made for the run, and one value alone holds it. */
  isHeldOnce(data: unknown): boolean {
    return this.holders.get(data)?.count === 1
  }

  /**
   * Whether this storage was made for the run, and so may become the caller's. What lies on the heap, or in memory with
   * others, may only be lent.
   */
  mayGive(data: unknown, isLent: boolean): boolean {
    const holder = this.holders.get(data)
    return holder !== undefined && (isLent || !(holder.isOnHeap || holder.isCut))
  }

  /**
   * @throws NodewiseError `limit-exceeded` where JavaScript's own memory is not to hold so many maps beside all strings
   */
  hold(value: Value | undefined): void {
    if (value === undefined) return
    if (!isTensor(value)) this.addMaps(value)
    if (this.holders.size === 0) return
    this.countAll(value, 1)
  }

  /** Gives up a value that was held, or that nobody will hold. */
  release(value: Value | undefined): void {
    if (value === undefined || this.holders.size === 0) return
    this.countAll(value, -1)
  }

  /** Maps are not allocated here: they count from when they are held. */
  private addMaps(value: Value): void {
    const { storage, maps } = mapsIn(value) ?? {}
    if (maps === undefined || this.holders.has(storage)) return
    const scripted = maps.reduce((sum, { entries }) => sum + MAP_BYTES + PAIR_BYTES * entries.size, 0)
    this.requireScripted(scripted, `${maps.length} maps`)
    this.scripted += scripted
    this.holders.set(storage, { bytes: 0, isOnHeap: false, isCut: false, scripted, count: 0 })
  }

  private requireScripted(bytes: number, what: string): void {
    const all = this.scripted + bytes
    if (all <= (this.scriptLimit ?? MIN_SCRIPT)) return
    // Asked for here only, since Node loads modules for the answer.
    this.scriptLimit ??= Math.floor(scriptMemory() / 2)
    if (all <= this.scriptLimit) return
    fail(
      'limit-exceeded',
      `${what} take about ${bytes} bytes; ` +
        `${this.scripted} of ${this.scriptLimit} that strings and maps may take are in use`
    )
  }

  private countAll(value: Value, by: number): void {
    if (isTensor(value)) return this.count(storageOf(value), by)
    if (value.type !== 'sequence' || value.values[0]?.type === 'map') {
      for (const storage of storagesIn(value)) this.count(storage, by)
      return
    }
    // Loops hold sequences that grow: no lists are made of them.
    for (const item of value.values) {
      if (isTensor(item)) this.count(storageOf(item), by)
      else for (const tensor of tensorsIn(item)) this.count(storageOf(tensor), by)
    }
  }

  private count(data: unknown, by: number): void {
    const holder = data === this.latest ? this.latestHolder : this.holders.get(data)
    if (holder === undefined) return
    holder.count += by
    if (by < 0 && holder.count <= 0) this.drop(data, holder)
  }

  /** Frees everything but what the caller gets. */
  close(kept: readonly Value[]): void {
    if (this.holders.size === 0) return
    this.latestHolder = undefined
    for (const tensor of kept.flatMap(tensorsIn)) this.holders.delete(storageOf(tensor))
    for (const [data, holder] of this.holders) this.drop(data, holder)
  }

  private drop(data: unknown, { bytes, isOnHeap, scripted }: Holder): void {
    this.used -= bytes
    this.scripted -= scripted
    this.holders.delete(data)
    if (data === this.latest) this.latestHolder = undefined
    if (isOnHeap) heapFree(data as ArrayBufferView)
  }
}

/** Whether a tensor's storage is on the heap, and so will be given back. */
export const liesOnHeap = (data: unknown): data is ArrayBufferView => ArrayBuffer.isView(data) && isOnHeap(data)

/** A tensor on the heap; undefined for one that is small or has strings, and where the heap has no room. */
export function onHeap(type: DType, dims: readonly number[], isZeroed: boolean): Tensor | undefined {
  const { array, slots } = infoOf(type)
  const count = elementCount(dims) * slots
  if (array === undefined || count * array.BYTES_PER_ELEMENT < MIN_HEAP_BYTES) return undefined
  const block = heapAllocate(count * array.BYTES_PER_ELEMENT, { zero: isZeroed })
  return block && soundTensor(type, new array(block.buffer, block.byteOffset, count), dims)
}

/** A tensor cut from a slab; undefined where it has strings. */
function cutFrom(slab: Slab | undefined, type: DType, dims: readonly number[], bytes: number): Tensor | undefined {
  if (slab === undefined) return undefined
  const { array, slots, bytes: width } = DTYPES[type]
  return array && soundTensor(type, slab.take(array, (bytes / width) * slots, bytes), dims)
}

const tensorOver = (memory: ArrayBuffer, type: DType, dims: readonly number[]): Tensor =>
  new Tensor(type, new DTYPES[type].array!(memory), dims)

/** The tensors that a value is made of. */
export function tensorsIn(value: Value | undefined): readonly Tensor[] {
  if (value === undefined) return []
  if (isTensor(value)) return [value]
  if (value.type === 'map') return []
  return value.type === 'sequence' ? value.values.flatMap(tensorsIn) : tensorsIn(value.value)
}

/** A map, or the maps of a sequence, which count as one, with the object by which a budget knows them. */
function mapsIn(value: Value): { storage: unknown; maps: readonly MapValue[] } | undefined {
  if (value.type === 'map') return { storage: value.entries, maps: [value] }
  if (value.type !== 'sequence' || value.values[0]?.type !== 'map') return undefined
  return { storage: value.values, maps: value.values.filter(item => item.type === 'map') }
}

/** The objects by which a budget knows the memory of a value. */
const storagesIn = (value: Value): readonly unknown[] => {
  const maps = mapsIn(value)
  return maps ? [maps.storage] : tensorsIn(value).map(storageOf)
}

/** Whether one of the tensors that a value is made of passes a test. */
export const someTensor = (value: Value, test: (tensor: Tensor) => boolean): boolean =>
  isTensor(value) ? test(value) : tensorsIn(value).some(test)
