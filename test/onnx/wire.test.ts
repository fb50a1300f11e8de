import { describe, expect, test } from 'vitest'
import { bytesSource } from '../../src/files/byte-source.ts'
import { WireReader } from '../../src/onnx/wire.ts'
import { failure, varint, watched } from './encode.ts'

const reader = (bytes: Iterable<number>): WireReader => new WireReader(bytesSource('m', Uint8Array.from(bytes)))

describe('a varint', () => {
  test.each([0, 1, 127, 128, 300, 2 ** 31, 2 ** 32, 2 ** 35 + 5, 2 ** 53 - 1])('%d is exact', value => {
    expect(reader(varint(value)).varint(10, 'x')).toBe(value)
  })

  test('may be written longer than it need be', () => {
    expect(reader([0x85, 0x80, 0x80, 0x00]).varint(4, 'x')).toBe(5)
  })

  test('of a negative number is 2^64 less, about', () => {
    expect(reader(varint(-1)).varint(10, 'x')).toBeCloseTo(2 ** 64, -5)
  })

  test('must end inside its message', () => {
    expect(failure(() => reader([0x80, 0x80, 0x01]).varint(2, 'X.y')).message).toBe(
      'X.y at byte 0: the bytes end before it does'
    )
  })
})

describe('the window', () => {
  test('grows while reading goes on and starts small after a jump', () => {
    const source = watched(bytesSource('m', new Uint8Array(100_000)))
    const wire = new WireReader(source)
    for (let i = 0; i < 2000; i++) wire.varint(100_000, 'x')
    wire.skip(50_000, 100_000, 'x')
    wire.varint(100_000, 'x')
    expect(source.reads).toEqual([
      { offset: 0, length: 512 },
      { offset: 512, length: 1024 },
      { offset: 1536, length: 2048 },
      { offset: 52_000, length: 512 }
    ])
  })

  test('gives bytes behind or beyond it too', () => {
    const bytes = Uint8Array.from({ length: 5000 }, (_, i) => i % 100)
    const wire = reader(bytes)
    wire.varint(5000, 'x')
    expect([...wire.view(0, 3)]).toEqual([0, 1, 2])
    expect([...wire.view(4998, 2)]).toEqual([98, 99])
  })
})
