import { describe, expect, it } from 'vitest'
import { readNpy, readNpyLike, writeNpy } from '../../src/io/npy.ts'
import { ALL_DTYPES, type DType, DTYPES } from '../../src/tensor/dtype.ts'
import { Tensor } from '../../src/tensor/tensor.ts'

/** An `.npy` file with any header, as a text, and any bytes of elements. */
function npy(header: string, data: ArrayBufferView | readonly number[], version = 1): Uint8Array {
  const text = new TextEncoder().encode(header)
  const elements = ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : Uint8Array.from(data)
  const length =
    version === 1 ? [text.length & 255, text.length >> 8] : [...new Uint8Array(new Uint32Array([text.length]).buffer)]
  return Uint8Array.from([0x93, ...new TextEncoder().encode('NUMPY'), version, 0, ...length, ...text, ...elements])
}

const header = (descr: string, shape: string, fortran = 'False'): string =>
  `{'descr': '${descr}', 'fortran_order': ${fortran}, 'shape': ${shape}, }`
const headerText = (bytes: Uint8Array): string =>
  new TextDecoder('latin1').decode(bytes.subarray(10, 10 + bytes[8] + 256 * bytes[9]))

describe('writeNpy', () => {
  it('writes what NumPy writes', () => {
    const bytes = writeNpy(new Tensor('float32', new Float32Array([1, 2]), [1, 2]))
    expect([...bytes.subarray(0, 10)]).toEqual([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, 118, 0])
    expect(headerText(bytes)).toBe(`${"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }".padEnd(117)}\n`)
    expect([...bytes.subarray(128)]).toEqual([0, 0, 0x80, 0x3f, 0, 0, 0, 0x40])
  })

  it.each<[DType, string]>([
    ['bool', '|b1'],
    ['int8', '|i1'],
    ['uint8', '|u1'],
    ['int64', '<i8'],
    ['uint16', '<u2'],
    ['float16', '<f2'],
    ['float64', '<f8'],
    ['complex64', '<c8'],
    ['complex128', '<c16'],
    ['bfloat16', '<u2'],
    ['float8e4m3fn', '|u1'],
    ['float8e8m0', '|u1'],
    ['float4e2m1', '|u1'],
    ['nf4', '|u1'],
    ['int4', '|i1'],
    ['int2', '|i1'],
    ['uint4', '|u1'],
    ['uint1', '|u1'],
    ['string', '<U1']
  ])('writes %s as %s', (type, descr) => {
    expect(headerText(writeNpy(new Tensor(type, [], [0])))).toContain(
      `'descr': '${descr}', 'fortran_order': False, 'shape': (0,), }`
    )
  })

  it('begins elements at a multiple of 64 bytes, whatever the rank', () => {
    for (let rank = 0; rank <= 64; rank++) {
      const bytes = writeNpy(new Tensor('uint8', new Uint8Array([7]), new Array(rank).fill(1)))
      expect((bytes.length - 1) % 64).toBe(0)
      expect(readNpy(bytes).dims.length).toBe(rank)
    }
  })

  it('refuses a string that the format would cut', () => {
    expect(() => writeNpy(new Tensor('string', ['a', 'b\0']))).toThrow(
      'cannot hold a string that ends in NUL (element 1)'
    )
  })
})

