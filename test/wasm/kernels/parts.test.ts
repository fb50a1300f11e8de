import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { bits, expectEqual, noise, runAccelerated } from '../compare.ts'

const types = ['uint8', 'float16', 'float32', 'int64', 'complex128'] as const
const sizes = (...list: number[]): Tensor => new Tensor('int64', BigInt64Array.from(list, BigInt), [list.length])

describe.each(['heap', 'array'] as const)('parts of tensors in WebAssembly, operands in an %s', region => {
  test.each(types)('Concat of %s', type => {
    for (const [axis, ...parts] of [
      [1, [900, 3], [900, 1], [900, 7]],
      [-1, [9, 70, 17], [9, 70, 33]],
      [1, [50, 2, 13], [50, 0, 13], [50, 5, 13]],
      [2, [8, 60, 1, 5], [8, 60, 2, 5]]
    ] as const) {
      const inputs = parts.map((dims, i) => bits(type, dims, i + 1))
      expectEqual(['onnx', 'Concat', 13], inputs, { region, attributes: { axis } }, 0)
    }
  })

  test.each(types)('Split of %s', type => {
    for (const [dims, axis, ...list] of [
      [[900, 11], 1, 3, 1, 7],
      [[9, 70, 50], -1, 17, 33],
      [[50, 7, 13], 1, 2, 0, 5]
    ] as const) {
      const options = { region, attributes: { axis }, outputs: list.length }
      expectEqual(['onnx', 'Split', 13], [bits(type, dims), sizes(...list)], options, 0)
    }
    const options = { region, outputs: 3, constants: {} }
    const axis = new Tensor('int64', [1n], [])
    expectEqual(['openvino', 'VariadicSplit', 1], [bits(type, [900, 11]), axis, sizes(3, -1, 1)], options, 0)
  })

  test('a part that nobody wants', () => {
    const options = { region, attributes: { axis: 1 }, outputs: 2, unwanted: [0] }
    expectEqual(['onnx', 'Split', 13], [noise([900, 11], 1), sizes(4, 7)], options, 0)
  })

  test.each([
    [0, [3, 100, 1000], [2, 100, 1000]],
    [1, [4, 90, 1000], [4, 0, 1000], [4, 173, 1000]],
    [0, [131_101, 1], [131_101, 1]],
    [1, [1, 131_101], [1, 262_147]]
  ] as [number, ...number[][]][])(
    'long lines shared by two threads: Concat and Split along axis %i',
    (axis, ...parts) => {
      if (region === 'array') return
      const inputs = parts.map((dims, i) => bits('float32', dims, i + 1))
      expectEqual(['onnx', 'Concat', 13], inputs, { region, attributes: { axis }, threads: 2 }, 0)
      const whole = parts[0].map((size, i) => (i === axis ? parts.reduce((sum, dims) => sum + dims[i], 0) : size))
      const options = { region, attributes: { axis }, outputs: parts.length, threads: 2 }
      expectEqual(['onnx', 'Split', 13], [bits('float32', whole), sizes(...parts.map(dims => dims[axis]))], options, 0)
    }
  )

  test('Concat of more than the caches hold, in turns of which the last one is shorter', () => {
    const inputs = [2, 1, 4].map((size, i) => bits('float64', [160_001, size], i + 1))
    expectEqual(['onnx', 'Concat', 13], inputs, { region, attributes: { axis: 1 } }, 0)
  })

  test('shared by two threads', () => {
    const inputs = [noise([9000, 70], 1), noise([9000, 30], 2)]
    expectEqual(['onnx', 'Concat', 13], inputs, { region, attributes: { axis: 1 }, threads: 2 }, 0)
  })
})

test('long lines, few elements and strings are left to the reference', () => {
  const refused = (inputs: readonly Tensor[], axis: number): void =>
    expect(() => runAccelerated(['onnx', 'Concat', 13], inputs, { region: 'array', attributes: { axis } })).toThrow(
      'no accelerated kernel'
    )
  refused([noise([9000, 1], 1), noise([9000, 1], 2)], 0)
  refused([noise([9, 1], 1), noise([9, 1], 2)], 1)
  const texts = new Tensor('string', Array<string>(9000).fill('a'), [4500, 2])
  refused([texts, texts], 1)
})
