import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { NodewiseError } from '../../src/errors.ts'
import { bytesSource } from '../../src/files/byte-source.ts'
import { defaultLimits } from '../../src/graph/limits.ts'
import type { Encoding } from '../../src/openvino/encoding.ts'
import { PlainXmlReader } from '../../src/openvino/plain-xml.ts'
import { locator } from '../../src/openvino/position.ts'
import type { XmlTree } from '../../src/openvino/tree.ts'
import { readXml } from '../../src/openvino/xml.ts'
import { DATA, describeData } from '../conformance/data.ts'
import fc from '../fixtures/random-cases.ts'

/** A comment is not plain: the strict reader reads the file. */
const strictly = (text: string): XmlTree => readWhole(`${text}<!-- -->`)

function readWhole(text: string): XmlTree {
  const source = bytesSource('a.xml', Buffer.from(text, 'latin1'))
  const encoding: Encoding = { name: 'latin1', skip: 0 }
  return readXml(source, 'a.xml', encoding, locator(source, 'a.xml', encoding), defaultLimits())
}

function plainly(text: string): XmlTree | undefined {
  const reader = new PlainXmlReader(defaultLimits().xmlDepth, 1 << 20)
  return reader.read(text, 0) && reader.isWhole ? reader.tree : undefined
}

const dump = (tree: XmlTree): object[] =>
  Array.from({ length: tree.size }, (_, element) => ({
    name: tree.name(element),
    offset: tree.offset(element),
    text: tree.text(element),
    attributes: tree.attributePairs(element),
    children: tree.children(element)
  }))

/** Where the plain reader does not give up, the strict one reads the same. */
function agree(text: string): void {
  const tree = plainly(text)
  if (tree !== undefined) expect(dump(tree)).toEqual(dump(strictly(text)))
}

const SMALL =
  '<?xml version="1.0"?>\n<net name="a" version="11">\n\t<layer id=\'0\' type="X">' +
  '<port id="0"><dim>3</dim> t\n<dim>-1</dim></port><e/></layer>\n</net>\n'

describe('the plain reader', () => {
  test('reads what programs write, and the strict one reads the same', () => {
    expect(plainly(SMALL)).toBeDefined()
    agree(SMALL)
  })

  test('says the same of a piece at a time', () => {
    const cut = SMALL.indexOf('<port')
    const reader = new PlainXmlReader(defaultLimits().xmlDepth, 1 << 20)
    expect([reader.read(SMALL.slice(0, cut), 0), reader.read(SMALL.slice(cut), cut), reader.isWhole]).toEqual([
      true,
      true,
      true
    ])
    expect(dump(reader.tree)).toEqual(dump(strictly(SMALL)))
  })

  test.each([
    ['a comment', '<a><!-- --></a>'],
    ['an entity', '<a b="&lt;"/>'],
    ['an entity in text', '<a>&amp;</a>'],
    ['a line end in a value', '<a b="\n"/>'],
    ['a carriage return in text', '<a>b\r\n</a>'],
    ['CDATA', '<a><![CDATA[]]></a>'],
    ['a DOCTYPE', '<!DOCTYPE a><a/>'],
    ['a tag not closed', '<a><b></a>'],
    ['crossed tags', '<a><b></a></b>'],
    ['two roots', '<a/><b/>'],
    ['text outside', '<a/>b'],
    ['an attribute twice', '<a b="" b=""/>'],
    ['no blank between attributes', '<a b=""c=""/>'],
    ['a value without quotes', '<a b=c/>'],
    ['no value', '<a b/>'],
    ['a control character', '<a>\0</a>'],
    ['< in a value', '<a b="<"/>'],
    [']]> in text', '<a>]]></a>'],
    ['a name of other letters', '<\u00e9/>'],
    ['a prefix', '<a:b/>'],
    ['nothing', ''],
    ['a name that goes on', '<a></ab>'],
    ['too many levels', '<a>'.repeat(defaultLimits().xmlDepth + 1) + '</a>'.repeat(defaultLimits().xmlDepth + 1)]
  ])('leaves %s to the strict one', (_, text) => {
    expect(plainly(text)).toBeUndefined()
  })

  test('reads no file that the strict one refuses or reads in another way', () => {
    const piece = fc.constantFrom(
      '<',
      '>',
      '/',
      '"',
      "'",
      '=',
      '&',
      ']]>',
      ' ',
      '\r',
      '\n',
      '\0',
      '\x7f',
      '\xe9',
      '<a>',
      '</a>',
      '<!--',
      '<?',
      '?>',
      'a',
      ':',
      '-',
      ' id="1"',
      '<dim>3</dim>'
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(SMALL.length), fc.nat(3), piece), { minLength: 1, maxLength: 3 }), edits => {
        agree(edits.reduce((text, [at, removed, added]) => text.slice(0, at) + added + text.slice(at + removed), SMALL))
      }),
      { numRuns: 3000 }
    )
  })
})

describeData('the plain reader on the data', () => {
  test('reads the IR files as the strict one does, and most of them', () => {
    const folder = join(DATA, 'openvino-zoo')
    const texts = readdirSync(folder).flatMap(name => {
      try {
        return [readFileSync(join(folder, name, 'model.xml'), 'latin1')]
      } catch {
        return []
      }
    })
    texts.forEach(agree)
    expect(texts.filter(text => plainly(text) !== undefined).length).toBeGreaterThan(texts.length / 2)
  })
})

test('a file that is not plain fails as it did', () => {
  expect(() => readWhole('<a b="1" b="2"/>')).toThrow(NodewiseError)
})
