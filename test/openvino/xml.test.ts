import { describe, expect, test } from 'vitest'
import { NodewiseError } from '../../src/errors.ts'
import { bytesSource } from '../../src/files/byte-source.ts'
import { defaultLimits } from '../../src/graph/limits.ts'
import { detectEncoding } from '../../src/openvino/encoding.ts'
import { locator } from '../../src/openvino/position.ts'
import type { XmlTree } from '../../src/openvino/tree.ts'
import { readXml } from '../../src/openvino/xml.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

function read(xml: string | Uint8Array): XmlTree {
  const source = bytesSource('a.xml', typeof xml === 'string' ? bytesOf(xml) : xml)
  const encoding = detectEncoding(source, 'a.xml')
  return readXml(source, 'a.xml', encoding, locator(source, 'a.xml', encoding), defaultLimits())
}

function failure(xml: string | Uint8Array): string {
  try {
    read(xml)
  } catch (error) {
    if (!(error instanceof NodewiseError)) throw error
    const { file, line, column } = error.place
    return `${file}:${line}:${column}: ${error.code}: ${error.reason}`
  }
  throw new Error('no failure')
}

/** Every element's name and what the bytes hold at its offset. */
function starts(tree: XmlTree, bytes: Uint8Array): [string, string][] {
  return Array.from({ length: tree.size }, (_, element) => {
    const at = tree.offset(element)
    const name = tree.name(element)
    return [name, new TextDecoder().decode(bytes.subarray(at, at + 1 + bytesOf(name).length))]
  })
}

