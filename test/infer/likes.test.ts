import { describe, expect, test } from 'vitest'
import { Numbers, textOf } from '../../src/infer/likes.ts'

const nested = (depth: number, innermost: unknown): unknown =>
  depth === 0 ? innermost : { name: 'part', inputs: [nested(depth - 1, innermost), nested(depth - 1, innermost)] }

describe('parameters as text', () => {
  test('those that hold the same have the same text', () => {
    const numbers = new Numbers()
    expect(textOf({ axis: 1, dims: [2, 3] }, numbers)).toBe(textOf({ axis: 1, dims: [2, 3] }, numbers))
    expect(textOf(nested(3, -1), numbers)).toBe(textOf(nested(3, -1), numbers))
  })

  test.each([
    [0, -0],
    [1, 1n],
    [1, '1'],
    [undefined, 'undefined'],
    [undefined, null],
    [[], {}],
    [[undefined], []],
    [['a'], { 0: 'a' }],
    [{ a: 1 }, { b: 1 }],
    [() => 1, () => 1],
    [new Float32Array(1), new Float32Array(1)],
    [nested(3, 1), nested(3, 2)]
  ])('%o and %o have not', (a, b) => {
    const numbers = new Numbers()
    expect(textOf(a, numbers)).not.toBe(textOf(b, numbers))
  })

  test('objects within objects make no longer text', () => {
    expect(textOf(nested(12, 1), new Numbers()).length).toBeLessThan(10)
  })
})
