import { zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'
import { writeNpy } from '../../src/io/npy.ts'
import { readNpz, writeNpz } from '../../src/io/npz.ts'
import { zipEntries } from '../../src/io/zip.ts'
import { Tensor } from '../../src/tensor/tensor.ts'

const zeros = new Tensor('float32', new Float32Array(100_000), [100, 1000])
const texts = new Tensor('string', ['a', 'ž'])

describe('writeNpz', () => {
  it.each([true, false])('is read back (compressed: %s)', compress => {
    const tensors = new Map<string, Tensor>([
      ['x', zeros],
      ['folder/s', texts],
      ['__proto__', texts]
    ])
    const bytes = writeNpz(tensors, { compress })
    expect(readNpz(bytes)).toEqual(tensors)
    expect(bytes.length < 10_000).toBe(compress)
  })

  it('gives equal bytes for equal tensors', () => {
    expect(writeNpz(new Map([['x', zeros]]))).toEqual(writeNpz(new Map([['x', zeros]])))
  })

  it('names the array that cannot be written', () => {
    expect(() => writeNpz(new Map([['s', new Tensor('string', ['\0'])]]))).toThrow(
      expect.objectContaining({ code: 'write-failed', place: { value: 's' } })
    )
  })
})

describe('readNpz', () => {
  const archive = writeNpz(
    new Map<string, Tensor>([
      ['b', new Tensor('uint16', [0x3f80])],
      ['x', zeros]
    ]),
    { compress: true }
  )

  it('reads an array as the type that it carries', () => {
    const tensors = readNpz(archive, { typeOf: () => 'bfloat16' })
    expect([...tensors.values()].map(tensor => tensor.type)).toEqual(['bfloat16', 'float32'])
  })

  it('reads only what is wanted', () => {
    expect([...readNpz(archive, { wanted: name => name === 'b', maxBytes: 1000 }).keys()]).toEqual(['b'])
  })

  it('refuses more bytes than allowed before it unpacks', () => {
    expect(() => readNpz(archive, { maxBytes: 100_000 })).toThrow(expect.objectContaining({ code: 'limit-exceeded' }))
  })

  it('refuses files that are no arrays', () => {
    expect(() => readNpz(zipSync({ 'a.txt': new Uint8Array(1) }))).toThrow('holds "a.txt", which is no .npy array')
  })

  it('names the array that is broken', () => {
    expect(() => readNpz(zipSync({ 'a.npy': new Uint8Array(20) }))).toThrow(
      expect.objectContaining({ code: 'invalid-file', place: { value: 'a' } })
    )
  })

  it('reads an empty archive', () => {
    expect(readNpz(zipSync({})).size).toBe(0)
  })
})

describe('a broken archive', () => {
  const content = writeNpy(
    new Tensor(
      'uint8',
      new Uint8Array(5000).map((_, i) => i * i)
    )
  )
  const noise = Uint8Array.from({ length: 1000 }, (_, i) => (i * i * 7919) >> 3)
  const stored = zipSync({ 'a.npy': [content, { level: 0 }] })
  const packed = zipSync({ 'a.npy': [content, { level: 9 }] })
  const changed = (bytes: Uint8Array, at: number, value: number): Uint8Array =>
    bytes.map((byte, i) => (i === at ? value : byte))
  const directory = (bytes: Uint8Array): number =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).lastIndexOf('PK\x01\x02')
  const field = (bytes: Uint8Array, offset: number, value: number): Uint8Array => {
    const copy = bytes.slice()
    new DataView(copy.buffer).setUint32(directory(bytes) + offset, value, true)
    return copy
  }

  it('is refused when it is cut anywhere', () => {
    for (let length = 0; length < packed.length; length += 7) {
      expect(() => readNpz(packed.subarray(0, length))).toThrow(expect.objectContaining({ code: 'invalid-file' }))
    }
  })

  it('is refused when a byte of the elements is wrong', () => {
    expect(() => readNpz(changed(stored, 2000, stored[2000] ^ 1))).toThrow('"a.npy" is damaged')
    expect(() => readNpz(changed(packed, 200, packed[200] ^ 1))).toThrow('"a.npy" is damaged')
  })

  it('is refused when the declared size is not that of the content', () => {
    expect(() => readNpz(field(packed, 24, content.length + 1))).toThrow('"a.npy" is damaged')
    expect(() => readNpz(field(packed, 24, content.length - 1))).toThrow('"a.npy" is damaged')
    expect(() => readNpz(field(stored, 24, 10))).toThrow('"a.npy" is damaged')
    // Blocks that deflate stores as they are do not fit the memory of the declared size.
    const plain = zipSync({ 'a.npy': [noise, { level: 6 }] })
    expect(zipEntries(plain)[0].method).toBe(8)
    expect(() => readNpz(field(plain, 24, 10))).toThrow('"a.npy" is damaged')
  })

  it('is refused when it declares more than its bytes can give', () => {
    expect(() => readNpz(field(packed, 24, 2 ** 31))).toThrow('"a.npy" cannot unpack to 2147483648 bytes')
  })

  it('is refused when its content lies outside', () => {
    expect(() => readNpz(field(packed, 42, 2 ** 31))).toThrow('is not where the directory says')
    expect(() => readNpz(field(packed, 20, 2 ** 31))).toThrow('"a.npy" is cut off')
  })

  it('is refused when it is encrypted or packed by another method', () => {
    expect(() => readNpz(changed(packed, directory(packed) + 8, 1))).toThrow('"a.npy" is encrypted')
    expect(() => readNpz(changed(packed, directory(packed) + 10, 12))).toThrow('"a.npy" is packed by method 12')
  })

  it('is refused when a name occurs twice', () => {
    const twice = zipSync({ 'a.npy': content, 'b.npy': content })
    const second = directory(twice) + 46
    expect(() => readNpz(changed(twice, second, 0x61))).toThrow('it holds "a.npy" twice')
  })

  it('is refused when it is something else', () => {
    expect(() => zipEntries(content)).toThrow('it has no directory')
    expect(() => zipEntries(new Uint8Array(0))).toThrow('it has no directory')
  })
})

describe('zipEntries', () => {
  it('reads ZIP64 sizes', () => {
    // A directory entry whose sizes and offset stand in the extra field, as Python writes files that may become large.
    const name = new TextEncoder().encode('a.npy')
    const bytes = new Uint8Array(46 + name.length + 28 + 22)
    const view = new DataView(bytes.buffer)
    view.setUint32(0, 0x02014b50, true)
    for (const at of [20, 24, 42]) view.setUint32(at, 0xffffffff, true)
    view.setUint16(28, name.length, true)
    view.setUint16(30, 28, true)
    bytes.set(name, 46)
    const extra = 46 + name.length
    view.setUint16(extra, 1, true)
    view.setUint16(extra + 2, 24, true)
    ;[7n, 5n, 3n].forEach((value, i) => {
      view.setBigUint64(extra + 4 + 8 * i, value, true)
    })
    const end = extra + 28
    view.setUint32(end, 0x06054b50, true)
    view.setUint16(end + 10, 1, true)
    expect(zipEntries(bytes)).toEqual([{ name: 'a.npy', method: 0, crc: 0, size: 7, packedSize: 5, offset: 3 }])
  })
})
