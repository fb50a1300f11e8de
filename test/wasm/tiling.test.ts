import { expect, test } from 'vitest'
import { type Divided, type Tiling, tilingOf } from '../../src/wasm/tiling.ts'

/** Where the tiles begin, as threads compute it, and where the last one ends. */
const startsOf = ({ blocks, tile, whole, part, tiles }: Tiling): number[] =>
  Array.from({ length: tiles + 1 }, (_, i) =>
    Math.min(blocks, Math.min(i, whole) * tile + Math.max(0, i - whole) * part)
  )

test('tiles hold every block of a job once, whatever it is divided among', () => {
  const base: Divided = { blocks: 0, blockBytes: 32, work: 1 << 24 }
  const wrong: unknown[] = []
  for (const kind of [{}, { tile: 40, together: 4 }, { tile: 24, isDivisible: true }])
    for (let blocks = 1; blocks < 200; blocks += 3)
      for (let threads = 1; threads < 5; threads++) {
        const starts = startsOf(tilingOf({ ...base, ...kind, blocks }, threads))
        const isRising = starts.every((start, i) => i === 0 || start > starts[i - 1])
        if (starts[0] !== 0 || starts.at(-1) !== blocks || !isRising) wrong.push({ kind, blocks, threads })
      }
  expect(wrong).toEqual([])
})

test('a job without blocks has no tiles', () => {
  expect(tilingOf({ blocks: 0, blockBytes: 4, work: 0 }, 1).tiles).toBe(0)
})

test('the last tiles of streams that threads share are short, whole numbers of the blocks computed together', () => {
  const streams = { blocks: 176, blockBytes: 32, tile: 96, together: 4, work: 1 << 22 }
  expect(tilingOf(streams, 2)).toEqual({ blocks: 176, tile: 24, whole: 5, part: 8, tiles: 12 })
  expect(tilingOf(streams, 1)).toMatchObject({ tile: 96, tiles: 2, part: 96 })
})

test('tiles that may be divided are as many for each thread, the last blocks in parts, two for each thread', () => {
  const shared = { blocks: 48, blockBytes: 1, tile: 12, isDivisible: true, work: 1 << 28 }
  expect(tilingOf(shared, 2)).toEqual({ blocks: 48, tile: 12, whole: 2, part: 6, tiles: 6 })
  // What is left of a turn is divided alone where it is half a turn.
  expect(tilingOf({ ...shared, blocks: 100, tile: 4 }, 2)).toMatchObject({ tile: 4, whole: 24, part: 1, tiles: 28 })
  expect(tilingOf({ ...shared, blocks: 98, tile: 4 }, 2)).toMatchObject({ tile: 4, whole: 22, part: 2, tiles: 27 })
  expect(tilingOf({ ...shared, blocks: 2, tile: 1 }, 2)).toMatchObject({ whole: 0, part: 1, tiles: 2 })
  expect(tilingOf(shared, 1)).toMatchObject({ tile: 12, whole: 4, tiles: 4 })
})
