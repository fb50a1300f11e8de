// Edits of an IR file as XML: tags, attributes, entities, encodings, numbers. An edit takes a mutant `{ root, after, …
// }`, where `after`
// are edits
// of the written bytes, and a source of random numbers.
import { cut, flip, onBytes, remove } from './byte-edits.mjs'
import { EXTREMES, integer, NAMES } from './random.mjs'
import { copyOf, element, elementsIn, escaped } from './xml.mjs'

/** Numbers as no number is to be written, and some that are. */
export const NUMBERS = [
  '1e400',
  '0x10',
  '2.5',
  '',
  ' 2 ',
  '-0',
  '+1',
  '007',
  '1_000',
  '٣',
  'NaN',
  'inf',
  '-1',
  '99999999999999999999',
  '1e3',
  '2147483648',
  '4294967296',
  '9007199254740993',
  '18446744073709551615',
  '-9223372036854775808',
  '?',
  '1..5',
  '..',
  '5..1',
  '1,',
  ',1',
  '1,,2',
  '1 2',
  '\n1\n',
  '0b1',
  '1n',
  '1'.repeat(400),
  '0.',
  '.5',
  '--1',
  '1-',
  'undefined',
  '__proto__'
]

export const numberText = (random, old) =>
  random.chance(0.5) ? random.pick(NUMBERS) : String(integer(random, /^-?\d{1,18}$/.test(old ?? '') ? BigInt(old) : 0n))

const onElement =
  (edit, accept = () => true) =>
  (mutant, random) => {
    const found = elementsIn(mutant.root).filter(accept)
    if (found.length > 0) edit(random.pick(found), random, mutant)
  }
const hasChildren = ({ children }) => children.length > 0
const hasAttributes = ({ attributes }) => attributes.length > 0

/** A place among the children of an element that has some. */
const onChild = edit =>
  onElement(
    ({ children }, random, mutant) => edit(children, random.below(children.length), random, mutant),
    hasChildren
  )

const drop = onChild((children, at) => children.splice(at, 1))
const double = onChild((children, at) => children.splice(at, 0, copyOf(children[at])))
const move = onChild((children, at, random) =>
  children.splice(random.below(children.length), 0, ...children.splice(at, 1))
)
const repeat = onChild((children, at, random) =>
  children.splice(at, 0, ...Array.from({ length: random.pick([3, 10, 200]) }, () => copyOf(children[at])))
)
const retag = onElement((found, random) => {
  found.tag = random.pick([
    'layer',
    'port',
    'dim',
    'data',
    'edge',
    'input',
    'output',
    'body',
    'net',
    'x',
    'Layer',
    'a:b',
    'rt_info',
    'port_map',
    '__proto__',
    '1x',
    'x y'
  ])
})
const mismatch = onElement((found, random) => {
  found.close = random.pick(['', 'x', 'net', found.tag.toUpperCase(), `${found.tag} x`])
}, hasChildren)
const nest = onElement((found, random) => {
  const inner = found.children
  const tag = random.chance(0.7) ? found.tag : 'x'
  const depth = random.pick([2, 30, 95, 101, 300, 5000])
  found.children = [{ raw: `<${tag}>`.repeat(depth) }, ...inner, { raw: `</${tag}>`.repeat(depth) }]
})

const attributeDrop = onElement(
  ({ attributes }, random) => attributes.splice(random.below(attributes.length), 1),
  hasAttributes
)
const attributeDouble = onElement(
  ({ attributes }, random) => attributes.push({ ...random.pick(attributes) }),
  hasAttributes
)
const attributeName = onElement(({ attributes }, random) => {
  random.pick(attributes).name = random.pick([
    'id',
    'name',
    'type',
    'x',
    '__proto__',
    'constructor',
    'xmlns',
    'xml:lang',
    'é',
    'a:b',
    ''
  ])
}, hasAttributes)
const attributeMany = onElement(({ attributes }, random) => {
  for (let i = random.pick([10, 500, 5000]); i > 0; i--) attributes.push({ name: `a${i}`, value: 'x' })
})
const attributeText = onElement(({ attributes }, random) => {
  const attribute = random.pick(attributes)
  attribute.value = random.weighted([
    [3, () => escaped(random.pick(NAMES))],
    [3, () => numberText(random, attribute.value)],
    [1, () => attribute.value.slice(0, random.below(attribute.value.length + 1))],
    [
      1,
      () =>
        random.pick([
          '&lt;',
          '&#0;',
          '&#x110000;',
          '&#xd800;',
          '&unknown;',
          '&',
          '&#1;',
          '&amp',
          '&#38;#38;',
          '<',
          '"',
          '\t\n'
        ])
    ],
    [0.2, () => 'a'.repeat(100_000)]
  ])()
}, hasAttributes)
const attributeRaw = onElement(({ attributes }, random) => {
  random.pick(attributes).raw = random.pick([
    ' x',
    ' x=',
    ' x=y',
    ' x="',
    ' ="y"',
    " x = 'y'",
    'x="y"',
    ' x="y"z="w"',
    ' x="\0"'
  ])
}, hasAttributes)

