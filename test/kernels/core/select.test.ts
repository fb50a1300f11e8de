import { expect, test } from 'vitest'
import { drain } from '../../../src/kernels/core/pace.ts'
import { selectTop } from '../../../src/kernels/core/select.ts'

/** Few different numbers, zeros of both signs, infinities and NaN among them. */
function keysOf(count: number): Float32Array {
  const numbers = [0, -0, 1, -1, NaN, Infinity, -Infinity, 1e-40, -1e-40, 3.5, -3e38]
  let state = 5
  return Float32Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state % 3 === 0 ? numbers[(state >>> 8) % numbers.length] : (state >>> 20) - 2000
  })
}

const layouts = [
  { outer: 3, size: 90, inner: 1 },
  { outer: 2, size: 40, inner: 3 },
  // Too long to be packed as a whole.
  { outer: 2, size: 150, inner: 1 }
]

test('the best of keys of 32 bits are those of the same keys in double precision', () => {
  for (const layout of layouts) {
    const keys = keysOf(layout.outer * layout.size * layout.inner)
    for (const k of [0, 1, 2, 3, 4, 7, 16, 18, 39, 40])
      for (const largest of [true, false])
        for (const nan of ['last', 'smallest'] as const)
          for (const order of ['value', 'index'] as const) {
            const found = drain(selectTop(keys, layout, k, { largest, nan, order }))
            const expected = drain(selectTop(Float64Array.from(keys), layout, k, { largest, nan, order }))
            expect(Array.from(found), `${k} of ${layout.size}, ${nan}`).toEqual(Array.from(expected))
          }
  }
})

test('many of a line in orders that are bad for pivots', () => {
  const size = 2000
  const orders: ((i: number) => number)[] = [
    i => i,
    i => -i,
    i => Math.min(i, size - i),
    () => 7,
    i => i % 2,
    // Pairs of low and high numbers in front of the even ones: each median of three is among the lowest.
    i => (i >= size / 2 ? 2 * (i - size / 2 + 1) : i % 2 === 0 ? i + 1 : size / 2 + i)
  ]
  const layout = { outer: 1, size, inner: 1 }
  for (const [index, order] of orders.entries())
    for (const k of [300, 1000, 1999])
      for (const largest of [true, false]) {
        const keys = Float32Array.from({ length: size }, (_, i) => order(i))
        const selection = { largest, nan: 'last', order: 'value' } as const
        const expected = drain(selectTop(Float64Array.from(keys), layout, k, selection))
        expect(drain(selectTop(keys, layout, k, selection)), `order ${index}, ${k}`).toEqual(expected)
      }
})

test('lines of all numbers that are none, and those that have more of them than are selected', () => {
  const keys = new Float32Array(60).fill(NaN)
  keys[50] = -Infinity
  for (const k of [1, 9, 20])
    for (const nan of ['last', 'smallest'] as const) {
      const selection = { largest: false, nan, order: 'value' } as const
      const layout = { outer: 1, size: 60, inner: 1 }
      expect(Array.from(drain(selectTop(keys, layout, k, selection)))).toEqual(
        Array.from(drain(selectTop(Float64Array.from(keys), layout, k, selection)))
      )
    }
})

test('integers of up to 32 bits, the extremes among them, alone and as halves of longer ones', () => {
  const selection = { largest: false, nan: 'last', order: 'value' } as const
  const layout = { outer: 1, size: 70, inner: 1 }
  for (const Keys of [Int32Array, Uint32Array, Int8Array]) {
    const keys = new Keys(Array.from({ length: 70 }, (_, i) => (i * 7919) % 13))
    keys[33] = 2 ** 31
    keys[34] = -1
    keys[60] = 2 ** 31 - 1
    for (const largest of [true, false]) {
      const expected = drain(selectTop(Float64Array.from(keys), layout, 9, { ...selection, largest }))
      expect(Array.from(drain(selectTop(keys, layout, 9, { ...selection, largest })))).toEqual(Array.from(expected))
    }
  }
  const halves = Int32Array.from({ length: 140 }, (_, i) => (i % 2 ? -1 : -((i * 31) % 17) - 1))
  const low = halves.filter((_, i) => i % 2 === 0)
  for (const largest of [true, false])
    expect(Array.from(drain(selectTop(halves, layout, 9, { ...selection, largest }, 2)))).toEqual(
      Array.from(drain(selectTop(Float64Array.from(low), layout, 9, { ...selection, largest })))
    )
})
