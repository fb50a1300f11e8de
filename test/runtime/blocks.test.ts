import { expect, test } from 'vitest'
import { Blocks } from '../../src/runtime/blocks.ts'
import { heapAllocate, heapStats } from '../../src/wasm/heap.ts'

/** Blocks of a session that hold one, and how many more the heap has than before. */
function holding(runs: number): { blocks: Blocks; view: Uint8Array; more: () => number } {
  const before = heapStats().blocks
  const blocks = new Blocks({})
  for (let run = 0; run < runs; run++) blocks.enter()
  const view = heapAllocate(4096)!
  blocks.keep(view)
  return { blocks, view, more: () => heapStats().blocks - before }
}

test('a block that is given up is freed when no run is under way', () => {
  const { blocks, view, more } = holding(1)
  blocks.giveUp(view)
  expect(more()).toBe(1)
  blocks.leave()
  expect(more()).toBe(0)
})

test('a block that only the run has seen is freed at once', () => {
  const { blocks, view, more } = holding(1)
  blocks.giveUpUnseen(view)
  expect(more()).toBe(0)
  blocks.leave()
  expect(more()).toBe(0)
})

test('a block that another run may have found is freed when both have ended', () => {
  const { blocks, view, more } = holding(2)
  blocks.giveUpUnseen(view)
  blocks.leave()
  expect(more()).toBe(1)
  blocks.leave()
  expect(more()).toBe(0)
})
