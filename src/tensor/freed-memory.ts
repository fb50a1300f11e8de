import { isLinux, unwrittenMemory } from '../host.ts'

// What the collector frees is to serve for the next arrays: a page that the system gives anew costs 0.5 microseconds,
// and 25 MB have 6,144 pages. The C library of GNU gives two kinds of pieces back to the system:
// - pieces larger than the largest one that has been freed before, up to 32 MiB: they are mapped one by one
// - what is free at the end of its memory, where it is more than twice as much
// Memory that nobody touches takes no pages, so what follows costs addresses and a collection, not memory.

/** Bytes: a little less than the largest piece up to which the library raises its threshold. */
const MAX_KEPT = 31 << 20
/**
 * Pieces that are taken below the last one, and freed: as much as V8 lets lie of large arrays. They fill what lies free
 * elsewhere, so that the last one comes to lie at the end.
 */
const PIECES = 8

let isBegun = false
/** Stays at the end of the library's memory, so that what is free below it is not given back. */
let last: ArrayBuffer | undefined

/** Has the library keep pieces of up to 31 MiB that are freed. To be called before memory for an array is taken. */
export function keepPieces(): void {
  if (isBegun) return
  isBegun = true
  take(1)
}

/**
 * Has the library keep what is free at the end of its memory. To be called once the collector has freed the piece of
 * {@link keepPieces}, and before it collects the whole heap, since V8 counts these pieces, too.
 */
export function keepEnd(): void {
  last ??= take(PIECES + 1)
}

/** Takes pieces. @returns the last one */
function take(pieces: number): ArrayBuffer | undefined {
  if (!isLinux) return undefined
  try {
    return Array.from({ length: pieces }, () => unwrittenMemory(MAX_KEPT)).pop()
  } catch {
    // Without room for pieces of this size, freed memory is better returned to the system.
    return undefined
  }
}
