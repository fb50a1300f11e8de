import { describe, expect, test } from 'vitest'
import type { Attribute } from '../../src/graph/graph.ts'
import { codesOf, loadGraph, tensorInfo, TYPE, utf8 } from './encode.ts'

const nodeWith = (...attribute: object[]): ReturnType<typeof loadGraph> =>
  loadGraph({ node: [{ opType: 'X', name: 'n', attribute }] })
const only = (attribute: object): Attribute | undefined => {
  const { nodes, findings } = nodeWith({ name: 'a', ...attribute })
  expect(findings).toEqual([])
  return nodes[0].attributes.get('a')
}
const scalar = { dims: [], dataType: TYPE.FLOAT, floatData: [5] }
const body = { name: 'b', input: [tensorInfo('i')], output: [tensorInfo('i')] }
const type = { tensorType: { elemType: TYPE.INT64, shape: { dim: [{ dimValue: 2 }] } } }

describe('attributes', () => {
  test.each([
    [
      { type: 1, f: 0.5 },
      { kind: 'float', value: 0.5 }
    ],
    [
      { type: 2, i: -7 },
      { kind: 'int', value: -7n }
    ],
    [
      { type: 3, s: utf8('é') },
      { kind: 'string', value: 'é' }
    ],
    [
      { type: 6, floats: [1, 2.5] },
      { kind: 'floats', value: [1, 2.5] }
    ],
    [
      { type: 7, ints: [1, -1] },
      { kind: 'ints', value: [1n, -1n] }
    ],
    [
      { type: 8, strings: [utf8('a'), utf8('')] },
      { kind: 'strings', value: ['a', ''] }
    ],
    [
      { type: 13, tp: type },
      { kind: 'type', value: { kind: 'tensor', type: 'int64', dims: [2] } }
    ],
    [
      { type: 14, typeProtos: [type] },
      { kind: 'types', value: [{ kind: 'tensor', type: 'int64', dims: [2] }] }
    ]
  ])('of %j are read', (fields, expected) => {
    expect(only(fields)).toEqual(expected)
  })

  test('hold tensors as constants', () => {
    const single = only({ type: 4, t: scalar })
    const list = only({ type: 9, tensors: [scalar, scalar] })
    expect(single).toMatchObject({
      kind: 'tensor',
      value: { type: 'float32', dims: [], place: { node: 'n', nodeIndex: 0 } }
    })
    expect(list?.kind === 'tensors' && list.value.map(constant => [...(constant.read().data as Float32Array)])).toEqual(
      [[5], [5]]
    )
  })

  test('hold graphs, each with its path', () => {
    expect(only({ type: 5, g: body })).toMatchObject({ kind: 'graph', value: { name: 'b', path: '0:a' } })
    const list = only({ type: 10, graphs: [body, body] })
    expect(list?.kind === 'graphs' && list.value.map(({ path }) => path)).toEqual(['0:a[0]', '0:a[1]'])
  })

  test('keep the order of the file, and names that objects would not', () => {
    const { nodes } = nodeWith(
      { name: '__proto__', type: 2, i: 1 },
      { name: 'constructor', type: 2, i: 2 },
      { name: 'b', type: 2, i: 3 }
    )
    expect([...nodes[0].attributes.keys()]).toEqual(['__proto__', 'constructor', 'b'])
  })

  test.each([
    [{ f: 2 }, 'float'],
    [{ i: 0 }, 'int'],
    [{ s: utf8('') }, 'string'],
    [{ t: scalar }, 'tensor'],
    [{ g: body }, 'graph'],
    [{ ints: [1] }, 'ints']
  ])('without a type take it from their value: %j', (fields, kind) => {
    expect(only(fields)?.kind).toBe(kind)
  })

  test.each([
    [{ type: 2 }, { kind: 'int', value: 0n }],
    [{ type: 1 }, { kind: 'float', value: 0 }],
    [{ type: 3 }, { kind: 'string', value: '' }],
    [{ type: 7 }, { kind: 'ints', value: [] }],
    [{ type: 8 }, { kind: 'strings', value: [] }]
  ])('without a value are zero or empty: %j', (fields, expected) => {
    expect(only(fields)).toEqual(expected)
  })
})

