import { expect, test } from 'vitest'
import { drain, Pace } from '../../../src/kernels/core/pace.ts'
import { findLongest, type Match } from '../../../src/kernels/text/regex-search.ts'
import { compileRegex } from '../../../src/kernels/text/regex.ts'

const found = (pattern: string, text: string, from = 0): Match | undefined =>
  drain(
    findLongest(
      compileRegex(pattern),
      Array.from(text, character => character.codePointAt(0)!),
      from,
      new Pace()
    )
  )

test('the leftmost match counts, and of these the longest', () => {
  expect(found('a|ab|abc', 'xabcd')).toEqual([1, 4])
  expect(found('b+', 'abbbab')).toEqual([1, 4])
  expect(found('bc|abcd', 'abce')).toEqual([1, 3])
  expect(found('x*', 'abc')).toEqual([0, 0])
  expect(found('z', 'abc')).toBeUndefined()
})

test('the search begins where it is told to, and assertions see what is before', () => {
  expect(found('a', 'aba', 1)).toEqual([2, 3])
  expect(found('^a', 'aa', 1)).toBeUndefined()
  expect(found('\\bb', 'ab b', 1)).toEqual([3, 4])
  expect(found('$', 'ab', 2)).toEqual([2, 2])
})

test('a pattern that a backtracking search would never end with is searched in linear time', () => {
  expect(found('(a+)+b', 'a'.repeat(3000))).toBeUndefined()
  expect(found('(a|aa)*', 'a'.repeat(3000))).toEqual([0, 3000])
})
