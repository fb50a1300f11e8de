import { describe, expect, test } from 'vitest'
import { int64s, type ModelParts, node, port } from '../fixtures/onnx.ts'
import { differenceBetween, opsOf, planOf } from './plan.ts'

type Shape = readonly (number | string)[]

const model = (a: Shape, b: Shape, axes: readonly number[], keepdims = 0): ModelParts => ({
  inputs: [port('a', 'float', [...a]), port('b', 'float', [...b])],
  outputs: [port('y', 'float')],
  initializers: [int64s('axes', [axes.length], axes)],
  nodes: [node('Mul', ['a', 'b'], ['p']), node('ReduceSum', ['p', 'axes'], ['y'], { keepdims })]
})

const numbers = (dims: Shape, n: number): number[] => dims.map(dim => (dim === 'n' ? n : Number(dim)))

describe('the sum of products of two values', () => {
  test.each([
    ['scores of Mamba 2', [2, 16, 1, 4, 16], [2, 1, 16, 4, 16], [-1], 'abCde,aBcde->abcd'],
    ['what its scores weigh', [2, 16, 16, 4, 1], [2, 1, 16, 4, 16], [2], 'abcdE,aBcde->abde'],
    ['its states', [2, 16, 4, 1, 8], [2, 16, 4, 16, 1], [1], 'abcDe,abcdE->acde'],
    ['an operand of fewer axes', [32, 1, 16], [32, 16], [-1], 'aBc,bc->ab'],
    ['two axes', [16, 1, 8, 16], [1, 16, 8, 16], [2, 3], 'aBcd,Abcd->ab'],
    ['a dim that is not known', ['n', 16, 1, 16], ['n', 1, 16, 16], [3], 'abCd,aBcd->abc']
  ])('is Einsum in fast precision: %s', async (_, a, b, axes, equation) => {
    const parts = model(a, b, axes)
    const [{ call }, ...others] = (await planOf(parts)).steps
    const { terms, output } = (call.known.equation ?? {}) as { terms?: string[][]; output?: string[] }
    expect(terms && `${terms.map(term => term.join('')).join()}->${output!.join('')}`).toBe(equation)
    expect(others).toEqual([])
    expect(opsOf(await planOf(parts, { isExact: true }))).toEqual(['Mul', 'ReduceSum'])
    expect(await differenceBetween(parts, { a: numbers(a, 3), b: numbers(b, 3) })).toBeLessThan(5e-6)
    expect(await differenceBetween(parts, { a: numbers(a, 1), b: numbers(b, 1) })).toBeLessThan(5e-6)
  })

  test.each([[[-1]], [[2]], [[2, 3]]])('keeps its axes: %j', async axes => {
    const [a, b] = [
      [32, 1, 8, 16],
      [1, 32, 8, 16]
    ]
    const parts = model(a, b, axes, 1)
    expect(opsOf(await planOf(parts))).toEqual(['Einsum'])
    expect(await differenceBetween(parts, { a, b })).toBeLessThan(5e-6)
  })

  test.each([
    ['each product is read once', [64, 64], [64, 64], [1], 0],
    ['a matrix by a vector', [64, 64], [1, 64], [1], 0],
    ['an axis of one operand alone', [16, 1, 16, 1], [1, 16, 16, 16], [3], 0],
    ['few products', [4, 1, 16], [1, 4, 16], [2], 0],
    ['dims that may be broadcast', ['n', 1, 64], ['m', 64, 64], [2], 0],
    ['more axes to keep than have one element', [16, 1, 4, 4, 4], [16, 4, 4, 4], [2, 3, 4], 1],
    ['all axes, by no list', [16, 1, 16], [1, 16, 16], [], 0]
  ])('stays what it is: %s', async (_, a, b, axes, keepdims) => {
    expect(opsOf(await planOf(model(a, b, axes, keepdims)))).toEqual(['Mul', 'ReduceSum'])
  })
})
