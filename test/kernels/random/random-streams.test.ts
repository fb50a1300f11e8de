import { describe, expect, test } from 'vitest'
import { mersenneTwister } from '../../../src/kernels/random/mersenne-twister.ts'
import { philox, unitDoubles } from '../../../src/kernels/random/philox.ts'

const take = (next: () => number, count: number): number[] => Array.from({ length: count }, next)

describe('random streams', () => {
  test('Philox 4x32-10 gives the numbers that its authors publish', () => {
    expect(take(philox(0n, 0n), 4)).toEqual([0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8])
  })

  test('Philox uses all bits of key and counter, and each block differs', () => {
    const first = take(philox(1n, 2n), 4)
    for (const [key, counter] of [
      [1n + 2n ** 40n, 2n],
      [1n, 2n + 2n ** 63n]
    ])
      expect(take(philox(key, counter), 4)).not.toEqual(first)
    const two = take(philox(1n, 2n), 8)
    expect(two.slice(0, 4)).toEqual(first)
    expect(two.slice(4)).not.toEqual(first)
  })

  test('MT19937 gives the first and the ten-thousandth number of its reference seed', () => {
    const numbers = take(mersenneTwister(5489), 10000)
    expect(numbers[0]).toBe(3499211612)
    expect(numbers[9999]).toBe(4123659995)
  })

  test('doubles of two numbers lie in [0, 1)', () => {
    expect(
      take(
        unitDoubles(() => 0xffffffff),
        1
      )
    ).toEqual([1 - 2 ** -53])
    expect(
      take(
        unitDoubles(() => 0),
        1
      )
    ).toEqual([0])
  })
})
