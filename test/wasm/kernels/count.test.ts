import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DType } from '../../../src/tensor/dtype.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { expectEqual, runAccelerated } from '../compare.ts'

const scalar = (type: DType, value: number): Tensor =>
  new Tensor(type, type === 'int64' ? [BigInt(value)] : [value], [])
const range = (type: DType, ...values: readonly number[]): Tensor[] => values.map(value => scalar(type, value))

describe.each(['heap', 'array'] as const)('Range in WebAssembly, in an %s', region => {
  test.each(['int32', 'int64', 'float32', 'float64'] as const)('equals the reference: %s', type => {
    const isFloat = type.startsWith('float')
    const number = isFloat
      ? fc.float({ min: -1000, max: 1000, noNaN: true, noDefaultInfinity: true })
      : fc.integer({ min: -100000, max: 100000 })
    const step = isFloat ? fc.constantFrom(0.1, 1 / 3, -0.7, 1, 1e-3) : fc.constantFrom(1, 7, -3, 100)
    fc.assert(
      fc.property(number, step, fc.integer({ min: 256, max: 3000 }), (start, delta, count) => {
        const by = isFloat ? Math.fround(delta) : delta
        const end = start + (isFloat ? count + 0.5 : count) * by
        expectEqual(['onnx', 'Range', 11], range(type, start, end, by), { region }, 0)
      })
    )
  })
})

test('few elements, and operands of other types than the result, are left to the reference', () => {
  const none = 'no accelerated kernel'
  expect(() => runAccelerated(['onnx', 'Range', 11], range('float32', 0, 10, 1))).toThrow(none)
  expect(() => runAccelerated(['onnx', 'Range', 11], range('int32', 10, 0, 1))).toThrow(none)
  const options = { attributes: { output_type: 'i64' } }
  expect(() => runAccelerated(['openvino', 'Range', 4], range('float32', 0, 1000, 1), options)).toThrow(none)
})
