import { NodewiseError } from '../errors.ts'
import { readInto } from '../files/byte-source.ts'
import { notRead, pendingRead } from '../files/remote.ts'
import type { Constant } from '../graph/graph.ts'
import { MIN_TABLE_BYTES } from '../plan/fused-convert.ts'
import { bytesOf } from '../tensor/arrays.ts'
import { DTYPES } from '../tensor/dtype.ts'
import { elementCount, memoryBytes, type Tensor } from '../tensor/tensor.ts'
import { heapFree } from '../wasm/heap.ts'
import type { Blocks } from './blocks.ts'
import { Fetching } from './fetching.ts'
import { type Budget, type CommonMemory, liesOnHeap, onHeap } from './memory.ts'
import { Packs } from './packs.ts'

/** Reading takes this many times as long where it fills memory that the process has not used before, as measured. */
const NEW_MEMORY_FACTOR = 3

/** Memory that is held only to be quicker. */
export interface Spare {
  /** Lets go of it for good. @returns how many bytes it was */
  giveUp(): number
  /** A constant does not lie any longer where it lay. */
  forget(): void
}

/**
 * What a session holds of its model's constants. Large tables of which only rows are looked up are a ski rental
 * problem: reading rows is the rent, reading the whole table is the price. Rows are read until the rents add up to the
 * price; then the table is read, if there is room. So reading costs at most about twice as much as the better choice in
 * hindsight. Concurrent runs of a session share the account.
 */
export class Weights implements CommonMemory {
  /** Constants in the forms that kernels like. */
  readonly packs: Packs
  /** What counts against the same memory and is let go of first, and its bytes. */
  readonly others = new Set<Spare>()
  otherBytes = 0
  private readonly blocks: Blocks
  private readonly whole = new Map<Constant, Tensor>()
  /** Bytes of the constants in `whole`. */
  private wholeBytes = 0
  /** Constants that are held only to be quicker: they are let go of when memory is needed. */
  private readonly spare = new Set<Constant>()
  /** Rents paid for each table so far, in bytes; `-Infinity`: it is rented for good. */
  private readonly rents = new Map<Constant, number>()
  /** Constants on their way, for which memory has been counted. */
  private readonly awaited = new Set<Constant>()
  private readonly fetching = new Fetching(
    (constant, tensor) => this.arrived(constant, tensor),
    constant => {
      if (this.awaited.delete(constant)) this.wholeBytes -= bytesToHold(constant)
    }
  )

  /** @param blocks where what is read onto the heap is kept */
  constructor(blocks: Blocks) {
    this.blocks = blocks
    this.packs = new Packs(blocks)
  }

  /** Bytes held: constants, what has been packed of them, and {@link others}. */
  get bytes(): number {
    return this.wholeBytes + this.packs.bytes + this.otherBytes
  }

  /**
   * All of a constant, which stays held from now on.
   * @throws NodewiseError `limit-exceeded` before memory is taken; what reading throws, with the constant's place
   */
  read(constant: Constant, budget: Budget): Tensor {
    if (constant.isDerived !== true) this.spare.delete(constant)
    const tensor = this.whole.get(constant) ?? this.take(constant, budget)
    if (constant.isDerived === true) this.spare.add(constant)
    return tensor
  }

  /**
   * A constant in memory of its own, which whoever asked for it holds alone; undefined where it is held already, and
   * where it does not lie in a file as it does in memory.
   * @throws NodewiseError what reading throws, with the constant's place
   */
  readApart(constant: Constant): Tensor | undefined {
    if (this.whole.has(constant) || constant.raw?.source.remote) return undefined
    try {
      return this.readOntoHeap(constant)
    } catch (error) {
      throw error instanceof NodewiseError ? error.at(constant.place) : error
    }
  }

  /**
   * Reads constants whose bytes come asynchronously, and then holds them.
   * @throws NodewiseError (as a rejection) as {@link read}; `aborted`
   */
  async fetch(constants: readonly Constant[], budget: Budget, signal: AbortSignal | undefined): Promise<void> {
    const missing = constants.filter(constant => !this.whole.has(constant))
    const fresh = missing.filter(constant => !this.fetching.has(constant))
    const bytes = fresh.reduce((sum, constant) => sum + bytesToHold(constant), 0)
    budget.require(bytes, () => 'what is read of the model')
    this.wholeBytes += bytes
    for (const constant of fresh) this.awaited.add(constant)
    if (fresh.length > 0) this.fetching.begin(fresh)
    await this.fetching.wait(missing, signal)
  }

  /** Those constants whose bytes have still to be fetched, as many as memory has room for. */
  afar(constants: readonly Constant[], budget: Budget): Constant[] {
    let bytes = 0
    return constants.filter(constant => {
      if (this.whole.has(constant) || this.fetching.has(constant) || !constant.raw?.source.remote) return false
      bytes += bytesToHold(constant)
      return budget.fits(bytes)
    })
  }

  /**
   * Whether rows of it may be read alone: all of it is not held already, or need not be.
   * @param others bytes of constants that are about to be read
   */
  isByRow(constant: Constant, budget: Budget, others = 0): boolean {
    if (this.whole.has(constant)) return this.spare.has(constant) && constant.isDerived !== true
    const bytes = bytesToHold(constant)
    return bytes > 0 && (bytes >= MIN_TABLE_BYTES || !budget.fits(bytes + others)) && constant.raw !== undefined
  }

  /**
   * Lets go of a constant that its packed form stands for; whoever needs its elements all the same reads it again.
   * @param isUnseen whether it was read to be packed, and nobody else has had it: then its memory serves for the next
   */
  letGoOfPacked(constant: Constant, isUnseen: boolean): void {
    if (!this.whole.has(constant)) return
    for (const other of this.others) other.forget()
    this.wholeBytes -= bytesToHold(constant)
    this.drop(constant, isUnseen)
  }

