import { describe, expect, it } from 'vitest'
import { type DType, dtypesOf } from '../../src/tensor/dtype.ts'
import {
  elementAt,
  elementsOf,
  exactIndex,
  halvesOf,
  indexReader,
  isFew,
  listOf,
  toBigInts,
  toDoubles,
  toIndices,
  toNumbers
} from '../../src/tensor/elements.ts'
import { Tensor } from '../../src/tensor/tensor.ts'

const WIDE = [
  0n,
  1n,
  -1n,
  2n ** 31n,
  -(2n ** 31n),
  2n ** 53n - 1n,
  -(2n ** 53n) + 1n,
  2n ** 53n,
  -(2n ** 53n),
  2n ** 63n - 1n,
  -(2n ** 63n)
]
const int64 = new Tensor('int64', WIDE)
const uint64 = new Tensor('uint64', [0n, 2n ** 31n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 64n - 1n])

describe('elementAt', () => {
  it('reads every kind of element as JavaScript has it', () => {
    expect(elementAt(new Tensor('float32', [1.5, 2.5]), 1)).toBe(2.5)
    expect(elementAt(new Tensor('float16', [0x3e00]), 0)).toBe(1.5)
    expect(elementAt(new Tensor('float8e8m0', [128]), 0)).toBe(2)
    expect(elementAt(new Tensor('bool', [false, true]), 1)).toBe(true)
    expect(elementAt(new Tensor('string', ['a', 'b']), 1)).toBe('b')
    expect(elementAt(new Tensor('int4', [-8]), 0)).toBe(-8)
    expect(elementAt(new Tensor('complex128', [1, 2, 3, 4]), 1)).toEqual([3, 4])
    expect(elementAt(int64, 9)).toBe(2n ** 63n - 1n)
  })

  it('agrees with elementsOf', () => {
    expect(elementsOf(new Tensor('complex64', [1, 2, 3, 4]))).toEqual([
      [1, 2],
      [3, 4]
    ])
    expect(elementsOf(int64)).toEqual(WIDE)
  })
})

describe('indexReader', () => {
  it('never takes a 64-bit integer beyond 2^53 for a valid index', () => {
    const read = indexReader(int64)
    expect(WIDE.map((_, i) => read(i))).toEqual([
      0,
      1,
      -1,
      2 ** 31,
      -(2 ** 31),
      2 ** 53 - 1,
      -(2 ** 53) + 1,
      Infinity,
      -Infinity,
      Infinity,
      -Infinity
    ])
    const unsigned = indexReader(uint64)
    expect([0, 1, 2, 3, 4].map(unsigned)).toEqual([0, 2 ** 31, 2 ** 53 - 1, Infinity, Infinity])
  })

  it.each(dtypesOf('int', 'uint'))('reads %s', type => {
    expect(indexReader(new Tensor(type, [0, 1]))(1)).toBe(1)
  })

  it('refuses other types', () => {
    expect(() => indexReader(new Tensor('float32', [1]))).toThrow('integers are needed, the tensor is of type float32')
    expect(() => indexReader(new Tensor('bool', [true]))).toThrow('integers are needed')
  })
})

describe('exactIndex', () => {
  it('gives what the reader cannot', () => {
    expect(WIDE.map((_, i) => exactIndex(int64, i))).toEqual(WIDE)
    expect(exactIndex(uint64, 4)).toBe(2n ** 64n - 1n)
    expect(exactIndex(new Tensor('int8', [-3]), 0)).toBe(-3n)
  })
})

describe('toIndices', () => {
  it('is an Int32Array whenever all fit', () => {
    expect(toIndices(new Tensor('int64', [0n, -1n, 2n ** 31n - 1n, -(2n ** 31n)]))).toEqual(
      new Int32Array([0, -1, 2 ** 31 - 1, -(2 ** 31)])
    )
    expect(toIndices(new Tensor('uint64', [0n, 2n ** 31n - 1n]))).toEqual(new Int32Array([0, 2 ** 31 - 1]))
    expect(toIndices(new Tensor('uint32', [0, 7]))).toEqual(new Int32Array([0, 7]))
    expect(toIndices(new Tensor('int8', [-1, 7]))).toEqual(new Int32Array([-1, 7]))
    const own = new Tensor('int32', new Int32Array([1]))
    expect(toIndices(own)).toBe(own.data)
  })

  it('is a Float64Array otherwise, infinite beyond 2^53', () => {
    expect(toIndices(int64)).toEqual(Float64Array.from(WIDE, (_, i) => indexReader(int64)(i)))
    expect(toIndices(uint64)).toEqual(new Float64Array([0, 2 ** 31, 2 ** 53 - 1, Infinity, Infinity]))
    expect(toIndices(new Tensor('uint32', [2 ** 32 - 1]))).toEqual(new Float64Array([2 ** 32 - 1]))
  })
})