describe('a finding is', () => {
  test('a type that contradicts the value', () => {
    const { findings, nodes } = nodeWith({ name: 'axis', type: 2, f: 1 })
    expect(findings).toMatchObject([
      {
        code: 'invalid-attribute',
        severity: 'error',
        onlyIfNeeded: { node: 0 },
        place: { node: 'n', nodeIndex: 0, type: 'X' },
        message: 'attribute "axis" is of type INT but its value is in field "f"'
      }
    ])
    expect(nodes[0].attributes.get('axis')).toEqual({ kind: 'float', value: 1 })
  })

  test.each([[{ type: 4 }], [{ type: 5 }], [{ type: 13 }], [{}], [{ f: 1, i: 2 }]])(
    '%j, which has no value or no type',
    fields => {
      expect(codesOf(nodeWith({ name: 'a', ...fields }).findings)).toEqual(['invalid-attribute'])
    }
  )

  test('a second value, a warning', () => {
    expect(nodeWith({ name: 'a', type: 2, i: 1, f: 1 }).findings).toMatchObject([
      { code: 'invalid-attribute', severity: 'warning' }
    ])
  })

  test.each([
    [
      { ints: [1], strings: [utf8('a')], f: 1, i: 2 },
      'has no type and values of several: f, i, ints, strings',
      'float'
    ],
    [{ type: 3, ints: [1], f: 1 }, 'is of type STRING but its value is in field "f"', 'float'],
    [
      { type: 7, ints: [1], sparseTensor: {}, tp: type },
      'of type INTS has other values too: sparse_tensor, tp',
      'ints'
    ],
    // Entries of long lists stay in the file.
    [{ type: 1, f: 1, ints: new Array<number>(2000).fill(1) }, 'of type FLOAT has other values too: ints', 'float'],
    [{ type: 1, ints: new Array<number>(2000).fill(1) }, 'is of type FLOAT but its value is in field "ints"', 'ints']
  ])('values of several fields, which are named in the order of the types: %#', (fields, message, kind) => {
    const { findings, nodes } = nodeWith({ name: 'a', ...fields })
    expect(findings).toMatchObject([{ message: `attribute "a" ${message}` }])
    expect(nodes[0].attributes.get('a')?.kind).toBe(kind)
  })

  test('a name that comes twice; the first stays', () => {
    const { findings, nodes } = nodeWith({ name: 'a', type: 2, i: 1 }, { name: 'a', type: 2, i: 2 })
    expect(codesOf(findings)).toEqual(['duplicate-attribute'])
    expect(nodes[0].attributes.get('a')).toEqual({ kind: 'int', value: 1n })
  })

  test('a reference outside a function', () => {
    const { findings, nodes } = nodeWith({ name: 'a', type: 2, refAttrName: 'b' })
    expect(codesOf(findings)).toEqual(['invalid-attribute'])
    expect(nodes[0].attributes.get('a')).toEqual({ kind: 'reference', value: 'b', of: 'int' })
  })

  test('a tensor of unknown type; the attribute is left out', () => {
    const { findings, nodes } = nodeWith(
      { name: 'a', type: 4, t: { ...scalar, dataType: 99 } },
      { name: 'b', type: 9, tensors: [scalar, { ...scalar, dataType: 99 }] }
    )
    expect(codesOf(findings)).toEqual(['unknown-type', 'unknown-type'])
    expect(nodes[0].attributes.size).toBe(0)
  })

  test('a tensor whose bytes do not fit; it stays, and fails when read', () => {
    const { findings, nodes } = nodeWith({ name: 'a', type: 4, t: { ...scalar, dims: [2] } })
    expect(findings).toMatchObject([
      { code: 'constant-size', onlyIfNeeded: { node: 0 }, message: expect.stringContaining('attribute "a"') as string }
    ])
    expect(nodes[0].attributes.has('a')).toBe(true)
  })
})
