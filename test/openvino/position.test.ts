import { describe, expect, test } from 'vitest'
import { bytesSource } from '../../src/files/byte-source.ts'
import { detectEncoding } from '../../src/openvino/encoding.ts'
import { locator } from '../../src/openvino/position.ts'

function locate(bytes: Uint8Array): (offset: number) => string {
  const source = bytesSource('a.xml', bytes)
  const toPlace = locator(source, 'a.xml', detectEncoding(source, 'a.xml'))
  return offset => {
    const { line, column } = toPlace({ file: 'a.xml', offset })
    return `${line}:${column}`
  }
}

describe('a byte offset becomes a line and a column', () => {
  test('counting LF, CRLF and CR as one line end each', () => {
    const at = locate(Buffer.from('<a>\n<b>\r\n<c>\r<d>\n\r<e>'))
    expect([0, 4, 9, 13, 18].map(at)).toEqual(['1:1', '2:1', '3:1', '4:1', '6:1'])
  })

  test('with columns in UTF-16 units', () => {
    const text = '<a é日😀><b/>'
    expect(locate(Buffer.from(text))(Buffer.from(text).indexOf('<b'))).toBe(`1:${text.indexOf('<b') + 1}`)
  })

  test('without counting a byte order mark', () => {
    expect(locate(new Uint8Array([0xef, 0xbb, 0xbf, ...Buffer.from('<a>\n<b>')]))(3)).toBe('1:1')
    expect(locate(new Uint8Array([0xef, 0xbb, 0xbf, ...Buffer.from('<a>\n<b>')]))(7)).toBe('2:1')
  })

  test('with a unit a byte in ISO-8859-1', () => {
    const bytes = Buffer.from('<?xml version="1.0" encoding="latin1"?><a x="ééé"><b/></a>', 'latin1')
    expect(locate(bytes)(bytes.indexOf('<b'))).toBe(`1:${bytes.indexOf('<b') + 1}`)
  })

  test('anywhere in a file of many blocks, as counting from the start says', () => {
    const row = (i: number): string =>
      `<p${'é'.repeat(i % 13)} ${'😀'.repeat(i % 3)}/>${['\n', '\r\n', '\r', ''][i % 4]}`
    const text = Array.from({ length: 20_000 }, (_, i) => row(i)).join('')
    const bytes = Buffer.from(text)
    const at = locate(bytes)
    for (let offset = 0; offset < bytes.length; offset += 4093) {
      const start = bytes.indexOf('<', offset)
      if (start < 0) break
      const lines = bytes
        .subarray(0, start)
        .toString()
        .split(/\r\n|\r|\n/)
      expect(at(start)).toBe(`${lines.length}:${lines[lines.length - 1].length + 1}`)
    }
  })
})

test('places of other files, without an offset or with a line already stay as they are', () => {
  const source = bytesSource('a.xml', Buffer.from('<a/>\n<b/>'))
  const toPlace = locator(source, 'a.xml', { name: 'utf-8', skip: 0 })
  for (const place of [
    { file: 'b.xml', offset: 5 },
    { file: 'a.xml', node: 'n' },
    { file: 'a.xml', offset: 5, line: 7, column: 1 }
  ]) {
    expect(toPlace(place)).toBe(place)
  }
  expect(toPlace({ file: 'a.xml', offset: 5, node: 'n' })).toEqual({
    file: 'a.xml',
    offset: 5,
    node: 'n',
    line: 2,
    column: 1
  })
})
