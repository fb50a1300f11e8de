import { afterEach, describe, expect, test, vi } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { type DotKind, dotKind } from '../../../src/wasm/dots.ts'
import { wasm } from '../../../src/wasm/wasm.ts'
import { type Byte, BYTE_PAIRS, codes, one } from '../bytes.ts'
import { expectEqual } from '../compare.ts'

// Whatever this engine makes of the eighth bit, it is not set in second factors here; so every engine with relaxed SIMD
// is exact, and both kinds can be held against the reference. Without relaxed SIMD products are computed as ever.
vi.mock('../../../src/wasm/dots.ts', async original => ({ ...(await original<object>()), dotKind: vi.fn() }))

afterEach(() => {
  vi.mocked(dotKind).mockReset()
})

/** Codes that are turned into 0 to 127 of the type as which the second factor is taken. */
function sevenBits(type: Byte, dims: readonly number[], kind: DotKind): Tensor {
  const isTurned = (type === 'int8') !== (kind === 'signed')
  const all = Array.from(codes(type, dims, 1).data as Uint8Array, code => code & 127)
  const turned = type === 'int8' ? -128 : 128
  return new Tensor(type, isTurned ? all.map(code => code + turned) : all, dims)
}

describe.each(['unsigned', 'signed'] as const)('dot products that take the second factor as %s', kind => {
  test.each(BYTE_PAIRS)('give the sums of the reference, of %s and %s', (left, right) => {
    const hasDots = wasm()?.compute().exports.dot(1, 1, 0) === 1
    vi.mocked(dotKind).mockReturnValue(hasDots ? kind : 'none')
    for (const [m, n, k] of [
      [1, 64, 200],
      [2, 9, 7],
      [7, 29, 513],
      [128, 40, 768],
      [3, 9, 4099],
      [140, 16, 33]
    ]) {
      const factors = [sevenBits(left, [m, k], kind), codes(right, [k, n], 2)]
      for (const zeros of [
        [],
        [one(left, 77), codes(right, [n], 7)],
        [one(left, left === 'int8' ? -128 : 255), one(right, 3)]
      ])
        expectEqual(['onnx', 'MatMulInteger', 10], [...factors, ...zeros], { region: 'heap', constants: { b: 1 } }, 0)
    }
    expect(dotKind).toHaveBeenCalled()
  })
})
