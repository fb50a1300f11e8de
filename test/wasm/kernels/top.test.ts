import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DType } from '../../../src/tensor/dtype.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { bits, expectEqual, noise, runAccelerated } from '../compare.ts'

const count = (k: number): Tensor => new Tensor('int64', [BigInt(k)], [1])

/** Numbers of which many are equal, with zeros of both signs, infinite ones and NaN. */
function spoiled(dims: readonly number[], seed: number): Tensor {
  const data = Float32Array.from(noise([...dims], seed).data, value => Math.round(value * 6) / 2)
  for (const [i, value] of [NaN, -0, Infinity, 0, -Infinity, NaN].entries())
    for (let at = 7 * i + seed; at < data.length; at += 61 + i) data[at] = value
  return new Tensor('float32', data, [...dims])
}

/** Elements of any bits, of which many are equal. */
function few(type: DType, dims: readonly number[], seed: number): Tensor {
  const tensor = bits(type, dims, seed)
  const data = tensor.data as BigInt64Array
  for (let i = 5; i < data.length; i += 3) data[i] = data[i % 5]
  return tensor
}

const LAYOUTS: readonly (readonly [dims: readonly number[], axis: number, k: number])[] = [
  [[40, 131], 1, 5],
  [[131, 40], 0, 5],
  [[9, 300], -1, 16],
  [[200, 6], 1, 6],
  [[200, 6], 1, 1],
  [[3, 70, 7], 1, 4],
  [[2, 50, 5, 3], 1, 16],
  [[5001], 0, 3],
  [[1, 16, 70], 1, 16]
]

const TYPES = [
  'float32',
  'float64',
  'float16',
  'bfloat16',
  'int8',
  'uint8',
  'int16',
  'uint16',
  'int32',
  'uint32',
  'int64',
  'uint64'
] as const

