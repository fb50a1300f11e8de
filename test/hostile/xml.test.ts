import { describe } from 'vitest'
import { CHAIN, edge, layer, net, PARAMETER, RELU, RESULT } from '../openvino/ir.ts'
import { type Answer, holdAll, ir } from './hold.ts'

const REFUSED: readonly Answer[] = [
  ['check', 2, 'invalid-file'],
  ['run --fill zeros', 2, 'invalid-file']
]
const FINE: readonly Answer[] = [
  ['check', 0],
  ['run --fill zeros', 0]
]
const good = net([PARAMETER, RELU, RESULT], CHAIN)
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const found = (code: string): Answer[] => [
  ['check', 1, code],
  ['run --fill zeros', 2]
]
const part = (from: string, to: string): string => {
  if (!good.includes(from)) throw new Error(`the model has no ${from}`)
  return good.replace(from, to)
}

describe('XML that is not well-formed is refused', () =>
  holdAll([
    ir('a tag that is closed by another', () => part('</layers>', '</layer>'), ...REFUSED),
    ir('a tag that is not closed', () => good.replace('</net>', ''), ...REFUSED),
    ir('a tag that is closed twice', () => `${good}</net>`, ...REFUSED),
    ir('a file that ends within a tag', () => good.slice(0, 100), ...REFUSED),
    ir('a file that ends within an attribute', () => good.slice(0, good.indexOf('version="') + 9), ...REFUSED),
    ir('an attribute twice', () => part('id="1"', 'id="1" id="1"'), ...REFUSED),
    ir('an attribute without quotes', () => part('id="1"', 'id=1'), ...REFUSED),
    ir('an attribute without a value', () => part('id="1"', 'id'), ...REFUSED),
    ir('attributes without a blank between', () => part('id="1" ', 'id="1"'), ...REFUSED),
    ir('a < in an attribute', () => part('name="x"', 'name="<"'), ...REFUSED),
    ir('two roots', () => good + good, ...REFUSED),
    ir('text before the root', () => `text ${good}`, ['inspect', 2, 'invalid-file']),
    ir('text after the root', () => `${good} text`, ...REFUSED),
    ir('nothing but a comment', () => '<!-- nothing -->', ...REFUSED),
    ir('a comment that is not closed', () => `${good}<!-- `, ...REFUSED),
    ir('a comment with -- within', () => `<!-- a -- b -->${good}`, ...REFUSED),
    ir('CDATA that is not closed', () => part('<layers>', '<layers><![CDATA['), ...REFUSED),
    ir('a declaration that is not at the start', () => `\n<?xml version="1.0"?>${good}`, ...REFUSED),
    ir('a DOCTYPE', () => `<?xml version="1.0"?><!DOCTYPE net SYSTEM "file:///etc/passwd">${good}`, ...REFUSED),
    ir(
      'an external entity',
      () =>
        `<?xml version="1.0"?><!DOCTYPE net [<!ENTITY x SYSTEM "file:///etc/passwd">]>` +
        part('name="x"', 'name="&x;"'),
      ...REFUSED
    ),
    ir(
      'a billion laughs',
      () =>
        [
          '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">',
          ...Array.from({ length: 30 }, (_, i) => `<!ENTITY a${i} "&a${i - 1};&a${i - 1};">`),
          `]>${good}`
        ].join(''),
      ...REFUSED
    ),
    ir('an entity beyond the five', () => part('name="x"', 'name="&nbsp;"'), ...REFUSED),
    ir('an & that is alone', () => part('name="x"', 'name="a & b"'), ...REFUSED),
    ir('a reference to no character', () => part('name="x"', 'name="&#0;"'), ...REFUSED),
    ir('a reference beyond Unicode', () => part('name="x"', 'name="&#x110000;"'), ...REFUSED),
    ir(
      'the five entities and numbers, which are fine',
      () => part('name="x"', 'name="&lt;&gt;&amp;&apos;&quot;&#65;&#x1F600;"'),
      ...FINE
    ),
    ir('a processing instruction, which is passed over', () => `<?php echo 1 ?>${good}`, ...FINE)
  ]))

