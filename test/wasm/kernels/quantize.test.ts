import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { type DType, DTYPES } from '../../../src/tensor/dtype.ts'
import { decodeFloat, floatFormat } from '../../../src/tensor/floats.ts'
import { Tensor, type Value } from '../../../src/tensor/tensor.ts'
import { type Kind, runOp } from '../../ops/harness.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

/** Types of codes, their lowest and how many there are. */
const TYPES = {
  uint8: [0, 256],
  int8: [-128, 256],
  uint16: [0, 65536],
  int16: [-32768, 65536],
  uint4: [0, 16],
  int4: [-8, 16],
  uint2: [0, 4],
  int2: [-2, 4],
  int32: [-(2 ** 31), 2 ** 32]
} as const
type CodeType = keyof typeof TYPES

/** Codes of all values, in an order of their own. */
const codes = (type: CodeType, dims: readonly number[], seed: number): Tensor => {
  const [lowest, count] = TYPES[type]
  return new Tensor(
    type,
    Array.from(noise(dims, seed, count / 2).data, x => lowest + count / 2 + Math.floor(x)),
    dims
  )
}

const positive = (n: number, seed: number): Tensor<'float32'> => {
  const scales = noise([n], seed, 0.1)
  return new Tensor('float32', scales.data.map(Math.abs), [n])
}

/** Halves, what lies next to them, and what is beyond every range or no number. */
const EDGES = [
  -32768.5,
  -128.5,
  -127.5,
  -0.5,
  -0,
  0.5,
  1.5,
  2.5,
  126.5,
  127.5,
  254.5,
  255.5,
  65534.5,
  65535.5,
  1e9,
  -1e9,
  3e38,
  NaN,
  Infinity
]

function withEdges(dims: readonly number[], seed: number, scale: number): Tensor<'float32'> {
  const x = noise(dims, seed, 200 * scale)
  EDGES.concat(-Infinity).forEach((edge, i) => {
    if (i * 7 < x.data.length) x.data[i * 7] = edge * scale
  })
  return x
}

/** A tensor of another type of floats with the numbers of one of float32. */
const floats = (type: DType, x: Tensor<'float32'>): Tensor => convert(x, type)

/** Data with scales and zero points of any granularity. */
const anyCodes = fc.record({
  type: fc.constantFrom(...(Object.keys(TYPES) as CodeType[])),
  dims: fc.array(fc.integer({ min: 1, max: 19 }), { minLength: 1, maxLength: 4 }),
  axis: fc.nat(3),
  granularity: fc.constantFrom('one', 'axis', 'block'),
  blockSize: fc.integer({ min: 1, max: 9 }),
  hasZero: fc.boolean(),
  numbers: fc.constantFrom('float32', 'float16', 'bfloat16'),
  scaleType: fc.constantFrom('float32', 'float16', 'bfloat16'),
  precision: fc.constantFrom(0, 1),
  region: fc.constantFrom('heap' as const, 'array' as const)
})

test('codes of any granularity and types equal the reference', () => {
  const selected = { quantize: 0, dequantize: 0 }
  fc.assert(
    fc.property(anyCodes, given => {
      const { type, dims, granularity, blockSize, hasZero, numbers, scaleType, region } = given
      const axis = given.axis % dims.length
      const sizes = {
        one: [],
        axis: [dims[axis]],
        block: dims.map((dim, i) => (i === axis ? Math.ceil(dim / blockSize) : dim))
      }[granularity]
      const count = sizes.reduce((product, dim) => product * dim, 1)
      const scale = floats(scaleType, new Tensor('float32', positive(count, 3).data, sizes))
      const zero = hasZero ? [codes(type, sizes, 4)] : []
      const along = { axis, ...(granularity === 'block' && { block_size: blockSize }) }
      const onnx = DTYPES[type].onnx
      const kind = (name: string): Kind => ['onnx', name, 25]
      const options = (attributes: object) => ({ region, attributes: { ...along, ...attributes } })
      if (type !== 'int32' && (given.precision === 1 || scaleType === 'float32' || numbers !== 'float32')) {
        const x = floats(numbers, withEdges(dims, 1, 0.05))
        const attributes = { ...(hasZero ? {} : { output_dtype: onnx }), ...(given.precision && { precision: 1 }) }
        expectEqual(kind('QuantizeLinear'), [x, scale, ...zero], options(attributes), 0)
        selected.quantize++
      }
      const attributes = numbers === scaleType ? {} : { output_dtype: DTYPES[numbers].onnx }
      // Numbers of 16 bits that are rounded twice may differ by a unit.
      const isExact = numbers === 'float32' || (DTYPES[type].bits <= 8 && scaleType !== 'float32')
      const tolerance = isExact ? 0 : numbers === 'float16' ? 2 ** -10 : 2 ** -7
      expectEqual(kind('DequantizeLinear'), [codes(type, dims, 2), scale, ...zero], options(attributes), tolerance)
      selected.dequantize++
    }),
    { numRuns: 400 }
  )
  expect(Math.min(...Object.values(selected))).toBeGreaterThan(100)
})

