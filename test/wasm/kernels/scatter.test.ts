import { describe, expect, test } from 'vitest'
import type { DType } from '../../../src/tensor/dtype.ts'
import { product, Tensor } from '../../../src/tensor/tensor.ts'
import { bits, expectEqual, noise, runAccelerated } from '../compare.ts'

/** Types whose reductions are served beside float32. */
const INTEGERS = ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64', 'bool'] as const

const SCATTER = ['onnx', 'ScatterElements', 18] as const

/** Indices on an axis of `size`, some of them negative, several of them equal. */
function indices(type: 'int32' | 'int64', dims: readonly number[], size: number): Tensor {
  const list = Array.from(noise([product(dims)], 7, size).data, value => Math.floor(value))
  return new Tensor(type, type === 'int64' ? list.map(BigInt) : list, dims)
}

const calls: [data: number[], indices: number[], axis: number][] = [
  [[40, 30], [25, 30], 0],
  [[40, 30], [40, 9], 1],
  [[6, 20, 7], [6, 31, 7], 1],
  [[300], [1000], 0],
  [[3, 4, 20], [3, 4, 90], -1]
]

describe.each(['heap', 'array'] as const)('ScatterElements in WebAssembly, operands in an %s', region => {
  test.each(calls)('%j by indices %j on axis %i: the last update of an element stays', (data, dims, axis) => {
    const size = data.at(axis)!
    for (const type of ['float32', 'uint8', 'int64', 'float16', 'bool', 'complex64'] as DType[])
      for (const index of ['int32', 'int64'] as const) {
        if (type === 'complex64') continue
        const operands = [bits(type, data, 1), indices(index, dims, size), bits(type, dims, 2)]
        expectEqual(SCATTER, operands, { region, attributes: { axis } }, 0)
      }
  })

  test.each(['add', 'mul', 'max', 'min'])('%s of float32 gives the same numbers', reduction => {
    for (const [data, dims, axis] of calls) {
      const updates = noise(dims, 2)
      updates.data[3] = NaN
      const operands = [noise(data, 1), indices('int64', dims, data.at(axis)!), updates]
      expectEqual(SCATTER, operands, { region, attributes: { axis, reduction } }, 0)
    }
  })

  test.each(['add', 'mul', 'max', 'min'])('%s of integers wraps as the reference does', reduction => {
    for (const [data, dims, axis] of calls)
      for (const type of INTEGERS) {
        const at = indices(type === 'int32' ? type : 'int64', dims, data.at(axis)!)
        const operands = [bits(type, data, 1), at, bits(type, dims, 2)]
        expectEqual(SCATTER, operands, { region, attributes: { axis, reduction } }, 0)
      }
  })

  test('an index that is out of range is named', () => {
    const at = indices('int64', [20, 30], 40)
    at.data[307] = 40n as never
    const run = (): unknown => runAccelerated(SCATTER, [noise([40, 30], 1), at, noise([20, 30], 2)], { region })
    expect(run).toThrow(/index 40 at \[10, 7\]/)
    at.data[307] = (2n ** 32n) as never
    expect(run).toThrow(/index 4294967296 at \[10, 7\]/)
  })
})

const SCATTER_ND = ['onnx', 'ScatterND', 18] as const

/** Tuples of indices on the first axes of some data, some of them negative, several of them equal. */
function tuples(type: 'int32' | 'int64', dims: readonly number[], data: readonly number[]): Tensor {
  const list = Array.from(noise([product(dims)], 5, 1).data, (value, i) => Math.floor(value * data[i % dims.at(-1)!]))
  return new Tensor(type, type === 'int64' ? list.map(BigInt) : list, dims)
}

const tupleCalls: [data: number[], indices: number[]][] = [
  [
    [40, 30],
    [300, 2]
  ],
  [
    [40, 30],
    [25, 1]
  ],
  [
    [6, 9, 7],
    [3, 50, 2]
  ],
  [[300], [1000, 1]],
  [
    [12, 67],
    [30, 1]
  ],
  [
    [2, 3, 5, 4, 6],
    [4, 200, 5]
  ]
]

describe.each(['heap', 'array'] as const)('ScatterND in WebAssembly, operands in an %s', region => {
  test.each(tupleCalls)('%j by indices %j: the last update of a block stays', (data, dims) => {
    const updates = [...dims.slice(0, -1), ...data.slice(dims.at(-1))]
    for (const type of ['float32', 'uint8', 'int64', 'float16', 'bool', 'complex64', 'complex128'] as DType[])
      for (const index of ['int32', 'int64'] as const) {
        const kind = index === 'int32' ? (['openvino', 'ScatterNDUpdate', 15] as const) : SCATTER_ND
        if (index === 'int32' && type.startsWith('complex')) continue
        expectEqual(kind, [bits(type, data, 1), tuples(index, dims, data), bits(type, updates, 2)], { region }, 0)
      }
  })

  test.each(['add', 'mul', 'max', 'min'])('%s of float32 gives the same numbers', reduction => {
    for (const [data, dims] of tupleCalls) {
      const updates = noise([...dims.slice(0, -1), ...data.slice(dims.at(-1))], 2)
      updates.data[3] = NaN
      const operands = [noise(data, 1), tuples('int64', dims, data), updates]
      expectEqual(SCATTER_ND, operands, { region, attributes: { reduction } }, 0)
    }
  })

  test.each(['add', 'mul', 'max', 'min'])('%s of integers wraps as the reference does', reduction => {
    for (const [data, dims] of tupleCalls)
      for (const type of INTEGERS) {
        const updates = bits(type, [...dims.slice(0, -1), ...data.slice(dims.at(-1))], 2)
        const operands = [bits(type, data, 1), tuples('int64', dims, data), updates]
        expectEqual(SCATTER_ND, operands, { region, attributes: { reduction } }, 0)
      }
  })

  test('an index that is out of range is named', () => {
    const at = tuples('int64', [300, 2], [40, 30])
    at.data[307] = 30n as never
    const run = (): unknown => runAccelerated(SCATTER_ND, [noise([40, 30], 1), at, noise([300], 2)], { region })
    expect(run).toThrow(/index 30 /)
    at.data[307] = -(2n ** 32n) as never
    expect(run).toThrow(/index -4294967296 /)
  })
})

test('indices of fewer elements off the axis, and reductions of other types, are left to the reference', () => {
  const none = 'no accelerated kernel is selected'
  const [data, updates] = [noise([40, 30], 1), noise([20, 29], 2)]
  expect(() => runAccelerated(SCATTER, [data, indices('int64', [20, 29], 40), updates])).toThrow(none)
  const at = indices('int64', [40, 30], 40)
  const options = { attributes: { reduction: 'add' } }
  const whole = bits('float16', [40, 30])
  expect(() => runAccelerated(SCATTER, [whole, at, whole], options)).toThrow(none)
})
