import { describe, expect, test } from 'vitest'
import { chunkSize, COST, drain, inChunks, Pace, QUANTUM } from '../../../src/kernels/core/pace.ts'

describe('a pace', () => {
  test('is due once a quantum of work has been done, and counts anew then', () => {
    const pace = new Pace()
    expect(pace.isDue(QUANTUM - 1)).toBe(false)
    expect(pace.isDue(1)).toBe(true)
    expect(pace.isDue(QUANTUM - 1)).toBe(false)
    expect(pace.isDue(3 * QUANTUM)).toBe(true)
    expect(pace.isDue(1)).toBe(false)
  })
})

describe('chunks', () => {
  const rangesOf = (count: number, cost?: number): { ranges: number[][]; yields: number } => {
    const ranges: number[][] = []
    let yields = 0
    for (const _ of inChunks(count, (from, to) => ranges.push([from, to]), cost)) yields++
    return { ranges, yields }
  }

  test('cover all items in order, with a yield between two of them', () => {
    expect(rangesOf(5, QUANTUM / 2)).toEqual({
      ranges: [
        [0, 2],
        [2, 4],
        [4, 5]
      ],
      yields: 2
    })
    expect(rangesOf(0)).toEqual({ ranges: [], yields: 0 })
    expect(rangesOf(chunkSize(COST.element))).toMatchObject({ yields: 0 })
  })

  test('of few items are worked on at once, and what is left may be delegated to again and again', () => {
    let done = 0
    const work = (from: number, to: number): void => void (done += to - from)
    const rest = inChunks(3, work)
    expect(done).toBe(3)
    inChunks(4, work, QUANTUM)
    expect(done).toBe(3)
    for (let i = 0; i < 2; i++) expect(rest.next()).toEqual({ done: true, value: undefined })
  })

  test('have at least one item, however long it takes', () => {
    expect(rangesOf(2, 10 * QUANTUM).ranges).toEqual([
      [0, 1],
      [1, 2]
    ])
  })
})

test('drain runs to the end and gives the result', () => {
  const paced = (function* (): Generator<void, string> {
    yield
    yield
    return 'done'
  })()
  expect(drain(paced)).toBe('done')
})
