import { expect, test } from 'vitest'
import { Blocks } from '../../src/runtime/blocks.ts'
import { heapAllocate, heapStats } from '../../src/wasm/heap.ts'

test.each([
  ['when no run is under way', { runs: 1, isUnseen: false }, [1, 0]],
  ['at once where only the run has seen it', { runs: 1, isUnseen: true }, [0, 0]],
  ['when both have ended where another run may have found it', { runs: 2, isUnseen: true }, [1, 1, 0]]
] as const)('a block that is given up is freed %s', (_, { runs, isUnseen }, left) => {
  const before = heapStats().blocks
  const blocks = new Blocks({})
  for (let run = 0; run < runs; run++) blocks.enter()
  const view = heapAllocate(4096)!
  blocks.keep(view)
  blocks.giveUp(view, isUnseen)
  const found = [heapStats().blocks - before]
  for (let run = 0; run < runs; run++) {
    blocks.leave()
    found.push(heapStats().blocks - before)
  }
  expect(found).toEqual(left)
})
