import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { nodewise, nodewiseJson, temporaryFolder } from '../cli/command.ts'
import { encode, tensorInfo, TYPE } from '../onnx/encode.ts'
import { CHAIN, layer, net, RESULT } from '../openvino/ir.ts'
import { type Answer, holdAll, ir, onnx, put } from './hold.ts'
import { encodeModel, functionOf, node } from './models.ts'

const FINE: readonly Answer[] = [
  ['inspect', 0],
  ['check --values', 0],
  ['run --fill zeros', 0]
]
const PROTOTYPE = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'valueOf']

const chain = (first: string, last: string, more: object = {}): Uint8Array =>
  encodeModel([node('Relu', [first], [last], more)], {
    input: [tensorInfo(first, TYPE.FLOAT, [2])],
    output: [tensorInfo(last, TYPE.FLOAT, [2])]
  })

describe("names that JavaScript's objects have", () =>
  holdAll([
    ...PROTOTYPE.map(name =>
      onnx(`${name} as an output`, () => chain('x', name), ...FINE, [
        'run --fill zeros',
        0,
        undefined,
        `"name":"${name}"`
      ])
    ),
    ...PROTOTYPE.map(name =>
      onnx(
        `${name} as an input`,
        () => chain(name, 'y'),
        ...FINE,
        [`run -i ${name}=[1,2]`, 0],
        [`check --input-shape ${name}=2`, 0]
      )
    ),
    onnx(
      'as values between',
      () =>
        encodeModel(
          [
            node('Relu', ['x'], ['__proto__']),
            node('Neg', ['__proto__'], ['constructor']),
            node('Abs', ['constructor'], ['y'])
          ],
          {}
        ),
      ...FINE,
      ['run --fill zeros --fetch __proto__,constructor', 0]
    ),
    onnx(
      'as a constant',
      () =>
        encodeModel([node('Add', ['x', '__proto__'], ['y'])], {
          initializer: [{ name: '__proto__', dims: [2], dataType: TYPE.FLOAT, floatData: [1, 2] }]
        }),
      ...FINE
    ),
    onnx(
      'as an attribute',
      () => encodeModel([node('Relu', ['x'], ['y'], { attribute: [{ name: '__proto__', type: 2, i: 1 }] })]),
      ['check', 1, 'unknown-attribute-value']
    ),
    onnx(
      'as an operator',
      () => encodeModel([node('__proto__', ['x'], ['y'])]),
      ['inspect', 0],
      ['check', 1, 'unknown-op'],
      ['run --fill zeros', 2, 'unsupported-op']
    ),
    onnx(
      'as an operator, another',
      () => encodeModel([node('constructor', ['x'], ['y'])]),
      ['check', 1, 'unknown-op'],
      ['run --fill zeros', 2, 'unsupported-op']
    ),
    onnx(
      'as dims',
      () =>
        encodeModel([node('Relu', ['x'], ['y'])], {
          input: [tensorInfo('x', TYPE.FLOAT, ['__proto__', 'constructor'])],
          output: [tensorInfo('y', TYPE.FLOAT, ['__proto__', 'toString'])]
        }),
      ['inspect', 0],
      ['check --values', 0],
      ['run --fill zeros --shape x=2x3', 0]
    ),
    onnx(
      'as nodes and graphs',
      () => encodeModel([node('Relu', ['x'], ['y'], { name: '__proto__' })], { name: 'constructor' }),
      ...FINE,
      ['inspect --graph dot', 0],
      ['inspect --graph mermaid', 0],
      ['run --fill zeros --trace', 0]
    ),
    onnx(
      'as a domain',
      () =>
        encode('ModelProto', {
          irVersion: 9,
          opsetImport: [
            { domain: '', version: 17 },
            { domain: '__proto__', version: 1 }
          ],
          graph: {
            name: 'g',
            input: [tensorInfo('x', TYPE.FLOAT, [2])],
            output: [tensorInfo('y')],
            node: [node('Relu', ['x'], ['y'], { domain: '__proto__' })]
          }
        }),
      ['inspect', 0, undefined, '__proto__'],
      ['run --fill zeros', 2, 'unsupported-op']
    ),
    onnx(
      'as a function',
      () =>
        encodeModel([node('__proto__', ['x'], ['y'], { domain: 'd' })], {
          functions: [functionOf('__proto__', [node('Neg', ['x'], ['y'])])]
        }),
      ...FINE
    ),
    onnx(
      'as metadata',
      () =>
        encode('ModelProto', {
          irVersion: 9,
          opsetImport: [{ domain: '', version: 17 }],
          metadataProps: [{ key: '__proto__', value: '{"polluted": 1}' }],
          graph: {
            name: 'g',
            input: [tensorInfo('x', TYPE.FLOAT, [2])],
            output: [tensorInfo('y')],
            node: [node('Relu', ['x'], ['y'])]
          }
        }),
      ['inspect', 0, undefined, '"__proto__": ']
    ),
    ir(
      'in an IR, as names and attributes',
      () =>
        net(
          [
            layer(0, 'Parameter', {
              name: '__proto__',
              data: 'shape="2,3" element_type="f32" __proto__="1" constructor="2"',
              out: ['0:FP32[2,3]'],
              names: '__proto__,toString'
            }),
            layer(1, 'ReLU', {
              name: 'constructor',
              in: ['0:FP32[2,3]'],
              out: ['1:FP32[2,3]'],
              names: 'hasOwnProperty'
            }),
            RESULT
          ],
          CHAIN,
          '<rt_info><__proto__ value="1"/><constructor value="2"/></rt_info>'
        ),
      ...FINE
    ),
    ir(
      'in an IR, as a type',
      () =>
        net(
          [
            layer(0, 'Parameter', { name: 'x', data: 'shape="2,3" element_type="f32"', out: ['0:FP32[2,3]'] }),
            layer(1, '__proto__', { in: ['0:FP32[2,3]'], out: ['1:FP32[2,3]'] }),
            RESULT
          ],
          CHAIN
        ),
      ['check', 1, 'unknown-op'],
      ['run --fill zeros', 2, 'unsupported-op']
    ),
    ir(
      'in an IR, as an element type',
      () =>
        net(
          [
            layer(0, 'Parameter', {
              name: 'x',
              data: 'shape="2,3" element_type="constructor"',
              out: ['0:toString[2,3]']
            }),
            layer(1, 'ReLU', { in: ['0:FP32[2,3]'], out: ['1:FP32[2,3]'] }),
            RESULT
          ],
          CHAIN
        ),
      ['check', 1]
    )
  ]))

