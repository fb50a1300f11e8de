import { NodewiseError } from '../errors.ts'
import { readInto } from '../files/byte-source.ts'
import type { Constant } from '../graph/graph.ts'
import { DTYPES } from '../tensor/dtype.ts'
import { elementCount, memoryBytes, type Tensor } from '../tensor/tensor.ts'
import { heapFree } from '../wasm/heap.ts'
import type { Blocks } from './blocks.ts'
import { type Budget, type CommonMemory, liesOnHeap, onHeap } from './memory.ts'

/** Tables below this many bytes are read whole at once: that takes about a millisecond. */
export const SMALL = 2 ** 20
/** How much longer reading takes where it fills memory that the process has not used before, as measured. */
const NEW_MEMORY = 3

/**
 * What a session holds of its model's constants. A large table of which only rows are looked up is read by the row
 * until that has cost as
 * much as reading all of it would, then whole, if there is room; so it never takes much more than twice the time of the
 * better way. Runs at once share this.
 */
export class Weights implements CommonMemory {
  /** Bytes held. */
  bytes = 0
  private readonly blocks: Blocks
  private readonly whole = new Map<Constant, Tensor>()
  /** Tables that are held only to be quicker: they can be read by the row again when memory is needed. */
  private readonly spare = new Set<Constant>()
  /** What reading rows of a table has cost so far, in bytes. */
  private readonly spent = new Map<Constant, number>()

  /** @param blocks where what is read onto the heap is kept */
  constructor(blocks: Blocks) {
    this.blocks = blocks
  }

  /**
   * All of a constant, which stays held from now on.
   * @throws NodewiseError `limit-exceeded` before memory is taken; what reading throws, with the constant's place
   */
  read(constant: Constant, budget: Budget): Tensor {
    this.spare.delete(constant)
    return this.whole.get(constant) ?? this.take(constant, budget)
  }

  /** Whether rows of it may be read alone: all of it is not held already, or need not be. */
  isByRow(constant: Constant, budget: Budget): boolean {
    if (this.whole.has(constant)) return this.spare.has(constant)
    const bytes = bytesToHold(constant)
    return bytes > 0 && (bytes >= SMALL || !budget.fits(bytes)) && constant.raw !== undefined
  }

  /** A table that is held whole already. */
  held(constant: Constant): Tensor | undefined {
    return this.whole.get(constant)
  }

  /**
   * All of a table, if that is better than reading rows of it once more, which costs as much as reading `cost` bytes.
   * @throws NodewiseError what reading throws
   */
  buy(constant: Constant, cost: number, budget: Budget): Tensor | undefined {
    const spent = (this.spent.get(constant) ?? 0) + cost
    this.spent.set(constant, spent)
    const bytes = bytesToHold(constant)
    if (spent < NEW_MEMORY * bytes || !budget.fits(bytes)) return undefined
    try {
      const tensor = this.take(constant, budget)
      this.spare.add(constant)
      return tensor
    } catch (error) {
      // One array cannot hold every table, nor the machine all that the budget allows.
      if (!(error instanceof NodewiseError) || error.code !== 'limit-exceeded') throw error
      this.spent.set(constant, -Infinity)
      return undefined
    }
  }

  /** Lets go of tables that can be read by the row, and reads those so from now on, so that they do not come and go. */
  giveUp(bytes: number): boolean {
    let freed = 0
    for (const constant of this.spare) {
      if (freed >= bytes) break
      freed += bytesToHold(constant)
      this.letGo(this.whole.get(constant))
      this.whole.delete(constant)
      this.spare.delete(constant)
      this.spent.set(constant, -Infinity)
    }
    this.bytes -= freed
    return freed >= bytes
  }

  clear(): void {
    for (const tensor of this.whole.values()) this.letGo(tensor)
    for (const part of [this.whole, this.spare, this.spent]) part.clear()
    this.bytes = 0
  }

  /** Undefined for what is small or does not lie in its file as in memory, and where the heap has no room. */
  private readOntoHeap({ raw, type, dims, verify }: Constant): Tensor | undefined {
    if (raw === undefined || raw.layout !== undefined) return undefined
    const tensor = onHeap(type, dims, false)
    if (tensor === undefined) return undefined
    const { buffer, byteOffset, byteLength } = tensor.data as Uint8Array
    const target = new Uint8Array(buffer, byteOffset, byteLength)
    try {
      verify?.()
      readInto(raw.source, raw.offset, target)
    } catch (error) {
      heapFree(target)
      throw error
    }
    this.blocks.keep(target)
    return tensor
  }

  private letGo(tensor: Tensor | undefined): void {
    if (tensor && liesOnHeap(tensor.data)) this.blocks.giveUp(tensor.data)
  }

  private take(constant: Constant, budget: Budget): Tensor {
    try {
      const bytes = bytesToHold(constant)
      budget.require(bytes, () => `a constant of type ${constant.type} and dims [${constant.dims.join(', ')}]`)
      const tensor = this.readOntoHeap(constant) ?? constant.read()
      this.whole.set(constant, tensor)
      this.bytes += bytes
      return tensor
    } catch (error) {
      throw error instanceof NodewiseError ? error.at(constant.place) : error
    }
  }
}

/** Memory that holding a constant takes: none where it is used in place, in bytes that the caller gave. */
export function bytesToHold({ type, dims, raw }: Constant): number {
  const bytes = memoryBytes(type, elementCount(dims))
  if (raw?.source.inMemory !== true || raw.layout !== undefined || raw.length === 0) return bytes
  const start = raw.source.read(raw.offset, 1).byteOffset
  return start % (DTYPES[type].array?.BYTES_PER_ELEMENT ?? 1) === 0 ? 0 : bytes
}