  /** A table that is held whole already. */
  held(constant: Constant): Tensor | undefined {
    return this.whole.get(constant)
  }

  /**
   * Decides whether rows of a table are read once more, or all of it.
   * @param rent what reading the rows costs, in bytes that could be read in the same time
   * @returns the whole table; undefined: rows are to be read
   * @throws NodewiseError what reading throws
   */
  wholeFor(constant: Constant, rent: number, budget: Budget): Tensor | undefined {
    const rents = (this.rents.get(constant) ?? 0) + rent
    this.rents.set(constant, rents)
    const bytes = bytesToHold(constant)
    if (rents < NEW_MEMORY_FACTOR * bytes || !budget.fits(bytes)) return undefined
    try {
      const tensor = this.take(constant, budget)
      this.spare.add(constant)
      return tensor
    } catch (error) {
      if (pendingRead(error)) throw this.notRead(constant, budget, () => this.spare.add(constant))
      // One array cannot hold every table, nor the machine all that the budget allows.
      if (!(error instanceof NodewiseError) || error.code !== 'limit-exceeded') throw error
      this.rents.set(constant, -Infinity)
      return undefined
    }
  }

  /**
   * Lets go of constants that need not be held, then of packed ones. What is let go of once is read by the row, or used
   * unpacked, for good: it does not come and go.
   */
  giveUp(bytes: number): boolean {
    let freed = 0
    for (const other of this.others) if (freed < bytes) freed += other.giveUp()
    for (const constant of this.spare) {
      if (freed >= bytes) break
      freed += bytesToHold(constant)
      this.wholeBytes -= bytesToHold(constant)
      this.drop(constant)
      this.rents.set(constant, -Infinity)
    }
    if (freed < bytes) freed += this.packs.giveUp(bytes - freed)
    return freed >= bytes
  }

  clear(): void {
    for (const other of this.others) other.giveUp()
    this.others.clear()
    for (const tensor of this.whole.values()) this.letGo(tensor)
    for (const part of [this.whole, this.spare, this.rents, this.awaited]) part.clear()
    this.wholeBytes = 0
    this.packs.clear()
  }

  private arrived(constant: Constant, tensor: Tensor): void {
    const isWanted = this.awaited.delete(constant)
    if (isWanted) this.whole.set(constant, tensor)
    if (!liesOnHeap(tensor.data)) return
    if (isWanted) this.blocks.keep(tensor.data)
    else heapFree(tensor.data)
  }

  /** Undefined for what is small or can not be read into given memory, and where the heap has no room. */
  private readOntoHeap(constant: Constant): Tensor | undefined {
    if (!fillsMemory(constant)) return undefined
    const tensor = onHeap(constant.type, constant.dims, false)
    if (tensor === undefined) return undefined
    const target = bytesOf(tensor.data as Uint8Array)
    try {
      fill(constant, tensor.data)
    } catch (error) {
      heapFree(target)
      throw error
    }
    this.blocks.keep(target)
    return tensor
  }

  private drop(constant: Constant, isUnseen = false): void {
    this.letGo(this.whole.get(constant), isUnseen)
    this.whole.delete(constant)
    this.spare.delete(constant)
  }

  private letGo(tensor: Tensor | undefined, isUnseen = false): void {
    if (tensor && liesOnHeap(tensor.data)) this.blocks.giveUp(tensor.data, isUnseen)
  }

  private take(constant: Constant, budget: Budget): Tensor {
    try {
      const bytes = bytesToHold(constant)
      budget.require(bytes, () => `a constant of type ${constant.type} and dims [${constant.dims.join(', ')}]`)
      const tensor = this.readOntoHeap(constant) ?? constant.read()
      this.whole.set(constant, tensor)
      this.wholeBytes += bytes
      return tensor
    } catch (error) {
      if (pendingRead(error)) throw this.notRead(constant, budget)
      throw error instanceof NodewiseError ? error.at(constant.place) : error
    }
  }

  /** @param then is called when it is held */
  private notRead(constant: Constant, budget: Budget, then?: () => void): NodewiseError {
    const settle = async (signal?: AbortSignal): Promise<() => void> => {
      await this.fetch([constant], budget, signal)
      if (this.whole.has(constant)) then?.()
      return () => undefined
    }
    return notRead('a constant', { settle }).at(constant.place)
  }
}

/** Whether {@link fill} can read a constant: it lies in a file as in memory, or is made in place of one that does. */
const fillsMemory = ({ raw, inPlace }: Constant): boolean =>
  inPlace
    ? inPlace.of.raw?.source.remote === undefined && fillsMemory(inPlace.of)
    : raw !== undefined && raw.layout === undefined

/** Reads a constant into memory, where what is made in place is changed. */
function fill({ raw, verify, inPlace }: Constant, data: Tensor['data']): void {
  if (inPlace) {
    fill(inPlace.of, data)
    inPlace.change(data)
  } else {
    verify?.()
    readInto(raw!.source, raw!.offset, bytesOf(data as Uint8Array))
  }
}

/** Memory that holding a constant takes: none where it is used in place, in bytes that the caller gave. */
export function bytesToHold({ type, dims, raw }: Constant): number {
  const bytes = memoryBytes(type, elementCount(dims))
  if (raw?.source.inMemory !== true || raw.layout !== undefined || raw.length === 0) return bytes
  const start = raw.source.read(raw.offset, 1).byteOffset
  return start % (DTYPES[type].array?.BYTES_PER_ELEMENT ?? 1) === 0 ? 0 : bytes
}
