/** What says how a job is divided among threads. */
export interface Divided {
  /** Output blocks, and the bytes of output of each. */
  readonly blocks: number
  readonly blockBytes: number
  /** Output blocks (not bytes) of a tile, where the kernel prescribes them. */
  readonly tile?: number
  /** Blocks that the kernel computes together, faster than one by one; tiles are multiples of it. */
  readonly together?: number
  /** Whether fewer blocks than {@link tile} may be a tile of their own, which then repeats what its blocks share. */
  readonly isDivisible?: boolean
  /** Work of the whole job, in bytes that could be copied in the same time: ten are a nanosecond. */
  readonly work: number
}

/** Bytes of output of a tile. */
const TILE_BYTES = 1 << 18
/** Most blocks of a tile: each may miss all caches. */
const MAX_TILE_BLOCKS = 1 << 16
/** Tiles for each thread, so that at the end no thread waits long for the others, and the least work of a tile. */
const TILES_PER_THREAD = 8
/** The same where blocks are computed together: they read streams, which begin anew with each tile. */
const STREAMED_TILES_PER_THREAD = 4
const MIN_TILE_WORK = 1 << 15
/** Parts of each of the last tiles of a job that threads share, where blocks are computed together. */
const PARTS = 4
/** Share of their time that threads should compute, of a job whose tiles are best large. */
const MIN_BALANCE = 0.9

/** How a job is divided: `whole` tiles of `tile` blocks, then tiles of `part`. */
export interface Tiling {
  readonly blocks: number
  readonly tile: number
  readonly whole: number
  readonly part: number
  readonly tiles: number
}

/**
 * How the given number of threads divide a job. Where they share streams, the last tiles are parts of tiles: threads
 * wait for the one that ends last, but streams that begin anew with each tile had better be long.
 */
export function tilingOf(template: Divided, threads: number): Tiling {
  const { blocks, together = 1 } = template
  const alone = Math.max(1, Math.min(blocks, tileOf(template, TILE_BYTES, MAX_TILE_BLOCKS)))
  const tile = threads > 1 ? sharedTile(template, alone, threads) : alone
  if (threads > 1 && template.isDivisible === true) return inWholeTurns(blocks, tile, threads)
  const whole = Math.floor(blocks / tile) - threads
  if (threads === 1 || together === 1 || whole < 0) return inWholeTiles(blocks, tile)
  return inParts(blocks, tile, whole, Math.ceil(tile / PARTS / together) * together)
}

/**
 * Tiles of as many blocks, as many for each thread. The last blocks, at least half a tile for each thread, are divided
 * into parts, two for each thread: threads do not end at the same time, and one that waits computes nothing.
 */
function inWholeTurns(blocks: number, tile: number, threads: number): Tiling {
  const turn = tile * threads
  const turns = Math.floor(blocks / turn)
  const whole = threads * (blocks - turns * turn < turn / 2 ? Math.max(0, turns - 1) : turns)
  return inParts(blocks, tile, whole, Math.max(1, Math.floor((blocks - whole * tile) / threads / 2)))
}

/** So many whole tiles; what is left is divided into parts. */
const inParts = (blocks: number, tile: number, whole: number, part: number): Tiling => ({
  blocks,
  tile,
  whole,
  part,
  tiles: whole + Math.ceil((blocks - whole * tile) / part)
})

/** All tiles have as many blocks, but the last one. */
export function inWholeTiles(blocks: number, tile: number): Tiling {
  const tiles = Math.ceil(blocks / tile)
  return { blocks, tile, whole: tiles, part: tile, tiles }
}

/** Blocks of a tile of no more than so many bytes and blocks. */
export const tileOf = ({ tile, blockBytes }: Divided, bytes: number, maxBlocks: number): number =>
  tile ?? Math.max(1, Math.min(maxBlocks, Math.floor(bytes / blockBytes)))

/** Blocks of a tile of a job that threads share. */
function sharedTile({ blocks, isDivisible, together = 1, work }: Divided, tile: number, threads: number): number {
  if (isDivisible !== true) {
    const tiles = threads * (together > 1 ? STREAMED_TILES_PER_THREAD : TILES_PER_THREAD)
    const least = Math.max(blocks / tiles, (blocks * MIN_TILE_WORK) / work)
    return Math.min(tile, Math.ceil(least / together) * together)
  }
  // The largest tiles that still give all threads about the same number.
  for (let part = tile; part > 1; part--) {
    const tiles = blocks / part
    if (tile % part === 0 && tiles >= 2 * threads && Math.ceil(tiles / threads) * threads * MIN_BALANCE <= tiles)
      return part
  }
  return 1
}