describe('a name on the way through JSON', () => {
  const top = temporaryFolder()
  test('__proto__ as input and output of a run is a value like any other', async () => {
    const model = put(top, 'proto.onnx', chain('__proto__', 'constructor'))
    const inputs = put(top, 'inputs.json', '{"__proto__": [1, -2]}')
    const { status, json } = await nodewiseJson(['run', model, '--inputs', inputs, '--json'])
    expect([status, json.outputs]).toEqual([0, [{ name: 'constructor', type: 'float32', dims: [2], data: [1, 0] }]])
  })
})

/** What a terminal obeys: colours, a title, a line that goes back, and the other end of a right-to-left word. */
const EVIL = '\x1b[31mred\x1b]0;title\x07\r\b\x9b2J\u202e\u2028'
// eslint-disable-next-line no-control-regex
const OBEYED = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/

describe('control characters in names are escaped wherever they are printed', () => {
  const top = temporaryFolder()
  const model = put(
    top,
    'evil.onnx',
    encodeModel(
      [
        node('Relu', [`x${EVIL}`], [`v${EVIL}`], { name: `n${EVIL}` }),
        node(`Op${EVIL}`, [`v${EVIL}`], [`y${EVIL}`], { name: `m${EVIL}`, domain: `d${EVIL}` })
      ],
      {
        name: `g${EVIL}`,
        input: [tensorInfo(`x${EVIL}`, TYPE.FLOAT, [2, `dim${EVIL}`])],
        output: [tensorInfo(`y${EVIL}`, TYPE.FLOAT, [`odd${EVIL}`])]
      }
    )
  )
  const plain = put(top, 'plain.onnx', chain(`x${EVIL}`, `y${EVIL}`, { name: `n${EVIL}` }))
  test.each([
    ['inspect', model],
    ['inspect --graph dot', model],
    ['inspect --graph mermaid', model],
    ['check', model],
    ['check --values', model],
    ['run', model],
    ['run --fill zeros --shape nothing=2', model],
    ['run --fill zeros', plain],
    ['run --fill zeros --trace', plain],
    ['run --fetch nothing', plain],
    ['run', plain],
    ['check --format html', model],
    ['check --format sarif', model],
    ['check --json', model],
    ['inspect --json', model],
    ['run --json', plain],
    ['run --fill zeros --json', plain]
  ])('%s', async (command, path) => {
    const [verb, ...flags] = command.split(' ')
    const { status, stdout, stderr } = await nodewise([verb, path, ...flags])
    expect(status).not.toBeNull()
    expect(stdout + stderr).not.toBe('')
    expect(OBEYED.exec(stdout + stderr)?.[0]).toBeUndefined()
  })

  test('in the name of the file too', async () => {
    const { stdout, stderr } = await nodewise(['inspect', join(top, `none${EVIL}.onnx`)])
    expect(OBEYED.exec(stdout + stderr)?.[0]).toBeUndefined()
  })
})

