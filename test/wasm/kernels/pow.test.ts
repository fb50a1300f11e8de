import { describe, expect, test } from 'vitest'
import { product, Tensor } from '../../../src/tensor/tensor.ts'
import { runOp } from '../../ops/harness.ts'
import { bits, expectEqual, noise, runAccelerated } from '../compare.ts'

const KIND = ['onnx', 'Pow', 13] as const

/** Noise with edges of the functions in front. */
function numbers(dims: readonly number[]): Tensor {
  const tensor = noise(dims, 1, 4)
  const edges = [0, -0, 1, -1, Infinity, -Infinity, NaN, 1e-40, -1e-40, 1e-20, 1e13, -1e13, 3e38]
  edges.forEach((edge, i) => {
    tensor.data[i] = edge
  })
  return tensor
}

describe.each(['heap', 'array'] as const)('powers of float32 in WebAssembly, operands in an %s', region => {
  test.each([2, 3, 0.5, -1, 1.7, 0])('equal the reference: exponent %d', exponent => {
    // Each range of magnitudes is compared alone, since the tolerance is a share of the largest.
    for (const base of [numbers([2051]), noise([3, 1, 700], 2)])
      for (const dims of [[], [1], [1, 1]])
        expectEqual(KIND, [base, new Tensor('float32', [exponent], dims)], { region }, 2e-7)
  })

  test('equal the reference: an exponent of int64', () => {
    expectEqual(KIND, [numbers([3000]), new Tensor('int64', new BigInt64Array([2n]), [])], { region }, 0)
  })

  test.each(['int32', 'int64', 'float64'] as const)('equal the reference: one exponent of %s', type => {
    // 2^24 + 1 is no number of float32.
    for (const exponent of [0, 1, 5, -2, -5, 7, 2 ** 24 + 1]) {
      const one = new Tensor(type, type === 'int64' ? [BigInt(exponent)] : [exponent], [1])
      expectEqual(KIND, [noise([2051], 1, 1.5), one], { region }, 2e-7)
      const wide = new Tensor('float64', Float64Array.from(noise([700], 1, 1.5).data), [700])
      expectEqual(KIND, [wide, one], { region }, 1e-15)
    }
  })

  test.each(['int32', 'int64'] as const)('equal the reference: exponents of %s', type => {
    const exponents = (dims: number[], last: number): Tensor => {
      const whole = Array.from(noise(dims, 2, 5).data, Math.round)
      whole[whole.length - 1] = last
      return new Tensor(type, type === 'int64' ? whole.map(BigInt) : whole, dims)
    }
    for (const last of [3, 2 ** 24 + 1, -(2 ** 31), 2 ** 31 - 1])
      for (const [bases, dims] of [
        [[2051], [2051]],
        [
          [40, 1],
          [5, 1, 70]
        ]
      ]) {
        const base = noise(bases, 1, 1.5)
        base.data[base.data.length - 1] = -1
        expectEqual(KIND, [base, exponents(dims, last)], { region }, 2e-7)
        const wide = new Tensor('float64', Float64Array.from(base.data), bases)
        expectEqual(KIND, [wide, exponents(dims, last)], { region }, 1e-15)
      }
    if (type === 'int64') {
      const far = new Tensor('int64', new BigInt64Array(2051).fill(2n ** 33n + 1n), [2051])
      expectEqual(KIND, [noise([2051], 1), far], { region }, 2e-7)
    }
  })

  test('equal the reference: integers to one exponent of another type', () => {
    const base = Array.from({ length: 600 }, (_, i) => (i % 2 === 0 ? i - 300 : (i - 301) * 7_000_001))
    for (const exponent of [0, 1, 2, 5, 31, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 5]) {
      const wide = new Tensor('int64', BigInt64Array.of(BigInt(exponent)), [])
      expectEqual(KIND, [new Tensor('int32', Int32Array.from(base), [600]), wide], { region }, 0)
      if (exponent >= 2 ** 31) continue
      const narrow = new Tensor('int32', Int32Array.of(exponent), [1])
      expectEqual(KIND, [new Tensor('int64', BigInt64Array.from(base, BigInt), [600]), narrow], { region }, 0)
      const signed = base.map(value => value || 1)
      const inverse = new Tensor('int32', Int32Array.of(-exponent), [1])
      expectEqual(KIND, [new Tensor('int64', BigInt64Array.from(signed, BigInt), [600]), inverse], { region }, 0)
    }
  })

  test.each([
    [[2051], [2051]],
    [[1], [3000]],
    [
      [40, 1],
      [5, 1, 70]
    ]
  ])('equal the reference: bases %j with exponents %j', (bases, exponents) => {
    const positive = (tensor: Tensor): Tensor =>
      new Tensor('float32', Float32Array.from(tensor.data as Float32Array, Math.abs), tensor.dims)
    expectEqual(KIND, [positive(noise(bases, 1, 9)), noise(exponents, 2, 3)], { region }, 2e-7)
    const whole = new Tensor('float32', noise(exponents, 2, 5).data.map(Math.round), exponents)
    const edges = product(bases) > 13 ? numbers(bases) : noise(bases, 1, 2)
    const [out, expected] = [
      runAccelerated(KIND, [edges, whole], { region })[0],
      runOp(KIND, [edges, whole])[0]
    ] as Tensor[]
    out.data.forEach((value, i) => {
      const [found, wanted] = [value, expected.data[i]] as number[]
      expect(Object.is(found, wanted) || Math.abs(found - wanted) <= 2e-7 * Math.abs(wanted) + 1e-45).toBe(true)
    })
  })

  test('of zeros keep the sign of the reference', () => {
    const base = new Tensor('float32', new Float32Array(2048).fill(-0), [2048])
    for (const [exponent, zero] of [
      [0.5, 0],
      [3, -0],
      [2, 0]
    ]) {
      const [out] = runAccelerated(KIND, [base, new Tensor('float32', [exponent], [])], { region }) as Tensor[]
      expect(out.data[2047]).toBe(zero)
    }
  })
})

