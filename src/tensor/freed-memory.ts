import { isLinux, unwrittenMemory } from '../host.ts'

// What the collector frees is to serve for the next arrays: a page that the system gives anew costs 0.5 microseconds,
// and 25 MB have 6,144 pages. The C library of GNU gives two kinds of pieces back to the system:
// - pieces larger than the largest one that has been freed before, up to 32 MiB: they are mapped one by one
// - what is free at the end of its memory, where it is more than twice as much
// Memory that nobody touches takes no pages, so what follows costs addresses and some collections, not memory.

/** Bytes: a little less than the largest piece up to which the library raises its threshold. */
const MAX_KEPT = 31 << 20
/** Bytes from which on an array is large: few of them reach the end that is given back. */
const LARGE = 8 << 20
/** Large arrays after which the collector has freed the first piece: it lets at most 32 MiB of young arrays lie. */
const SOME = 8
/**
 * Pieces that are taken below the last one, and freed: as much as V8 lets lie of large arrays. They fill what lies free
 * elsewhere, so that the last one comes to lie at the end.
 */
const PIECES = 8

let isBegun = false
let large = 0
/** Stays at the end of the library's memory, so that what is free below it is not given back. */
let last: ArrayBuffer | undefined

/** To be called before memory for an array is taken. */
export function keepFreed(bytes: number): void {
  if (!isLinux) return
  try {
    if (!isBegun) {
      isBegun = true
      unwrittenMemory(MAX_KEPT)
    } else if (bytes >= LARGE && last === undefined && ++large === SOME) {
      const pieces = Array.from({ length: PIECES + 1 }, () => unwrittenMemory(MAX_KEPT))
      last = pieces.pop()
    }
  } catch {
    // Without room for pieces of this size, freed memory is better returned to the system.
  }
}
