import { describe, expect, test } from 'vitest'
import { type Dim, maxDim, minDim, namedDim, unknownDim } from '../../src/shapes/dim.ts'
import { sliceDim, sliceRange } from '../../src/shapes/slice.ts'
import { isSym, type Sym } from '../../src/shapes/sym.ts'

/** Positions that a slice takes, by the rules as they are written: clamp, then step. */
function positions(size: number, start: number, end: number, step: number): number[] {
  const from = start < 0 ? start + size : start
  const to = end < 0 ? end + size : end
  const result: number[] = []
  if (step > 0) for (let i = Math.max(0, from); i < Math.min(size, to); i += step) result.push(i)
  else if (size > 0) for (let i = Math.min(size - 1, Math.max(0, from)); i > Math.max(-1, to); i += step) result.push(i)
  return result
}

const ENDS = [-7, -4, -3, -1, 0, 1, 2, 3, 5, 9, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]
const STEPS = [1, 2, 3, -1, -2, -5]

describe('sliceRange', () => {
  test('takes what the rules say', () => {
    for (const size of [0, 1, 3, 6]) {
      for (const start of ENDS)
        for (const end of ENDS)
          for (const step of STEPS) {
            const { first, count } = sliceRange(size, start, end, step)
            const taken = Array.from({ length: count }, (_, i) => first + i * step)
            expect(taken, `${start}:${end}:${step} of ${size}`).toEqual(positions(size, start, end, step))
          }
    }
  })
})

describe('sliceDim', () => {
  test('holds every size that a slice of a dim within bounds can have', () => {
    for (const [min, max] of [
      [0, 6],
      [2, 4],
      [3, 3]
    ]) {
      const dim = unknownDim(min, max)
      for (const start of ENDS)
        for (const end of ENDS)
          for (const step of STEPS) {
            const sliced = sliceDim(dim, start, end, step)
            for (let size = min; size <= max; size++) {
              const { count } = sliceRange(size, start, end, step)
              expect(
                minDim(sliced) <= count && count <= maxDim(sliced),
                `${start}:${end}:${step} of ${min}..${max}`
              ).toBe(true)
            }
          }
    }
  })

  test('gives, for a name, the size that putting a number in gives', () => {
    const name = namedDim('n') as Sym
    for (const start of ENDS)
      for (const end of ENDS)
        for (const step of [1, -1]) {
          const sliced = sliceDim(name, start, end, step)
          for (const size of [0, 1, 2, 5, 8])
            expect(evaluate(sliced, size), `${start}:${end}:${step} of n = ${size}`).toBe(
              sliceRange(size, start, end, step).count
            )
        }
  })

  test('ends that are symbols of unknown sign bound the size', () => {
    for (const step of STEPS) {
      const sliced = sliceDim(6, unknownDim(-9, 9), 4, step)
      for (let start = -9; start <= 9; start++) {
        const { count } = sliceRange(6, start, 4, step)
        expect(minDim(sliced) <= count && count <= maxDim(sliced)).toBe(true)
      }
    }
  })
})

/** An expression in n, min and max with a number for n. */
function evaluate(dim: Dim, n: number): number {
  if (!isSym(dim)) return dim
  return dim.terms.reduce(
    (sum, { coefficient, atoms }) =>
      sum + Number(coefficient) * atoms.reduce((product, { text }) => product * valueOf(text, n), 1),
    0
  )
}

/** Texts of atoms are JavaScript, but for the multiplication of a name by a number, which is too. */
const valueOf = (text: string, n: number): number =>
  new Function('n', 'min', 'max', 'floor', `return ${text}`)(n, Math.min, Math.max, Math.floor) as number
