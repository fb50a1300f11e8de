import { describe, expect, test } from 'vitest'
import { Arena } from '../../src/wasm/arena.ts'
import { heapStats } from '../../src/wasm/heap.ts'

const MIB = 1 << 20

describe('an arena', () => {
  test('gives memory that does not overlap, aligned to lines, until its limit', () => {
    const arena = new Arena(MIB)
    const taken: Uint8Array[] = []
    for (let bytes = 1; ; bytes += 7919) {
      const memory = arena.take(bytes)
      if (memory === undefined) break
      expect(memory).toHaveLength(bytes)
      expect(memory.byteOffset % 64).toBe(0)
      expect(arena.holds(memory)).toBe(true)
      taken.push(memory.fill(taken.length))
    }
    expect(taken.length).toBeGreaterThan(8)
    for (const [i, memory] of taken.entries()) expect(memory.every(byte => byte === i)).toBe(true)
    expect(arena.bytes).toBeLessThanOrEqual(MIB)
    arena.freeAll()
  })

  test('gives what was given back again, neighbours as one piece, the smallest that suffices', () => {
    const arena = new Arena(MIB)
    const [a, b, c, d, e] = [64, 100, 4096, 64, 256, 64].map(bytes => arena.take(bytes)!)
    const { bytes } = arena
    for (const memory of [a, c, b, e]) arena.giveBack(memory)
    expect(arena.take(200)!.byteOffset).toBe(e.byteOffset)
    const joined = arena.take(64 + 128 + 4096)!
    expect(joined.byteOffset).toBe(a.byteOffset)
    expect(d.byteOffset).toBe(joined.byteOffset + joined.byteLength)
    expect(arena.bytes).toBe(bytes)
    arena.freeAll()
  })

  test('is freed as a whole', () => {
    const { blocks } = heapStats()
    const arena = new Arena(MIB)
    for (let i = 0; i < 8; i++) arena.take(100_000)
    expect(heapStats().blocks).toBeGreaterThan(blocks)
    arena.freeAll()
    expect(heapStats().blocks).toBe(blocks)
  })
})
