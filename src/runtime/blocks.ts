import { heapFree } from '../wasm/heap.ts'

/** An empty view at the start of a block, by which the heap knows it. */
const handleOf = ({ buffer, byteOffset }: ArrayBufferView): Uint8Array => new Uint8Array(buffer, byteOffset, 0)

const freeAll = (handles: Map<number, Uint8Array>): void => {
  for (const handle of handles.values()) heapFree(handle)
  handles.clear()
}

/** Blocks of sessions that were dropped without being disposed. */
const dropped = new FinalizationRegistry<Map<number, Uint8Array>>(freeAll)

/**
 * Blocks of the heap that a session holds beyond a run: weights, and what it has lent. A block that is given up is
 * freed when no run of the session is under way, since a run may still read it.
 */
export class Blocks {
  private readonly held = new Map<number, Uint8Array>()
  private readonly givenUp = new Map<number, Uint8Array>()
  private runs = 0

  /** @param owner when it is collected the blocks go back */
  constructor(owner: object) {
    dropped.register(owner, this.held)
    dropped.register(owner, this.givenUp)
  }

  /** Holds a block, also one that has been given up and not freed yet. */
  keep(view: ArrayBufferView): void {
    this.givenUp.delete(view.byteOffset)
    this.held.set(view.byteOffset, handleOf(view))
  }

  /**
   * @param isUnseen whether nobody has seen it but the run that asks: it is freed at once, where no other run is under
   *   way which might have found it meanwhile
   * @returns whether it was held
   */
  giveUp(view: ArrayBufferView, isUnseen = false): boolean {
    const handle = this.held.get(view.byteOffset)
    if (handle === undefined) return false
    this.held.delete(view.byteOffset)
    if (isUnseen && this.runs <= 1) heapFree(handle)
    else this.givenUp.set(view.byteOffset, handle)
    this.settle()
    return true
  }

  giveUpAll(): void {
    for (const [at, handle] of this.held) this.givenUp.set(at, handle)
    this.held.clear()
    this.settle()
  }

  /** Whether no run is under way. */
  get isIdle(): boolean {
    return this.runs === 0
  }

  enter(): void {
    this.runs++
  }

  leave(): void {
    this.runs--
    this.settle()
  }

  private settle(): void {
    if (this.runs === 0 && this.givenUp.size > 0) freeAll(this.givenUp)
  }
}
