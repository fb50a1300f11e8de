import { describe, expect, test } from 'vitest'
import { gatherBlocks, gatherOffsets } from '../../../src/kernels/gather/gather.ts'
import { resolveIndices } from '../../../src/kernels/gather/indices.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'

const STRICT = { negative: 'wrap', outOfRange: 'error' } as const
const ZERO = { negative: 'wrap', outOfRange: 'zero' } as const

describe('gather kernels', () => {
  test('yield while they move much', () => {
    const data = new Tensor('int8', new Int8Array([1, 2]), [2])
    const count = 5_000_000
    const out = allocate('int8', [count])
    const steps = [...gatherOffsets(data, new Int32Array(count).fill(1), out, 1)]
    expect(steps.length).toBeGreaterThan(2)
    expect(out.data.every(value => value === 2)).toBe(true)
  })

  test('an empty output takes no time however many rows it would have', () => {
    const out = allocate('float32', [0])
    expect([
      ...gatherBlocks(allocate('float32', [0]), new Int32Array(4), out, {
        batch: 2 ** 40,
        outer: 2 ** 12,
        size: 4,
        inner: 0,
        count: 4
      })
    ]).toEqual([])
  })

  test('position -1 leaves zeros', () => {
    const out = allocate('string', [2])
    for (const _ of gatherOffsets(new Tensor('string', ['a', 'b']), new Int32Array([-1, 1]), out, 1));
    expect(out.data).toEqual(['', 'b'])
  })
})

describe('resolving indices', () => {
  test('compares integers of every width exactly', () => {
    expect([...resolveIndices(new Tensor('uint64', [2n ** 63n, 2n ** 32n, 1n]), 2, 0, ZERO)]).toEqual([-1, -1, 1])
    expect([...resolveIndices(new Tensor('int64', [-(2n ** 63n), -(2n ** 32n), -2n]), 2, 0, ZERO)]).toEqual([-1, -1, 0])
    expect([...resolveIndices(new Tensor('uint32', [2 ** 31, 2 ** 32 - 1, 0]), 2, 0, ZERO)]).toEqual([-1, -1, 0])
    expect([...resolveIndices(new Tensor('uint8', [255, 1]), 2, 0, ZERO)]).toEqual([-1, 1])
  })

  test('positions beyond 2^31 are kept', () => {
    expect([...resolveIndices(new Tensor('int64', [2n ** 33n - 1n, -1n]), 2 ** 33, 0, STRICT)]).toEqual([
      2 ** 33 - 1,
      2 ** 33 - 1
    ])
  })
})
