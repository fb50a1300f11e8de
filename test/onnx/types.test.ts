import { describe, expect, test } from 'vitest'
import type { DeclaredType } from '../../src/graph/graph.ts'
import { contradict } from '../../src/onnx/types.ts'
import { loadGraph, tensorInfo, TYPE } from './encode.ts'

const declared = (type: object): DeclaredType | undefined =>
  loadGraph({ input: [{ name: 'x', type }] }).inputs[0].declared
const float = { tensorType: { elemType: TYPE.FLOAT } }

describe('a declared type', () => {
  test('has sizes, names and unknown dims', () => {
    const [input] = loadGraph({ input: [tensorInfo('x', TYPE.INT64, [2, 'batch', null, '', 0])] }).inputs
    expect(input.declared).toEqual({ kind: 'tensor', type: 'int64', dims: [2, 'batch', null, null, 0] })
  })

  test('has unknown dims where an exporter names them "?", which may be of different sizes', () => {
    const [input] = loadGraph({ input: [tensorInfo('x', TYPE.FLOAT, ['?', 3, '?', '?'])] }).inputs
    expect(input.declared).toEqual({ kind: 'tensor', type: 'float32', dims: [null, 3, null, null] })
  })

  test('tells a scalar from an unknown rank and an unknown type', () => {
    expect(declared({ tensorType: { elemType: TYPE.FLOAT, shape: {} } })).toEqual({
      kind: 'tensor',
      type: 'float32',
      dims: []
    })
    expect(declared(float)).toEqual({ kind: 'tensor', type: 'float32' })
    expect(declared({ tensorType: {} })).toEqual({ kind: 'tensor' })
    expect(declared({})).toBeUndefined()
  })

  test.each([
    [{ sequenceType: { elemType: float } }, { kind: 'sequence', element: { kind: 'tensor', type: 'float32' } }],
    [
      { optionalType: { elemType: { sequenceType: {} } } },
      { kind: 'optional', element: { kind: 'sequence', element: { kind: 'tensor' } } }
    ],
    [{ mapType: { keyType: TYPE.STRING, valueType: float } }, { kind: 'map', keyType: 'string', valueType: 'float32' }],
    [
      { sequenceType: { elemType: { mapType: { keyType: TYPE.INT64, valueType: { tensorType: {} } } } } },
      { kind: 'sequence', element: { kind: 'map', keyType: 'int64' } }
    ],
    [{ mapType: { keyType: TYPE.INT32, valueType: float } }, { kind: 'other', text: 'map(int32, tensor(float32))' }],
    [
      { mapType: { keyType: TYPE.INT64, valueType: { mapType: { keyType: TYPE.STRING, valueType: float } } } },
      { kind: 'other', text: 'map(int64, map(string,float32))' }
    ],
    [
      { sparseTensorType: { elemType: TYPE.FLOAT, shape: { dim: [{ dimValue: 3 }, {}] } } },
      { kind: 'other', text: 'sparse_tensor(float32)[3, ?]' }
    ]
  ])('of %j is kept', (type, expected) => {
    expect(declared(type)).toEqual(expected)
  })

  test('with an element type that is not known is a finding', () => {
    const { findings, inputs } = loadGraph({ input: [tensorInfo('x', 99, [1])] })
    expect(findings).toMatchObject([{ code: 'unknown-type', severity: 'error', onlyIfNeeded: { value: 'x' } }])
    expect(inputs[0].declared).toEqual({ kind: 'tensor', dims: [1] })
  })

  test('with a negative dim is a finding that stops no run; -1, which old exporters write, a warning', () => {
    const { findings, inputs } = loadGraph({
      input: [tensorInfo('x', TYPE.FLOAT, [-3]), tensorInfo('y', TYPE.FLOAT, [-1])]
    })
    expect(findings).toMatchObject([
      { code: 'invalid-dim', severity: 'error', onlyIfNeeded: {}, place: { value: 'x' } },
      { code: 'invalid-dim', severity: 'warning', onlyIfNeeded: {}, place: { value: 'y' } }
    ])
    expect(inputs.map(input => input.declared)).toEqual([
      { kind: 'tensor', type: 'float32', dims: [null] },
      { kind: 'tensor', type: 'float32', dims: [null] }
    ])
  })
})

describe('two types contradict each other', () => {
  const tensor = (type?: 'float32' | 'int64', dims?: (number | string | null)[]): DeclaredType => ({
    kind: 'tensor',
    ...(type && { type }),
    ...(dims && { dims })
  })

  test.each([
    [tensor('float32'), tensor('int64')],
    [tensor('float32', [1]), tensor('float32', [1, 1])],
    [tensor('float32', [2]), tensor('float32', [3])],
    [tensor('float32'), { kind: 'sequence', element: tensor() } as const],
    [{ kind: 'map', keyType: 'int64' } as const, { kind: 'map', keyType: 'string' } as const],
    [
      { kind: 'map', keyType: 'int64', valueType: 'float32' } as const,
      { kind: 'map', keyType: 'int64', valueType: 'float64' } as const
    ],
    [{ kind: 'sequence', element: tensor('float32') } as const, { kind: 'sequence', element: tensor('int64') } as const]
  ])('%j and %j', (a, b) => {
    expect(contradict(a, b)).toBe(true)
    expect(contradict(b, a)).toBe(true)
  })

  test.each([
    [tensor('float32', ['n', 2]), tensor('float32', [3, null])],
    [tensor('float32'), tensor(undefined, [1])],
    [tensor('float32', []), tensor('float32')],
    [{ kind: 'map', keyType: 'int64' } as const, { kind: 'map', keyType: 'int64', valueType: 'float64' } as const]
  ])('but not %j and %j', (a, b) => {
    expect(contradict(a, b)).toBe(false)
  })
})
