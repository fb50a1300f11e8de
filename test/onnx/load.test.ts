import { describe, expect, test } from 'vitest'
import { NodewiseError } from '../../src/errors.ts'
import { allGraphs } from '../../src/graph/graph.ts'
import { processorSeconds } from '../processor-time.ts'
import { block, encode, failure, loadBytes, loadModel, modelBytes, tag, tensorInfo, TYPE, utf8 } from './encode.ts'

describe('a model', () => {
  test('tells its versions, its producer and its metadata', () => {
    const model = loadModel({
      irVersion: 8,
      producerName: 'pytorch',
      producerVersion: '2.1',
      metadataProps: [
        { key: 'a', value: 'b' },
        { key: '__proto__', value: 'c' }
      ]
    })
    expect(model).toMatchObject({
      dialect: 'onnx',
      file: 'model.onnx',
      irVersion: 8,
      producer: 'pytorch 2.1',
      notes: []
    })
    expect([...model.metadata]).toEqual([
      ['a', 'b'],
      ['__proto__', 'c']
    ])
    const place = { value: 'x' }
    expect(model.locate(place)).toBe(place)
  })

  test('counts its weights: initializers and Constant nodes, in bodies and functions too', () => {
    const floats = (n: number): object => ({
      name: `w${n}`,
      dims: [n],
      dataType: TYPE.FLOAT,
      rawData: new Uint8Array(4 * n)
    })
    const constant = (n: number): object => ({
      opType: 'Constant',
      output: [`c${n}`],
      attribute: [{ name: 'value', type: 4, t: floats(n) }]
    })
    const model = loadModel({
      graph: {
        initializer: [floats(1)],
        node: [
          constant(10),
          { opType: 'If', attribute: [{ name: 'b', type: 5, g: { initializer: [floats(100)] } }] },
          { opType: 'ConstantOfShape', attribute: [{ name: 'value', type: 4, t: floats(5) }] }
        ]
      },
      functions: [{ name: 'f', domain: 'd', node: [constant(1000)] }]
    })
    expect(model).toMatchObject({ parameters: 1111, weightBytes: 4444 })
  })

  test.each([3, 14])('of IR version %d is read', irVersion => {
    expect(loadModel({ irVersion }).irVersion).toBe(irVersion)
  })

  test.each([0, 2, 15, -1])('of IR version %d is not supported', irVersion => {
    expect(failure(() => loadModel({ irVersion }))).toMatchObject({
      code: 'unsupported-version',
      reason: `it has IR version ${irVersion}; versions 3 to 14 are supported`,
      place: { file: 'model.onnx' }
    })
  })

  test('says what it ignores', () => {
    const { notes } = loadBytes(
      Uint8Array.from([
        ...modelBytes({
          trainingInfo: [{}, {}],
          docString: 'text',
          graph: { quantizationAnnotation: [{ tensorName: 'x' }], docString: 'text' }
        }),
        ...block(26, []),
        ...block(99, [1])
      ])
    )
    expect([...notes].sort()).toEqual([
      'a field of ModelProto is not known and ignored',
      'configurations of devices are ignored',
      'information on training is ignored (2 times)',
      'quantization annotations are ignored'
    ])
  })

  test('that sets its graph in two parts has both, as protobuf wants it', () => {
    const bytes = [
      ...modelBytes({ graph: { name: 'g', input: [tensorInfo('a')] } }),
      ...block(7, encode('GraphProto', { input: [tensorInfo('b')] }))
    ]
    expect(loadBytes(Uint8Array.from(bytes)).graph.inputs.map(({ name }) => name)).toEqual(['a', 'b'])
  })
})

describe('what is no model', () => {
  test.each([
    ['an empty file', []],
    ['text', utf8('hello world, this is no model')],
    ['XML', utf8('<?xml version="1.0"?><net/>')],
    ['a zip archive', [0x50, 0x4b, 3, 4, 20, 0, 0, 0, 8, 0]],
    ['JSON', utf8('{"a": 1}')],
    ['a tensor', encode('TensorProto', { dims: [2], dataType: 1, floatData: [1, 2], name: 'x' })],
    ['zeros', new Uint8Array(100)],
    ['a model without a version', block(7, [])],
    ['a model without a graph', [...tag(1, 0), 8]]
  ])('%s is an invalid file', (_, bytes) => {
    expect(failure(() => loadBytes(Uint8Array.from(bytes)))).toMatchObject({
      code: 'invalid-file',
      place: { file: 'model.onnx' }
    })
  })
})

test('damaged files fail with an error of this package or load, quickly', async () => {
  const t = { name: 'w', dims: [3], dataType: TYPE.INT64, int64Data: [1, 2, 300] }
  const body = {
    name: 'b',
    node: [{ opType: 'Neg', input: ['x'], output: ['z'] }],
    output: [tensorInfo('z', TYPE.FLOAT, [2, 'n'])]
  }
  const bytes = modelBytes({
    graph: {
      name: 'g',
      input: [tensorInfo('x', TYPE.FLOAT, [2])],
      output: [tensorInfo('y')],
      initializer: [t, { ...t, name: 'r', int64Data: [], rawData: new Uint8Array(24) }],
      valueInfo: [tensorInfo('z')],
      sparseInitializer: [
        {
          values: { name: 's', dims: [1], dataType: TYPE.FLOAT, floatData: [1] },
          indices: { dims: [1], dataType: TYPE.INT64, int64Data: [1] },
          dims: [2]
        }
      ],
      node: [
        {
          opType: 'If',
          input: ['x'],
          output: ['y'],
          attribute: [
            { name: 'then_branch', type: 5, g: body },
            { name: 'k', type: 7, ints: [1, 2] },
            { name: 'v', type: 4, t }
          ]
        }
      ]
    },
    functions: [
      {
        name: 'f',
        domain: 'd',
        input: ['a'],
        output: ['b'],
        attribute: ['q'],
        opsetImport: [{ version: 1 }],
        node: [{ opType: 'Neg', input: ['a'], output: ['b'] }]
      }
    ]
  })
  const attempt = (damaged: Uint8Array): void => {
    try {
      for (const graph of allGraphs(loadBytes(damaged)))
        for (const constant of graph.initializers.values()) constant.read()
    } catch (error) {
      if (!(error instanceof NodewiseError) || error.code === 'internal') throw error
    }
  }
  const seconds = await processorSeconds(() => {
    for (let i = 0; i < bytes.length; i++) {
      attempt(bytes.subarray(0, i))
      for (const value of [0, 1, 0x7f, 0x80, 0xff, bytes[i] ^ 1, bytes[i] ^ 8]) {
        const damaged = bytes.slice()
        damaged[i] = value
        attempt(damaged)
      }
    }
  })
  expect(seconds).toBeLessThan(20)
})