describe('a well-formed file', () => {
  test('gives elements with attributes, text and children in order', () => {
    const tree = read(
      '<?xml version="1.0"?>\n<net a="1" b="x &lt; &#233;"><dim> 3 </dim><x/><dim>4</dim></net>\n<!-- end -->'
    )
    expect(tree.name(tree.root)).toBe('net')
    expect(tree.attributePairs(tree.root)).toEqual([
      ['a', '1'],
      ['b', 'x < é']
    ])
    expect(tree.children(tree.root).map(child => tree.name(child))).toEqual(['dim', 'x', 'dim'])
    expect(tree.children(tree.root, 'dim').map(child => tree.text(child))).toEqual([' 3 ', '4'])
    expect(tree.child(tree.root, 'x')).toBe(2)
    expect(tree.child(tree.root, 'y')).toBeUndefined()
  })

  test('gives text in pieces and CDATA as one, and none of the blanks between elements', () => {
    const tree = read('<a>\n <b>1<!-- c -->2<![CDATA[<3>]]>&amp;</b>\n</a>')
    expect(tree.text(tree.root)).toBe('')
    expect(tree.text(tree.children(tree.root)[0])).toBe('12<3>&')
  })

  test('keeps byte offsets of every `<`, beyond ASCII and with each kind of line end', () => {
    const bytes = bytesOf('<é1 n="日本">\r\n\t<b\r\n x="😀"/><c>ä</c>\r<d\n/>\n<e/></é1>')
    const tree = read(bytes)
    expect(starts(tree, bytes)).toEqual([
      ['é1', '<é1'],
      ['b', '<b'],
      ['c', '<c'],
      ['d', '<d'],
      ['e', '<e']
    ])
  })

  test('keeps offsets and values over many windows, whose borders fall anywhere', () => {
    const rows = Array.from(
      { length: 30_000 },
      (_, i) => `<p id="${i}" n="é${'😀'.repeat(i % 7)}>">\r\n<dim>${i}</dim></p>`
    )
    const bytes = bytesOf(`<net>${rows.join('\r\n')}</net>`)
    const tree = read(bytes)
    expect(tree.size).toBe(60_001)
    expect(starts(tree, bytes).every(([name, text]) => text === `<${name}`)).toBe(true)
    const parents = tree.children(tree.root)
    expect(parents.map(p => tree.attribute(p, 'id'))).toEqual(rows.map((_, i) => String(i)))
    expect(parents.every((p, i) => tree.attribute(p, 'n') === `é${'😀'.repeat(i % 7)}>`)).toBe(true)
    expect(parents.every((p, i) => tree.text(tree.children(p)[0]) === String(i))).toBe(true)
  })

  test('may start with a byte order mark and be in ISO-8859-1', () => {
    const marked = read(new Uint8Array([0xef, 0xbb, 0xbf, ...bytesOf('<a x="é"/>')]))
    expect(marked.offset(marked.root)).toBe(3)
    expect(marked.attribute(marked.root, 'x')).toBe('é')
    const latin = read(Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a x="é"><b/></a>', 'latin1'))
    expect(latin.attribute(latin.root, 'x')).toBe('é')
    expect(latin.offset(1)).toBe(52)
  })

  test('may use names of JavaScript objects', () => {
    const tree = read('<a __proto__="1" constructor="2"><__proto__/></a>')
    expect(tree.attribute(tree.root, '__proto__')).toBe('1')
    expect(tree.attribute(tree.root, 'constructor')).toBe('2')
    expect(tree.attribute(tree.root, 'toString')).toBeUndefined()
    expect(tree.name(1)).toBe('__proto__')
  })
})

describe('a damaged file is refused at its place', () => {
  test.each([
    [
      'a mismatched tag',
      '<net>\n <a>\n </b></net>',
      '3:2: invalid-file: mismatched tags: the closing tag does not match <a>'
    ],
    ['a closing tag too many', '<a>\n</a>\n</b>', '3:1: invalid-file: mismatched tags: unmatched closing tag: b'],
    ['an element that is not closed', '<net>\n <a>\n', '2:2: invalid-file: <a> is not closed'],
    ['a file that ends in a tag', '<net>\n <a x="', '2:2: invalid-file: <a> is not closed'],
    ['a duplicate attribute', '<net>\n <a x="1" x="2"/></net>', '2:2: invalid-file: duplicate attribute: x'],
    ['a second root', '<a/>\n<b/>', '2:1: invalid-file: documents may contain only one root'],
    ['text after the root', '<a/>\nb', '2:1: invalid-file: text outside the root element'],
    ['text before the root', 'x<a/>', '1:1: invalid-file: text outside the root element'],
    ['a NUL', '<a>\n \0</a>', '2:2: invalid-file: disallowed character'],
    ['an entity that XML does not have', '<a>\n&nbsp;</a>', '2:6: invalid-file: undefined entity'],
    [
      'a DOCTYPE',
      '<?xml version="1.0"?>\n<!DOCTYPE net [<!ENTITY a "b">]>\n<net/>',
      '2:1: invalid-file: a DOCTYPE is not read'
    ],
    ['no element', '<!-- nothing -->', '1:16: invalid-file: document must contain a root element'],
    ['nothing', '', '1:1: invalid-file: the file is empty'],
    [
      'an unknown encoding',
      '<?xml version="1.0" encoding="EBCDIC"?><a/>',
      '1:1: invalid-file: the encoding "ebcdic" is not read: save the file as UTF-8'
    ]
  ])('%s', (_, xml, message) => {
    expect(failure(xml)).toMatch(`a.xml:${message}`)
  })

  test('UTF-16, with or without a byte order mark', () => {
    expect(failure(Buffer.from('\ufeff<net/>', 'utf16le'))).toMatch('the encoding UTF-16 is not read')
    expect(failure(Buffer.from('<net/>', 'utf16le'))).toMatch('the encoding UTF-16 is not read')
  })

  test('bytes that are not UTF-8', () => {
    expect(failure(new Uint8Array([...bytesOf('<a>\n é'), 0xc3, 0x28, ...bytesOf('</a>')]))).toBe(
      'a.xml:2:3: invalid-file: the text is not UTF-8'
    )
  })

  test('elements nested too deep', () => {
    const nested = (levels: number): string => `${'<a>'.repeat(levels)}${'</a>'.repeat(levels)}`
    expect(read(nested(100)).size).toBe(100)
    expect(failure(nested(101))).toBe(
      'a.xml:1:301: limit-exceeded: elements are nested deeper than 100 (limit xmlDepth)'
    )
  })

  test('every cut of a file', () => {
    const xml = '<?xml version="1.0"?>\n<net a="é"><b>1</b><!-- c --><![CDATA[d]]></net>'
    for (let i = 0; i < bytesOf(xml).length; i++)
      expect(failure(bytesOf(xml).subarray(0, i))).toMatch(/^a\.xml:\d+:\d+: invalid-file: /)
  })
})
