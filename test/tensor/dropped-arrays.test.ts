import { afterEach, expect, test, vi } from 'vitest'
import { youngCollector } from '../../src/host.ts'

const MEGABYTE = 1 << 20

afterEach(() => {
  vi.unstubAllGlobals()
})

/** A fresh count of arrays, with a collector of which each call takes some milliseconds by a clock of the test's. */
async function withCollector(milliseconds: number) {
  vi.resetModules()
  const collect = vi.fn(() => {
    const end = performance.now() + milliseconds
    while (performance.now() < end);
  })
  vi.stubGlobal('gc', collect)
  const { collectDropped, noteArray } = await import('../../src/tensor/dropped-arrays.ts')
  const run = (megabytes: number): void => {
    collectDropped()
    noteArray(megabytes * MEGABYTE)
  }
  return { collect, run }
}

test('young objects are collected by the first run after 8 MiB of arrays', async () => {
  const { collect, run } = await withCollector(0)
  run(4)
  run(4)
  expect(collect).not.toHaveBeenCalled()
  run(1)
  expect(collect).toHaveBeenCalledExactlyOnceWith({ type: 'minor' })
  run(6)
  expect(collect).toHaveBeenCalledOnce()
})

test('a slow collection puts the next one off, by half as many bytes at most', async () => {
  const { collect, run } = await withCollector(5)
  run(8)
  run(11)
  run(1)
  expect(collect).toHaveBeenCalledOnce()
  run(1)
  expect(collect).toHaveBeenCalledTimes(2)
})

test('the collector frees arrays that nobody holds, and is not shown to the program', async () => {
  vi.stubGlobal('gc', undefined)
  const collect = youngCollector()
  expect(collect).toBeTypeOf('function')
  expect(globalThis.gc).toBeUndefined()
  collect!()
  const before = process.memoryUsage().arrayBuffers
  for (let i = 0; i < 3; i++) new ArrayBuffer(4 * MEGABYTE)
  await expect
    .poll(() => {
      collect!()
      return process.memoryUsage().arrayBuffers - before
    })
    .toBeLessThan(2 * MEGABYTE)
})