/** Float64 bases and exponents, with each pair of odd ones, whose powers have every magnitude. */
function widePairs(count: number): [bases: Float64Array, exponents: Float64Array] {
  const [seeds, others] = [noise([count], 1, 1).data, noise([count], 2, 1).data] as Float32Array[]
  const bases = Float64Array.from(seeds, (value, i) => Math.exp(value * [10, 700, 1e-3, 0.01][i % 4]))
  const exponents = Float64Array.from(others, (value, i) => (value * [20, 760, 5e3, 1e4][(i % 5) % 4]) / (1 + (i % 3)))
  const odd = [
    0,
    -0,
    1,
    -1,
    2,
    -3.5,
    3,
    -3,
    0.5,
    5e-324,
    -1e-310,
    1e300,
    2 ** 53 + 2,
    2 ** 101,
    -1e200,
    1e20 / 3,
    -1e25 / 7
  ]
  const all = [...odd, Infinity, -Infinity, NaN]
  all.forEach((base, i) =>
    all.forEach((exponent, k) => {
      bases[i * all.length + k] = base
      exponents[i * all.length + k] = exponent
    })
  )
  return [bases, exponents]
}

/** Expects powers of float64 within 2 ulp, and NaN, zeros and their signs as they are. */
function expectWidePowers(base: Tensor, exponent: Tensor, region: 'heap' | 'array'): void {
  const [out] = runAccelerated(KIND, [base, exponent], { region }) as [Tensor]
  const [expected] = runOp(KIND, [base, exponent]) as [Tensor]
  const wrong = Array.from(out.data as Float64Array, (found, i) => [found, expected.data[i] as number]).filter(
    ([found, wanted]) =>
      !Object.is(found, wanted) && !(found !== wanted && Math.abs(found - wanted) <= unitsOf(wanted, 2))
  )
  expect(wrong).toEqual([])
}

const unitsOf = (value: number, units: number): number =>
  units * Math.max(2 ** (Math.floor(Math.log2(Math.abs(value))) - 52), 5e-324)

