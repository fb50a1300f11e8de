import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import type { DType } from '../../../src/tensor/dtype.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { bits, expectEqual, noise, runAccelerated } from '../compare.ts'

const comparisons = ['Equal', 'Greater', 'GreaterOrEqual', 'Less', 'LessOrEqual'] as const

/** Few different numbers, so that many are equal, and those that compare as nothing else does. */
function floats(dims: readonly number[], seed: number): Tensor {
  const data = noise(dims, seed, 3).data.map(value => Math.round(value))
  for (const [i, value] of [NaN, Infinity, -Infinity, 0, -0].entries())
    for (let at = i * seed; at < data.length; at += 41) data[at] = value
  return new Tensor('float32', data, dims)
}

const integers = (dims: readonly number[], seed: number): Tensor =>
  new Tensor('int32', Int32Array.from(noise(dims, seed, 3).data, Math.round), dims)

/** Numbers of any type, many of them equal, with the least and the largest; those of floats as in {@link floats}. */
function numbers(type: DType, dims: readonly number[], seed: number): Tensor {
  if (type === 'float64') return new Tensor(type, Float64Array.from(floats(dims, seed).data as Float32Array), dims)
  const tensor = bits(type, dims, seed)
  const data = tensor.data as Int32Array
  const ends = seed % 2 === 0 ? [0, 1] : [1, 0]
  const isWide = (data as unknown) instanceof BigInt64Array || (data as unknown) instanceof BigUint64Array
  for (let i = 0; i < data.length; i++) {
    if (i % 3 === 0) data[i] = (isWide ? BigInt(ends[i % 2]) : ends[i % 2]) as number
    if (i % 7 === 0) data[i] = (isWide ? -1n : -1) as number
  }
  return tensor
}

const flags = (dims: readonly number[], seed: number): Tensor =>
  new Tensor(
    'bool',
    Uint8Array.from(noise(dims, seed).data, value => (value > 0 ? 1 : 0)),
    dims
  )

const shapes = [
  [[5003], [5003]],
  [[7, 131], [1]],
  [[7, 131], [131]],
  [
    [7, 131],
    [7, 1]
  ],
  [[1], [4, 40]],
  [
    [3, 1, 37],
    [1, 5, 37]
  ],
  [
    [4, 1, 3, 20],
    [4, 6, 1, 20]
  ],
  [
    [2, 9, 1],
    [2, 1, 16]
  ]
] as const

