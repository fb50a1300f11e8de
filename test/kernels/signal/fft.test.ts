import { describe, expect, test } from 'vitest'
import { Pace } from '../../../src/kernels/core/pace.ts'
import { type Complex, complexLine } from '../../../src/kernels/signal/complex.ts'
import { fftOf } from '../../../src/kernels/signal/fft.ts'
import { realFftOf } from '../../../src/kernels/signal/real-fft.ts'

/** The definition, summed as it stands. */
function byDefinition({ re, im }: Complex, sign: number): Complex {
  const n = re.length
  const result = complexLine(n)
  const roots = complexLine(n)
  for (let i = 0; i < n; i++) {
    const angle = (sign * 2 * Math.PI * i) / n
    roots.re[i] = Math.cos(angle)
    roots.im[i] = Math.sin(angle)
  }
  for (let k = 0; k < n; k++) {
    for (let j = 0; j < n; j++) {
      const [cos, sin] = [roots.re[(j * k) % n], roots.im[(j * k) % n]]
      result.re[k] += re[j] * cos - im[j] * sin
      result.im[k] += re[j] * sin + im[j] * cos
    }
  }
  return result
}

function sample(n: number): Complex {
  const line = complexLine(n)
  for (let i = 0; i < n; i++) {
    // Sines take ten times as long.
    line.re[i] = (Math.imul(i + 1, 0x9e3779b9) >> 8) / 2 ** 23
    line.im[i] = (Math.imul(i * i + n, 0x85ebca6b) >> 8) / 2 ** 23
  }
  return line
}

const largestGap = (a: Complex, b: Complex): number =>
  Math.max(...a.re.map((value, i) => Math.abs(value - b.re[i])), ...a.im.map((value, i) => Math.abs(value - b.im[i])))

function transformed(line: Complex, inverse: boolean): { line: Complex; yields: number } {
  const copy = { re: line.re.slice(), im: line.im.slice() }
  const yields = [...fftOf(line.re.length).transform(copy, inverse, new Pace())].length
  return { line: copy, yields }
}

describe('a fast Fourier transform', () => {
  test('agrees with the definition for every length up to 140, powers, products and primes, both ways', () => {
    for (const n of [...Array.from({ length: 140 }, (_, i) => i + 1), 256, 360, 509, 1000, 1009]) {
      const line = sample(n)
      expect(largestGap(transformed(line, false).line, byDefinition(line, -1)), `${n}`).toBeLessThan(1e-10)
      expect(largestGap(transformed(line, true).line, byDefinition(line, 1)), `${n} inverse`).toBeLessThan(1e-10)
    }
  })

  test('there and back gives the line times its length, long primes too, and lets others have their turn', () => {
    for (const n of [1 << 20, 65537]) {
      const line = sample(n)
      const there = transformed(line, false)
      const back = transformed(there.line, true)
      const scaled = { re: back.line.re.map(value => value / n), im: back.line.im.map(value => value / n) }
      let gap = 0
      for (let i = 0; i < n; i++)
        gap = Math.max(gap, Math.abs(scaled.re[i] - line.re[i]), Math.abs(scaled.im[i] - line.im[i]))
      expect(gap).toBeLessThan(1e-11)
      expect(there.yields).toBeGreaterThan(0)
    }
  })

  test('of real numbers agrees with the definition for even and odd lengths, both ways, line after line', () => {
    for (const n of [1, 2, 3, 4, 6, 10, 16, 37, 74, 100]) {
      const fft = realFftOf(n)
      for (const inverse of [false, true]) {
        const line = { re: sample(n).re, im: new Float64Array(n) }
        const expected = byDefinition(line, inverse ? 1 : -1)
        for (const _ of fft.transform(line, inverse, new Pace()));
        expect(largestGap(line, expected), `${n}`).toBeLessThan(1e-11)
      }
    }
  })

  test('one plan serves many lines', () => {
    for (const n of [12, 67]) {
      const fft = fftOf(n)
      for (let i = 0; i < 3; i++) {
        const line = sample(n)
        const expected = byDefinition(line, -1)
        for (const _ of fft.transform(line, false, new Pace()));
        expect(largestGap(line, expected)).toBeLessThan(1e-10)
      }
    }
  })
})
