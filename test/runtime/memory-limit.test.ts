import { describe, expect, test } from 'vitest'
import { MemoryLimit, type MemoryReport } from '../../src/runtime/memory-limit.ts'

const GIB = 2 ** 30

const report = (available: number, constrained: number): MemoryReport => ({
  availableMemory: () => available * GIB,
  constrainedMemory: () => constrained,
  memoryUsage: { rss: () => GIB }
})

const left = (report: MemoryReport): number => new MemoryLimit(undefined, report).bytes

describe('what may be held where nothing is given', () => {
  test('is what the machine has free', () => {
    expect(left(report(6, 0))).toBe(6 * GIB)
    expect(left(report(6, 2 ** 64))).toBe(6 * GIB)
  })

  test('is what a container has, whatever of it holds cached files', () =>
    expect(left(report(1, 8 * GIB))).toBe(7 * GIB))

  test('is 4 GiB where nobody knows', () => {
    expect(left({})).toBe(4 * GIB)
    expect(left(report(0, 0))).toBe(4 * GIB)
  })

  test('is asked for once, and not for a few bytes', () => {
    let asked = 0
    const limit = new MemoryLimit(undefined, { availableMemory: () => (++asked, GIB) })
    expect(limit.allows(2 ** 20)).toBe(true)
    expect(asked).toBe(0)
    expect([GIB, GIB + 1].map(bytes => limit.allows(bytes))).toEqual([true, false])
    expect(asked).toBe(1)
  })
})

test('bytes that are given are a limit from the first one on', () => {
  const limit = new MemoryLimit(100)
  expect([100, 101].map(bytes => limit.allows(bytes))).toEqual([true, false])
  expect(limit.bytes).toBe(100)
})