describe.each(['heap', 'array'] as const)('choices in WebAssembly, operands in an %s', region => {
  test.each(comparisons)('%s of float32 and int32', type => {
    for (const [a, b] of shapes)
      for (const make of [floats, integers]) expectEqual(['onnx', type, 16], [make(a, 1), make(b, 2)], { region }, 0)
  })

  test.each(['float64', 'int8', 'int16', 'int32', 'int64', 'uint8', 'uint16', 'uint32', 'uint64'] as const)(
    'comparisons of %s',
    type => {
      for (const [a, b] of shapes.slice(3))
        for (const operator of comparisons)
          expectEqual(['onnx', operator, 19], [numbers(type, a, 1), numbers(type, b, 2)], { region }, 0)
      expectEqual(['openvino', 'NotEqual', 1], [numbers(type, [9, 33], 1), numbers(type, [33], 2)], { region }, 0)
    }
  )

  test('NotEqual of OpenVINO, Equal of booleans', () => {
    for (const [a, b] of shapes) {
      for (const make of [floats, integers])
        expectEqual(['openvino', 'NotEqual', 1], [make(a, 1), make(b, 2)], { region }, 0)
      expectEqual(['onnx', 'Equal', 13], [flags(a, 1), flags(b, 2)], { region }, 0)
    }
  })

  test.each(['float16', 'bfloat16'] as const)('IsNaN and IsInf by bits: %s', type => {
    const x = bits(type, [2051])
    const edges = [NaN, Infinity, -Infinity, 0, -0, 65504, 1e-7]
    edges.forEach((value, i) => (x.data[7 * i] = new Tensor(type, [value], [1]).data[0]))
    expectEqual(['onnx', 'IsNaN', 20], [x], { region }, 0)
    for (const [positive, negative] of [
      [1, 1],
      [1, 0],
      [0, 1]
    ]) {
      const attributes = { detect_positive: positive, detect_negative: negative }
      expectEqual(['onnx', 'IsInf', 20], [x], { region, attributes }, 0)
    }
  })

  test('IsNaN and IsInf of float32 and float64', () => {
    for (const type of ['float32', 'float64'] as const) {
      const given = type === 'float32' ? floats([900], 3) : numbers(type, [900], 3)
      ;[NaN, Infinity, -Infinity, -NaN].forEach((value, i) => {
        given.data[i * 201] = value
      })
      expectEqual(['onnx', 'IsNaN', 13], [given], { region }, 0)
      for (const [detect_positive, detect_negative] of [
        [1, 1],
        [0, 1],
        [1, 0]
      ]) {
        const attributes = { detect_positive, detect_negative }
        expectEqual(['onnx', 'IsInf', 10], [given], { region, attributes }, 0)
      }
    }
  })

  test.each(['float16', 'bfloat16'] as const)('comparisons and tests of %s', type => {
    for (const [a, b] of shapes) {
      const operands = [convert(floats(a, 1), type), convert(floats(b, 2), type)]
      for (const name of comparisons) expectEqual(['onnx', name, 16], operands, { region }, 0)
      expectEqual(['onnx', 'Equal', 13], operands, { region, constants: { b: 1 } }, 0)
    }
    const x = convert(floats([5003], 1), type)
    for (const name of ['IsNaN', 'IsInf']) expectEqual(['onnx', name, 20], [x], { region }, 0)
  })

  test.each(['And', 'Or', 'Xor'])('%s', type => {
    for (const [a, b] of shapes) expectEqual(['onnx', type, 7], [flags(a, 1), flags(b, 2)], { region }, 0)
  })

  test('Not', () => {
    for (const count of [128, 5003]) expectEqual(['onnx', 'Not', 1], [flags([count], 1)], { region }, 0)
  })

  test.each(['float32', 'int64', 'float16', 'uint8', 'bool', 'float64', 'complex64'] as const)('Where of %s', type => {
    for (const [a, b] of shapes) {
      const chosen = (given: readonly Tensor[]): void => expectEqual(['onnx', 'Where', 16], given, { region }, 0)
      chosen([flags(a, 1), bits(type, b, 2), bits(type, a, 3)])
      chosen([flags(b, 1), bits(type, a, 2), bits(type, [1], 3)])
      chosen([flags(a, 1), bits(type, [1], 2), bits(type, b, 3)])
    }
  })

  test('shared by two threads', () => {
    const [a, b] = [floats([64, 9000], 1), floats([9000], 2)]
    expectEqual(['onnx', 'Less', 13], [a, b], { region, threads: 2 }, 0)
    expectEqual(['onnx', 'Where', 16], [flags([64, 1], 3), a, b], { region, threads: 2 }, 0)
  })
})

test('few elements, short lines, other types, strings and none are left to the reference', () => {
  const refused = (type: string, inputs: Tensor[]): void =>
    expect(() => runAccelerated(['onnx', type, 16], inputs, { region: 'array' })).toThrow('no accelerated kernel')
  refused('Less', [floats([100], 1), floats([100], 2)])
  refused('Less', [floats([90, 4], 1), floats([90, 1], 2)])
  const texts = new Tensor('string', Array<string>(900).fill('a'), [900])
  refused('Where', [flags([900], 1), texts, texts])
  refused('Where', [flags([1, 900], 1), floats([0, 900], 1), floats([0, 900], 1)])
  refused('Where', [flags([900], 1), bits('complex128', [900], 1), bits('complex128', [900], 1)])
})
