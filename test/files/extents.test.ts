import { expect, test } from 'vitest'
import { Extents } from '../../src/files/extents.ts'
import { mergedRanges, piecesOf, scatter } from '../../src/files/pieces.ts'
import fc from '../fixtures/random-cases.ts'

const SIZE = 64
const file = Uint8Array.from({ length: SIZE }, (_, i) => i + 1)
const range = fc.tuple(fc.nat(SIZE - 1), fc.integer({ min: 1, max: SIZE })).map(([offset, length]) => ({
  offset,
  length: Math.min(length, SIZE - offset)
}))

test('What is at hand is what has been put there, in any order and overlap', () => {
  fc.assert(
    fc.property(fc.array(range), range, (puts, wanted) => {
      const extents = new Extents()
      const held = new Set<number>()
      for (const { offset, length } of puts) {
        extents.put(offset, file.slice(offset, offset + length))
        for (let i = 0; i < length; i++) held.add(offset + i)
      }
      expect(extents.bytes).toBe(held.size)
      const positions = Array.from({ length: wanted.length }, (_, i) => wanted.offset + i)
      const missing = extents
        .missing(wanted)
        .flatMap(part => positions.slice(part.offset - wanted.offset).slice(0, part.length))
      expect(missing).toEqual(positions.filter(at => !held.has(at)))
      const expected = missing.length > 0 ? undefined : file.slice(wanted.offset, wanted.offset + wanted.length)
      expect(extents.read(wanted)?.slice()).toEqual(expected)
      const target = new Uint8Array(wanted.length)
      expect(extents.read(wanted, target)).toEqual(expected)
    })
  )
})

test('What a lease holds stays, and of the rest what was used last', () => {
  const extents = new Extents()
  for (const offset of [0, 10, 20, 30]) extents.put(offset, file.slice(offset, offset + 10))
  const end = extents.lease([{ offset: 5, length: 10 }])
  expect(extents.leased).toBe(20)
  extents.read({ offset: 20, length: 1 })
  extents.trim(10)
  expect([0, 10, 20, 30].map(offset => extents.missing({ offset, length: 10 }).length)).toEqual([0, 0, 0, 1])
  end()
  end()
  expect(extents.leased).toBe(0)
  extents.trim(0)
  expect(extents.bytes).toBe(0)
})

test('Any number of ranges is kept', () => {
  const extents = new Extents()
  for (let i = 0; i < 150_000; i++) extents.put(2 * i, file.slice(0, 1))
  extents.trim(149_000)
  expect([extents.bytes, extents.read({ offset: 299_998, length: 1 })]).toEqual([149_000, file.slice(0, 1)])
})

test('Parts are read in pieces that cover each of them once, whatever they are', () => {
  fc.assert(
    fc.property(fc.array(range), fc.nat(8), fc.integer({ min: 1, max: 20 }), (ranges, gap, most) => {
      const parts = ranges.map(({ offset, length }) => ({ offset, target: new Uint8Array(length) }))
      for (const piece of piecesOf(parts, gap, most)) {
        expect(piece.length).toBeLessThanOrEqual(most)
        const half = piece.length >> 1
        scatter(piece, piece.offset, file.subarray(piece.offset, piece.offset + half))
        scatter(piece, piece.offset + half, file.subarray(piece.offset + half, piece.offset + piece.length))
      }
      for (const { offset, target } of parts) expect(target).toEqual(file.slice(offset, offset + target.length))
      const merged = mergedRanges(ranges)
      for (let i = 1; i < merged.length; i++)
        expect(merged[i].offset).toBeGreaterThan(merged[i - 1].offset + merged[i - 1].length)
    })
  )
})
