import { type Arena, liesIn } from '../wasm/arena.ts'
import { liesOnHeap } from './memory.ts'

interface Piece {
  readonly memory: Uint8Array
  /** Slots that hold it or a part of it. */
  holders: number
}

/**
 * Memory of recorded values. Values that are parts of one piece share it; it goes to later values once no slot holds
 * any of them.
 */
export class RecordedMemory {
  private readonly arena: Arena
  private readonly pieces: Piece[] = []

  constructor(arena: Arena) {
    this.arena = arena
  }

  /** Memory that may hold anything; undefined where there is no more. */
  take(bytes: number): Uint8Array | undefined {
    const memory = this.arena.take(bytes)
    if (memory) this.pieces.push({ memory, holders: 0 })
    return memory
  }

  /** A slot holds elements; those that lie elsewhere are not counted. */
  hold(data: unknown): void {
    const piece = this.pieceOf(data)
    if (piece) piece.holders++
  }

  /** A slot that held elements does so no more. */
  release(data: unknown): void {
    const piece = this.pieceOf(data)
    if (piece === undefined || --piece.holders > 0) return
    this.pieces.splice(this.pieces.indexOf(piece), 1)
    this.arena.giveBack(piece.memory)
  }

  private pieceOf(data: unknown): Piece | undefined {
    return liesOnHeap(data) ? this.pieces.find(({ memory }) => liesIn(data, memory)) : undefined
  }
}

/** Whether elements are some of others, or all of them. */
export const isPartOf = (data: unknown, whole: unknown): boolean =>
  data === whole || (liesOnHeap(data) && liesOnHeap(whole) && liesIn(data, whole))
