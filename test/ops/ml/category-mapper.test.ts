import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'

const MAP: Kind = ['onnx', 'CategoryMapper', 1, 'ai.onnx.ml']
const pets = { cats_strings: ['cat', 'dog', ''], cats_int64s: [7, -1, 2 ** 40] }
type Attributes = Record<string, number | string | number[] | string[]>
const mapped = (x: Tensor, attributes: Attributes = pets): Tensor => runTensor(MAP, [x], { attributes })
const strings = (...values: string[]): Tensor => new Tensor('string', values)
const integers = (...values: (number | bigint)[]): Tensor => new Tensor('int64', values)

describe('CategoryMapper', () => {
  test('goes from strings to integers and back, of any rank', () => {
    expect(mapped(new Tensor('string', ['dog', '', 'cow', 'cat'], [1, 2, 2]))).toEqual(
      new Tensor('int64', [-1n, 2n ** 40n, -1n, 7n], [1, 2, 2])
    )
    expect(mapped(integers(7, 2n ** 40n, 3)).data).toEqual(['cat', '', '_Unused'])
    expect(mapped(new Tensor('string', ['dog'], [])).dims).toEqual([])
    expect(mapped(new Tensor('int64', [], [0, 3])).dims).toEqual([0, 3])
  })

  test('has defaults for what is not listed; the type of the input decides the direction', () => {
    const both = { ...pets, default_int64: 99, default_string: '?' }
    expect(mapped(strings('cow'), both).data).toEqual(new BigInt64Array([99n]))
    expect(mapped(integers(0), both).data).toEqual(['?'])
  })

  // What ONNX Runtime 1.32 gives.
  test('takes the last of equal entries', () => {
    expect(mapped(strings('a', 'b'), { cats_strings: ['a', 'b', 'a'], cats_int64s: [1, 2, 3] }).data).toEqual(
      new BigInt64Array([3n, 2n])
    )
    expect(mapped(integers(1, 2), { cats_strings: ['a', 'b', 'c'], cats_int64s: [1, 2, 1] }).data).toEqual(['c', 'b'])
  })

  test('needs two lists of one length', () => {
    expect(errorOf(() => mapped(strings('a'), {})).code).toBe('missing-attribute')
    expect(errorOf(() => mapped(strings('a'), { cats_strings: ['a'] })).code).toBe('missing-attribute')
    expect(errorOf(() => mapped(strings('a'), { cats_strings: ['a'], cats_int64s: [] })).code).toBe(
      'unknown-attribute-value'
    )
    expect(errorOf(() => mapped(new Tensor('int32', [1]))).code).toBe('type-not-allowed')
  })

  test('keeps the dims, and has the other type', () => {
    const [to] = inferOp(MAP, [fact('string', ['n', 2])], { attributes: pets })
    expect([dimsOf(to), to]).toMatchObject([['n', 2], { type: 'int64' }])
    expect(inferOp(MAP, [fact('int64')], { attributes: pets })[0]).toEqual(fact('string'))
    expect(inferOp(MAP, [fact(undefined)], { attributes: pets })[0]).toEqual(fact(undefined))
  })
})