const insert = onElement(({ children }, random) => {
  const raw = random.pick([
    'text',
    '<!-- comment -->',
    '<!-- -- -->',
    '<![CDATA[1]]>',
    '<![CDATA[',
    ']]>',
    '&lt;',
    '&x;',
    '<?pi x?>',
    '<?xml version="1.0"?>',
    '\0',
    '\x01',
    '\ufffe',
    '<',
    '>',
    '</x>',
    '<x/>',
    '<!DOCTYPE x [<!ENTITY a "b">]>',
    '&a;',
    '<a:b xmlns:a="x"/>',
    '\r',
    '\ud800',
    '<!ELEMENT x ANY>'
  ])
  children.splice(random.below(children.length + 1), 0, { raw })
})

const text = onElement(
  (found, random) => {
    const child = random.pick(found.children.filter(one => one.text !== undefined))
    child.text = random.chance(0.8) ? numberText(random, child.text) : escaped(random.pick(NAMES))
  },
  ({ children }) => children.some(child => child.text !== undefined)
)

const withText = edit => onBytes((bytes, random) => Buffer.from(edit(bytes.toString(), random)))

const prologue = withText(
  (source, random) =>
    random.pick([
      '<!DOCTYPE net [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">' +
        '<!ENTITY c "&b;&b;&b;&b;&b;&b;">]>',
      '<!DOCTYPE net SYSTEM "file:///etc/passwd">',
      '<?xml version="1.1"?>',
      '<?xml version="1.0" encoding="UTF-16"?>',
      '<?xml version="1.0" encoding="latin1"?>',
      '<?xml version="1.0" standalone="no"?>',
      '\ufeff',
      '\ufeff\ufeff',
      ' \n',
      'text',
      '<!--',
      '<?xml'
    ]) + source
)
const epilogue = withText(
  (source, random) => source + random.pick(['<net/>', 'text', '\0', '<!-- -->', '</net>', source, '&lt;', '<'])
)
const encoding = onBytes((bytes, random) => {
  const source = bytes.toString()
  const utf16 = Buffer.from(source, 'utf16le')
  return random.pick([
    () => utf16,
    () => Buffer.concat([Buffer.from([0xff, 0xfe]), utf16]),
    () => Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(utf16).swap16()]),
    () => Buffer.from(source.replace(/name="/g, 'name="é'), 'latin1'),
    () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])
  ])()
})
const endless = onElement(({ children }, random) =>
  children.push({ raw: random.pick(['<!--', '<x a="', '<![CDATA[', '<']) + 'a'.repeat(random.pick([1000, 200_000])) })
)

/** `[weight, name, edit]` */
export const XML_EDITS = [
  [4, 'drop', drop],
  [4, 'double', double],
  [3, 'move', move],
  [1, 'repeat', repeat],
  [2, 'retag', retag],
  [1, 'mismatch', mismatch],
  [0.5, 'nest', nest],
  [3, 'attribute-drop', attributeDrop],
  [1, 'attribute-double', attributeDouble],
  [1, 'attribute-name', attributeName],
  [0.1, 'attribute-many', attributeMany],
  [6, 'attribute-text', attributeText],
  [1, 'attribute-raw', attributeRaw],
  [2, 'insert', insert],
  [4, 'text', text],
  [1, 'cut', cut],
  [2, 'flip', flip],
  [1, 'remove', remove],
  [1, 'prologue', prologue],
  [1, 'epilogue', epilogue],
  [1, 'encoding', encoding],
  [0.1, 'endless', endless]
]

const references = value =>
  [...value].map(character => ('&<>"'.includes(character) ? character : `&#${character.codePointAt(0)};`)).join('')

/** Edits that change nothing of what a file means. */
export const NEUTRAL_EDITS = [
  [
    1,
    'comment',
    onElement(
      ({ children }, random) =>
        children.splice(random.below(children.length + 1), 0, {
          raw: random.pick(['<!-- <x a="&b;"> -->', '<?pi?>', '\n\t '])
        }),
      ({ tag }) => tag !== 'dim'
    )
  ],
  [
    1,
    'shuffle-attributes',
    mutant => {
      for (const found of elementsIn(mutant.root)) found.attributes.reverse()
    }
  ],
  [
    1,
    'references',
    onElement(({ attributes }, random) => {
      const attribute = random.pick(attributes)
      if (!attribute.value.includes('&')) attribute.value = references(attribute.value)
    }, hasAttributes)
  ],
  [
    1,
    'quotes',
    onElement(({ attributes }) => {
      for (const attribute of attributes)
        if (!attribute.value.includes("'")) attribute.raw = `\n${attribute.name} = '${attribute.value}'`
    }, hasAttributes)
  ],
  [1, 'mark', onBytes(bytes => (bytes[0] === 0xef ? bytes : Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes])))],
  [
    1,
    'edge-order',
    onElement(
      ({ children }) => children.reverse(),
      ({ tag }) => tag === 'edges'
    )
  ],
  [
    1,
    'rt-info',
    onElement(
      ({ children }, random) =>
        children.push(
          element('rt_info', {}, [
            element('attribute', { name: 'x', version: '0', value: String(random.pick(EXTREMES)) })
          ])
        ),
      ({ tag }) => tag === 'layer'
    )
  ],
  [
    1,
    'blanks',
    onElement(
      ({ children }) => {
        for (const child of children) if (child.text !== undefined) child.text = `\n ${child.text}\t`
      },
      ({ tag }) => tag === 'dim'
    )
  ]
]
