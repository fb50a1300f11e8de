import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import type { DType } from '../../../src/tensor/dtype.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

/** Numbers at which conversions change their rules, among others of every magnitude. */
const EDGES = [0, -0, 0.5, -0.5, 1, -1, 255, 256, -129, 2 ** 31, -(2 ** 31), 2 ** 31 - 128, 2 ** 32, -(2 ** 33)]
const BEYOND = [NaN, Infinity, -Infinity, 2 ** 63, -(2 ** 63), 2 ** 62, -(2 ** 64), 1e-40, 3e38]

function floats(count: number, edges = EDGES): Tensor {
  const data = noise([count], count).data.map((value, i) => value * 2 ** (i % 40))
  edges.forEach((value, i) => {
    for (let at = i * 3; at < count; at += 61) data[at] = value
  })
  return new Tensor('float32', data, [count])
}

/** Elements of any bits, and of few. */
function integers(type: DType, count: number): Tensor {
  const tensor = allocate(type, [count]) as Tensor
  const { buffer, byteOffset, byteLength } = tensor.data as Uint8Array
  const bytes = new Uint8Array(buffer, byteOffset, byteLength)
  bytes.set(Uint8Array.from(noise([byteLength], 3, 127).data, Math.round))
  const data = tensor.data as Int32Array
  const zero = tensor.data[0].constructor(0) as number
  const minusOne = (type === 'uint8' ? zero : tensor.data[0].constructor(-1)) as number
  for (let i = 0; i < count; i += 3) data[i] = i % 2 ? zero : minusOne
  if (type === 'bool') for (let i = 0; i < count; i++) data[i] &= 1
  return tensor
}

const NUMBERS = {
  float64: 11,
  float16: 10,
  bfloat16: 16,
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9
} as const
const SHORT = ['bool', 'uint8', 'int8'] as const
const PAIRS: Readonly<Record<string, readonly DType[]>> = {
  float16: ['float32', ...SHORT],
  bfloat16: ['float32', ...SHORT],
  float32: ['int32', 'int64', ...SHORT, 'float16', 'bfloat16', 'float64'],
  int32: ['float32', 'int64', ...SHORT, 'float16', 'bfloat16', 'float64'],
  int64: ['float32', 'int32', ...SHORT, 'float16', 'bfloat16', 'float64'],
  bool: ['float32', 'int32', 'int64', 'float16', 'bfloat16', 'float64'],
  uint8: ['float32', 'float16', 'bfloat16', 'float64'],
  int8: ['float32', 'float16', 'bfloat16', 'float64'],
  float64: ['float32', 'int32', 'int64', 'float16', 'bfloat16']
}

describe.each(['heap', 'array'] as const)('conversions in WebAssembly, operands in an %s', region => {
  test.each(Object.entries(PAIRS))('to %s', (to, sources) => {
    for (const from of sources)
      for (const count of [256, 259, 5003]) {
        const attributes = { to: NUMBERS[to as keyof typeof NUMBERS] }
        const areFloats = from.includes('float')
        for (const x of areFloats
          ? [floats(count), floats(count, [...EDGES, ...BEYOND])].map(tensor => convert(tensor, from))
          : [integers(from, count)])
          expectEqual(['onnx', 'Cast', 13], [x], { region, attributes }, 0)
      }
  })

  test('Convert, ConvertLike and CastLike', () => {
    const x = floats(700)
    expectEqual(['openvino', 'Convert', 1], [x], { region, attributes: { destination_type: 'i32' } }, 0)
    expectEqual(['openvino', 'ConvertLike', 1], [x, integers('int64', 4)], { region }, 0)
    expectEqual(['onnx', 'CastLike', 15], [integers('int64', 700), floats(3)], { region }, 0)
  })
})

test('large tensors are converted by several threads', () => {
  expectEqual(['onnx', 'Cast', 13], [floats(300_000)], { threads: 2, attributes: { to: 7 } }, 0)
})

test('few elements, and types that have rules of their own, are left to the reference', () => {
  const none = 'no accelerated kernel is selected'
  expect(() => runAccelerated(['onnx', 'Cast', 13], [floats(8)], { attributes: { to: 7 } })).toThrow(none)
  const doubles = convert(floats(800), 'float64')
  expect(() => runAccelerated(['onnx', 'Cast', 13], [doubles], { attributes: { to: 12 } })).toThrow(none)
})
