import { expect, test } from 'vitest'
import { drain } from '../../../src/kernels/core/pace.ts'
import {
  type AxisIndices,
  type AxisTaps,
  emptyTaps,
  resample,
  takeIndices
} from '../../../src/kernels/image/resample.ts'
import type { DType } from '../../../src/tensor/dtype.ts'
import { allocate, product, stridesOf, type Tensor } from '../../../src/tensor/tensor.ts'

/** Whole numbers in [0, below), the same in every run. */
function wholes(count: number, below: number, seed: number): number[] {
  let state = seed
  return Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  })
}

function filled(type: DType, dims: readonly number[]): Tensor {
  const tensor = allocate(type, dims) as Tensor
  const values = wholes(product(dims), 100, 7)
  values.forEach((value, i) => {
    tensor.data[i] = type === 'string' ? `${value}` : type === 'int64' ? BigInt(value) : value
  })
  return tensor
}

/** The position along each axis of element `at`. */
const positionsOf = (dims: readonly number[], at: number): number[] =>
  stridesOf(dims).map((stride, d) => Math.floor(at / stride) % dims[d])

const offsetOf = (dims: readonly number[], position: readonly number[]): number =>
  stridesOf(dims).reduce((sum, stride, d) => sum + stride * position[d], 0)

const cases: readonly (readonly [dims: number[], counts: Readonly<Record<number, number>>])[] = [
  [[3, 5], { 1: 11 }],
  [[3, 5], { 0: 9 }],
  [[2, 3, 4, 5], { 2: 8, 3: 10 }],
  [[2, 3, 4, 5], { 1: 7, 2: 3 }],
  [[2, 9, 9, 3], { 1: 4, 2: 13 }],
  [[2, 6, 70], { 0: 3, 1: 12 }],
  [[1, 2, 300], { 1: 4, 2: 700 }],
  [[4, 1], { 0: 1, 1: 6 }]
]

test('indices along axes are taken as one by one, whatever the type', () => {
  for (const type of ['float32', 'uint8', 'float16', 'int64', 'string'] as const) {
    for (const [dims, counts] of cases) {
      const axes = Object.entries(counts).map(([axis, count]): AxisIndices => {
        const indices = wholes(count, dims[Number(axis)], count)
        // Runs of equal indices, in order, as where something grows.
        return {
          axis: Number(axis),
          indices: Int32Array.from(count % 2 === 0 ? indices.sort((a, b) => a - b) : indices)
        }
      })
      const x = filled(type, dims)
      const out = allocate(
        type,
        dims.map((dim, d) => counts[d] ?? dim)
      ) as Tensor
      drain(takeIndices(x, out, axes))
      for (let i = 0; i < out.data.length; i++) {
        const at = positionsOf(out.dims, i).map((p, d) => axes.find(({ axis }) => axis === d)?.indices[p] ?? p)
        expect(out.data[i]).toBe(x.data[offsetOf(dims, at)])
      }
    }
  }
})

test('an index of -1 leaves what was there', () => {
  const out = allocate('float32', [2, 3])
  drain(takeIndices(filled('float32', [2, 2]), out as Tensor, [{ axis: 1, indices: Int32Array.of(1, -1, 0) }]))
  const [a, b, c, d] = filled('float32', [2, 2]).data
  expect([...out.data]).toEqual([b, 0, a, d, 0, c])
})

/** Taps of which some have no weight, and some read elements that must not count. */
function tapsOf(axis: number, count: number, taps: number, size: number): AxisTaps {
  const table = emptyTaps(axis, count, taps)
  table.indices.set(wholes(count * taps, size, 3 * count))
  table.weights.set(wholes(count * taps, 4, count).map(weight => weight / 4))
  return table
}

test.each([2, 4])('%i taps along an axis give their weighted sum; what has no weight does not count', taps => {
  for (const type of ['float32', 'float64'] as const) {
    for (const [dims, counts] of cases) {
      const axis = Number(Object.keys(counts)[0])
      const table = tapsOf(axis, counts[axis], taps, dims[axis])
      const x = filled(type, dims)
      x.data[1] = Infinity
      x.data[2] = NaN
      const out = allocate(type, dims.with(axis, counts[axis])) as Tensor
      ;(out.data as Float64Array).fill(-1)
      drain(resample(x, out, [table]))
      for (let i = 0; i < out.data.length; i++) {
        const position = positionsOf(out.dims, i)
        let sum = 0
        for (let t = position[axis] * taps; t < (position[axis] + 1) * taps; t++) {
          const element = x.data[offsetOf(dims, position.with(axis, table.indices[t]))] as number
          if (table.weights[t] !== 0) sum += table.weights[t] * element
        }
        expect(out.data[i]).toBe(sum)
      }
    }
  }
})
