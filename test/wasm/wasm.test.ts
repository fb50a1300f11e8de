import { expect, test } from 'vitest'
import { KERNELS } from '../../src/wasm/wasm.ts'

test('kernels of a module have a number each', () => {
  const numbers = Object.values(KERNELS).map(([module, kernel]) => `${module}:${kernel}`)
  expect(new Set(numbers).size).toBe(numbers.length)
})