describe('readNpy', () => {
  it.each(ALL_DTYPES)('reads back %s', type => {
    const ones = Array.from({ length: 6 * DTYPES[type].slots }, (_, i) => i % 2)
    const texts = ['a', '', 'žluť 😀', 'x\0y', '\ud800', 'tab\t']
    const tensor = new Tensor(type, type === 'string' ? texts : ones, [2, 3])
    expect(readNpy(writeNpy(tensor), type)).toEqual(tensor)
  })

  it.each([1, 2, 3])('reads format version %i', version => {
    expect(readNpy(npy(header('<i2', '(2,)'), new Int16Array([1, -1]), version)).data).toEqual(new Int16Array([1, -1]))
  })

  it('reads big-endian elements', () => {
    expect(readNpy(npy(header('>i4', '(2,)'), [0, 0, 1, 2, 255, 255, 255, 255])).data).toEqual(
      new Int32Array([258, -1])
    )
    expect(readNpy(npy(header('>c8', '()'), [0x3f, 0x80, 0, 0, 0x40, 0, 0, 0])).data).toEqual(new Float32Array([1, 2]))
    expect(readNpy(npy(header('>U2', '(1,)'), [0, 0, 0, 0x41, 0, 1, 0xf6, 0])).data).toEqual(['A😀'])
    expect(readNpy(npy(header('>i8', '(1,)'), [0x80, 0, 0, 0, 0, 0, 0, 1])).data).toEqual(
      new BigInt64Array([-(2n ** 63n) + 1n])
    )
  })

  it('turns Fortran order into row-major order', () => {
    const tensor = readNpy(npy(header('|u1', '(2, 3)', 'True'), [1, 4, 2, 5, 3, 6]))
    expect([tensor.dims, tensor.data]).toEqual([[2, 3], new Uint8Array([1, 2, 3, 4, 5, 6])])
    const data = Uint8Array.from({ length: 24 }, (_, i) => i)
    const cube = readNpy(npy(header('|u1', '(2, 3, 4)', 'True'), data))
    expect(cube.data).toEqual(
      Uint8Array.from({ length: 24 }, (_, i) => Math.floor(i / 12) + 2 * (Math.floor(i / 4) % 3) + 6 * (i % 4))
    )
    expect(readNpy(npy(header('<c8', '(1, 2)', 'True'), new Float32Array([1, 2, 3, 4]))).data).toEqual(
      new Float32Array([1, 2, 3, 4])
    )
    expect(readNpy(npy(header('|S1', '(2, 2)', 'True'), [97, 99, 98, 100])).data).toEqual(['a', 'b', 'c', 'd'])
    expect(readNpy(npy(header('<f4', '(2, 0)', 'True'), [])).dims).toEqual([2, 0])
  })

  it('reads bytes strings as UTF-8 without the NULs that fill them up', () => {
    expect(readNpy(npy(header('|S4', '(2,)'), [0xc5, 0xbe, 0, 0, 0x61, 0, 0x62, 0])).data).toEqual(['ž', 'a\0b'])
    expect(() => readNpy(npy(header('|S1', '(1,)'), [0xff]))).toThrow('is not UTF-8')
  })

  it('reads elements that do not begin at a multiple of their size, from a Buffer too', () => {
    expect(readNpy(npy(header('<f8', '(1,)'), new Float64Array([1.5]))).data).toEqual(new Float64Array([1.5]))
    expect(readNpy(Buffer.from(npy(header('<f8', '(1,)'), new Float64Array([1.5])))).data).toEqual(
      new Float64Array([1.5])
    )
  })

  it('takes any byte but 0 of a bool as true', () => {
    expect(readNpy(npy(header('|b1', '(3,)'), [0, 1, 255])).data).toEqual(new Uint8Array([0, 1, 1]))
  })

  it('reads a header in other spellings of the same', () => {
    for (const text of [
      '{"shape":(2,),"fortran_order":False,"descr":"|u1"}',
      "{ 'fortran_order' : False ,\n 'descr' : '|u1' , 'shape' : ( 2L , ) }   \n"
    ])
      expect(readNpy(npy(text, [1, 2])).dims).toEqual([2])
  })
})

describe('types that NumPy does not have', () => {
  const codes = (descr: string, values: readonly number[], as: DType): unknown =>
    readNpy(npy(header(descr, `(${values.length},)`), values), as).data

  it('are read from what carries their codes', () => {
    expect(readNpy(npy(header('<u2', '(1,)'), new Uint16Array([0x3f80])), 'bfloat16')).toEqual(
      new Tensor('bfloat16', [0x3f80])
    )
    expect(readNpy(npy(header('<V2', '(1,)'), new Uint16Array([0x3f80])), 'bfloat16')).toEqual(
      new Tensor('bfloat16', [0x3f80])
    )
    expect(codes('|u1', [0x38, 0xff], 'float8e4m3fn')).toEqual(new Uint8Array([0x38, 0xff]))
    expect(codes('|V1', [0x38], 'float8e5m2')).toEqual(new Uint8Array([0x38]))
    expect(codes('|u1', [0, 15], 'nf4')).toEqual(new Uint8Array([0, 15]))
    expect(codes('|i1', [255, 7, 0xf8], 'int4')).toEqual(new Int8Array([-1, 7, -8]))
    expect(codes('|u1', [15, 7, 0xf8], 'int4')).toEqual(new Int8Array([-1, 7, -8]))
    expect(codes('|u1', [0, 2], 'bool')).toEqual(new Uint8Array([0, 1]))
  })

  it('are refused when a code is none', () => {
    expect(() => codes('|u1', [1, 16], 'uint4')).toThrow('16 at position 1 is no code of uint4')
    expect(() => codes('|i1', [8], 'int4')).toThrow('8 at position 0 is no code of int4')
    expect(() => codes('|i1', [255], 'uint2')).toThrow('-1 at position 0 is no code of uint2')
    expect(() => codes('|u1', [0x80], 'int4')).toThrow('128 at position 0 is no code of int4')
  })

  it('are not made of another type', () => {
    expect(() => codes('|u1', [1], 'int8')).toThrow('the .npy file holds uint8, which is not int8')
    expect(() => readNpy(npy(header('<f4', '(0,)'), []), 'bfloat16')).toThrow('holds float32, which is not bfloat16')
    expect(() => readNpy(npy(header('<V2', '(0,)'), []))).toThrow('<V2 does not say what its elements are')
  })

  it('are only a hint to readNpyLike', () => {
    expect(readNpyLike(npy(header('<u2', '(0,)'), []), 'bfloat16').type).toBe('bfloat16')
    expect(readNpyLike(npy(header('<f4', '(0,)'), []), 'bfloat16').type).toBe('float32')
    expect(readNpyLike(npy(header('<f4', '(0,)'), [])).type).toBe('float32')
  })
})

