import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { type DType, DTYPES } from '../../../src/tensor/dtype.ts'
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
  const isSigned = type.startsWith('int')
  const minusOne = (isSigned ? tensor.data[0].constructor(-1) : zero) as number
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
  uint16: 4,
  int16: 5,
  int32: 6,
  int64: 7,
  bool: 9,
  uint32: 12,
  uint64: 13
} as const
const TYPES = Object.keys(NUMBERS) as (keyof typeof NUMBERS)[]
const isFloat = (type: DType): boolean => type.includes('float')

/** Types whose elements become others of a type by the kernel: integers of one width keep their bits, see `isLeft`. */
const sourcesOf = (to: DType): DType[] =>
  TYPES.filter(from => {
    const [a, b] = [from, to].map(type => (isFloat(type) ? type : Math.abs(DTYPES[type].bits)))
    const isLong = !isFloat(from) && DTYPES[from].bits > 16
    return to === 'bool' ? from !== 'bool' : a !== b && !(to === 'bfloat16' && isLong)
  })

describe.each(['heap', 'array'] as const)('conversions in WebAssembly, operands in an %s', region => {
  test.each(TYPES)('to %s', to => {
    for (const from of sourcesOf(to))
      for (const count of [256, 259, 5003]) {
        const attributes = { to: NUMBERS[to] }
        for (const x of isFloat(from)
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

test.each([1, 2])('large arrays pass through the stage in parts, with %i threads', threads => {
  for (const to of [7, 9, 10, 5])
    expectEqual(['onnx', 'Cast', 13], [floats(1_100_003)], { threads, region: 'array', attributes: { to } }, 0)
})

test('large tensors are converted by several threads', () => {
  expectEqual(['onnx', 'Cast', 13], [floats(300_000)], { threads: 2, attributes: { to: 7 } }, 0)
})

test('few elements, and types that have rules of their own, are left to the reference', () => {
  const none = 'no accelerated kernel is selected'
  expect(() => runAccelerated(['onnx', 'Cast', 13], [floats(8)], { attributes: { to: 7 } })).toThrow(none)
  const wide = integers('int64', 800)
  expect(() => runAccelerated(['onnx', 'Cast', 13], [wide], { attributes: { to: 13 } })).toThrow(none)
  expect(() => runAccelerated(['onnx', 'Cast', 13], [wide], { attributes: { to: 16 } })).toThrow(none)
})