describe('encodings', () =>
  holdAll([
    ir('UTF-8 with a byte order mark is fine', () => Uint8Array.from([0xef, 0xbb, 0xbf, ...utf8(good)]), ...FINE),
    ir('UTF-8 beyond ASCII is fine', () => part('name="x"', 'name="日本語 😀"'), ...FINE),
    ir(
      'UTF-16 little endian is refused with a word',
      () => Buffer.from(`\ufeff${good}`, 'utf16le'),
      ['check', 2, 'invalid-file', 'UTF-16'],
      ['run', 2, 'invalid-file', 'save the file as UTF-8']
    ),
    ir('UTF-16 big endian is refused with a word', () => Buffer.from(`\ufeff${good}`, 'utf16le').swap16(), [
      'check',
      2,
      'invalid-file',
      'UTF-16'
    ]),
    ir('UTF-16 that is only declared', () => `<?xml version="1.0" encoding="UTF-16"?>${good}`, [
      'check',
      2,
      'invalid-file',
      'utf-16'
    ]),
    ir('UTF-7', () => `<?xml version="1.0" encoding="UTF-7"?>${good}`, ['check', 2, 'invalid-file', 'utf-7']),
    ir('bytes that are no UTF-8', () => Buffer.from(part('name="x"', 'name="\xff"'), 'latin1'), ...REFUSED),
    ir('an overlong character', () => Buffer.from(part('name="x"', 'name="\xc0\xaf"'), 'latin1'), ...REFUSED),
    ir('half a surrogate', () => Buffer.from(part('name="x"', 'name="\xed\xa0\x80"'), 'latin1'), ...REFUSED),
    ir('a NUL in a name', () => part('name="x"', 'name="a\0b"'), ...REFUSED),
    ir('a NUL at the end', () => `${good}\0`, ...REFUSED),
    ir('a control character', () => part('name="x"', 'name="\x1b[31m"'), ...REFUSED),
    ir('a mark in the middle', () => part('<edges>', '\ufeff<edges>'), ['inspect', 0])
  ]))

describe('numbers', () => {
  const numbers: [string, string][] = [
    ['1e400', '1e400'],
    ['0x10', '0x10'],
    ['2.5', '2.5'],
    ['nothing', ''],
    ['blanks', ' '],
    ['+1', '+1'],
    ['-1', '-1'],
    ['1,000', '1,000'],
    ['Infinity', 'Infinity'],
    ['NaN', 'NaN'],
    ['2^53 + 1', '9007199254740993'],
    ['2^64', '18446744073709551616'],
    ['Arabic digits', '١'],
    ['two numbers', '1 2'],
    ['1_000', '1_000'],
    ['a thousand digits', '1'.repeat(1000)]
  ]
  const parameter = (shape: string): string =>
    net(
      [
        layer(0, 'Parameter', { name: 'x', data: `shape="${shape}" element_type="f32"`, out: ['0:FP32[2,3]'] }),
        RELU,
        RESULT
      ],
      CHAIN
    )
  holdAll([
    ...numbers.map(([name, text]) =>
      ir(
        `${name} for a layer's id`,
        () => part('<layer id="1"', `<layer id="${text}"`),
        ['inspect', 0],
        ['check', 1],
        ['run --fill zeros', 2]
      )
    ),
    ...numbers
      .filter(([, text]) => text !== '-1')
      .map(([name, text]) =>
        ir(`${name} for a port's dim`, () => part('<dim>2</dim>', `<dim>${text}</dim>`), ['check', 1])
      ),
    ...numbers
      .filter(([, text]) => !['', ' ', '-1', '1,000'].includes(text))
      .map(([name, text]) =>
        ir(`${name} in a Parameter's shape`, () => parameter(`${text},3`), ['check', 1], ['run --fill zeros', 2])
      ),
    ...['1e400', '0x10', '2.5', '', '-1', '99999999999999999999'].map(text =>
      ir(`"${text}" for a Const's offset`, () => constant(`offset="${text}"`), ['check', 1, 'bad-number'], ['run', 2])
    ),
    ...['abc', '', '2.5', '0x10', '1e400', '99999999999999999999', '2,'].map(text =>
      ir(
        `"${text}" for an integer attribute`,
        () => gather(`batch_dims="${text}"`),
        ['check', 1],
        ['run --fill zeros', 2]
      )
    ),
    ...['abc', '', '0x10', '1,5', '--1'].map(text =>
      ir(`"${text}" for a number attribute`, () => swish(`alpha="${text}"`), ['check', 1], ['run --fill zeros', 2])
    ),
    ir(
      'blanks around numbers are fine',
      () => part('<layer id="1"', '<layer id=" 1\n"').replace('<dim>2</dim>', '<dim> 2 </dim>'),
      ...FINE
    ),
    ir('blanks around attributes are fine', () => gather('batch_dims=" 0 "'), ...FINE),
    ir('the version of the net', () => part('version="11"', 'version="0x0b"'), ['check', 2, 'unsupported-version']),
    ir('no version of the net', () => part(' version="11"', ''), ['check', 2, 'unsupported-version'])
  ])
})

