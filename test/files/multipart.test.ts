import { expect, test } from 'vitest'
import { boundaryOf, contentRange, MultipartReader } from '../../src/files/multipart.ts'

/** What a reader takes of an answer that comes in pieces of so many bytes. */
function taken(text: string, size: number): { parts: [number, string][]; isEnded: boolean } {
  const bytes = Buffer.from(text)
  const found = new Map<number, number[]>()
  let current = 0
  const reader = new MultipartReader(
    'x-y',
    ({ offset }) => {
      current = offset
      found.set(offset, [])
    },
    (offset, part) => {
      expect(offset).toBe(current + found.get(current)!.length)
      found.get(current)!.push(...part)
    }
  )
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size))
  const parts = [...found].map(([offset, part]): [number, string] => [offset, Buffer.from(part).toString()])
  return { parts, isEnded: reader.isEnded }
}

test('Parts are read as they come, in pieces of any size', () => {
  const text =
    '\r\n--x-y\r\nContent-Type: a/b\r\nContent-Range: bytes 5-11/100\r\n\r\n\r\n--x-y' +
    '\r\n--x-y\r\ncontent-range: bytes 50-50/100\r\n\r\nZ\r\n--x-y--\r\nand more'
  for (let size = 1; size <= Buffer.byteLength(text); size++)
    expect(taken(text, size)).toEqual({
      parts: [
        [5, '\r\n--x-y'],
        [50, 'Z']
      ],
      isEnded: true
    })
  expect(taken(text.slice(0, 100), 7).isEnded).toBe(false)
})

test('Parts that say nothing of their range, or go on for ever, are refused', () => {
  for (const text of [
    '--x-y\r\nContent-Type: a/b\r\n\r\n',
    '--x-y\r\nContent-Range: bytes 5-4/100\r\n\r\n',
    '--other\r\nContent-Range: bytes 5-6/100\r\n\r\n',
    'x'.repeat(5000)
  ])
    expect(() => taken(text, 100)).toThrow(expect.objectContaining({ code: 'invalid-file' }))
})

test('Ranges and boundaries are read as RFC 9110 writes them, and nothing else is', () => {
  expect(contentRange('bytes 0-9/10')).toEqual({ offset: 0, length: 10, size: 10 })
  for (const text of [
    null,
    '',
    'bytes */10',
    'bytes 0-9/*',
    'bytes 5-4/10',
    'bytes 0-10/10',
    'bytes 0-9007199254740992/9007199254740993'
  ])
    expect(contentRange(text)).toBeUndefined()
  expect(boundaryOf('multipart/byteranges; boundary=abc')).toBe('abc')
  expect(boundaryOf('Multipart/ByteRanges; charset=x; boundary="a b"')).toBe('a b')
  expect(boundaryOf('multipart/mixed; boundary=abc')).toBeUndefined()
  expect(boundaryOf(null)).toBeUndefined()
})
