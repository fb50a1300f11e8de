import { describe, expect, test } from 'vitest'
import { Pace } from '../../../src/kernels/core/pace.ts'
import { compileRegex, matchesWhole } from '../../../src/kernels/text/regex.ts'
import { errorOf } from '../../ops/harness.ts'

function matches(pattern: string, text: string): boolean {
  const steps = matchesWhole(compileRegex(pattern), text, new Pace())
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}

/** Of these texts those that match. */
const those = (pattern: string, ...texts: string[]): string[] => texts.filter(text => matches(pattern, text))

describe('a regular expression', () => {
  test('matches whole texts only', () => {
    expect(those('a|ab', '', 'a', 'ab', 'aba')).toEqual(['a', 'ab'])
    expect(those('', '', 'a')).toEqual([''])
  })

  test('repeats', () => {
    expect(those('a{2,3}', 'a', 'aa', 'aaa', 'aaaa')).toEqual(['aa', 'aaa'])
    expect(those('(ab){2,}?', 'ab', 'abab', 'ababab')).toEqual(['abab', 'ababab'])
    expect(those('a{0}b+c*', 'b', 'ab', 'bbcc', 'c')).toEqual(['b', 'bbcc'])
    expect(those('(a*)*(|b)+', '', 'aab', 'aabb', 'ba')).toEqual(['', 'aab', 'aabb'])
    expect(those('a{,2}', 'a{,2}', 'aa')).toEqual(['a{,2}'])
  })

  test('has classes as RE2 has them', () => {
    expect(those('[]a-c-]', ']', 'b', '-', 'd')).toEqual([']', 'b', '-'])
    expect(those('[^[:alpha:]\\d]', 'a', '1', '_', 'é', '\n')).toEqual(['_', 'é', '\n'])
    expect(those('\\s', ' ', '\t', '\v', '\u00a0')).toEqual([' ', '\t'])
    expect(those('\\p{Greek}+', 'λόγος', 'logos')).toEqual(['λόγος'])
    expect(those('\\P{^Lu}', 'Ä', 'ä')).toEqual(['Ä'])
    expect(those('\\p{Yi}', '\ua000', 'a')).toEqual(['\ua000'])
    // U+0378 is not assigned.
    expect(those('\\pC', '\u0001', '\u00ad', '\u0378', 'a')).toEqual(['\u0001', '\u00ad'])
    expect(those('[^\\pC]', '\u0001', '\u0378', 'a')).toEqual(['\u0378', 'a'])
    expect(those('.', 'a', '\n', '😀', 'ab')).toEqual(['a', '😀'])
    expect(those('\\Q.*\\E\\x41\\x{1F600}\\101', '.*A😀A', 'xxA😀A')).toEqual(['.*A😀A'])
  })

  test('has flags', () => {
    expect(those('(?i)straße[k]', 'STRAßEK', 'straẞe\u212a', 'strassek')).toEqual(['STRAßEK', 'straẞe\u212a'])
    expect(those('(?i)[^k]', 'K', '\u212a', 'x')).toEqual(['x'])
    expect(those('(?i)i', 'I', 'ı', 'İ')).toEqual(['I'])
    expect(those('((?i)a)b', 'Ab', 'AB')).toEqual(['Ab'])
    expect(those('(?s-i:a.)b', 'a\nb', 'A\nb')).toEqual(['a\nb'])
    expect(those('(?m)a$\\n^b', 'a\nb')).toEqual(['a\nb'])
    expect(those('a$\\n^b', 'a\nb')).toEqual([])
  })

  test('knows the borders of words', () => {
    expect(those('\\ba\\b.*\\Bb', 'a bb', 'ab', 'a b', 'a ab')).toEqual(['a bb', 'a ab'])
  })

  test('that RE2 refuses is refused, with the place', () => {
    const refused = [
      'a**',
      '*a',
      'a|*',
      '(a',
      'a)',
      '[a',
      'a{2,1}',
      'a{1001}',
      '((a{100}){100})',
      '\\1',
      '\\8',
      '(?=a)',
      '(?<!a)',
      '[b-a]',
      '[[:foo:]]',
      '\\p{Foo}',
      '\\p{Cn}',
      '\\p{LC}',
      '\\x4',
      'a\\',
      '(?P<a b>c)',
      '(?z)',
      '\\C'
    ]
    for (const pattern of refused) {
      expect(errorOf(() => compileRegex(pattern)).code, pattern).toBe('unknown-attribute-value')
    }
    expect(errorOf(() => compileRegex('ab[c')).message).toBe(
      'the pattern "ab[c" is no regular expression of RE2: a missing ] at character 4'
    )
  })

  test('takes time in proportion to the text, whatever the pattern', () => {
    const text = 'a'.repeat(20_000)
    expect(matches('(a*)*b', text)).toBe(false)
    expect(matches('(a|aa)+$', text)).toBe(true)
    expect(matches('(x+x+)+y', 'x'.repeat(20_000))).toBe(false)
  })

  test('yields while it works', () => {
    const steps = matchesWhole(compileRegex('(a|a|a|a)*b'), 'a'.repeat(200_000), new Pace())
    expect(steps.next().done).toBe(false)
  })

  test('that unfolds to too much is refused before it does', () => {
    const error = errorOf(() => compileRegex(`(${'(abcdefghij){100}'.repeat(120)}){10}`))
    expect(error.code).toBe('limit-exceeded')
    expect(errorOf(() => compileRegex('('.repeat(5000))).code).toBe('unknown-attribute-value')
    expect(errorOf(() => compileRegex(`\\Q${'a'.repeat(300_000)}`)).code).toBe('limit-exceeded')
  })
})