const FLOAT_CODES = ['float8e4m3fn', 'float8e4m3fnuz', 'float8e5m2', 'float8e5m2fnuz', 'float4e2m1'] as const

test.each(FLOAT_CODES)('codes of %s are those of the reference, except for signs of what is no number', type => {
  const { mantissa, minExponent, maxCode } = floatFormat(type)!
  // All numbers, what lies between them, what lies beside these, and what is beyond them.
  const near = Array.from(
    { length: maxCode + 3 },
    (_, code) =>
      decodeFloat(type, Math.min(code, maxCode)) +
      (code > maxCode ? 2 ** (minExponent + (maxCode >> mantissa)) * (code - maxCode) : 0)
  )
  const between = near
    .slice(1)
    .flatMap((x, i) => [0.5, 0.5 - 2 ** -12, 0.5 + 2 ** -12].map(part => near[i] + (x - near[i]) * part))
  const all = [...near, ...between, 1e30, Infinity, 2 ** -40]
  const given = new Tensor('float32', [...all, ...all.map(x => -x), NaN], [2 * all.length + 1])
  const number = (code: number): number => decodeFloat(type, code)
  for (const numbers of ['float32', 'bfloat16', 'float16'] as const)
    for (const saturate of [0, 1])
      for (const scale of [1, 0.37, 3]) {
        const x = convert(given, numbers)
        const scaleType = numbers === 'bfloat16' ? numbers : 'float32'
        const inputs = [x, convert(new Tensor('float32', [scale], []), scaleType)]
        const options = { attributes: { output_dtype: DTYPES[type].onnx!, saturate } }
        const kind: Kind = ['onnx', 'QuantizeLinear', 23]
        const [expected, found] = [runOp(kind, inputs, options), runAccelerated(kind, inputs, options)]
        const codesOf = ([value]: readonly Value[]): number[] => Array.from((value as Tensor).data as Uint8Array)
        const wanted = codesOf(expected)
        codesOf(found).forEach((code, i) => {
          if (code !== wanted[i]) expect([number(code), number(wanted[i])]).toEqual([NaN, NaN])
        })
        const zero = new Tensor(type, [1], [])
        expectEqual(kind, [...inputs, zero], { attributes: { saturate } }, 0)
      }
})

