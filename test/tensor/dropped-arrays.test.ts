import v8 from 'node:v8'
import { afterEach, expect, test, vi } from 'vitest'
import { youngCollector } from '../../src/host.ts'
import { DroppedArrays } from '../../src/tensor/dropped-arrays.ts'

const MEGABYTE = 1 << 20

afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

/** What runs do that make arrays, with a collector whose calls take some milliseconds. */
function withCollector(milliseconds: number) {
  const collect = vi.fn(() => {
    const end = performance.now() + milliseconds
    while (performance.now() < end);
  })
  const dropped = new DroppedArrays(() => collect)
  const run = (megabytes: number): void => {
    dropped.find()
    dropped.note(megabytes * MEGABYTE)
  }
  return { collect, run }
}

test('young objects are collected by the first run after 8 MiB of arrays', () => {
  const { collect, run } = withCollector(0)
  run(4)
  run(4)
  expect(collect).not.toHaveBeenCalled()
  run(1)
  expect(collect).toHaveBeenCalledOnce()
  run(6)
  expect(collect).toHaveBeenCalledOnce()
})

test('a slow collection puts the next one off, to 16 MiB of arrays at most', () => {
  const { collect, run } = withCollector(5)
  run(8)
  run(15)
  run(1)
  expect(collect).toHaveBeenCalledOnce()
  run(1)
  expect(collect).toHaveBeenCalledTimes(2)
})

test('nothing is asked for again where there is no collector', () => {
  const collector = vi.fn(() => undefined)
  const dropped = new DroppedArrays(collector)
  for (let i = 0; i < 3; i++) {
    dropped.note(100 * MEGABYTE)
    dropped.find()
  }
  expect(collector).toHaveBeenCalledOnce()
})

test('the collector frees arrays that nobody holds before it returns, and is not shown to the program', () => {
  vi.stubGlobal('gc', undefined)
  const collect = youngCollector()
  expect(collect).toBeTypeOf('function')
  expect(globalThis.gc).toBeUndefined()
  collect!()
  for (let i = 0; i < 20; i++) {
    const before = process.memoryUsage().arrayBuffers
    makeArrays()
    collect!()
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 * MEGABYTE)
  }
})

test('an engine without flags has no collector', () => {
  vi.stubGlobal('gc', () => {})
  vi.spyOn(v8, 'setFlagsFromString').mockImplementation(() => {
    throw new Error('not implemented')
  })
  expect(youngCollector()).toBeUndefined()
})

test('a variable of the program that has the name of the collector is not called', () => {
  vi.stubGlobal('gc', 5)
  expect(youngCollector()).not.toThrow()
})

/** Makes and drops 12 MiB of arrays, each of which takes some microseconds to free. */
function makeArrays(): void {
  for (let i = 0; i < 48; i++) new Uint8Array(MEGABYTE / 4).fill(1)
}
