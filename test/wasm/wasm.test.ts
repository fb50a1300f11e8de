import { expect, test } from 'vitest'
import { isNode } from '../../src/host.ts'
import { hasRelaxedSimd, KERNELS, wasm } from '../../src/wasm/wasm.ts'

test('kernels of a module have a number each', () => {
  const numbers = Object.values(KERNELS).map(([module, kernel]) => `${module}:${kernel}`)
  expect(new Set(numbers).size).toBe(numbers.length)
})

test('every Node computes with relaxed SIMD, and what else it compiles has it as before', () => {
  expect(isNode).toBe(true)
  const before = hasRelaxedSimd()
  const { module } = wasm()!.compute()
  // The plain module has no need to know the engine.
  expect(WebAssembly.Module.imports(module).map(({ name }) => name)).toContain('isEarlyV8')
  expect(hasRelaxedSimd()).toBe(before)
})