describe.each(['heap', 'array'] as const)('codes in WebAssembly, operands in an %s', region => {
  describe.each(['uint8', 'int8', 'uint16', 'int16'] as const)('of %s', type => {
    const [lowest, count] = TYPES[type]

    test.each([259, 1000, 20011])('are those of the reference for %i numbers and one scale', n => {
      for (const zero of [lowest, lowest + count / 2, lowest + count - 1]) {
        const point = new Tensor(type, [zero], [])
        for (const scale of [0.25, 0.037]) {
          const inputs = [withEdges([n], 1, scale), new Tensor('float32', [scale], []), point]
          expectEqual(['onnx', 'QuantizeLinear', 21], inputs, { region }, 0)
        }
        const inputs = [codes(type, [n], 2), new Tensor('float32', [0.037], []), point]
        expectEqual(['onnx', 'DequantizeLinear', 21], inputs, { region }, 0)
      }
    })

    test.each([
      [[3, 5, 37], 1],
      [[7, 43], -1],
      [[7, 43], 0],
      [[2, 3, 4, 17], 0],
      [[2, 1, 300], 1]
    ])('are those of the reference for dims %j and scales along axis %i', (dims, axis) => {
      const size = dims.at(axis)!
      const rest = [positive(size, 3), codes(type, [size], 4)]
      const options = { region, attributes: { axis } }
      expectEqual(['onnx', 'QuantizeLinear', 21], [withEdges(dims, 1, 0.05), ...rest], options, 0)
      expectEqual(['onnx', 'DequantizeLinear', 21], [codes(type, dims, 2), ...rest], options, 0)
    })
  })

  test.each(['uint8', 'int8'] as const)('of %s are those of the reference for blocks of the last axis', type => {
    for (const [dims, block_size] of [
      [[7, 48], 16],
      [[2, 3, 96], 32],
      [[300], 5]
    ] as const) {
      const size = dims.at(-1)! / block_size
      const blocks = [...dims.slice(0, -1), size]
      const count = blocks.reduce((product, dim) => product * dim, 1)
      const scales = new Tensor('float32', positive(count, 3).data, blocks)
      const options = { region, attributes: { axis: -1, block_size } }
      for (const rest of [[scales], [scales, codes(type, blocks, 4)]]) {
        const x = withEdges(dims, 1, 0.05)
        const attributes = {
          ...options.attributes,
          ...(rest.length === 1 && { output_dtype: type === 'int8' ? 3 : 2 })
        }
        expectEqual(['onnx', 'QuantizeLinear', 21], [x, ...rest], { region, attributes }, 0)
        expectEqual(['onnx', 'DequantizeLinear', 21], [codes(type, dims, 2), ...rest], options, 0)
      }
    }
  })

  test('have zero point 0 where there is none', () => {
    const scale = new Tensor('float32', [0.5], [])
    expectEqual(['onnx', 'QuantizeLinear', 13], [withEdges([300], 1, 0.5), scale], { region }, 0)
    expectEqual(['onnx', 'DequantizeLinear', 13], [codes('int8', [300], 1), scale], { region }, 0)
  })

  test.each([
    ['numbers of both signs', (x: number) => x],
    ['numbers above 0', (x: number) => Math.abs(x) + 1],
    ['numbers below 0', (x: number) => -Math.abs(x)],
    ['zeros', () => 0],
    ['numbers next to 0', (x: number) => x * 1e-44],
    ['an infinite range', (x: number) => (x > 0.99 ? Infinity : x)],
    ['a range that is infinite below', (x: number) => (x > 0.99 ? -Infinity : x)],
    ['what is no number', (x: number) => (x > 0.99 ? NaN : x)]
  ])('by the range of the data are those of the reference: %s', (_, change) => {
    for (const n of [261, 40003]) {
      const x = new Tensor('float32', noise([n], 5).data.map(change), [n])
      expectEqual(['onnx', 'DynamicQuantizeLinear', 11], [x], { region, outputs: 3 }, 0)
    }
  })

  test.each(['uint8', 'int8'] as const)('by the range of the data are multiplied by %s as the reference does', type => {
    const kind: Kind = ['onnx', 'DynamicQuantizeMatMul', 1, 'com.microsoft']
    const [a, b] = [noise([2, 9, 77], 1), codes(type, [77, 45], 2)]
    for (const rest of [
      [positive(1, 3)],
      [positive(45, 3), codes(type, [45], 4), noise([45], 5)],
      [positive(45, 3), undefined, noise([45], 5)]
    ]) {
      expectEqual(kind, [a, b, ...rest], { region }, 0)
      expectEqual(kind, [a, b, ...rest], { region, constants: { b: 1 } }, 0)
    }
  })
})

test('several threads find the range and the codes that one finds', () => {
  const x = noise([1 << 20], 7, 3)
  expectEqual(['onnx', 'DynamicQuantizeLinear', 11], [x], { threads: 2, outputs: 3 }, 0)
  const [codes] = runAccelerated(['onnx', 'DynamicQuantizeLinear', 11], [x], { threads: 2, outputs: 3 }) as Tensor[]
  expect(new Set(codes.data as Uint8Array).size).toBe(256)
})
