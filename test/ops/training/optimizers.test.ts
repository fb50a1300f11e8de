import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp } from '../harness.ts'
import { ints, scalar } from '../values.ts'

const kind = (name: string): Kind => ['onnx', name, 1, 'ai.onnx.preview.training']
const list = (...values: number[]): Tensor => new Tensor('float64', values)
const step = (
  name: string,
  time: number,
  given: Tensor[],
  outputs: number,
  attributes: Record<string, number | string> = {}
): number[][] =>
  (runOp(kind(name), [scalar(0.1, 'float64'), scalar(time), ...given], { attributes, outputs }) as Tensor[]).map(
    ({ data }) => [...(data as Float64Array)]
  )

describe('Adagrad', () => {
  test('divides by the root of the squares so far', () => {
    expect(step('Adagrad', 0, [list(1, 2), list(3, 4), list(16, 0)], 2, { epsilon: 0 })).toEqual([
      [1 - (0.1 * 3) / 5, 1.9],
      [25, 16]
    ])
  })

  test('the rate decays, the gradient is regularized', () => {
    const [[x], [squares]] = step('Adagrad', 2, [list(1), list(3), list(0)], 2, {
      epsilon: 1,
      decay_factor: 0.5,
      norm_coefficient: 2
    })
    expect([x, squares]).toEqual([1 - (0.05 * 5) / 6, 25])
  })
})

describe('Adam', () => {
  test('follows the means of gradients and of their squares', () => {
    const attributes = { alpha: 0.5, beta: 0.75, epsilon: 0, norm_coefficient: 1, norm_coefficient_post: 0.5 }
    // The slope is 1 + 3; the means are 0.5 * 2 + 0.5 * 4 and 0.75 * 4 + 0.25 * 16.
    const expected = (rate: number): number[][] => [[0.5 * (1 - (rate * 3) / Math.sqrt(7))], [3], [7]]
    expect(step('Adam', 0, [list(1), list(3), list(2), list(4)], 3, attributes)).toEqual(expected(0.1))
    expect(step('Adam', 2, [list(1), list(3), list(2), list(4)], 3, attributes)).toEqual(
      expected((0.1 * Math.sqrt(1 - 0.75 ** 2)) / (1 - 0.5 ** 2))
    )
  })

  test('optimizes several tensors, each by its own', () => {
    const [x, y, , , squares] = step(
      'Adam',
      0,
      [list(1), list(1, 2), list(0), list(0, 0), list(5), list(6, 7), list(1), list(1, 1)],
      6
    )
    expect([x.length, y.length]).toEqual([1, 2])
    expect(x[0]).toBeCloseTo(1 - (0.1 * 4.5) / Math.sqrt(0.999), 5)
    expect(y[1]).toBeCloseTo(2 - (0.1 * 6.3) / Math.sqrt(0.999), 5)
    expect(squares[0]).toBeCloseTo(0.999, 6)
  })
})

describe('Momentum', () => {
  const attributes = { alpha: 0.5, beta: 2, norm_coefficient: 0, mode: 'standard' }

  test('follows the gradient and the speed so far; the first gradient counts once', () => {
    expect(step('Momentum', 0, [list(1), list(4), list(2)], 2, attributes)).toEqual([[0.5], [5]])
    expect(step('Momentum', 1, [list(1), list(4), list(2)], 2, attributes)).toEqual([[1 - 0.1 * 9], [9]])
  })

  test('of Nesterov looks ahead', () => {
    expect(step('Momentum', 1, [list(1), list(4), list(2)], 2, { ...attributes, mode: 'nesterov' })).toEqual([
      [1 - 0.1 * 8.5],
      [9]
    ])
    expect(
      errorOf(() => step('Momentum', 1, [list(1), list(4), list(2)], 2, { ...attributes, mode: 'other' })).code
    ).toBe('unknown-attribute-value')
  })
})

describe('an optimizer', () => {
  test('checks how many tensors there are and that they belong together', () => {
    expect(errorOf(() => step('Adagrad', 0, [list(1), list(1)], 2)).code).toBe('wrong-input-count')
    expect(errorOf(() => step('Adagrad', 0, [list(1), list(1), list(1)], 1)).code).toBe('wrong-output-count')
    expect(errorOf(() => step('Adagrad', 0, [list(1), list(1, 2), list(1)], 2)).code).toBe('shape-mismatch')
    expect(errorOf(() => step('Adagrad', 0, [list(1), new Tensor('float32', [1]), list(1)], 2)).code).toBe(
      'type-mismatch'
    )
    expect(
      errorOf(() => runOp(kind('Adagrad'), [list(1), ints(0, 1), list(1), list(1), list(1)], { outputs: 2 })).code
    ).toBe('dims-mismatch')
    expect(
      inferOp(
        kind('Adagrad'),
        [
          scalar(1, 'float32'),
          scalar(0),
          fact('float32', ['n', '?']),
          fact('float32', ['?', 3]),
          fact('float32', undefined)
        ],
        { outputs: 2 }
      ).map(dimsOf)
    ).toEqual([
      ['n', 3],
      ['n', 3]
    ])
  })
})
