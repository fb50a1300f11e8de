import { describe, expect, test } from 'vitest'
import type { Attribute } from '../../src/graph/graph.ts'
import { limitsFrom } from '../../src/graph/limits.ts'
import { block, failure, loadBytes, loadGraph, modelAround, tag, utf8, varint } from './encode.ts'

const COUNT = 3000
const texts = Array.from({ length: COUNT }, (_, i) => (i % 3 === 0 ? 'LEAF' : `MODE${i % 7}`))
const integers = Array.from({ length: COUNT }, (_, i) => (i % 2 === 0 ? i * 1000 : -i))
const attributeOf = (attribute: object): Attribute | undefined => {
  const { nodes, findings } = loadGraph({
    node: [{ opType: 'X', name: 'n', attribute: [{ name: 'a', ...attribute }] }]
  })
  expect(findings).toEqual([])
  return nodes[0].attributes.get('a')
}
/** The attribute `a` of one node, made of bytes. */
const attributeOfBytes = (...fields: number[][]): Attribute | undefined => {
  const attribute = [...block(1, [97]), ...fields.flat()]
  const bytes = Uint8Array.from(modelAround(block(1, [...block(4, [88]), ...block(5, attribute)])))
  return loadBytes(bytes).graph.nodes[0].attributes.get('a')
}
/** Entries of `ints` with a tag each, and packed. */
const tagged = (...values: number[]): number[] => values.flatMap(value => [...tag(8, 0), ...varint(value)])
const packed = (...values: (number | bigint)[]): number[] => block(8, values.flatMap(varint))
const up = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i)

describe('long lists of attributes are read where somebody asks for them', () => {
  test.each([
    ['ints', { type: 7, ints: integers }, integers.map(BigInt)],
    ['floats', { type: 6, floats: integers.map(value => value / 8) }, integers.map(value => value / 8)],
    ['strings', { type: 8, strings: texts.map(utf8) }, texts]
  ])('%s', (_, attribute, expected) => {
    expect(attributeOf(attribute)?.value).toEqual(expected)
  })

  test('integers also as numbers', () => {
    expect(attributeOf({ type: 7, ints: integers })).toMatchObject({ numbers: integers })
  })

  test('integers beyond 2^53 as numbers are the last safe ones', () => {
    const [large, low] = [2n ** 62n + 1n, 2n ** 64n - 2n ** 62n]
    const bytes = packed(...up(0, COUNT), large, low, 2n ** 53n, 2n ** 64n - 1n)
    const { MAX_SAFE_INTEGER: most, MIN_SAFE_INTEGER: least } = Number
    expect(attributeOfBytes(bytes)).toMatchObject({ numbers: [...up(0, COUNT), most, least, most, -1] })
  })

  test.each([
    ['packed', [packed(...up(0, COUNT))], up(0, COUNT)],
    ['in several packed parts', [packed(...up(0, 1500)), packed(...up(1500, COUNT))], up(0, COUNT)],
    ['first long, then short', [packed(...up(0, 2000)), tagged(7, 8)], [...up(0, 2000), 7, 8]],
    ['first short, then long', [tagged(7, 8), packed(...up(0, 2000))], [7, 8, ...up(0, 2000)]],
    ['with another field between', [tagged(...up(0, 1000)), block(1, [97]), tagged(...up(1000, 1003))], up(0, 1003)]
  ])('and in the order of the file: %s', (_, fields, expected) => {
    expect(attributeOfBytes(...fields)?.value).toEqual(expected.map(BigInt))
  })

  test.each([
    ['an integer that is cut off', block(8, new Array<number>(2000).fill(128)), 'more than 64 bits'],
    ['a last integer that is cut off', block(8, [...new Array<number>(2000).fill(1), 128]), 'ends within an entry'],
    ['a number that is cut off', block(7, new Array<number>(2001).fill(1)), 'ends within an entry']
  ])('%s is refused when the file is loaded', (_, field, message) => {
    const error = failure(() => attributeOfBytes(field))
    expect(error).toMatchObject({ code: 'invalid-file' })
    expect(error.message).toContain(message)
  })

  test('an attribute whose type names another field has no entries of it', () => {
    const graph = loadGraph({ node: [{ opType: 'X', attribute: [{ name: 'a', type: 6, ints: integers }] }] })
    expect(graph.findings).toMatchObject([{ code: 'invalid-attribute' }])
    expect(graph.nodes[0].attributes.get('a')).toMatchObject({ kind: 'ints' })
  })
})

test('a tree ensemble of 10,000 nodes is no more than its file justifies', () => {
  const nodes = up(0, 10_000)
  const lists = Object.entries({
    nodes_treeids: nodes.map(() => 0),
    nodes_nodeids: nodes,
    nodes_featureids: nodes.map(() => 0),
    nodes_truenodeids: nodes,
    nodes_falsenodeids: nodes
  }).map(([name, ints]) => block(5, [...block(1, [...utf8(name)]), ...tagged(...ints), ...tag(20, 0), 7]))
  const names = nodes.flatMap(() => block(9, [...utf8('LEAF')]))
  const modes = block(5, [...block(1, [...utf8('nodes_modes')]), ...names, ...tag(20, 0), 8])
  const op = block(4, [...utf8('TreeEnsembleRegressor')])
  const bytes = Uint8Array.from(modelAround(block(1, [...op, ...lists.flat(), ...modes])))
  const { graph } = loadBytes(bytes, { limits: limitsFrom({ structureBytes: 4 * 2 ** 20 }) })
  const ids = graph.nodes[0].attributes.get('nodes_nodeids')
  expect(ids?.kind === 'ints' && ids.value.length).toBe(10_000)
})
