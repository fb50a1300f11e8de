import { expect, test } from 'vitest'
import { drain, Pace } from '../../../src/kernels/core/pace.ts'
import { findAtOnce, findLongest, type Match } from '../../../src/kernels/text/regex-search.ts'
import { type Automaton, compileRegex } from '../../../src/kernels/text/regex.ts'

const codesOf = (text: string): number[] => Array.from(text, character => character.codePointAt(0)!)

/** What is found with pauses, which is what is found at once, where that is known. */
function search(automaton: Automaton, text: string, from = 0): Match | undefined {
  const atOnce = findAtOnce(automaton, codesOf(text), from)
  const match = drain(findLongest(automaton, codesOf(text), from, new Pace()))
  if (atOnce !== undefined) expect(atOnce).toEqual(match ?? 'none')
  return match
}

const found = (pattern: string, text: string, from = 0): Match | undefined => search(compileRegex(pattern), text, from)

test('short texts are searched at once, long ones with pauses', () => {
  expect(findAtOnce(compileRegex('b'), codesOf('ab'), 0)).toEqual([1, 2])
  expect(findAtOnce(compileRegex('c'), codesOf('ab'), 0)).toBe('none')
  expect(findAtOnce(compileRegex('c'), codesOf('ab'.repeat(10_000)), 0)).toBeUndefined()
})

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

test('assertions between characters see both, wherever a search has been before', () => {
  const words = compileRegex('\\b\\w+\\b|^-$|\\n$')
  expect(search(words, 'ab cd', 0)).toEqual([0, 2])
  expect(search(words, 'ab cd', 1)).toEqual([3, 5])
  expect(search(words, 'a b_1é', 2)).toEqual([2, 5])
  expect(search(words, '-', 0)).toEqual([0, 1])
  expect(search(words, '--', 0)).toBeUndefined()
  expect(search(words, '-\n', 0)).toEqual([1, 2])
  expect(search(words, '-\n', 2)).toBeUndefined()
})

test('a text that leads to more nodes than are kept is searched all the same', () => {
  const text = Array.from({ length: 3000 }, (_, i) => 'ab'[((i * i * 7 + (i >> 3)) % 2) ^ (i % 5 === 0 ? 1 : 0)]).join(
    ''
  )
  expect(found('(a|b)*a(a|b){14}c', `${text}a${'b'.repeat(14)}c`)).toEqual([0, 3016])
  expect(found('(a|b)*a(a|b){14}c', text)).toBeUndefined()
})

test('many characters beyond ASCII are told apart', () => {
  const text = Array.from({ length: 12_000 }, (_, i) => String.fromCodePoint(0x4e00 + i)).join('')
  expect(found('[^ ]+', `${text} x`)).toEqual([0, 12_000])
  expect(found('[\\x{5000}-\\x{5001}]+', text)).toEqual([0x200, 0x202])
})
