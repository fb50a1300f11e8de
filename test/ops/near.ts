import { expect } from 'vitest'
import { toNumbers } from '../../src/tensor/elements.ts'
import type { Tensor } from '../../src/tensor/tensor.ts'

/** Elements are those expected, to about seven digits. */
export function expectNear(tensor: Tensor, expected: readonly number[], tolerance = 1e-6): void {
  const numbers = toNumbers(tensor)
  expect(numbers.length).toBe(expected.length)
  expected.forEach((value, i) => {
    const off = Math.abs(numbers[i] - value)
    expect(off <= tolerance * Math.max(1, Math.abs(value)), `element ${i} is ${numbers[i]}, expected ${value}`).toBe(
      true
    )
  })
}
