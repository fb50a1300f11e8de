import { expect, test } from 'vitest'

test('lists and typed arrays that differ are told apart', () => {
  const pairs: [unknown, unknown][] = [
    [
      [1, 2],
      [1, 3]
    ],
    [[1], [1, 2]],
    [[0], [-0]],
    [[1], [1n]],
    [[NaN], [0]],
    [[{ a: [1] }], [{ a: [2] }]],
    [new Float32Array([0]), new Float32Array([-0])],
    [new Int8Array([1]), new Uint8Array([1])],
    [new Float64Array(2), new Float64Array(3)],
    [[1], new Int8Array([1])],
    [/a/.exec('a'), ['a']]
  ]
  for (const [one, other] of pairs) {
    expect(one).not.toEqual(other)
    expect({ of: one }).not.toEqual({ of: other })
  }
  expect([1, , 2]).not.toStrictEqual([1, undefined, 2])
})

test('lists and typed arrays of the same elements are equal, also as parts of arrays', () => {
  expect([NaN, -0, 1n, true]).toStrictEqual([NaN, -0, 1n, true])
  expect(new Float32Array([NaN, -0])).toStrictEqual(new Float32Array([NaN, -0]))
  expect(new Uint8Array([9, 1, 2]).subarray(1)).toEqual(new Uint8Array([1, 2, 9]).subarray(0, 2))
  expect({ of: [1, [2]] }).toEqual({ of: [1, [2]] })
})
