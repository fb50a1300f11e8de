import { expect, test } from 'vitest'
import { type DotKind, dotKindOf } from '../../src/wasm/dots.ts'

const bytesOf = (word: number, isSigned: boolean): readonly number[] => {
  const bytes = Uint8Array.of(word, word >> 8, word >> 16, word >> 24)
  return [...(isSigned ? new Int8Array(bytes.buffer) : bytes)]
}

const saturate = (sum: number): number => Math.max(-32768, Math.min(32767, sum))
const wrap = (sum: number): number => (sum << 16) >> 16

/** A dot product as an engine may have it: with second factors of a type, and with sums of two products made int16. */
const dotOf =
  (isSigned: boolean, narrow: (sum: number) => number, add = (a: number, b: number) => (a + b) | 0) =>
  (a: number, b: number, sum: number): number => {
    const seconds = bytesOf(b, isSigned)
    const [p, q, r, s] = bytesOf(a, true).map((first, i) => first * seconds[i])
    return add(narrow(p + q) + narrow(r + s), sum)
  }

const exact = (sum: number): number => sum
const clamped = (a: number, b: number): number => Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, a + b))

test.each<[string, ReturnType<typeof dotOf>, DotKind]>([
  ['second factors as uint8, exactly', dotOf(false, exact), 'unsigned'],
  ['second factors as int8, exactly', dotOf(true, exact), 'signed'],
  ['second factors as uint8, sums of two saturated', dotOf(false, saturate), 'none'],
  ['second factors as uint8, sums of two wrapped', dotOf(false, wrap), 'none'],
  ['second factors as int8, sums of two saturated', dotOf(true, saturate), 'none'],
  ['second factors as int8, sums of two wrapped', dotOf(true, wrap), 'none'],
  ['second factors as uint8, sums saturated', dotOf(false, exact, clamped), 'none'],
  ['second factors as int8, sums saturated', dotOf(true, exact, clamped), 'none'],
  ['nothing', () => 0, 'none']
])('an engine that takes %s is known', (_, dot, kind) => {
  expect(dotKindOf(dot)).toBe(kind)
})