const constant = (data: string): string =>
  net(
    [
      layer(0, 'Const', { data: `element_type="f32" shape="2" size="8" ${data}`, out: ['0:FP32[2]'] }),
      layer(1, 'Result', { in: ['0:FP32[2]'] })
    ],
    ['0:0>1:0']
  )
const gather = (data: string): string =>
  net(
    [
      PARAMETER,
      layer(3, 'Parameter', { name: 'i', data: 'shape="1" element_type="i64"', out: ['0:I64[1]'] }),
      layer(4, 'Parameter', { name: 'a', data: 'shape="" element_type="i64"', out: ['0:I64'] }),
      layer(1, 'Gather', { version: 'opset8', data, in: ['0:FP32[2,3]', '1:I64[1]', '2:I64'], out: ['3:FP32'] }),
      layer(2, 'Result', { in: ['0:FP32'] })
    ],
    ['0:0>1:0', '3:0>1:1', '4:0>1:2', '1:3>2:0']
  )
const swish = (data: string): string =>
  net([PARAMETER, layer(1, 'Elu', { data, in: ['0:FP32[2,3]'], out: ['1:FP32[2,3]'] }), RESULT], CHAIN)

describe('ids, edges and layers', () =>
  holdAll([
    ir('an id that is missing', () => part('<layer id="1" ', '<layer '), ...found('missing-attribute')),
    ir('an id twice', () => part('<layer id="1" ', '<layer id="0" '), ...found('duplicate-id')),
    ir('a port id that is missing', () => part('<port id="1" ', '<port '), ['check', 1], ['run --fill zeros', 2]),
    ir(
      'a port id twice',
      () =>
        net([PARAMETER, layer(1, 'Add', { in: ['0:FP32[2,3]', '0:FP32[2,3]'], out: ['1:FP32[2,3]'] }), RESULT], CHAIN),
      ...found('duplicate-port')
    ),
    ir('an edge from nowhere', () => net([PARAMETER, RELU, RESULT], ['7:0>1:0', '1:1>2:0']), ...found('unknown-layer')),
    ir('an edge to no port', () => net([PARAMETER, RELU, RESULT], ['0:0>1:9', '1:1>2:0']), ...found('unknown-port')),
    ir(
      'two edges to one port',
      () => net([PARAMETER, RELU, RESULT], [...CHAIN, '0:0>1:0']),
      ...found('duplicate-edge')
    ),
    ir('an edge without its ids', () => part(edge('0:0>1:0'), '<edge/>'), ['check', 1], ['run --fill zeros', 2]),
    ir('no edges', () => net([PARAMETER, RELU, RESULT]), ...found('missing-edge')),
    ir(
      'a cycle',
      () =>
        net(
          [RELU, layer(3, 'Abs', { in: ['0:FP32[2,3]'], out: ['1:FP32[2,3]'] }), RESULT],
          ['1:1>3:0', '3:1>1:0', '3:1>2:0']
        ),
      ...found('cycle')
    ),
    ir(
      'layers of a type that there is not',
      () => part('type="ReLU"', 'type="Evil"'),
      ['check', 1, 'unknown-op'],
      ['run --fill zeros', 2, 'unsupported-op']
    ),
    ir(
      'layers of an opset that there is not',
      () => part('type="ReLU" version="opset1"', 'type="ReLU" version="opset99999999999"'),
      ['inspect', 0],
      ['run --fill zeros', 2, 'unsupported-op']
    ),
    ir(
      'an element type that there is not',
      () => part('element_type="f32"', 'element_type="f99"'),
      ['check', 1],
      ['run --fill zeros', 2]
    ),
    ir(
      'a body without layers',
      () =>
        net(
          [
            PARAMETER,
            layer(1, 'TensorIterator', { in: ['0:FP32[2,3]'], out: ['1:FP32[2,3]'], more: '<body/>' }),
            RESULT
          ],
          CHAIN
        ),
      ['check', 1],
      ['run --fill zeros', 2]
    ),
    ir(
      'a port map to nowhere',
      () =>
        net(
          [
            PARAMETER,
            layer(1, 'TensorIterator', {
              in: ['0:FP32[2,3]'],
              out: ['1:FP32[2,3]'],
              more:
                '<port_map><input external_port_id="7" internal_layer_id="9"/></port_map>' +
                '<body><layers/><edges/></body>'
            }),
            RESULT
          ],
          CHAIN
        ),
      ['check', 1],
      ['run --fill zeros', 2]
    ),
    ir('nothing but a net', () => '<net version="11"/>', ['check', 0]),
    ir('another root', () => '<html><body/></html>', ['check', 2, 'invalid-file'])
  ]))

