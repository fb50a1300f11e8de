import { expect, test } from 'vitest'
import { rawArray } from '../../src/tensor/arrays.ts'

/** Bytes of this process that lie in pages of the system. */
const residentBytes = (): number => process.memoryUsage().rss

test('pieces that hold freed memory take no pages, and arrays stay apart', () => {
  const before = residentBytes()
  const kept: Uint8Array[] = []
  for (let i = 0; i < 20; i++) {
    const array = rawArray(Uint8Array, 9 << 20) as Uint8Array
    if (i % 5 > 0) continue
    array.fill(i)
    kept.push(array)
  }
  expect(residentBytes() - before).toBeLessThan(100 << 20)
  kept.forEach((array, i) => expect(array.every(byte => byte === 5 * i)).toBe(true))
})
