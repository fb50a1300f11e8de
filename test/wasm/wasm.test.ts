import { expect, test } from 'vitest'
import { isEarlyV8 } from '../../src/host.ts'
import { hasFusedMultiplyAdd, KERNELS, wasm } from '../../src/wasm/wasm.ts'

test('kernels of a module have a number each', () => {
  const numbers = Object.values(KERNELS).map(([module, kernel]) => `${module}:${kernel}`)
  expect(new Set(numbers).size).toBe(numbers.length)
})

// Processors with AVX2 (x64 since 2013), and all of arm64, have a fused multiply-add.
test('Node computes with relaxed SIMD, and what else it compiles has it as before', () => {
  const before = hasFusedMultiplyAdd()
  const { module } = wasm()!.compute()
  // The plain module has no need to know the engine.
  const isRelaxed = WebAssembly.Module.imports(module).some(({ name }) => name === 'isEarlyV8')
  expect(isRelaxed).toBe(!isEarlyV8 || process.arch === 'x64')
  expect(hasFusedMultiplyAdd()).toBe(before)
})
