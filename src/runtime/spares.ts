import { liesInRoom } from '../tensor/room.ts'
import { isTensor, type Tensor, type Value } from '../tensor/tensor.ts'
import type { Returned } from './memory.ts'
import type { Targets } from './outputs.ts'
import type { Spare, Weights } from './weights.ts'

/** Bytes of an output from which on it is worth keeping: smaller memory is found quickly. */
const MIN_BYTES = 1 << 16
/** Memory that is kept at most: pieces, and bytes of all of them. */
const MAX_PIECES = 16
const MAX_BYTES = 1 << 28

/** Moves memory away from all views of it, which are empty from then on; undefined where it cannot be moved. */
function detached(memory: ArrayBuffer): ArrayBuffer | undefined {
  try {
    return structuredClone(memory, { transfer: [memory] })
  } catch {
    return undefined
  }
}

/**
 * Memory of outputs that the caller has given back, for later outputs of as many bytes: it is in the cache, and the
 * system has no pages to find. It counts against the session's memory, and goes where that is needed.
 */
export class Spares implements Spare, Returned {
  private readonly weights: Weights
  /** Memory that outputs have been given, which may come back. */
  private readonly given = new WeakSet<ArrayBufferLike>()
  /** The oldest first. */
  private pieces: ArrayBuffer[] = []

  /** @param weights counts what is kept, and lets go of it where memory is needed */
  constructor(weights: Weights) {
    this.weights = weights
    weights.others.add(this)
  }

  /** Notes which outputs may be given back: tensors that have not been the caller's before. */
  lend(names: readonly string[], targets: Targets, outputs: Readonly<Record<string, Value>>): void {
    for (let i = 0; i < names.length; i++) {
      const value = outputs[names[i]]
      const memory = targets[i] === undefined && isTensor(value) ? memoryOf(value) : undefined
      if (memory) this.given.add(memory)
    }
  }

  /** Takes an output back, if it is one; whatever views there are of its memory are empty from then on. */
  takeBack(tensor: Tensor): void {
    const memory = memoryOf(tensor)
    const piece = memory && this.given.delete(memory) ? detached(memory) : undefined
    if (piece === undefined) return
    this.pieces.push(piece)
    this.weights.otherBytes += piece.byteLength
    let bytes = this.pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)
    while (this.pieces.length > MAX_PIECES || bytes > MAX_BYTES) bytes -= this.drop(0).byteLength
  }

  take(bytes: number): ArrayBuffer | undefined {
    if (bytes < MIN_BYTES) return undefined
    // What came last is most likely in the cache.
    const at = this.pieces.findLastIndex(({ byteLength }) => byteLength === bytes)
    return at < 0 ? undefined : this.drop(at)
  }

  giveUp(): number {
    const before = this.weights.otherBytes
    while (this.pieces.length > 0) this.drop(0)
    return before - this.weights.otherBytes
  }

  forget(): void {
    // It is no constant.
  }

  private drop(at: number): ArrayBuffer {
    const [piece] = this.pieces.splice(at, 1)
    this.weights.otherBytes -= piece.byteLength
    return piece
  }
}

/** The memory of a tensor that has one of its own, and is large enough. */
function memoryOf(tensor: Tensor): ArrayBuffer | undefined {
  if (liesInRoom(tensor)) return undefined
  const { data } = tensor
  if (Array.isArray(data) || data.byteLength < MIN_BYTES) return undefined
  const { buffer } = data
  return buffer instanceof ArrayBuffer && buffer.byteLength === data.byteLength ? buffer : undefined
}
