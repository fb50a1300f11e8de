import { expect, test } from 'vitest'
import { drain, Pace } from '../../../src/kernels/core/pace.ts'
import { gemm, matrix } from '../../../src/kernels/matrix/gemm.ts'

test('products that run by turns, and so share their panels, give what each gives alone', () => {
  const [m, n, k] = [200, 300, 600]
  const filled = (length: number, seed: number): Float64Array =>
    Float64Array.from({ length }, (_, i) => (Math.imul(i + seed, 0x9e3779b9) >>> 20) / 64)
  /** Always due, so that every block is followed by a yield. */
  const hurried = (): Pace => Object.assign(new Pace(), { isDue: () => true })
  const product = (seed: number, out: Float64Array): Generator<void> =>
    gemm(
      m,
      n,
      k,
      matrix(filled(m * k, seed), 0, k),
      matrix(filled(k * n, seed + 1), 0, n),
      matrix(out, 0, n),
      hurried()
    )
  const alone = [1, 2].map(seed => {
    const out = new Float64Array(m * n)
    drain(product(seed, out))
    return out
  })
  const together = [new Float64Array(m * n), new Float64Array(m * n)]
  const running = [product(1, together[0]), product(2, together[1])]
  let yields = 0
  while (!running.map(each => each.next().done).every(done => done === true)) yields++
  expect(yields).toBeGreaterThan(10)
  expect(together).toEqual(alone)
})
