import { describe, expect, test } from 'vitest'
import { mapFact } from '../../../src/shapes/fact.ts'
import { Tensor, type Value } from '../../../src/tensor/tensor.ts'
import { errorOf, fact, inferOp, type Kind, runOp } from '../harness.ts'

const ZIP: Kind = ['onnx', 'ZipMap', 1, 'ai.onnx.ml']
const attributes = { classlabels_strings: ['no', 'yes'] }
const floats = (values: readonly number[], dims?: readonly number[]): Tensor => new Tensor('float32', values, dims)
const entriesOf = (value: Value): unknown[] =>
  value.type === 'sequence' ? value.values.map(item => (item.type === 'map' ? [...item.entries] : item)) : [value]

describe('ZipMap', () => {
  test('gives a map for each row, from the labels to its elements', () => {
    const [rows] = runOp(ZIP, [floats([0.25, 0.75, NaN, -1], [2, 2])], { attributes })
    expect(entriesOf(rows)).toEqual([
      [
        ['no', 0.25],
        ['yes', 0.75]
      ],
      [
        ['no', NaN],
        ['yes', -1]
      ]
    ])
    expect(rows).toMatchObject({ values: [{ keyType: 'string', valueType: 'float32' }, {}] })
  })

  test('takes a vector for one row, and no rows for no maps', () => {
    const labels = { attributes: { classlabels_int64s: [-1, 2 ** 40] } }
    const [row] = runOp(ZIP, [floats([0.5, 2])], labels)
    expect(entriesOf(row)).toEqual([
      [
        [-1n, 0.5],
        [2n ** 40n, 2]
      ]
    ])
    expect(row).toMatchObject({ values: [{ keyType: 'int64' }] })
    expect(runOp(ZIP, [floats([], [0, 2])], labels)).toEqual([{ type: 'sequence', values: [] }])
  })

  test('keeps the last of equal labels', () => {
    const [rows] = runOp(ZIP, [floats([1, 2, 3], [1, 3])], { attributes: { classlabels_int64s: [7, 8, 7] } })
    expect(entriesOf(rows)).toEqual([
      [
        [7n, 3],
        [8n, 2]
      ]
    ])
  })

  test('is as long as the input has rows, of maps of the type of the labels', () => {
    const element = mapFact('string', 'float32')
    const inferred = (...dims: (number | string)[]): unknown => inferOp(ZIP, [fact('float32', dims)], { attributes })[0]
    expect(inferred(3, 2)).toEqual({ kind: 'sequence', element, length: 3 })
    expect(inferred('n', '?')).toMatchObject({ element, length: { key: 'n' } })
    expect(inferred(2)).toEqual({ kind: 'sequence', element, length: 1 })
    expect(inferOp(ZIP, [fact('float32')], { attributes })).toEqual([{ kind: 'sequence', element }])
  })

  test('refuses other numbers of columns, ranks and types', () => {
    const code = (x: Tensor): string => errorOf(() => runOp(ZIP, [x], { attributes })).code
    expect(code(floats([1, 2, 3], [1, 3]))).toBe('dims-mismatch')
    expect(code(floats([1]))).toBe('dims-mismatch')
    expect(code(floats([1], []))).toBe('rank-mismatch')
    expect(code(floats([1, 2], [1, 1, 2]))).toBe('rank-mismatch')
    expect(code(new Tensor('float64', [1, 2]))).toBe('type-not-allowed')
  })

  test('needs labels of one type', () => {
    const code = (given: object): string =>
      errorOf(() => runOp(ZIP, [floats([1])], { attributes: given as typeof attributes })).code
    expect(code({})).toBe('missing-attribute')
    expect(code({ classlabels_strings: [], classlabels_int64s: [] })).toBe('missing-attribute')
    expect(code({ classlabels_strings: ['a'], classlabels_int64s: [1] })).toBe('unknown-attribute-value')
    const [rows] = runOp(ZIP, [floats([1])], { attributes: { classlabels_strings: ['a'], classlabels_int64s: [] } })
    expect(entriesOf(rows)).toEqual([[['a', 1]]])
  })

  test('makes no more maps than memory holds', () => {
    const many = (...dims: number[]): string =>
      errorOf(() => inferOp(ZIP, [fact('float32', dims)], { attributes })).code
    expect(many(2 ** 21 + 1, 2)).toBe('limit-exceeded')
    const wide = { attributes: { classlabels_int64s: Array.from({ length: 1000 }, (_, i) => i) } }
    expect(errorOf(() => inferOp(ZIP, [fact('float32', [10_000, 1000])], wide)).code).toBe('limit-exceeded')
  })
})
