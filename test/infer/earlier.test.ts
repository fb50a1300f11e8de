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
  const lookedAt = [1]
  const cases = [
    ['dims', [floats(2, 3), ints(4)], []],
    ['other dims', [floats(3, 2), ints(4)], []],
    ['another rank', [floats(6), ints(4)], []],
    ['an input less', [floats(2, 3)], []],
    ['an input that is left out', [floats(2, 3), undefined], []],
    ['elements', [floats(7), ints(5)], lookedAt],
    ['other elements', [floats(7), ints(6)], lookedAt],
    ['more elements', [floats(7), ints(5, 6)], lookedAt],
    ['fractions', [floats(8), new Tensor('float32', [0.5], [1])], lookedAt],
    ['other fractions', [floats(8), new Tensor('float32', [0.25], [1])], lookedAt],
    ['strings', [floats(9), new Tensor('string', ['a'], [1])], lookedAt],
    ['longer strings', [floats(9), new Tensor('string', ['ab'], [1])], lookedAt]
  ] as const

  test('is found by dims and by the elements that were looked at', () => {
    const earlier = new Earlier<Prepared>(100)
    for (const [name, inputs, looked] of cases) earlier.add(inputs, prepared(name, inputs, looked))
    for (const [name, inputs, looked] of cases)
      expect(earlier.find(inputs, prepared('current', inputs, looked))?.name).toBe(name)
    expect(earlier.find([floats(1)], prepared('current', []))).toBeUndefined()
  })

  test('is found whatever elements are not looked at', () => {
    const earlier = new Earlier<Prepared>(100)
    const first = prepared('first', [floats(3), ints(1)])
    earlier.add([floats(3), ints(1)], first)
    expect(earlier.find([floats(3), ints(2)], first)).toBe(first)
  })

  test('is found where another number of elements was looked at last', () => {
    const earlier = new Earlier<Prepared>(100)
    const first = prepared('first', [ints(1)], [0])
    const second = prepared('second', [ints(1, 2)], [0])
    earlier.add([ints(1)], first)
    earlier.add([ints(1, 2)], second)
    expect(earlier.find([ints(1)], second)).toBe(first)
  })

  test('is not told apart by elements where there are more than 64', () => {
    const earlier = new Earlier<Prepared>(100)
    const many = (first: number): Tensor => ints(first, ...new Array<number>(64).fill(0))
    const made = prepared('made', [many(1)], [0])
    earlier.add([many(1)], made)
    expect(earlier.find([many(2)], made)).toBe(made)
  })

  test('is the last of those for the same inputs', () => {
    const earlier = new Earlier<Prepared>(100)
    const inputs = [floats(3)]
    const [first, second] = [prepared('first', inputs), prepared('second', inputs)]
    earlier.add(inputs, first)
    earlier.add(inputs, second)
    expect(earlier.find(inputs, first)).toBe(second)
  })

  test('is no more than as many as are allowed, the newest', () => {
    const earlier = new Earlier<Prepared>(3)
    const inputs = Array.from({ length: 5 }, (_, i): readonly (Value | undefined)[] => [floats(i)])
    const made = inputs.map((input, i) => prepared(`${i}`, input as Tensor[]))
    inputs.forEach((input, i) => earlier.add(input, made[i]))
    expect(inputs.map((input, i) => earlier.find(input, made[i])?.name)).toEqual([undefined, undefined, '2', '3', '4'])
  })

  test('may be for a sequence, which has no dims', () => {
    const earlier = new Earlier<Prepared>(3)
    const inputs: Value[] = [{ type: 'sequence', values: [] } as unknown as Value]
    const made = prepared('of a sequence', [undefined])
    earlier.add(inputs, made)
    expect(earlier.find(inputs, made)).toBe(made)
  })
})
