import { describe, expect, test } from 'vitest'
import { checkRank } from '../../src/op-kit/ranks.ts'
import { namedDim } from '../../src/shapes/dim.ts'
import { tensorFact } from '../../src/shapes/fact.ts'
import { errorOf } from '../ops/harness.ts'

describe('checkRank', () => {
  const matrix = tensorFact('float32', [2, namedDim('n')])
  const message = (...ranks: number[]): string => errorOf(() => checkRank('X', matrix, ...ranks)).message

  test('names all ranks that an operand may have', () => {
    expect(message(3)).toBe('X has shape [2, n]; rank 3 is expected')
    expect(message(0)).toBe('X has shape [2, n]; a scalar is expected')
    expect(message(0, 1)).toBe('X has shape [2, n]; a scalar or rank 1 is expected')
    expect(message(3, 4)).toBe('X has shape [2, n]; rank 3 or 4 is expected')
  })

  test('takes any of them, an unknown rank, and an operand that is left out', () => {
    expect(() => checkRank('X', matrix, 1, 2)).not.toThrow()
    expect(() => checkRank('X', tensorFact('float32', undefined), 1)).not.toThrow()
    expect(() => checkRank('X', undefined, 1)).not.toThrow()
  })
})
