import { expect, test } from 'vitest'
import { erf } from '../../../src/kernels/elementwise/erf.ts'

/** Values of the error function to 20 digits. */
const KNOWN: readonly (readonly [number, number])[] = [
  [1e-10, 1.1283791670955125739e-10],
  [0.1, 0.1124629160182848922],
  [0.25, 0.27632639016823693299],
  [0.5, 0.52049987781304653768],
  [1, 0.84270079294971486934],
  [1.5, 0.96610514647531072707],
  [2, 0.99532226501895273416],
  [3, 0.99997790950300141456],
  [4, 0.99999998458274209972]
]

test('erf is accurate to a few units in the last place', () => {
  for (const [x, value] of KNOWN) {
    expect(Math.abs(erf(x) - value) / value, `erf(${x})`).toBeLessThan(4 * Number.EPSILON)
    expect(erf(-x)).toBe(-erf(x))
  }
})

test('erf is continuous where its polynomials meet', () => {
  for (let i = 1; i < 192; i++) {
    const x = i / 32
    const slope = (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x)
    expect(Math.abs(erf(x + 1e-9) - erf(x - 1e-9) - 2e-9 * slope)).toBeLessThan(1e-15)
  }
})

test('erf keeps NaN, the sign of zero and tiny numbers; beyond 6 it is 1', () => {
  expect(erf(NaN)).toBeNaN()
  expect(erf(-0)).toBe(-0)
  expect(erf(2 ** -1070)).toBeGreaterThan(0)
  expect(erf(6)).toBe(1)
  expect(erf(-Infinity)).toBe(-1)
})