describe.each(['heap', 'array'] as const)('powers of float64 in WebAssembly, operands in an %s', region => {
  test('are within 2 ulp of the reference, of every magnitude', () => {
    for (const count of [2047, 4000]) {
      const [bases, exponents] = widePairs(count)
      expectWidePowers(new Tensor('float64', bases, [count]), new Tensor('float64', exponents, [count]), region)
    }
  })

  test.each([2, 3, 1, 0.5, -1, -0.5, 1.7, 0, NaN, Infinity, -2])('are those by one exponent: %d', exponent => {
    const [bases] = widePairs(1031)
    const negated = bases.map((base, i) => (i % 2 ? base : -base))
    for (const type of ['float64', 'float32'] as const)
      expectWidePowers(new Tensor('float64', negated, [1031]), new Tensor(type, [exponent], [1, 1].slice(1)), region)
  })

  test('are broadcast, and whole ones are exact', () => {
    const base = new Tensor(
      'float64',
      Float64Array.from({ length: 41 }, (_, i) => i - 20),
      [41, 1]
    )
    const exponent = new Tensor(
      'float64',
      Float64Array.from({ length: 9 }, (_, i) => i),
      [9]
    )
    const [out] = runAccelerated(KIND, [base, exponent], { region }) as [Tensor]
    expect([...(out.data as Float64Array)]).toEqual(
      Array.from({ length: 369 }, (_, i) => Number(BigInt(Math.floor(i / 9) - 20) ** BigInt(i % 9)))
    )
    const row = new Tensor(
      'float64',
      Float64Array.from({ length: 200 }, (_, i) => i / 7 - 9),
      [200]
    )
    expectWidePowers(new Tensor('float64', [1.3, 2, -4], [3, 1]), row, region)
    expectWidePowers(new Tensor('float64', [1.3], []), row, region)
  })
})

describe.each(['heap', 'array'] as const)('squares and cubes of integers in WebAssembly, operands in an %s', region => {
  test.each(['int32', 'int64'] as const)('equal the reference: %s', type => {
    for (const exponent of [2, 3, 5, 0])
      expectEqual(KIND, [bits(type, [300]), new Tensor('int32', [exponent], [1])], { region }, 0)
  })
})

describe.each(['heap', 'array'] as const)('powers of integers in WebAssembly, operands in an %s', region => {
  test.each(['int8', 'int16', 'int32', 'int64'] as const)('equal the reference, low bits kept: %s', type => {
    const big = type === 'int64'
    const kind = ['openvino', 'Power', 1] as const
    const of = (dims: number[], value: (i: number) => number): Tensor => {
      const numbers = Array.from({ length: product(dims) }, (_, i) => value(i))
      return new Tensor(type, big ? numbers.map(BigInt) : numbers, dims)
    }
    for (const exponents of [[300], [], [3, 1]]) {
      const bases = exponents.length === 2 ? [3, 100] : [300]
      expectEqual(kind, [bits(type, bases), of(exponents, i => (i * 7) % 71)], { region }, 0)
      // Of 0 there are no powers to negative exponents.
      const few = [-3, -2, -1, 1, 2, 7]
      expectEqual(kind, [of(bases, i => few[i % 6]), of(exponents, i => (i % 11) - 6)], { region }, 0)
    }
  })

  test('0 to a negative power is refused', () => {
    const base = new Tensor('int64', new BigInt64Array(300).fill(2n).fill(0n, 299), [300])
    const exponents = new Tensor('int64', new BigInt64Array(300).fill(-1n), [300])
    expect(() => runAccelerated(KIND, [base, exponents], { region })).toThrow('divides by zero')
  })
})

test('exponents that are aligned from an axis on, as before version 7, are left to the reference', () => {
  const x = new Tensor('float32', new Float32Array(400).fill(2), [20, 20])
  const y = new Tensor(
    'float32',
    Float32Array.from({ length: 20 }, (_, i) => i),
    [20]
  )
  const options = { attributes: { broadcast: 1, axis: 0 } }
  expect(() => runAccelerated(['onnx', 'Pow', 1], [x, y], options)).toThrow('no accelerated kernel')
})

test('powers of few elements, and of other types, are left to the reference', () => {
  const none = 'no accelerated kernel'
  const two = new Tensor('float32', [2], [1, 1])
  expect(() => runAccelerated(KIND, [noise([100], 1), two])).toThrow(none)
  const wide = new Tensor('float64', [2, 3, 4], [3, 1])
  expect(() => runAccelerated(KIND, [noise([3, 1000], 1), wide])).toThrow(none)
  expect(() => runAccelerated(KIND, [new Tensor('float64', [], [0]), wide])).toThrow(none)
})
