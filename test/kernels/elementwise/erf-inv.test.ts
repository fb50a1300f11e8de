import { describe, expect, test } from 'vitest'
import { erfInv } from '../../../src/kernels/elementwise/erf-inv.ts'
import { erf } from '../../../src/kernels/elementwise/erf.ts'

describe('erfInv', () => {
  test('is exact to a few units in the last place', () => {
    // Values of Python's NormalDist().inv_cdf((1 + x) / 2) / sqrt(2).
    const known: [number, number][] = [
      [-0.1, -0.08885599049425764],
      [0.5, 0.4769362762044698],
      [0.899, 1.1596726933856134],
      [0.9, 1.163087153676674],
      [-0.997, -2.0985076117936705],
      [-1 + 1e-12, -5.042031898572695],
      [1e-300, 8.86226925452758e-301]
    ]
    for (const [x, y] of known) expect(Math.abs(erfInv(x) / y - 1), `${x}`).toBeLessThan(3e-15)
  })

  test('undoes erf', () => {
    for (let y = -5; y <= 5; y += 1 / 16) {
      const back = erfInv(erf(y))
      expect(Math.abs(erf(back) - erf(y)), `${y}`).toBeLessThan(3e-16)
    }
  })

  test('rises everywhere, over the border between its two ways too', () => {
    let before = -Infinity
    for (let x = 0.89; x < 0.91; x += 1e-5) {
      expect(erfInv(x)).toBeGreaterThan(before)
      before = erfInv(x)
    }
  })

  test('has its limits at -1 and 1 and is not defined beyond', () => {
    expect([1, -1, 1.5, -2, NaN, 0, -0].map(erfInv)).toEqual([Infinity, -Infinity, NaN, NaN, NaN, 0, -0])
  })
})
