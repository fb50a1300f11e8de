import { expect, test } from 'vitest'
import { MAX_SLAB_ARRAY, Slab } from '../../src/tensor/slab.ts'

test('a slab gives arrays of zeros that lie apart, whatever their types and lengths', () => {
  const slab = new Slab()
  const taken = []
  for (let i = 0; i < 300; i++) {
    for (const of of [Uint8Array, Float32Array, BigInt64Array, Uint16Array, Float64Array]) {
      const array = slab.take(of, i % 4 === 3 ? Math.floor(MAX_SLAB_ARRAY / of.BYTES_PER_ELEMENT) : i)
      expect([array.constructor, array.length]).toEqual([of, i % 4 === 3 ? array.length : i])
      expect(Array.from(array, Number).every(element => element === 0)).toBe(true)
      taken.push(array)
      if (array instanceof BigInt64Array) array.fill(BigInt(taken.length))
      else (array as Float64Array).fill(taken.length % 251)
    }
  }
  for (const [i, array] of taken.entries()) {
    const expected = array instanceof BigInt64Array ? i + 1 : (i + 1) % 251
    expect(Array.from(array, Number).every(element => element === expected)).toBe(true)
  }
})

test('a copy has the same bits, also of a NaN', () => {
  const given = new Float32Array(new Int32Array([0x7fa00001, 0x3f800000, -1]).buffer)
  const copy = new Slab().copy(given)
  expect(new Int32Array(copy.buffer, copy.byteOffset, 3)).toEqual(new Int32Array([0x7fa00001, 0x3f800000, -1]))
})
