import { describe, expect, test } from 'vitest'
import { COPY_PIECE, copyBytes, isEarlyV8, MIN_COPY } from '../../src/host.ts'
import { bytesOf, copyArray, copyOfArray, rawArray } from '../../src/tensor/arrays.ts'
import type { ArrayConstructor, NumericArray } from '../../src/tensor/dtype.ts'

const LENGTHS = [0, 1, 300, MIN_COPY - 1, MIN_COPY, MIN_COPY + 1, 3 * MIN_COPY + 5, COPY_PIECE, 2 * COPY_PIECE + 1]
const numbered = (memory: ArrayBufferLike): Uint8Array => new Uint8Array(memory).map((_, i) => i % 251)

test.each([3, MIN_COPY])('%i elements are copied to a place in another array of their type', length => {
  const from = Float64Array.from({ length }, (_, i) => i)
  const to = new Float64Array(length + 5).fill(-1)
  copyArray(from, to, 2)
  expect([...to]).toEqual([-1, -1, ...from, -1, -1, -1])
})

describe('bytes are copied', () => {
  test.each(['own', 'shared'])('from %s memory, whatever their number and place, and no others', kind => {
    const size = 2 * COPY_PIECE + 64
    const bytes = numbered(new ArrayBuffer(size))
    const memory = kind === 'shared' ? new Uint8Array(new SharedArrayBuffer(size)) : new Uint8Array(size)
    memory.set(bytes)
    for (const length of LENGTHS) {
      for (const [from, at] of [
        [0, 0],
        [3, 17]
      ]) {
        const to = new Uint8Array(size).fill(255)
        copyBytes(memory.subarray(from, from + length), to, at)
        const expected = new Uint8Array(size).fill(255)
        expected.set(bytes.subarray(from, from + length), at)
        expect(Buffer.compare(to, expected)).toBe(0)
        // And back, by where they lie in the whole.
        memory.set(bytes)
        memory.fill(255, from, from + length)
        copyBytes(to, memory, from, at, at + length)
        expect(Buffer.compare(memory, bytes)).toBe(0)
      }
    }
  })

  test('from and to places beyond 4 GiB, where the engine has arrays so long', () => {
    const size = 2 ** 32 + 2 ** 16
    if (isEarlyV8) {
      expect(() => new Uint8Array(size)).toThrow(RangeError)
      return
    }
    // Pages that nobody touches take no memory.
    const long = new Uint8Array(size)
    const bytes = numbered(new ArrayBuffer(1000))
    copyBytes(bytes, long, 2 ** 32 + 7, 1, 990)
    const back = new Uint8Array(1000)
    copyBytes(long, back, 1, 2 ** 32 + 7, 2 ** 32 + 7 + 989)
    expect(back.subarray(1, 990)).toEqual(bytes.subarray(1, 990))
    expect(long.subarray(7, 996).every(byte => byte === 0)).toBe(true)
  })

  test('to where there is no room for them: not at all', () => {
    for (const length of LENGTHS.slice(1)) {
      const to = new Uint8Array(length)
      expect(() => copyBytes(new Uint8Array(length).fill(1), to, 1)).toThrow(RangeError)
      expect(to.every(byte => byte === 0)).toBe(true)
    }
  })
})

describe('arrays', () => {
  const TYPES = [Uint8Array, Uint16Array, Float32Array, BigInt64Array] as readonly ArrayConstructor[]
  const isAlone = ({ buffer, byteOffset, byteLength }: NumericArray): boolean =>
    buffer instanceof ArrayBuffer && byteOffset === 0 && byteLength === buffer.byteLength

  test.each([0, 10, 1 << 13, 1 << 18])('of %i elements have memory of their own', length => {
    for (const of of TYPES) {
      const [first, second] = [rawArray(of, length), rawArray(of, length)]
      expect(first).toBeInstanceOf(of)
      expect([first.length, isAlone(first), isAlone(second)]).toEqual([length, true, true])
      expect(first.buffer).not.toBe(second.buffer)
    }
  })

  test.each([0, 10, 1 << 13, 1 << 18])('of %i elements are copied, from memory that threads share too', length => {
    for (const of of TYPES) {
      const source = new of(new SharedArrayBuffer(length * of.BYTES_PER_ELEMENT + 64), 64, length)
      const bytes = bytesOf(source)
      for (let i = 0; i < bytes.length; i++) bytes[i] = i % 251
      const copy = copyOfArray(source)
      expect(copy).toBeInstanceOf(of)
      expect(isAlone(copy)).toBe(true)
      const other = new of(length)
      copyArray(source, other)
      for (const made of [copy, other]) expect(Buffer.compare(bytesOf(made), bytes)).toBe(0)
    }
  })
})