describe('a broken .npy file', () => {
  const good = npy(header('<f4', '(2,)'), [0, 0, 0, 0, 0, 0, 0, 0])

  it('is refused when it is cut anywhere', () => {
    for (let length = 0; length < good.length; length++) {
      expect(() => readNpy(good.subarray(0, length))).toThrow(expect.objectContaining({ code: 'invalid-file' }))
    }
  })

  it('may have bytes behind its elements, as NumPy allows', () => {
    expect(readNpy(Uint8Array.from([...good, 1, 2, 3])).dims).toEqual([2])
  })

  it.each([
    ['{', 'a string expected'],
    ['[]', '{ expected'],
    ["{'descr': '<f4'}", 'must have the keys'],
    [`${header('<f4', '(0,)')} x`, 'the end expected'],
    [header('<f4', '(1)'), 'a comma expected'],
    [header('<f4', '[1]'), '( expected'],
    [header('<f4', '(-1,)'), 'a size expected'],
    [header('<f4', '(1, 2'), 'a size expected'],
    [header('<f4', '(1, 2 3)'), ') expected'],
    [header('<f4', '(0,)', 'false'), 'True or False expected'],
    [header('<f4', '(0,)', '0'), 'True or False expected'],
    ["{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}", 'unexpected key "descr"'],
    ["{'a': 1, 'descr': '<f4', 'fortran_order': False, 'shape': ()}", 'unexpected key "a"'],
    ["{'descr': __import__('os'), 'fortran_order': False, 'shape': ()}", 'a string expected'],
    ["{'descr': '<f4' 'fortran_order': False, 'shape': ()}", '} expected'],
    [header('<f4', '(99999999999999999999,)'), 'a dimension of 100000000000000000000']
  ])('is refused for the header %s', (text, message) => {
    expect(() => readNpy(npy(text, []))).toThrow(
      expect.objectContaining({ code: 'invalid-file', message: expect.stringContaining(message) as string })
    )
  })

  const unknown = ['|O', '<M8[ns]', '<f16', '<c32', '|V8', 'f', '<i3', '<U', '<f4,<i4', '<U99999999999999999']
  it.each(unknown)('is refused for the element type %s', descr => {
    expect(() => readNpy(npy(header(descr, '(0,)'), []))).toThrow(expect.objectContaining({ code: 'type-not-allowed' }))
  })

  it('is refused for objects with what makes texts of them', () => {
    expect(() => readNpy(npy(header('|O', '(0,)'), []))).toThrow('array.astype(str) makes texts of them')
  })

  it('is refused for structured elements', () => {
    expect(() => readNpy(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (0,)}", []))).toThrow(
      'structured array'
    )
  })

  it('is refused for a format version that does not exist', () => {
    expect(() => readNpy(npy(header('<f4', '(0,)'), [], 4))).toThrow('version 4.0 is not known')
  })

  it('takes no memory for elements that are not there', () => {
    expect(() => readNpy(npy(header('<f4', '(1000000000, 1000000)'), []))).toThrow(
      'take 4000000000000000 bytes, 0 are there'
    )
    expect(() => readNpy(npy(header('<U0', '(1000000000,)'), []))).toThrow(
      expect.objectContaining({ code: 'limit-exceeded' })
    )
    expect(() => readNpy(npy(header('<f4', `(${'1, '.repeat(65)})`), []))).toThrow('rank 65 is above the limit')
    expect(() => readNpy(npy(header('<f4', `(${'1, '.repeat(40000)})`), [], 2))).toThrow('longer than 65536')
  })

  it('is refused for characters beyond Unicode', () => {
    expect(() => readNpy(npy(header('<U1', '(1,)'), [0, 0, 0x11, 0]))).toThrow('1114112 is no Unicode character')
  })
})