describe('markup in names stays text', () => {
  const top = temporaryFolder()
  const markup = '"><script>alert(1)</script><img src=x onerror=alert(1)>&amp;[a](javascript:1){0}'
  const model = put(
    top,
    'markup.onnx',
    encodeModel(
      [
        node('Relu', [`x${markup}`], [`v${markup}`], { name: `n${markup}` }),
        node(`Op${markup}`, [`v${markup}`], [`y${markup}`])
      ],
      {
        name: `g${markup}`,
        input: [tensorInfo(`x${markup}`, TYPE.FLOAT, [2])],
        output: [tensorInfo(`y${markup}`, TYPE.FLOAT, [3])]
      }
    )
  )

  test('in HTML', async () => {
    const { stdout } = await nodewise(['check', model, '--format', 'html', '--values'])
    expect(stdout).toContain('&lt;script&gt;')
    expect(stdout).not.toMatch(/<script>alert|<img/)
  })

  test('in SARIF, which is JSON and whose messages hold no links', async () => {
    const { stdout } = await nodewise(['check', model, '--format', 'sarif'])
    expect(() => {
      JSON.parse(stdout)
    }).not.toThrow()
    expect(stdout).not.toContain('[a](')
  })
})

describe('output files named after values', () => {
  const top = temporaryFolder()
  const NAMES = [
    '../../x',
    '/a/b',
    'Case',
    'case',
    'CASE',
    'CON',
    'nul.txt',
    'n'.repeat(300),
    'a\0b',
    '.',
    '..',
    '.hidden',
    '-rf',
    'a/b',
    'a\\b',
    'a:b',
    '日本',
    '💥',
    '~',
    '$(touch evil)',
    '__proto__',
    'x.npy',
    'end.',
    ' '
  ]
  const model = put(
    top,
    'outputs.onnx',
    encodeModel(
      NAMES.map(name => node('Relu', ['x'], [name])),
      { output: NAMES.map(name => tensorInfo(name)) }
    )
  )

  test.each([
    ['a folder', 'out'],
    ['an archive', 'out.npz']
  ])('%s: each in its place, and apart', async (_, target) => {
    const folder = join(top, `in-${target}`)
    const out = join(folder, 'a', 'b', target)
    spawnSync('mkdir', ['-p', join(folder, 'a', 'b')])
    const { status, json } = await nodewiseJson(['run', model, '--fill', 'zeros', '-o', out, '--json'])
    expect(status).toBe(0)
    const outputs = json.outputs as { name: string; file: string }[]
    expect(outputs.map(({ name }) => name)).toEqual(NAMES)
    const files = outputs.map(({ file }) => file.toLowerCase())
    expect(new Set(files).size).toBe(NAMES.length)
    for (const file of files) expect(file).toMatch(/^[a-z0-9_][a-z0-9._-]{0,150}\.npy$/)
    expect(files.some(file => /^(con|nul)\./.test(file))).toBe(false)
    if (target === 'out')
      expect(
        readdirSync(out)
          .map(name => name.toLowerCase())
          .sort()
      ).toEqual([...files].sort())
    expect(readdirSync(folder)).toEqual(['a'])
    expect(readdirSync(join(folder, 'a'))).toEqual(['b'])
    expect(readdirSync(join(folder, 'a', 'b'))).toEqual([target])
  })
})
