import v8 from 'node:v8'
import { afterEach, expect, test, vi } from 'vitest'
import { engineCollector } from '../../src/host.ts'
import { DroppedArrays } from '../../src/tensor/dropped-arrays.ts'

const MEGABYTE = 1 << 20

afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

/** What runs do that make arrays, with a collector that takes some milliseconds for young objects. */
function withCollector(milliseconds: number) {
  let time = 0
  const young = vi.fn(() => {
    time += milliseconds
  })
  const whole = vi.fn()
  const setLimit = vi.fn()
  const keep = vi.fn()
  const dropped = new DroppedArrays(
    () => ({ young, whole, setLimit }),
    () => time,
    keep
  )
  const begin = (megabytes: number): void => {
    dropped.find()
    dropped.note(megabytes * MEGABYTE)
  }
  const end = (): void => dropped.leave()
  const run = (megabytes: number): void => {
    begin(megabytes)
    end()
  }
  return { young, whole, setLimit, keep, begin, end, run }
}

function withHeapOf(megabytes: number): void {
  const statistics = v8.getHeapStatistics()
  vi.spyOn(v8, 'getHeapStatistics').mockReturnValue({ ...statistics, used_heap_size: megabytes * MEGABYTE })
}

test('young objects are collected by the first run after 8 MiB of arrays', () => {
  const { young, run } = withCollector(0)
  run(4)
  run(4)
  expect(young).not.toHaveBeenCalled()
  run(1)
  expect(young).toHaveBeenCalledOnce()
  run(6)
  expect(young).toHaveBeenCalledOnce()
})

test('a slow collection puts the next one off, to 16 MiB of arrays at most', () => {
  const { young, run } = withCollector(5)
  run(8)
  run(15)
  run(1)
  expect(young).toHaveBeenCalledOnce()
  run(1)
  expect(young).toHaveBeenCalledTimes(2)
})

test('a small heap may grow to 128 MiB where it is collected during a run that looks for arrays', () => {
  withHeapOf(10)
  const { young, setLimit, begin, end } = withCollector(0)
  begin(8)
  end()
  expect(setLimit).not.toHaveBeenCalled()
  begin(8)
  expect(setLimit.mock.calls).toEqual([[128 * MEGABYTE]])
  expect(young).toHaveBeenCalledAfter(setLimit)
  end()
  expect(setLimit.mock.calls).toEqual([[128 * MEGABYTE], [undefined]])
})

test('the limit ends with one of two runs, though the heap has become large', () => {
  withHeapOf(10)
  const { setLimit, begin, end, run } = withCollector(0)
  run(8)
  begin(8)
  withHeapOf(40)
  begin(8)
  end()
  end()
  expect(setLimit.mock.calls).toEqual([[128 * MEGABYTE], [undefined]])
})

test('the whole heap is collected once at the end of a run after 128 MiB of arrays, while it may grow', () => {
  withHeapOf(10)
  const { whole, setLimit, begin, end, run } = withCollector(0)
  for (let i = 0; i < 8; i++) run(16)
  begin(16)
  expect(whole).not.toHaveBeenCalled()
  setLimit.mockClear()
  end()
  expect(whole).toHaveBeenCalledOnce()
  expect(whole).toHaveBeenCalledBefore(setLimit)
  for (let i = 0; i < 200; i++) run(16)
  expect(whole).toHaveBeenCalledOnce()
})

test('it is collected again after 256 MiB where V8 has collected all that was asked for young objects', () => {
  withHeapOf(10)
  const { whole, run } = withCollector(2)
  for (let i = 0; i < 9; i++) run(16)
  expect(whole).toHaveBeenCalledOnce()
  for (let i = 0; i < 15; i++) run(16)
  expect(whole).toHaveBeenCalledOnce()
  run(16)
  expect(whole).toHaveBeenCalledTimes(2)
})

test('a large heap is not collected as a whole, and has no other limit', () => {
  withHeapOf(40)
  const { young, whole, setLimit, run } = withCollector(0)
  for (let i = 0; i < 300; i++) run(16)
  expect(young).toHaveBeenCalledTimes(299)
  expect(whole).not.toHaveBeenCalled()
  expect(setLimit).not.toHaveBeenCalled()
})

test('free memory is kept once, before a collection of the whole heap, whether the heap is small or large', () => {
  for (const megabytes of [10, 40]) {
    withHeapOf(megabytes)
    const { whole, keep, run } = withCollector(2)
    for (let i = 0; i < 8; i++) run(16)
    expect(keep).not.toHaveBeenCalled()
    for (let i = 0; i < 300; i++) run(16)
    expect(keep).toHaveBeenCalledOnce()
    if (megabytes === 10) expect(keep).toHaveBeenCalledBefore(whole)
  }
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
  const { young } = engineCollector()!
  expect(globalThis.gc).toBeUndefined()
  young()
  for (let i = 0; i < 20; i++) {
    const before = process.memoryUsage().arrayBuffers
    makeArrays()
    young()
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 * MEGABYTE)
  }
})

test('a collection of the whole heap frees arrays that are old', () => {
  const { young, whole } = engineCollector()!
  const old = holdThroughCollections(young)
  const before = process.memoryUsage().arrayBuffers
  old.length = 0
  young()
  expect(before - process.memoryUsage().arrayBuffers).toBeLessThan(20 * MEGABYTE)
  whole()
  expect(before - process.memoryUsage().arrayBuffers).toBeGreaterThan(20 * MEGABYTE)
})

test('a limit is a flag of V8, and its end is what the flag was', () => {
  const { setLimit } = engineCollector()!
  const flags = vi.spyOn(v8, 'setFlagsFromString')
  withHeapOf(10)
  setLimit(128 * MEGABYTE)
  setLimit(undefined)
  expect(flags.mock.calls.flat()).toEqual(['--heap-growing-percent=1180', '--heap-growing-percent=0'])
})

test('an engine without flags has no collector', () => {
  vi.stubGlobal('gc', () => {})
  vi.spyOn(v8, 'setFlagsFromString').mockImplementation(() => {
    throw new Error('not implemented')
  })
  expect(engineCollector()).toBeUndefined()
})

test('a variable of the program that has the name of the collector is not called', () => {
  vi.stubGlobal('gc', 5)
  expect(engineCollector()!.young).not.toThrow()
})

/** Makes and drops 12 MiB of arrays, each of which takes some microseconds to free. */
function makeArrays(): void {
  for (let i = 0; i < 48; i++) new Uint8Array(MEGABYTE / 4).fill(1)
}

/** An array of 32 MiB that is old: it has outlived two collections of young objects. */
function holdThroughCollections(young: () => void): Uint8Array[] {
  const held = [new Uint8Array(32 * MEGABYTE)]
  for (let i = 0; i < 3; i++) young()
  return held
}
