import { describe, expect, test } from 'vitest'
import { windowRanges } from '../../../src/kernels/conv/conv-plan.ts'
import { Pace } from '../../../src/kernels/core/pace.ts'
import { eachRun, type Taps, tapsOf, tapsOfRanges } from '../../../src/kernels/core/windows.ts'
import { picks } from '../../ops/random.ts'
import { axisOf, type Pair, pairsOf } from '../window-pairs.ts'

function collected(taps: Taps): Pair[] {
  const pairs: Pair[] = []
  const steps = eachRun(taps, new Pace(), (tap, window, element, count, step) => {
    for (let i = 0; i < count; i++) pairs.push({ window: window + i, tap, element: element + i * step })
  })
  while (!steps.next().done);
  return pairs
}

/** Sorting keeps the order of what is equal. */
const byWindow = (pairs: readonly Pair[]): Pair[] => [...pairs].sort((a, b) => a.window - b.window)

const randomAxis = (seed: number): ReturnType<typeof axisOf> =>
  axisOf({
    size: picks(seed, 7),
    kernel: 1 + picks(seed + 1, 4),
    stride: 1 + picks(seed + 2, 4),
    dilation: 1 + picks(seed + 3, 3),
    begin: picks(seed + 4, 6) - 1,
    count: picks(seed + 5, 6)
  })

describe('eachRun', () => {
  test('visits what the definition says, the taps of each window in order', () => {
    for (let seed = 1; seed <= 400; seed++) {
      const axes = Array.from({ length: 1 + picks(seed, 3) }, (_, a) => randomAxis(seed * 100 + a * 10))
      expect(byWindow(collected(tapsOf(axes))), `seed ${seed}`).toEqual(pairsOf(axes))
    }
  })

  test('a kernel, dilation or padding far larger than the data takes no time', () => {
    const many = 2 ** 31 - 1
    expect(
      collected(tapsOf([axisOf({ size: 3, kernel: many, begin: many, count: 2, stride: 2 ** 30 })])).map(
        pair => pair.window
      )
    ).toEqual([1, 1, 1])
    expect(
      collected(tapsOf([axisOf({ size: 3, kernel: many, dilation: many, count: 2 })])).map(pair => pair.element)
    ).toEqual([0, 1])
    expect(collected(tapsOf([axisOf({ size: 2, kernel: 3, begin: many, count: 3, stride: many })])).length).toBe(2)
  })

  test('yields on the way through a large plane, and through many small runs', () => {
    for (const axes of [[axisOf({ size: 2 ** 23 })], [axisOf({ size: 2 ** 19, kernel: 2 ** 19 })]]) {
      let yields = 0
      const steps = eachRun(tapsOf(axes), new Pace(), () => {})
      while (!steps.next().done) yields++
      expect(yields).toBeGreaterThan(1)
    }
  })
})

describe('ranges of the windows of a plane', () => {
  test('are neighbours, cover every window once, and are no larger than asked for', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const axes = Array.from({ length: 1 + picks(seed, 3) }, (_, a) =>
        axisOf({ size: 1 + picks(seed * 7 + a, 6), kernel: 1 + picks(seed + a, 2), begin: 1 })
      )
      const most = 1 + picks(seed + 3, 20)
      let next = 0
      const pairs: Pair[] = []
      for (const { box, start, count } of windowRanges(axes, most)) {
        expect(start).toBe(next)
        expect(count).toBeGreaterThan(0)
        expect(count).toBeLessThanOrEqual(most)
        const own = collected(tapsOf(axes, box))
        expect(own.every(({ window }) => window >= start && window < start + count)).toBe(true)
        pairs.push(...own)
        next += count
      }
      expect(next).toBe(axes.reduce((product, axis) => product * axis.count, 1))
      expect(byWindow(pairs), `seed ${seed}`).toEqual(pairsOf(axes))
    }
  })

  test('a plane without windows has none', () => {
    expect([...windowRanges([axisOf({ size: 0, count: 0 }), axisOf({ size: 2 })], 4)]).toEqual([])
  })
})

test('windows of any size read their ranges', () => {
  const taps = tapsOfRanges([
    {
      size: 4,
      ranges: [
        [0, 1],
        [1, 4]
      ]
    },
    {
      size: 3,
      ranges: [
        [0, 2],
        [1, 3]
      ]
    }
  ])
  const read = [0, 1, 2, 3].map(window =>
    byWindow(collected(taps))
      .filter(pair => pair.window === window)
      .map(pair => pair.element)
  )
  expect(read).toEqual([
    [0, 1],
    [1, 2],
    [3, 4, 6, 7, 9, 10],
    [4, 5, 7, 8, 10, 11]
  ])
})
