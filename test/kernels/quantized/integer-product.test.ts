import { describe, expect, test } from 'vitest'
import { drain } from '../../../src/kernels/core/pace.ts'
import { integerProduct } from '../../../src/kernels/quantized/integer-product.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { picks } from '../../ops/random.ts'

describe('products of 8-bit matrices', () => {
  test('are exact in int32 for each pair of signs, with and without transposes', () => {
    let seed = 0
    for (const aType of ['uint8', 'int8'] as const) {
      for (const bType of ['uint8', 'int8'] as const) {
        for (const transposes of [0, 1, 2, 3].map(i => ({ a: i % 2 === 1, b: i > 1 }))) {
          const [m, k, n] = [5, 7, 6]
          const codes = (type: 'uint8' | 'int8', dims: number[]): Tensor => {
            const tensor = allocate(type, dims)
            for (let i = 0; i < tensor.data.length; i++) tensor.data[i] = picks(seed++, 256)
            return tensor
          }
          const a = codes(aType, transposes.a ? [k, m] : [m, k])
          const b = codes(bType, transposes.b ? [n, k] : [k, n])
          const aZero = codes(aType, [m])
          const bZero = codes(bType, [n])
          const out = allocate('int32', [m, n])
          drain(integerProduct({ codes: a, zero: aZero }, { codes: b, zero: bZero }, out, transposes))
          const at = ({ data }: Tensor, i: number): number => data[i] as number
          for (let i = 0; i < m; i++) {
            for (let j = 0; j < n; j++) {
              let sum = 0
              for (let p = 0; p < k; p++) {
                const left = at(a, transposes.a ? p * m + i : i * k + p) - at(aZero, i)
                sum += left * (at(b, transposes.b ? j * k + p : p * n + j) - at(bZero, j))
              }
              expect(out.data[i * n + j]).toBe(sum)
            }
          }
        }
      }
    }
  })

  test('are added to what is there', () => {
    const out = new Tensor('int32', [100], [1, 1])
    const one = new Tensor('uint8', [3], [1, 1])
    drain(integerProduct({ codes: one, zero: undefined }, { codes: one, zero: undefined }, out))
    expect(out.data[0]).toBe(109)
  })
})
