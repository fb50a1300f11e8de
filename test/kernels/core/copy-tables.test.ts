import { describe, expect, test } from 'vitest'
import { type AxisTable, copyByTables } from '../../../src/kernels/core/copy-tables.ts'
import { COST, QUANTUM } from '../../../src/kernels/core/pace.ts'
import { ALL_DTYPES, DTYPES } from '../../../src/tensor/dtype.ts'
import { allocate, elementCount, stridesOf, type Tensor } from '../../../src/tensor/tensor.ts'
import { counted, picks, randomDims } from '../../ops/random.ts'

function copy(source: Tensor, target: Tensor, axes: readonly AxisTable[]): number {
  let turns = 0
  for (const _ of copyByTables(source, target, axes)) turns++
  return turns
}

describe('copyByTables', () => {
  test('copies what the tables say, for every type', () => {
    for (let seed = 0; seed < 60; seed++) {
      const dims = randomDims(seed, 0, 4)
      const sizes = dims.map((_, i) => picks(seed * 17 + i, 6))
      const [from, to] = [stridesOf(dims), stridesOf(sizes)]
      const source = counted(ALL_DTYPES[seed % ALL_DTYPES.length], dims)
      const at = sizes.map((size, axis) =>
        Array.from({ length: size }, (_, i) =>
          seed % 3 === 0 ? i % dims[axis] : picks(seed + 31 * axis + i, dims[axis])
        )
      )
      const target = allocate(source.type, sizes)
      copy(
        source,
        target,
        sizes.map((size, axis) => ({
          from: at[axis].map(i => i * from[axis]),
          to: Array.from({ length: size }, (_, i) => i * to[axis])
        }))
      )
      const { slots } = DTYPES[source.type]
      for (let i = 0; i < elementCount(sizes); i++) {
        const place = sizes.reduce((sum, size, axis) => sum + at[axis][Math.floor(i / to[axis]) % size] * from[axis], 0)
        for (let s = 0; s < slots; s++)
          expect(target.data[i * slots + s], `seed ${seed}`).toBe(source.data[place * slots + s])
      }
    }
  })

  test('yields between chunks of work', () => {
    const [rows, columns] = [1000, 5000]
    const source = counted('uint8', [rows, columns])
    const target = allocate('uint8', [rows, columns])
    const axes = [
      {
        from: Array.from({ length: rows }, (_, i) => (rows - 1 - i) * columns),
        to: Array.from({ length: rows }, (_, i) => i * columns)
      },
      { from: Array.from({ length: columns }, (_, i) => i), to: Array.from({ length: columns }, (_, i) => i) }
    ]
    expect(copy(source, target, axes)).toBe(Math.floor((rows * columns * COST.copy) / QUANTUM))
    expect(target.data[3]).toBe(source.data[(rows - 1) * columns + 3])
  })
})