const nested = (depth: number): string =>
  good.replace('<layers>', `<rt_info>${'<a>'.repeat(depth)}${'</a>'.repeat(depth)}</rt_info><layers>`)
const nestedBodies = (depth: number): string => {
  let layers = ''
  for (let i = 0; i < depth; i++)
    layers = layer(0, 'TensorIterator', { more: `<body><layers>${layers}</layers><edges/></body>` })
  return net([layers])
}
const MB = 2 ** 20

describe('size and depth', () =>
  holdAll([
    ir('elements 100 deep are fine', () => nested(98), ['check', 0]),
    ir(
      'elements 101 deep are too much',
      () => nested(99),
      ['inspect', 2, 'limit-exceeded'],
      ['check', 2, 'limit-exceeded', 'limit xmlDepth'],
      ['check --limit xmlDepth=101', 0]
    ),
    ir(
      'bodies 40 deep',
      () => nestedBodies(40),
      ['check', 2, 'limit-exceeded', 'limit xmlDepth'],
      ['check --limit xmlDepth=400', 2, 'limit-exceeded', 'limit graphDepth']
    ),
    ir('elements 1,000,000 deep', () => '<a>'.repeat(1_000_000), ['check', 2, 'limit-exceeded']),
    ir('an attribute of 30 MB', () => part('name="x"', `name="${'n'.repeat(30 * MB)}"`), ['inspect', 0]),
    ir('a tag of 30 MB', () => part('<layers>', `<${'n'.repeat(30 * MB)}/><layers>`), ['inspect', 0]),
    ir('a text of 20 MB in pieces', () => part('<dim>2</dim>', `<dim>${'<!-- -->1'.repeat(2 * MB)}</dim>`), [
      'inspect',
      0
    ]),
    ir(
      '100,000 attributes in one tag',
      () => part('<data ', `<data ${Array.from({ length: 100_000 }, (_, i) => `a${i}=""`).join(' ')} `),
      ['inspect', 0]
    ),
    ir('a million elements', () => part('<layers>', `<rt_info>${'<a/>'.repeat(1_000_000)}</rt_info><layers>`), [
      'inspect',
      0
    ]),
    ir('five million elements', () => part('<layers>', `<rt_info>${'<a/>'.repeat(5_000_000)}</rt_info><layers>`), [
      'inspect',
      2,
      'limit-exceeded'
    ]),
    ir(
      '100,000 layers without anything',
      () => `<net version="11"><layers>${'<layer/>'.repeat(100_000)}</layers><edges/></net>`,
      ['check', 2, 'limit-exceeded']
    ),
    ir(
      '20,000 ports with one id',
      () => net([layer(0, 'Parameter', { out: Array.from({ length: 20_000 }, () => '0:FP32') })]),
      ['check', 1]
    ),
    ir('20,000 layers with one id', () => net(Array.from({ length: 20_000 }, () => PARAMETER)), ['check', 1]),
    ir(
      '20,000 edges to one port',
      () =>
        net(
          [PARAMETER, RELU, RESULT],
          Array.from({ length: 20_000 }, () => '0:0>1:0')
        ),
      ['check', 1]
    ),
    ir('a shape of 100,000 dims', () => part('shape="2,3"', `shape="${'1,'.repeat(99_999)}1"`), ['inspect', 0]),
    ir('a name of 1 MB', () => part('name="x"', `name="${'n'.repeat(MB)}"`), ['check', 0], ['run --fill zeros', 0])
  ]))
