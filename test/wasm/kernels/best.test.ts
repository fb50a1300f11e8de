import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import type { DType } from '../../../src/tensor/dtype.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { bits, expectEqual, noise, runAccelerated } from '../compare.ts'

/** Few different numbers, so that many are equal; some lines have NaN. */
function data(dims: readonly number[], withNaN: boolean): Tensor<'float32'> {
  const numbers = noise(dims, 5, 9).data.map(value => Math.round(value))
  for (let i = 0; i < numbers.length; i += 17) numbers[i] = i % 2 ? 0 : -0
  for (let i = 3; i < numbers.length; i += 97) numbers[i] = i % 5 ? -Infinity : Infinity
  if (withNaN) for (let i = 11; i < numbers.length; i += 401) numbers[i] = NaN
  return new Tensor('float32', numbers, dims)
}

/** Few different numbers of another type, and the least and the largest. */
function wide(type: DType, dims: readonly number[], withNaN: boolean): Tensor {
  const tensor = allocate(type, dims) as Tensor
  const numbers = data(dims, withNaN).data
  if (type === 'float64') return new Tensor(type, Float64Array.from(numbers), dims)
  const isBig = type.endsWith('64')
  const extremes = type.startsWith('u') ? [2 ** 31, 2 ** 32 - 1, 0] : [2 ** 31 - 1, -(2 ** 31), -1]
  numbers.forEach((number, i) => {
    const finite = i % 37 === 5 ? extremes[i % 3] : Number.isFinite(number) ? Math.abs(number) : 0
    // Integers of 64 bits differ in either half.
    tensor.data[i] = isBig ? BigInt(finite) << (i % 2 ? 32n : 0n) : finite
  })
  return tensor
}

const cases: readonly (readonly [dims: readonly number[], axis: number])[] = [
  [[7, 131], 1],
  [[7, 131], 0],
  [[131, 7], -1],
  [[40, 15], 1],
  [[3, 21, 19, 18], 1],
  [[2, 40, 5], 1],
  [[2, 3, 1, 77], 2],
  [[5000], 0],
  [[300, 1], 1]
]

describe.each(['heap', 'array'] as const)('Hardmax in WebAssembly, data in an %s', region => {
  test('gives 1 for the first of equal elements, and what the reference gives where there is NaN', () => {
    for (const [dims, axis] of cases)
      for (const version of [1, 13])
        for (const withNaN of [false, true])
          expectEqual(['onnx', 'Hardmax', version], [data(dims, withNaN)], { region, attributes: { axis } }, 0)
  })
})

describe.each(['heap', 'array'] as const)('positions in WebAssembly, data in an %s', region => {
  test.each(['ArgMax', 'ArgMin'])('%s gives the first or the last of equal elements, and NaN wins', type => {
    for (const [dims, axis] of cases)
      for (const last of [0, 1])
        for (const withNaN of [false, true]) {
          const attributes = { axis, keepdims: last, select_last_index: last }
          expectEqual(['onnx', type, 13], [data(dims, withNaN)], { region, attributes }, 0)
        }
  })

  test.each(['float32', 'int32', 'uint64', 'float64'] as const)(
    'of short lines, and of a few side by side: %s',
    type => {
      for (const inner of [1, 2, 3, 5, 6, 7, 19])
        for (const size of [1, 2, 3, 9, 32, 33])
          for (const last of [0, 1]) {
            const dims = [Math.ceil(259 / size / inner) + (inner === 1 ? 0 : 1), size, inner]
            const x = type === 'float32' ? data(dims, true) : wide(type, dims, true)
            const options = { region, attributes: { axis: 1, select_last_index: last } }
            for (const kind of ['ArgMax', 'ArgMin']) expectEqual(['onnx', kind, 13], [x], options, 0)
          }
    }
  )

  test.each(['int32', 'uint32', 'int64', 'uint64', 'float64'] as const)('the same of %s', type => {
    for (const [i, [dims, axis]] of cases.slice(0, 6).entries()) {
      const last = i % 2
      const x = wide(type, dims, last > 0)
      const attributes = { axis, keepdims: last, select_last_index: last }
      for (const kind of ['ArgMax', 'ArgMin']) expectEqual(['onnx', kind, 13], [x], { region, attributes }, 0)
    }
  })
})

test('many lines are shared by several threads', () => {
  expectEqual(['onnx', 'ArgMax', 13], [data([21, 300, 100], true)], { threads: 2, attributes: { axis: 0 } }, 0)
})

test('few elements are left to the reference', () => {
  const ask = (x: Tensor) => (): unknown => runAccelerated(['onnx', 'ArgMax', 13], [x], { attributes: { axis: 0 } })
  expect(ask(data([9], false))).toThrow('no accelerated kernel is selected')
})

const NARROW = ['int8', 'uint8', 'int16', 'uint16', 'float16', 'bfloat16'] as const

test.each(NARROW)('positions in short lines are those of the reference: %s', type => {
  for (const size of [1, 2, 3, 4, 5, 7, 8, 9, 11, 15, 16, 17])
    for (const last of [0, 1])
      for (const name of ['ArgMax', 'ArgMin'])
        for (const x of [bits(type, [311, size]), convert(data([311, size], type.includes('float')), type)])
          expectEqual(['onnx', name, 13], [x], { attributes: { axis: 1, select_last_index: last } }, 0)
})

test('positions among elements of 8 and 16 bits are those of the reference, for any dims', () => {
  const call = fc.record({
    type: fc.constantFrom(...NARROW),
    dims: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 3 }),
    axis: fc.nat(2),
    last: fc.constantFrom(0, 1),
    name: fc.constantFrom('ArgMax', 'ArgMin'),
    values: fc.constantFrom('any bits', 'few', 'few and NaN'),
    region: fc.constantFrom('heap' as const, 'array' as const)
  })
  fc.assert(
    fc.property(call, ({ type, dims, axis, last, name, values, region }) => {
      fc.pre(dims.reduce((product, dim) => product * dim, 1) >= 256)
      const few = (): Tensor => {
        const numbers = data(dims, values === 'few and NaN')
        if (type.startsWith('u') || type.startsWith('int'))
          numbers.data.forEach((x, i) => (numbers.data[i] = x % 9 || 0))
        return type.startsWith('u')
          ? new Tensor(type, Array.from(numbers.data, Math.abs), dims)
          : convert(numbers, type)
      }
      const x = values === 'any bits' ? bits(type, dims) : few()
      const attributes = { axis: axis % dims.length, keepdims: last, select_last_index: last }
      expectEqual(['onnx', name, 13], [x], { region, attributes }, 0)
    }),
    { numRuns: 400 }
  )
})
