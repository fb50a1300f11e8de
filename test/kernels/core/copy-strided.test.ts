import { describe, expect, test } from 'vitest'
import { copyStrided, type Loop } from '../../../src/kernels/core/copy-strided.ts'
import { chunkSize, COST } from '../../../src/kernels/core/pace.ts'
import { ALL_DTYPES, DTYPES } from '../../../src/tensor/dtype.ts'
import { allocate, elementCount, stridesOf, type Tensor } from '../../../src/tensor/tensor.ts'
import { counted, picks } from '../../ops/random.ts'

/** Runs a copy; gives the number of times that it yielded. */
function copy(source: Tensor, target: Tensor, loops: readonly Loop[], fromStart = 0, toStart = 0): number {
  let turns = 0
  for (const _ of copyStrided(source, target, loops, fromStart, toStart)) turns++
  return turns
}

/** The same, one element after the other. */
function slowCopy(source: Tensor, target: Tensor, loops: readonly Loop[], f: number, t: number): void {
  const [loop, ...rest] = loops
  if (loop === undefined) {
    const { slots } = DTYPES[source.type]
    for (let s = 0; s < slots; s++) target.data[t * slots + s] = source.data[f * slots + s]
  } else for (let i = 0; i < loop.count; i++) slowCopy(source, target, rest, f + i * loop.from, t + i * loop.to)
}

/** Loops over an output of random dims whose axes read with random steps, backward ones and zeros too. */
function randomCopy(seed: number): { loops: Loop[]; fromStart: number; sourceSize: number; targetSize: number } {
  const dims = Array.from({ length: 1 + picks(seed, 5) }, (_, i) => [1, 2, 3, 5, 40][picks(seed * 7 + i, 5)]).slice(
    0,
    4
  )
  const to = stridesOf(dims)
  const natural = stridesOf([...dims].sort((a, b) => picks(seed + a, 9) - picks(seed + b, 9)))
  let fromStart = 0
  let reach = 0
  const loops = dims.map((count, i) => {
    const from = [natural[i], -natural[i], 0, 1, to[i]][picks(seed * 13 + i, 5)]
    if (from < 0) fromStart -= from * (count - 1)
    else reach += from * (count - 1)
    return { count, from, to: to[i] }
  })
  return { loops, fromStart, sourceSize: fromStart + reach + 1, targetSize: elementCount(dims) }
}

describe('copyStrided', () => {
  test('copies as a loop over single elements does, for every type', () => {
    for (let seed = 0; seed < 60; seed++) {
      const { loops, fromStart, sourceSize, targetSize } = randomCopy(seed)
      const type = ALL_DTYPES[seed % ALL_DTYPES.length]
      const source = counted(type, [sourceSize])
      const [fast, slow] = [allocate(type, [targetSize + 2]), allocate(type, [targetSize + 2])]
      copy(source, fast, loops, fromStart, 1)
      slowCopy(source, slow, loops, fromStart, 1)
      expect(fast.data, `seed ${seed} ${type} ${JSON.stringify(loops)}`).toEqual(slow.data)
    }
  })

  test('repeats what lies side by side, longer than what is copied at once and shorter', () => {
    for (const [type, width, count] of [
      ['int64', 1, 30_001],
      ['float64', 3, 7001],
      ['uint8', 9000, 5],
      ['complex128', 1, 9],
      ['int16', 5, 1]
    ] as const) {
      const loops = [
        { count, from: 0, to: width },
        { count: width, from: 1, to: 1 }
      ]
      const source = counted(type, [width + 2])
      const [fast, slow] = [allocate(type, [width * count + 2]), allocate(type, [width * count + 2])]
      copy(source, fast, loops, 2, 1)
      slowCopy(source, slow, loops, 2, 1)
      expect(fast.data, type).toEqual(slow.data)
    }
  })

  test('scatters: steps of the target may be any', () => {
    const target = allocate('int16', [12])
    copy(
      counted('int16', [6]),
      target,
      [
        { count: 3, from: 2, to: -4 },
        { count: 2, from: 1, to: 1 }
      ],
      0,
      8
    )
    expect([...target.data]).toEqual([4, 5, 0, 0, 2, 3, 0, 0, 0, 1, 0, 0])
  })

  test('without loops one element is copied, with an empty loop none', () => {
    const target = allocate('float32', [2])
    copy(counted('float32', [3]), target, [], 2, 1)
    expect([...target.data]).toEqual([0, 2])
    copy(counted('float32', [3]), target, [
      { count: 2, from: 1, to: 1 },
      { count: 0, from: 1, to: 1 }
    ])
    expect([...target.data]).toEqual([0, 2])
  })

  test('yields between chunks of work, also within one long loop', () => {
    const count = 3 * chunkSize(COST.copy) + 5
    const bytes = allocate('uint8', [count])
    bytes.data.fill(7)
    const target = allocate('uint8', [count])
    expect(copy(bytes, target, [{ count, from: 1, to: 1 }])).toBe(3)
    expect(target.data.every(item => item === 7)).toBe(true)
    const side = 2048
    const square = counted('uint16', [side, side])
    const turned = allocate('uint16', [side, side])
    expect(
      copy(square, turned, [
        { count: side, from: 1, to: side },
        { count: side, from: side, to: 1 }
      ])
    ).toBeGreaterThanOrEqual(1)
    expect(turned.data[5 * side + 3]).toBe(square.data[3 * side + 5])
    expect(turned.data[2047 * side + 100]).toBe(square.data[100 * side + 2047])
  })
})
