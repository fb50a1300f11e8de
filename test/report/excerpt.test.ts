import { describe, expect, test } from 'vitest'
import { bytesSource } from '../../src/files/byte-source.ts'
import { excerptAt } from '../../src/report/excerpt.ts'

/** The excerpt at the first `mark` of a text, as it is printed. */
function shown(text: string, mark: string): string[] {
  const at = text.indexOf(mark)
  const offset = Buffer.byteLength(text.slice(0, at))
  const line = text.slice(0, at).split(/\r\n|\r|\n/).length
  const excerpt = excerptAt(bytesSource('m.xml', Buffer.from(text)), { offset, line })
  return [
    ...(excerpt?.lines.map(({ number, text: shownText }) => `${number}|${shownText}`) ?? []),
    ` |${excerpt?.marker ?? ''}`
  ]
}

describe('an excerpt', () => {
  test('shows the line and two before it, and marks the element', () => {
    expect(shown('<a>\n  <b>\n  <c/>\n  <dim>12</dim>\n</a>', '<dim>12')).toEqual([
      '2|  <b>',
      '3|  <c/>',
      '4|  <dim>12</dim>',
      ' |  ^~~~~'
    ])
  })

  test.each(['\r\n', '\r', '\n'])('knows the line end %j, and tabs', end => {
    expect(shown(['<a>', '\t<dim>1</dim>', '</a>'].join(end), '<dim>')).toEqual([
      '1|<a>',
      '2|  <dim>1</dim>',
      ' |  ^~~~~'
    ])
  })

  test('of a file of one long line is cut on both sides', () => {
    const [line, marker] = shown(`${'<x/>'.repeat(3000)}<dim>7</dim>${'<y/>'.repeat(3000)}`, '<dim>')
    expect(line).toMatch(/^1\|…[^…]{105,112}…$/)
    expect(line.slice(marker.indexOf('^')).startsWith('<dim>')).toBe(true)
  })

  test('puts the marker under the element after wide and combined characters', () => {
    expect(shown('<層 é😀="e\u0301"><dim/>', '<dim')[1]).toBe(` |${' '.repeat(12)}^~~~~~`)
  })

  test('writes controls out', () => {
    expect(shown('<a \u001b[31m><dim/>', '<dim')[0]).toBe('1|<a \\u001b[31m><dim/>')
  })

  test('is not there for a place without a line, or beyond the file', () => {
    const source = bytesSource('m.xml', Buffer.from('<a/>'))
    expect(excerptAt(source, { offset: 0 })).toBeUndefined()
    expect(excerptAt(source, { offset: 99, line: 1 })).toBeUndefined()
  })
})
