import { describe, expect, test } from 'vitest'
import { Earlier, type Seen } from '../../src/infer/earlier.ts'
import { Tensor, type Value } from '../../src/tensor/tensor.ts'

interface Prepared {
  readonly name: string
  readonly seen: readonly (Seen | undefined)[]
}
const floats = (...dims: number[]): Tensor =>
  new Tensor('float32', new Float32Array(dims.reduce((a, b) => a * b, 1)), dims)
const ints = (...values: number[]): Tensor => new Tensor('int64', values, [values.length])

/** @param looked positions of the inputs whose elements were looked at */
function prepared(name: string, inputs: readonly (Tensor | undefined)[], looked: readonly number[] = []): Prepared {
  const seen = inputs.map(
    (input, i) =>
      input && { type: input.type, dims: input.dims, elements: looked.includes(i) ? input.data.slice() : undefined }
  )
  return { name, seen }
}

describe('what a call has been prepared for before', () => {
  const cases = [
    ['dims', [floats(2, 3), ints(4)], []],
    ['other dims', [floats(3, 2), ints(4)], []],
    ['another rank', [floats(6), ints(4)], []],
    ['an input less', [floats(2, 3)], []],
    ['an input that is left out', [floats(2, 3), undefined], []],
    ['elements', [floats(7), ints(5)], [1]],
    ['other elements', [floats(7), ints(6)], [1]],
    ['more elements', [floats(7), ints(5, 6)], [1]],
    ['fractions', [floats(8), new Tensor('float32', [0.5], [1])], [1]],
    ['other fractions', [floats(8), new Tensor('float32', [0.25], [1])], [1]],
    ['strings', [floats(9), new Tensor('string', ['a'], [1])], [1]],
    ['longer strings', [floats(9), new Tensor('string', ['ab'], [1])], [1]]
  ] as const

  test('is found by dims and by the elements that were looked at, the first one too', () => {
    const earlier = new Earlier<Prepared>(100)
    const made = cases.map(([name, inputs, looked]) => prepared(name, inputs, looked))
    for (let i = 1; i < made.length; i++) earlier.add(made[i], made[i - 1])
    for (const [i, [, inputs, looked]] of cases.entries())
      expect(earlier.find(inputs, prepared('current', inputs, looked))).toBe(made[i])
    expect(earlier.find([floats(1)], made[0])).toBeUndefined()
  })

  const other = prepared('other', [floats(99)])

  test('is found whatever elements are not looked at', () => {
    const earlier = new Earlier<Prepared>(100)
    const first = prepared('first', [floats(3), ints(1)])
    earlier.add(first, other)
    expect(earlier.find([floats(3), ints(2)], first)).toBe(first)
  })

  test('is found where another number of elements was looked at last', () => {
    const earlier = new Earlier<Prepared>(100)
    const first = prepared('first', [ints(1)], [0])
    const second = prepared('second', [ints(1, 2)], [0])
    earlier.add(second, first)
    expect(earlier.find([ints(1)], second)).toBe(first)
  })

  test('is not told apart by elements where there are more than 64', () => {
    const earlier = new Earlier<Prepared>(100)
    const many = (first: number): Tensor => ints(first, ...new Array<number>(64).fill(0))
    const made = prepared('made', [many(1)], [0])
    earlier.add(made, other)
    expect(earlier.find([many(2)], made)).toBe(made)
  })

  test('is the last of those for the same inputs', () => {
    const earlier = new Earlier<Prepared>(100)
    const inputs = [floats(3)]
    const [first, second] = [prepared('first', inputs), prepared('second', inputs)]
    earlier.add(second, first)
    expect(earlier.find(inputs, first)).toBe(second)
  })

  test('is no more than as many as are allowed, the newest', () => {
    const earlier = new Earlier<Prepared>(3)
    const inputs = Array.from({ length: 5 }, (_, i) => [floats(i)])
    const made = inputs.map((input, i) => prepared(`${i}`, input))
    for (let i = 1; i < made.length; i++) earlier.add(made[i], made[i - 1])
    expect(inputs.map((input, i) => earlier.find(input, made[i])?.name)).toEqual([undefined, undefined, '2', '3', '4'])
  })

  test('is not looked for before there are two', () => {
    expect(new Earlier<Prepared>(3).find([floats(99)], other)).toBeUndefined()
  })

  test('is told from others where an input is a sequence, which has no dims', () => {
    const earlier = new Earlier<Prepared>(3)
    const sequence: Value = { type: 'sequence', values: [] }
    earlier.add(prepared('left out', [undefined]), other)
    expect(earlier.find([sequence], other)?.name).toBe('left out')
    expect(earlier.find([floats(0)], other)).toBeUndefined()
  })
})
