import { describe, expect, test } from 'vitest'
import { matmul } from '../../../src/kernels/matrix/matmul.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { picks } from '../../ops/random.ts'

const finish = (steps: Generator<void>): number => {
  let yields = 0
  while (!steps.next().done) yields++
  return yields
}

const random = (dims: number[], seed: number): Tensor<'float64'> => {
  const tensor = allocate('float64', dims)
  for (let i = 0; i < tensor.data.length; i++) tensor.data[i] = picks(seed + i, 17) - 8
  return tensor
}

/** Small integers, so that every order of summation gives the same. */
function naive(
  a: Tensor<'float64'>,
  b: Tensor<'float64'>,
  m: number,
  n: number,
  k: number,
  aSwapped: boolean,
  bSwapped: boolean
): number[] {
  const [left, right] = [a.data, b.data]
  const [aRow, aColumn] = aSwapped ? [1, m] : [k, 1]
  const [bRow, bColumn] = bSwapped ? [1, k] : [n, 1]
  const out = new Float64Array(m * n)
  for (let i = 0; i < m; i++) {
    for (let p = 0; p < k; p++) {
      const x = left[i * aRow + p * aColumn]
      for (let j = 0; j < n; j++) out[i * n + j] += x * right[p * bRow + j * bColumn]
    }
  }
  return [...out]
}

describe('matmul', () => {
  test('equals the naive product for sizes around the blocks, transposed or not', () => {
    const sizes = [
      [1, 1, 1],
      [3, 5, 2],
      [4, 4, 4],
      [5, 3, 7],
      [2, 70, 33],
      [66, 2, 40],
      [65, 9, 513],
      [70, 515, 6],
      [9, 5, 1030],
      [1, 40, 600],
      [0, 3, 2],
      [3, 2, 0]
    ]
    for (const [m, n, k] of sizes) {
      for (const [aSwapped, bSwapped] of [
        [false, false],
        [true, false],
        [false, true],
        [true, true]
      ]) {
        const a = random(aSwapped ? [k, m] : [m, k], 1)
        const b = random(bSwapped ? [n, k] : [k, n], 2)
        const out = allocate('float64', [m, n])
        finish(matmul(a, b, out, { a: aSwapped, b: bSwapped }))
        expect([...out.data], `${m}x${k} ${k}x${n} ${aSwapped} ${bSwapped}`).toEqual(
          naive(a, b, m, n, k, aSwapped, bSwapped)
        )
      }
    }
  })

  test('products that take turns do not disturb each other', () => {
    const [a, b, c, d] = [random([300, 400], 1), random([400, 300], 2), random([300, 400], 3), random([400, 300], 4)]
    const [x, y] = [allocate('float64', [300, 300]), allocate('float64', [300, 300])]
    const runs = [matmul(a, b, x), matmul(c, d, y)]
    expect(finish(matmul(a, b, allocate('float64', [300, 300])))).toBeGreaterThan(0)
    while (runs.map(run => run.next().done).includes(false)) {
      /* step by step */
    }
    expect([...x.data]).toEqual(naive(a, b, 300, 300, 400, false, false))
    expect([...y.data]).toEqual(naive(c, d, 300, 300, 400, false, false))
  })

  test('integers of 32 and 64 bits wrap exactly', () => {
    const big = new Tensor('int32', [0x7fffffff, -3, 5, 0x40000000], [2, 2])
    const out = allocate('int32', [2, 2])
    finish(matmul(big, big, out))
    const product = (i: number, j: number): bigint =>
      [0, 1].reduce((sum, p) => sum + BigInt(big.data[i * 2 + p]) * BigInt(big.data[p * 2 + j]), 0n)
    expect([...out.data]).toEqual(
      [
        [0, 0],
        [0, 1],
        [1, 0],
        [1, 1]
      ].map(([i, j]) => Number(BigInt.asIntN(32, product(i, j))))
    )
    const wide = new Tensor('uint64', [2n ** 63n, 3n], [1, 2])
    const wideOut = allocate('uint64', [1, 1])
    finish(matmul(wide, new Tensor('uint64', [2n, 2n ** 63n], [2, 1]), wideOut))
    expect(wideOut.data[0]).toBe(2n ** 63n)
  })

  test('float32 sums do not lose small terms', () => {
    const a = new Tensor(
      'float32',
      new Float32Array(1000).fill(1e-4).map((x, i) => (i === 0 ? 1e4 : x)),
      [1, 1000]
    )
    const out = allocate('float32', [1, 1])
    finish(matmul(a, new Tensor('float32', new Float32Array(1000).fill(1), [1000, 1]), out))
    expect(out.data[0]).toBe(Math.fround(1e4 + 999 * Math.fround(1e-4)))
  })
})
