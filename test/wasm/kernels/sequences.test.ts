import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { bits, expectEqual, runAccelerated } from '../compare.ts'

const dim = fc.integer({ min: 1, max: 7 })

describe.each(['heap', 'array'] as const)('ReverseSequence in WebAssembly, operands in an %s', region => {
  test('equals the reference: any axes, types and lengths', () => {
    const types = fc.constantFrom('float32', 'int8', 'float16', 'int64', 'float64', 'bool')
    fc.assert(
      fc.property(fc.tuple(dim, dim, dim, dim), types, fc.nat(3), fc.nat(3), fc.nat(), (small, type, a, b, seed) => {
        fc.pre(a !== b)
        const dims = [...small.map(size => 2 * size), 64]
        const lengths = Array.from({ length: dims[a] }, (_, i) => (i * 7 + seed) % (dims[b] + 1))
        const inputs = [bits(type, dims), new Tensor('int32', lengths, [dims[a]])]
        const attributes = { batch_axis: String(a), seq_axis: String(b) }
        expectEqual(['openvino', 'ReverseSequence', 1], inputs, { region, attributes }, 0)
      })
    )
  })

  test('equals the reference: long elements', () => {
    for (const time of [0, 1]) {
      const lengths = new Tensor('int64', new BigInt64Array(6).fill(4n), [6])
      const attributes = { batch_axis: 1 - time, time_axis: time }
      expectEqual(['onnx', 'ReverseSequence', 10], [bits('float32', [6, 6, 700]), lengths], { region, attributes }, 0)
    }
  })
})

test('a length that is out of range is named by the reference, and none is selected for few elements', () => {
  const attributes = { batch_axis: 0, time_axis: 1 }
  const run = (dims: number[], length: number): unknown =>
    runAccelerated(
      ['onnx', 'ReverseSequence', 10],
      [bits('float32', dims), new Tensor('int64', new BigInt64Array(dims[0]).fill(BigInt(length)), [dims[0]])],
      { attributes }
    )
  expect(() => run([30, 40], 41)).toThrow('length 41 at [0] is out of range')
  expect(() => run([30, 40], -1)).toThrow('length -1 at [0] is out of range')
  expect(() => run([3, 4], 2)).toThrow('no accelerated kernel')
  expect(() => run([3, 0], 0)).toThrow('no accelerated kernel')
})
