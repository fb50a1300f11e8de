import { describe, expect, test } from 'vitest'
import { bodiesOf } from '../../src/graph/graph.ts'
import { block, codesOf, loadBytes, loadModel, modelBytes, tensorInfo, TYPE, utf8 } from './encode.ts'

const opsetImport = [
  { domain: '', version: 18 },
  { domain: 'd', version: 1 }
]
const calls = (...types: string[]): object[] =>
  types.map((opType, i) => ({ opType, domain: 'd', input: ['x'], output: [`v${i}`] }))
const fn = (name: string, more: object = {}): object => ({
  name,
  domain: 'd',
  input: ['x'],
  output: ['y'],
  opsetImport,
  node: [{ opType: 'Neg', input: ['x'], output: ['y'] }],
  ...more
})

describe('a model-local function', () => {
  test('is kept with its own operator sets, and its calls stay calls', () => {
    const model = loadModel({
      opsetImport: [
        { domain: '', version: 17 },
        { domain: 'd', version: 1 }
      ],
      graph: { input: [tensorInfo('x')], node: calls('f') },
      functions: [
        fn('f', {
          attribute: ['alpha'],
          node: [
            {
              opType: 'LeakyRelu',
              input: ['x'],
              output: ['y'],
              attribute: [{ name: 'alpha', type: 1, refAttrName: 'alpha' }]
            }
          ]
        })
      ]
    })
    expect(model.graph.nodes[0]).toMatchObject({ domain: 'd', type: 'f', version: '1' })
    const found = model.functions.get('d::f::')!
    expect(found).toMatchObject({
      domain: 'd',
      name: 'f',
      overload: '',
      attributes: ['alpha'],
      graph: { name: 'f', path: 'function:d::f' }
    })
    expect([...found.opsets]).toEqual([
      ['ai.onnx', 18],
      ['d', 1]
    ])
    expect(found.graph.inputs.map(({ name }) => name)).toEqual(['x'])
    expect(found.graph.nodes[0]).toMatchObject({ version: '18', place: { graphPath: 'function:d::f', nodeIndex: 0 } })
    expect(found.graph.nodes[0].attributes.get('alpha')).toEqual({ kind: 'reference', value: 'alpha', of: 'float' })
    expect([...model.graph.findings, ...found.graph.findings]).toEqual([])
  })

  test('has bodies below its own path', () => {
    const body = {
      name: 'b',
      node: [{ opType: 'Neg', input: ['x'], output: ['z'], attribute: [{ name: 'p', type: 2, refAttrName: 'q' }] }]
    }
    const { functions } = loadModel({
      functions: [
        fn('f', {
          node: [{ opType: 'If', input: ['x'], output: ['y'], attribute: [{ name: 'then_branch', type: 5, g: body }] }]
        })
      ]
    })
    const [node] = functions.get('d::f::')!.graph.nodes
    expect(node.captures).toEqual(['x'])
    expect(bodiesOf(node)[0].graph).toMatchObject({ path: 'function:d::f/0:then_branch', findings: [] })
  })

  // Fields that the encoder of the tests, of an older ONNX, does not know: attribute_proto 11, value_info 12, overload
  // 13.
  test('has defaults, declared types and an overload', () => {
    const attribute = [...block(1, utf8('k')), 0x18, 5, 0xa0, 0x01, 2]
    const info = [...block(1, utf8('y')), ...block(2, block(1, [0x08, TYPE.FLOAT]))]
    const bytes = [
      ...block(1, utf8('f')),
      ...block(10, utf8('d')),
      ...block(5, utf8('y')),
      ...block(6, utf8('must')),
      ...block(11, attribute),
      ...block(12, info),
      ...block(13, utf8('o')),
      ...block(9, [0x10, 18]),
      ...block(7, block(2, utf8('y')))
    ]
    const { functions } = loadBytes(Uint8Array.from([...modelBytes({}), ...block(25, bytes)]))
    const found = functions.get('d::f::o')!
    expect(found).toMatchObject({ overload: 'o', attributes: ['must', 'k'], graph: { path: 'function:d::f::o' } })
    expect([...found.defaults]).toEqual([['k', { kind: 'int', value: 5n }]])
    expect(found.graph.values.get('y')?.declared).toEqual({ kind: 'tensor', type: 'float32' })
  })

  test('sees nothing of the model around it', () => {
    const { functions } = loadModel({
      graph: { input: [tensorInfo('outside')] },
      functions: [fn('f', { node: [{ opType: 'Neg', input: ['outside'], output: ['y'] }] })]
    })
    expect(codesOf(functions.get('d::f::')!.graph.findings)).toEqual(['missing-producer'])
  })

  test('without operator sets is a finding', () => {
    expect(
      codesOf(loadModel({ functions: [fn('f', { opsetImport: [] })] }).functions.get('d::f::')!.graph.findings)
    ).toEqual(['missing-opset'])
  })

  test('that is defined twice is a finding; the first stays', () => {
    const model = loadModel({ functions: [fn('f'), fn('f', { input: [] })] })
    expect(model.graph.findings).toMatchObject([{ code: 'duplicate-function', place: { graphPath: 'function:d::f' } }])
    expect(model.functions.get('d::f::')!.graph.inputs).toHaveLength(1)
  })

  test('that calls itself through another is a finding', () => {
    const model = loadModel({ functions: [fn('f', { node: calls('g') }), fn('g', { node: calls('f') })] })
    expect(model.graph.findings).toMatchObject([{ code: 'cycle', message: 'function "f" calls "g" calls "f"' }])
  })

  test('is told from one of the same name in another domain', () => {
    const model = loadModel({ functions: [fn('f'), fn('f', { domain: 'e' }), fn('f', { domain: '' })] })
    expect([...model.functions.keys()]).toEqual(['d::f::', 'e::f::', 'ai.onnx::f::'])
  })
})