describe('toNumbers', () => {
  it('is the own array of types that hold numbers', () => {
    const tensor = new Tensor('uint16', new Uint16Array([1, 2]))
    expect(toNumbers(tensor)).toBe(tensor.data)
  })

  it('widens coded floats', () => {
    expect(toNumbers(new Tensor('bfloat16', [0x3f80, 0xc000]))).toEqual(new Float32Array([1, -2]))
  })

  it.each<DType>(['int64', 'uint64', 'string', 'complex64'])('refuses %s', type => {
    expect(() => toNumbers(new Tensor(type, []))).toThrow(`elements of type ${type} are no plain numbers`)
  })
})

describe('toDoubles', () => {
  it('rounds 64-bit integers to the nearest', () => {
    const values = [2n ** 53n + 1n, 2n ** 53n + 3n, -(2n ** 63n), 2n ** 63n - 1n, -5n]
    expect(toDoubles(new Tensor('int64', values))).toEqual(Float64Array.from(values, Number))
    expect(toDoubles(new Tensor('uint64', [2n ** 64n - 1n, 2n ** 63n + 1n]))).toEqual(
      new Float64Array([2 ** 64, 2 ** 63])
    )
  })
})

describe('few 64-bit integers', () => {
  it('read as they do among many', () => {
    for (const [type, elements] of [
      ['int64', WIDE],
      ['uint64', WIDE.map(value => BigInt.asUintN(64, value))]
    ] as const) {
      const many = new Tensor(type, elements)
      expect([isFew(many), isFew(new Tensor(type, elements.slice(0, 1)))]).toEqual([false, true])
      for (const [i, element] of elements.entries()) {
        const one = new Tensor(type, [element])
        expect(indexReader(one)(0)).toBe(indexReader(many)(i))
        expect(toDoubles(one)[0]).toBe(toDoubles(many)[i])
        const rest = new Array<bigint>(10).fill(0n)
        expect(toIndices(one)).toEqual(toIndices(new Tensor(type, [element, ...rest])).slice(0, 1))
      }
    }
  })
})

describe('toBigInts', () => {
  it('is exact for all integers', () => {
    expect(toBigInts(int64)).toEqual(WIDE)
    expect(toBigInts(new Tensor('uint8', [255]))).toEqual([255n])
  })
})

describe('halvesOf', () => {
  it('looks at the elements of a view that begins inside a buffer', () => {
    const tensor = new Tensor('int64', new BigInt64Array([9n, 2n ** 32n + 5n]).subarray(1))
    expect([...halvesOf(tensor)]).toEqual([5, 1])
  })
})

describe('listOf', () => {
  it('is undone by elementsOf, for elements of every kind', () => {
    expect(elementsOf(listOf('float16', [1.5, -Infinity]))).toEqual([1.5, -Infinity])
    expect(elementsOf(listOf('float32', [0.5, NaN]))).toEqual([0.5, NaN])
    expect(elementsOf(listOf('uint64', [2n ** 64n - 1n]))).toEqual([2n ** 64n - 1n])
    expect(elementsOf(listOf('bool', [true, false]))).toEqual([true, false])
    expect(elementsOf(listOf('string', ['a', '']))).toEqual(['a', ''])
    expect(elementsOf(listOf('complex128', [[1, -2]]))).toEqual([[1, -2]])
    expect(listOf('complex64', [])).toMatchObject({ dims: [0] })
  })

  it('rounds numbers to the type', () => {
    expect(elementsOf(listOf('bfloat16', [0.1]))).toEqual([0.10009765625])
    expect(elementsOf(listOf('float32', [0.1]))).toEqual([Math.fround(0.1)])
  })
})
