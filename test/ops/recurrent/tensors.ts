import { expect } from 'vitest'
import { toNumbers } from '../../../src/tensor/elements.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { type CallOptions, type Kind, runOp } from '../harness.ts'

export const f32 = (dims: number[], data: ArrayLike<number>): Tensor =>
  new Tensor('float32', Float32Array.from(data), dims)

/** Numbers that look random, the same for the same seed. */
export function some(seed: number, ...dims: number[]): Tensor {
  const count = dims.reduce((a, b) => a * b, 1)
  return f32(
    dims,
    Array.from({ length: count }, (_, i) => Math.sin((i + 1) * 12.9898 + seed * 78.233) * 0.8)
  )
}

export const ints = (...values: number[]): Tensor => new Tensor('int32', values)
export const run = (
  kind: Kind,
  inputs: (Tensor | undefined)[],
  outputs: number,
  attributes: CallOptions['attributes'] = {}
): Tensor[] => runOp(kind, inputs, { attributes, outputs }) as Tensor[]

export function close(actual: Tensor, expected: ArrayLike<number>, what = ''): void {
  const numbers = [...toNumbers(actual)]
  expect(numbers.length, what).toBe(expected.length)
  numbers.forEach((value, i) =>
    expect(Math.abs(value - expected[i]), `${what}[${i}]: ${value} for ${expected[i]}`).toBeLessThan(1e-6)
  )
}

export const reshaped = (tensor: Tensor, dims: number[]): Tensor => f32(dims, tensor.data as Float32Array)

/** The tensor with its axes in another order. */
export function permuted(tensor: Tensor, order: number[]): Tensor {
  const dims = order.map(axis => tensor.dims[axis])
  const strides = tensor.dims.map((_, i) => tensor.dims.slice(i + 1).reduce((a, b) => a * b, 1))
  const data = Array.from({ length: tensor.data.length }, (_, at) => {
    let rest = at
    let from = 0
    for (let i = dims.length - 1; i >= 0; i--) {
      from += (rest % dims[i]) * strides[order[i]]
      rest = Math.floor(rest / dims[i])
    }
    return tensor.data[from] as number
  })
  return f32(dims, data)
}
