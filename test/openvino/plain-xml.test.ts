import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { NodewiseError } from '../../src/errors.ts'
import { bytesSource } from '../../src/files/byte-source.ts'
import { defaultLimits } from '../../src/graph/limits.ts'
import type { Encoding } from '../../src/openvino/encoding.ts'
import { PlainXmlReader } from '../../src/openvino/plain-xml.ts'
import { locator } from '../../src/openvino/position.ts'
import { strictXmlReader } from '../../src/openvino/strict-xml.ts'
import type { XmlTree } from '../../src/openvino/tree.ts'
import type { Bounds } from '../../src/openvino/xml-bounds.ts'
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

const boundsOf = (depth: number, elements: number): Bounds => ({
  depth,
  elements,
  tooMuch: (limit, what, offset) => {
    throw new Error(`${limit}: ${what} at ${offset}`)
  }
})
const WIDE = boundsOf(defaultLimits().xmlDepth, 1 << 20)

function plainly(text: string, bounds = WIDE): XmlTree | undefined {
  const reader = new PlainXmlReader(bounds)
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

/** What a reader throws. */
function failureOf(read: () => unknown): string | undefined {
  try {
    read()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** What the strict reader says of a file that may have no more. */
const strictFailure = (text: string, bounds: Bounds): string | undefined =>
  failureOf(() => {
    const reader = strictXmlReader((_, message, offset) => {
      throw new Error(`${message} at ${offset}`)
    }, bounds)
    reader.write(text, 0, text.length)
    return reader.end()
  })

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
    const reader = new PlainXmlReader(WIDE)
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
    ['a name that goes on', '<a></ab>']
  ])('leaves %s to the strict one', (_, text) => {
    expect(plainly(text)).toBeUndefined()
  })

  test.each([
    ['levels', '<a>\n<b c="">x<d/></b></a>', 2, 9],
    ['elements', `<a>${'<b/>'.repeat(9)}</a>`, 9, 5],
    ['levels before a fault', '<a><b><c><d></a>', 2, 9]
  ])('refuses too many %s where the strict one does', (_, text, depth, elements) => {
    const bounds = boundsOf(depth, elements)
    const failure = failureOf(() => plainly(text, bounds))
    expect(failure).toMatch(/^(?:xmlDepth|structureBytes): .* at \d+$/)
    expect(failure).toBe(strictFailure(text, bounds))
  })

  test.each([
    ['a second root', '<a/><b/>', 9, 1],
    ['a name that is not plain', '<a><b\u00e9/></a>', 9, 1]
  ])('leaves %s beyond the maximum to the strict one', (_, text, depth, elements) => {
    expect(plainly(text, boundsOf(depth, elements))).toBeUndefined()
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
        const text = edits.reduce(
          (before, [at, removed, added]) => before.slice(0, at) + added + before.slice(at + removed),
          SMALL
        )
        agree(text)
        const narrow = boundsOf(3, 4)
        const failure = failureOf(() => plainly(text, narrow))
        if (failure !== undefined) expect(failure).toBe(strictFailure(text, narrow))
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
