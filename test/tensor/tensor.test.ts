import { inspect } from 'node:util'
import { describe, expect, expectTypeOf, it } from 'vitest'
import type { DType } from '../../src/tensor/dtype.ts'
import {
  allocate,
  elementCount,
  fileBytes,
  isTensor,
  memoryBytes,
  soundTensor,
  stridesOf,
  Tensor,
  type Value,
  withDims
} from '../../src/tensor/tensor.ts'

describe('Tensor', () => {
  it('keeps the array that it is given', () => {
    const data = new Float32Array([1, 2, 3, 4])
    const tensor = new Tensor('float32', data, [2, 2])
    expect(tensor.data).toBe(data)
    expect(tensor.dims).toEqual([2, 2])
  })

  it('is the same where nothing is checked', () => {
    const data = new Float32Array([1, 2, 3, 4])
    const [checked, sound] = [new Tensor('float32', data, [2, 2]), soundTensor('float32', data, [2, 2])]
    expect(sound).toBeInstanceOf(Tensor)
    expect(sound).toEqual(checked)
    expect(sound.data).toBe(data)
    expect(Object.keys(sound)).toEqual(Object.keys(checked))
  })

  it('is a list when no dims are given', () => {
    expect(new Tensor('string', ['a', 'b', 'c']).dims).toEqual([3])
    expect(new Tensor('complex64', new Float32Array(6)).dims).toEqual([3])
  })

  it('takes plain arrays of what fits the type', () => {
    expect(new Tensor('int64', [1n, 2, -3]).data).toEqual(new BigInt64Array([1n, 2n, -3n]))
    expect(new Tensor('float32', [0.5, 2n, -3]).data).toEqual(Float32Array.of(0.5, 2, -3))
    expect(new Tensor('uint8', [true, 258, -1n, 2.7] as never).data).toEqual(Uint8Array.of(1, 2, 255, 2))
    expect(new Tensor('bool', [true, false]).data).toEqual(new Uint8Array([1, 0]))
    expect(new Tensor('float16', [0x3c00]).data).toEqual(new Uint16Array([0x3c00]))
  })

  it('takes the type from an array that says it', () => {
    const made = [
      new Tensor(new Float32Array(2)),
      new Tensor(new BigInt64Array(2), [1, 2]),
      new Tensor(['a', 'b']),
      new Tensor([true, false]),
      new Tensor(new Uint8ClampedArray([1, 300]))
    ]
    expect(made.map(({ type }) => type)).toEqual(['float32', 'int64', 'string', 'bool', 'uint8'])
    expect(made[1].dims).toEqual([1, 2])
    expect(made[4].data).toEqual(new Uint8Array([1, 255]))
    const unclear = (data: unknown): (() => unknown) => {
      return () => new Tensor(data as string[])
    }
    for (const data of [[1, 2], [], ['a', true], new DataView(new ArrayBuffer(8))])
      expect(unclear(data)).toThrow('the element type must be given first')
  })

  it('takes clamped bytes for uint8 without a copy', () => {
    const pixels = new Uint8ClampedArray([1, 2])
    expect(new Tensor('uint8', pixels).data.buffer).toBe(pixels.buffer)
  })

  it('says how many elements it has, and where', async () => {
    const tensor = new Tensor('complex64', new Float32Array(6), [3])
    expect([tensor.size, tensor.location, new Tensor('int8', [], [0, 5]).size]).toEqual([3, 'cpu', 0])
    expect(await tensor.getData()).toBe(tensor.data)
    tensor.dispose()
    expect(tensor.data.length).toBe(6)
  })

  it('has the same array under other dims', () => {
    const tensor = new Tensor('int8', [1, 2, 3, 4])
    expect(tensor.reshape([2, 2])).toMatchObject({ type: 'int8', dims: [2, 2], data: tensor.data })
    expect(tensor.reshape([2, 2]).data).toBe(tensor.data)
    expect(() => tensor.reshape([3])).toThrow('dims [3] hold 3 elements, the data 4')
  })

  it('gives its elements as float32 numbers', () => {
    const floats = new Float32Array([1.5])
    expect(new Tensor(floats).toFloat32()).toBe(floats)
    expect(new Tensor('float16', [0x3e00]).toFloat32()).toEqual(floats)
    expect(new Tensor('bfloat16', [0x3fc0]).toFloat32()).toEqual(floats)
    expect(new Tensor('float8e5m2', [0x3e]).toFloat32()).toEqual(floats)
    expect(new Tensor('int64', [-3n]).toFloat32()).toEqual(new Float32Array([-3]))
    expect(new Tensor([true]).toFloat32()).toEqual(new Float32Array([1]))
    expect(() => new Tensor(['1']).toFloat32()).toThrow('string elements are no numbers')
    expect(() => new Tensor('complex64', [1, 0]).toFloat32()).toThrow('complex64 elements are no numbers')
  })

  it('is narrowed by its type', () => {
    const tensor = new Tensor('float32', [1]) as Tensor
    expectTypeOf(tensor).not.toEqualTypeOf<Tensor<'float32'>>()
    if (tensor.type === 'float32') expectTypeOf(tensor.data).toEqualTypeOf<Float32Array>()
    if (tensor.type === 'string') expectTypeOf(tensor.data).toEqualTypeOf<string[]>()
    expect(tensor instanceof Tensor).toBe(true)
    expect(String(inspect(tensor))).toMatch(/^Tensor \{/)
  })

  it('refuses dims that do not hold the data', () => {
    expect(() => new Tensor('float32', new Float32Array(5), [2, 3])).toThrow('dims [2, 3] hold 6 elements, the data 5')
    expect(() => new Tensor('complex64', new Float32Array(3), [2])).toThrow('dims [2] hold 2 elements, the data 1.5')
  })

  it.each([1, '2', {}])('refuses %j as dims', dims => {
    expect(() => new Tensor('float32', [1], dims as never)).toThrow('the dims of a tensor are a list of sizes')
  })

  it('refuses data of another kind', () => {
    expect(() => new Tensor('float32', new Float64Array(1) as never)).toThrow('a float32 tensor needs a Float32Array')
    expect(() => new Tensor('float32', undefined as never)).toThrow('a float32 tensor needs a Float32Array')
    expect(() => new Tensor('string', [1] as never)).toThrow('a string tensor needs an array of strings')
    expect(() => new Tensor('int64', [1.5])).toThrow('the data do not fit a int64 tensor')
    expect(() => new Tensor('float' as DType, [1])).toThrow('unknown element type "float"')
  })
})

describe('elementCount', () => {
  it('is 1 for a scalar and 0 when a dim is 0, however large the others', () => {
    expect([elementCount([]), elementCount([2, 3]), elementCount([2 ** 40, 2 ** 40, 0])]).toEqual([1, 6, 0])
  })

  it.each([[[-1]], [[1.5]], [[NaN]]])('refuses %j', dims => {
    expect(() => elementCount(dims)).toThrow('is no dimension')
  })

  it('refuses more elements than a number can count and more than 64 dims', () => {
    expect(() => elementCount([2 ** 30, 2 ** 30])).toThrow('more than 2^53 elements')
    expect(() => elementCount(new Array(65).fill(1))).toThrow('rank 65 is above the limit of 64')
    for (const dims of [[2 ** 53], [2 ** 63], [0, 2 ** 53]])
      expect(() => elementCount(dims)).toThrow(expect.objectContaining({ code: 'limit-exceeded' }))
  })
})

describe('sizes', () => {
  it('count a byte a code in memory and bits in a file', () => {
    expect([memoryBytes('int4', 3), fileBytes('int4', 3), fileBytes('uint6', 4), fileBytes('string', 9)]).toEqual([
      3, 2, 3, 0
    ])
    expect([memoryBytes('complex128', 2), fileBytes('complex128', 2), memoryBytes('string', 2)]).toEqual([32, 32, 16])
  })
})

describe('allocate', () => {
  it('gives zeros, or empty strings', () => {
    expect(allocate('int64', [2]).data).toEqual(new BigInt64Array(2))
    expect(allocate('string', [2]).data).toEqual(['', ''])
    expect(allocate('complex64', [2, 0, 3]).data.length).toBe(0)
  })

  it('refuses what no array can hold, before memory is taken', () => {
    expect(() => allocate('float64', [2 ** 31])).toThrow('takes 17179869184 bytes')
    expect(() => allocate('string', [2 ** 40])).toThrow('more than one array can hold')
  })
})

describe('views', () => {
  it('share the elements under other dims', () => {
    const tensor = new Tensor('int32', new Int32Array(6), [6])
    expect(withDims(tensor, [2, 3]).data).toBe(tensor.data)
    expect(() => withDims(tensor, [2, 2])).toThrow('hold 4 elements')
  })

  it('have row-major strides', () => {
    expect([stridesOf([2, 3, 4]), stridesOf([]), stridesOf([5, 0, 2])]).toEqual([[12, 4, 1], [], [0, 2, 1]])
  })

  it('tell tensors from sequences and optionals', () => {
    const values: Value[] = [
      new Tensor('bool', [true]),
      { type: 'sequence', values: [] },
      { type: 'optional', value: undefined }
    ]
    expect(values.map(isTensor)).toEqual([true, false, false])
  })
})
