import { execFileSync } from 'node:child_process'
import { buildSync } from 'esbuild'
import { describe, expect, test } from 'vitest'
import { heapAllocate, heapFree, heapStats, isOnHeap } from '../../src/wasm/heap.ts'
import { wasm } from '../../src/wasm/wasm.ts'
import fc from '../fixtures/random-cases.ts'

const take = (bytes: number, options?: { zero: boolean }): Uint8Array =>
  heapAllocate(bytes, options) ?? expect.fail('the heap is full')

/** Whether all bytes are this one: the first is, and each is as the one before. */
const isFilled = (view: Uint8Array, byte: number): boolean =>
  view.length === 0 || (view[0] === byte && Buffer.compare(view.subarray(1), view.subarray(0, -1)) === 0)

describe('the heap', () => {
  test('hands out aligned blocks that never overlap, whatever the order of taking and giving back', () => {
    const sizes = fc.oneof(
      fc.integer({ min: 0, max: 300 }),
      fc.integer({ min: 1, max: 200_000 }),
      fc.constantFrom(64, 4096, 65536, 1 << 20)
    )
    const steps = fc.array(fc.record({ bytes: sizes, giveBack: fc.boolean(), which: fc.nat() }), { maxLength: 200 })
    fc.assert(
      fc.property(steps, all => {
        const before = heapStats()
        const held: { view: Uint8Array; mark: number }[] = []
        let mark = 0
        for (const { bytes, giveBack, which } of all) {
          if (giveBack && held.length > 0) {
            const [{ view, mark: own }] = held.splice(which % held.length, 1)
            expect(isFilled(view, own)).toBe(true)
            heapFree(view)
          } else {
            const view = take(bytes)
            expect(view.byteOffset % 64).toBe(0)
            expect(view.length).toBe(bytes)
            expect(isFilled(view, 0)).toBe(true)
            mark = (mark % 255) + 1
            view.fill(mark)
            held.push({ view, mark })
          }
        }
        for (const { view, mark: own } of held) {
          expect(isFilled(view, own)).toBe(true)
          heapFree(view)
        }
        expect(heapStats().used).toBe(before.used)
        expect(heapStats().blocks).toBe(before.blocks)
      }),
      { numRuns: 100 }
    )
  })

  test('uses memory again that was given back, so that millions of blocks do not make it grow', () => {
    for (let i = 0; i < 1000; i++) heapFree(take(100_000 + (i % 7) * 1000))
    const { reserved } = heapStats()
    const held: Uint8Array[] = []
    for (let i = 0; i < 300_000; i++) {
      held.push(take(4096 + ((i * 7919) % 60_000), { zero: false }))
      if (held.length > 20) heapFree(held.splice((i * 31) % 20, 1)[0])
    }
    held.forEach(heapFree)
    expect(heapStats().reserved).toBe(reserved)
  })

  test('gives the block that was given back last to who asks for as much', () => {
    const view = take(10_000)
    const guard = take(64)
    heapFree(view)
    const again = take(10_000)
    expect(again.byteOffset).toBe(view.byteOffset)
    heapFree(again)
    heapFree(guard)
  })

  test('leaves what lay in a block where zeros are not asked for', () => {
    const view = take(10_000)
    const guard = take(64)
    view.fill(7)
    heapFree(view)
    const again = take(10_000, { zero: false })
    expect(again[9_999]).toBe(7)
    heapFree(again)
    heapFree(guard)
  })

  test('knows its own views, also those made before it grew', () => {
    const early = take(64)
    early[5] = 42
    const { byteLength } = wasm()!.buffer
    const large = take(byteLength + 1)
    expect(large.buffer).not.toBe(early.buffer)
    expect(isOnHeap(early)).toBe(true)
    expect(isOnHeap(new Float32Array(large.buffer, large.byteOffset, 4))).toBe(true)
    expect(isOnHeap(new Uint8Array(8))).toBe(false)
    expect(isOnHeap(new Uint8Array(new SharedArrayBuffer(8)))).toBe(false)
    expect(new Uint8Array(large.buffer, early.byteOffset, 64)[5]).toBe(42)
    heapFree(large)
    heapFree(early)
  })

  test('refuses a view that is no block of it, and a block given back twice', () => {
    expect(() => heapFree(new Uint8Array(64))).toThrow('no block of the heap')
    const view = take(128)
    expect(() => heapFree(view.subarray(64))).toThrow('no block of the heap')
    heapFree(view)
    expect(() => heapFree(view)).toThrow('no block of the heap')
  })

  test('says when it is full, and goes on', () => {
    expect(heapAllocate(2 ** 32)).toBeUndefined()
    expect(heapAllocate(2 ** 40)).toBeUndefined()
    heapFree(take(64))
  })

  test('is not there with NODEWISE_KERNELS=ts', () => {
    const code = `import('./src/wasm/heap.ts').then(heap => {
      console.log(heap.heapAllocate(64), heap.heapStats().reserved, heap.isOnHeap(new Uint8Array(1)))
    })`
    const { outputFiles } = buildSync({
      stdin: { contents: code, resolveDir: '.' },
      bundle: true,
      platform: 'node',
      write: false
    })
    const out = execFileSync(process.execPath, ['-'], {
      input: outputFiles[0].text,
      env: { ...process.env, NODEWISE_KERNELS: 'ts' },
      encoding: 'utf8'
    })
    expect(out).toBe('undefined 0 false\n')
  })
})