describe.each(['heap', 'array'] as const)('TopK in WebAssembly, operands in an %s', region => {
  test.each([0, 1])('of the largest: %i', largest => {
    for (const [dims, axis, k] of LAYOUTS)
      for (const data of [
        noise([...dims], 3),
        spoiled(dims, 2),
        new Tensor('float32', new Float32Array(dims.reduce((a, b) => a * b)).fill(NaN), [...dims])
      ])
        expectEqual(['onnx', 'TopK', 11], [data, count(k)], { region, outputs: 2, attributes: { axis, largest } }, 0)
  })

  test.each(['max', 'min'])('in the order of their positions, NaN below every number: %s', mode => {
    for (const [dims, axis, k] of LAYOUTS) {
      const attributes = { axis: axis < 0 ? axis + dims.length : axis, mode, sort: 'index' }
      const k32 = new Tensor('int32', [k], [])
      expectEqual(['openvino', 'TopK', 3], [spoiled(dims, 5), k32], { region, outputs: 2, attributes }, 0)
    }
  })

  test('of any type, however many are selected', () => {
    const size = fc.integer({ min: 1, max: 40 })
    fc.assert(
      fc.property(
        fc.constantFrom(...TYPES),
        fc.tuple(size, size, size),
        fc.nat(2),
        fc.nat(),
        fc.constantFrom('max', 'min'),
        fc.constantFrom('value', 'index', 'none'),
        fc.boolean(),
        (type, given, axis, seed, mode, sort, isOpenvino) => {
          const dims = given.with((axis + 1) % 3, 33).with((axis + 2) % 3, given[(axis + 2) % 3] + 32)
          const k = 1 + (seed % dims[axis])
          const data = type === 'float32' ? spoiled(dims, seed % 5) : few(type, dims, seed)
          const [options, number] = [{ region, outputs: 2 }, new Tensor('int32', [k], [])]
          if (isOpenvino) {
            const attributes = { axis, mode, sort }
            return expectEqual(['openvino', 'TopK', 11], [data, number], { ...options, attributes }, 0)
          }
          const attributes = { axis, largest: mode === 'max' ? 1 : 0, sorted: sort === 'none' ? 0 : 1 }
          return expectEqual(['onnx', 'TopK', 24], [data, count(k)], { ...options, attributes }, 0)
        }
      ),
      { numRuns: 120 }
    )
  })

  test.each(TYPES)('of all or many elements of a line, which are sorted: %s', type => {
    const layouts = [
      [[4, 300], 1, 300],
      [[300, 6], 0, 299],
      [[2, 200, 5], 1, 25],
      [[8, 128], 1, 128]
    ] as const
    for (const [i, [dims, axis, k]] of layouts.entries()) {
      const data = type === 'float32' ? spoiled(dims, i) : few(type, dims, i)
      for (const largest of [0, 1])
        expectEqual(['onnx', 'TopK', 24], [data, count(k)], { region, outputs: 2, attributes: { axis, largest } }, 0)
      for (const mode of ['max', 'min']) {
        const options = { region, outputs: 2, attributes: { axis, mode, sort: 'value' } }
        expectEqual(['openvino', 'TopK', 11], [data, new Tensor('int32', [k], [])], options, 0)
      }
    }
  })

  test.each(TYPES)('of short lines side by side, as many as there are and fewer: %s', type => {
    for (const [lines, size, k] of [
      [4, 8, 2],
      [5, 16, 16],
      [7, 30, 1],
      [9, 64, 40],
      [6, 512, 16],
      [34, 3, 2]
    ]) {
      const dims = [lines, size]
      const samples = [few(type, dims, k), bits(type, dims, 3)]
      if (type === 'float32') samples.push(spoiled(dims, k), new Tensor(type, new Float32Array(lines * size), dims))
      for (const data of samples) {
        for (const largest of [0, 1])
          expectEqual(['onnx', 'TopK', 24], [data, count(k)], { region, outputs: 2, attributes: { largest } }, 0)
        for (const mode of ['max', 'min']) {
          const attributes = { axis: 1, mode, sort: 'value', index_element_type: 'i32' }
          const number = new Tensor('int32', [k], [])
          expectEqual(['openvino', 'TopK', 11], [data, number], { region, outputs: 2, attributes }, 0)
        }
      }
    }
  })

  test.each(TYPES)('of short lines that lie side by side, in whole vectors and behind them: %s', type => {
    for (const [outer, size, inner, k] of [
      [1, 8, 4, 2],
      [3, 30, 5, 1],
      [2, 9, 37, 9],
      [1, 512, 6, 16],
      [5, 40, 16, 3],
      [2, 3, 7, 2]
    ]) {
      const dims = [outer, size, inner]
      const samples = [few(type, dims, k), bits(type, dims, 3)]
      if (type === 'float32') samples.push(spoiled(dims, k))
      for (const data of samples) {
        for (const largest of [0, 1])
          expectEqual(
            ['onnx', 'TopK', 24],
            [data, count(k)],
            { region, outputs: 2, attributes: { axis: 1, largest } },
            0
          )
        for (const mode of ['max', 'min']) {
          const attributes = { axis: 1, mode, sort: 'value', index_element_type: 'i32' }
          const number = new Tensor('int32', [k], [])
          expectEqual(['openvino', 'TopK', 11], [data, number], { region, outputs: 2, attributes }, 0)
        }
      }
    }
  })

  test('of small integers, whose keys have most bytes in common, and of elements that are all equal', () => {
    for (const distinct of [1, 7, 1000]) {
      const data = BigInt64Array.from({ length: 1200 }, (_, i) => BigInt((i * 7919) % distinct) - 3n)
      for (const largest of [0, 1]) {
        const options = { region, outputs: 2, attributes: { axis: 1, largest } }
        expectEqual(['onnx', 'TopK', 11], [new Tensor('int64', data, [8, 150]), count(150)], options, 0)
      }
    }
  })

  test('sorted lines shared by two threads', () => {
    const options = { region, threads: 2, outputs: 2, attributes: { axis: 1 } }
    expectEqual(['onnx', 'TopK', 11], [noise([900, 300], 1), count(300)], options, 0)
  })

  test('shared by two threads', () => {
    const options = { region, threads: 2, outputs: 2, attributes: { axis: 1 } }
    expectEqual(['onnx', 'TopK', 11], [noise([3000, 150], 1), count(7)], options, 0)
    expectEqual(['onnx', 'TopK', 11], [noise([300, 50, 30], 1), count(7)], options, 0)
  })
})

test('few elements, and more items of a line than scratch memory holds, are left to the reference', () => {
  const refused = (data: Tensor, k: number, axis: number): void =>
    expect(() => runAccelerated(['onnx', 'TopK', 11], [data, count(k)], { outputs: 2, attributes: { axis } })).toThrow(
      'no accelerated kernel'
    )
  refused(noise([4, 7], 1), 3, 1)
  refused(noise([100, 3], 1), 3, 0)
  refused(noise([1, 100000], 1), 99000, 1)
})
