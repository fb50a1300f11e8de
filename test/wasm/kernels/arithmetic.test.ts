import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import type { DType } from '../../../src/tensor/dtype.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import type { Kind } from '../../ops/harness.ts'
import { bits, expectEqual, noise, runAccelerated } from '../compare.ts'

const onnx = (type: string, version = 14): Kind => ['onnx', type, version]
const openvino = (type: string, version = 1): Kind => ['openvino', type, version]

/** Numbers of any bits, small ones, and those at which functions have their edges. */
function numbers(type: DType, dims: readonly number[], seed = 1): Tensor {
  const tensor = bits(type, dims, seed)
  const { data } = tensor as { data: BigInt64Array | Int32Array | Float64Array }
  const set = (i: number, value: number): void => {
    if (type === 'float64') data[i] = value
    else data[i] = type.endsWith('64') ? (BigInt(value) as never) : value
  }
  for (let i = 0; i < data.length; i += 3) set(i, ((i * seed) % 13) - 6)
  const edges = type === 'float64' ? [0, -0, NaN, Infinity, -Infinity, 1e-310] : [0, -1, 1, -(2 ** 31), 2 ** 31 - 1]
  edges.slice(0, data.length >> 4).forEach((edge, i) => set((i * 7 + seed) % data.length, edge))
  return tensor
}

/** The same without zeros. */
function divisors(type: DType, dims: readonly number[], seed: number): Tensor {
  const tensor = numbers(type, dims, seed)
  const { data } = tensor as { data: BigInt64Array }
  for (let i = 0; i < data.length; i++) if (!data[i]) data[i] = (type === 'int64' ? -1n : -1) as never
  return tensor
}

const shapes: [number[], number[]][] = [
  [[1031], [1031]],
  [[40, 70], []],
  [[], [40, 71]],
  [
    [40, 7],
    [40, 1]
  ],
  [
    [2, 3, 5, 30],
    [3, 1, 30]
  ]
]

describe.each(['heap', 'array'] as const)('integers and float64 in WebAssembly, operands in an %s', region => {
  describe.each(['int32', 'uint32', 'int64', 'uint64', 'float64'] as const)('%s', type => {
    test.each(shapes)('sums, products and extremes equal the reference: %j with %j', (a, b) => {
      const operands = [numbers(type, a, 1), numbers(type, b, 2)]
      for (const name of ['Add', 'Sub', 'Mul']) expectEqual(onnx(name), operands, { region }, 0)
      for (const name of type === 'float64' ? ['Max', 'Min', 'Sum', 'Mean'] : ['Max', 'Min'])
        expectEqual(onnx(name, 13), [...operands, operands[0]], { region }, 0)
      for (const name of ['Maximum', 'Minimum']) expectEqual(openvino(name), operands, { region }, 0)
    })

    test('Clip between operands, one of them or none, and Relu, equal the reference', () => {
      // Several tiles, which all read the same bounds.
      const x = numbers(type, [70_001])
      const [low, high] = [3, 5].map(
        value => new Tensor(type, [type.endsWith('t64') && type !== 'float64' ? BigInt(value) : value] as never, [])
      )
      for (const bounds of [[low, high], [high, low], [undefined, high], [low]])
        expectEqual(onnx('Clip', 13), [x, ...bounds], { region }, 0)
      expectEqual(openvino('ReLU'), [x], { region }, 0)
    })
  })

  test('Clip of float64 has no bound where one is NaN', () => {
    const x = new Tensor(
      'float64',
      Float64Array.from(noise([301], 1).data, value => (value > 0.9 ? NaN : value)),
      [301]
    )
    const boundsOf = (...values: readonly number[]): Tensor[] => values.map(value => new Tensor('float64', [value], []))
    for (const bounds of [boundsOf(NaN, 0.5), boundsOf(-0.5, NaN), boundsOf(NaN, NaN), boundsOf(NaN)])
      expectEqual(onnx('Clip', 13), [x, ...bounds], { region }, 0)
  })

  test.each(['int8', 'uint8', 'int16', 'uint16'] as const)('%s: all functions that the type has', type => {
    for (const [a, b] of shapes) {
      const operands = [bits(type, a, 1), bits(type, b, 2)]
      for (const name of ['Add', 'Sub', 'Mul']) expectEqual(onnx(name), operands, { region }, 0)
      for (const name of ['BitwiseAnd', 'BitwiseOr', 'BitwiseXor']) expectEqual(onnx(name, 18), operands, { region }, 0)
      for (const name of ['Maximum', 'Minimum']) expectEqual(openvino(name), operands, { region }, 0)
      if (type.startsWith('u')) continue
      const parts = [operands[0], divisors(type, b, 2)]
      for (const name of ['Div', 'Mod']) expectEqual(onnx(name), parts, { region }, 0)
    }
    const x = bits(type, [1031], 3)
    const [low, high] = [3, 90].map(value => new Tensor(type, [value], []))
    for (const bounds of [[low, high], [high, low], [undefined, high], [low]])
      expectEqual(onnx('Clip', 13), [x, ...bounds], { region }, 0)
    expectEqual(openvino('ReLU'), [x], { region }, 0)
    if (!type.startsWith('u'))
      for (const name of ['Abs', 'Neg', 'Sign']) expectEqual(onnx(name, 13), [x], { region }, 0)
  })

  test.each(['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64'] as const)(
    '%s: bits that are shifted by any amount, below 0 and beyond the width too',
    type => {
      for (const [a, b] of shapes) {
        const amounts = bits(type, b, 2)
        const { data } = amounts as { data: Int32Array }
        for (let i = 0; i < data.length; i++) {
          const amount = (i * 7) % 70
          if (i % 5 !== 4) data[i] = (type.endsWith('64') ? BigInt(amount) : amount) as number
        }
        for (const name of ['BitwiseLeftShift', 'BitwiseRightShift'])
          expectEqual(openvino(name, 15), [bits(type, a, 1), amounts], { region }, 0)
      }
    }
  )

  test.each(['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64'] as const)(
    '%s: all bits changed, magnitudes and signs',
    type => {
      const x = bits(type, [1031], 5)
      x.data.fill((type.endsWith('64') ? 0n : 0) as never, 7, 40)
      for (const [name, version] of [
        ['BitwiseNot', 18],
        ['Abs', 13],
        ['Sign', 13]
      ] as const)
        expectEqual(onnx(name, version), [x], { region }, 0)
    }
  )

  test.each(['int32', 'int64', 'float64'] as const)('%s: quotients and functions of one number', type => {
    for (const [a, b] of shapes) expectEqual(onnx('Div'), [numbers(type, a, 1), divisors(type, b, 2)], { region }, 0)
    for (const name of ['Abs', 'Neg', 'Sign']) expectEqual(onnx(name, 13), [numbers(type, [1031])], { region }, 0)
  })

  test('float64: whole numbers nearby, ties to even ones, and roots', () => {
    const x = numbers('float64', [1031])
    const halves = new Tensor(
      'float64',
      (x.data as Float64Array).map(value => value / 4),
      [1031]
    )
    for (const given of [x, halves])
      for (const [name, version] of [
        ['Floor', 13],
        ['Ceil', 13],
        ['Round', 11],
        ['Sqrt', 13]
      ] as const)
        expectEqual(onnx(name, version), [given], { region }, 0)
  })

  test.each(['int32', 'int64'] as const)('%s: remainders with the sign of the divisor', type => {
    for (const [a, b] of shapes)
      expectEqual(onnx('Mod', 13), [numbers(type, a, 1), divisors(type, b, 2)], { region }, 0)
  })

  test.each(['int32', 'uint32', 'int64', 'uint64'] as const)('%s: bits', type => {
    for (const [a, b] of shapes)
      for (const name of ['BitwiseAnd', 'BitwiseOr', 'BitwiseXor'])
        expectEqual(onnx(name, 18), [bits(type, a, 1), bits(type, b, 2)], { region }, 0)
  })

  test('are shared by two threads', () => {
    const dims = [100_003]
    expectEqual(onnx('Mul'), [bits('int64', dims), bits('int64', dims, 2)], { region, threads: 2 }, 0)
  })

  test.each(['int32', 'int64'] as const)(
    '%s: a divisor that is 0 is named, also where the result lies over it',
    type => {
      const [a, b] = [numbers(type, [20, 30], 1), divisors(type, [20, 30], 2)]
      b.data[307] = (type === 'int64' ? 0n : 0) as never
      for (const over of [undefined, 1])
        for (const name of ['Div', 'Mod'])
          expect(() => runAccelerated(onnx(name, 13), [a, b], { region, over })).toThrow(
            'integer division by zero: the divisor at [10, 7] is 0'
          )
    }
  )
})

test('other forms of quotients and of other functions are left to the reference', () => {
  const none = 'no accelerated kernel is selected'
  const int32 = numbers('int32', [400])
  const ones = new Tensor('int32', new Int32Array(400).fill(1), [400])
  expect(() => runAccelerated(openvino('Divide'), [int32, ones])).toThrow(none)
  expect(() => runAccelerated(openvino('Clamp'), [int32], { attributes: { min: '-1.5', max: '2.5' } })).toThrow(none)
  const attributes = { mode: 'half_away_from_zero' }
  expect(() => runAccelerated(openvino('Round', 5), [numbers('float64', [400])], { attributes })).toThrow(none)
})

describe('Shrink of integers', () => {
  const types = ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64'] as const
  test.each(types)('equals the reference where the bias is whole: %s', type => {
    for (const [lambd, bias] of [
      [0.5, 0],
      [3, 2],
      [2.5, -300],
      ...(type.startsWith('u') ? [] : [[-2.5, 1]]),
      [1e30, 1],
      [Infinity, 7],
      [100, 2 ** 31]
    ])
      expectEqual(['onnx', 'Shrink', 9], [numbers(type, [1031])], { attributes: { lambd, bias } }, 0)
  })

  test('is left to the reference where the bias is a fraction, or bounds are beyond the type', () => {
    for (const attributes of [
      { lambd: 0.5, bias: 0.5 },
      { lambd: -1000, bias: 0 },
      { lambd: NaN, bias: 0 }
    ])
      expect(() => runAccelerated(['onnx', 'Shrink', 9], [numbers('int8', [300])], { attributes })).toThrow(
        'no accelerated kernel'
      )
  })
})

/** Whether two doubles are some units of the last place apart at most. */
function isWithin(a: number, b: number, units: number): boolean {
  if (Object.is(a, b)) return true
  const spacing = Math.max(2 ** (Math.floor(Math.log2(Math.abs(b))) - 52), 5e-324)
  return Math.abs(a - b) <= units * spacing
}

describe.each(['heap', 'array'] as const)('functions of float64 and of integers, operands in an %s', region => {
  test('Sigmoid of float64 is within 1e-15 of the reference', () => {
    for (const dims of [[128], [1031], [40, 70]]) {
      const x = numbers('float64', dims)
      expectEqual(onnx('Sigmoid', 13), [x], { region }, 1e-15)
      const small = new Tensor(
        'float64',
        Float64Array.from(x.data as Float64Array, (_, i) => (i % 101) / 3 - 16),
        dims
      )
      expectEqual(onnx('Sigmoid', 13), [small], { region }, 1e-15)
    }
  })

  test('Exp and Log of float64 are within 2 ulp of the reference, of every magnitude', () => {
    const odd = [0, -0, NaN, Infinity, -Infinity, 5e-324, -5e-324, 2.2250738585072014e-308, 1, -1, Number.MAX_VALUE]
    for (const dims of [[128], [1031], [40, 70]]) {
      const any = numbers('float64', dims).data as Float64Array
      const exponents = Float64Array.from(any, (_, i) => (i % 1511) - 755 + (i % 7) / 8)
      const near = Float64Array.from(any, (_, i) => 1 + (i - 60) / 512)
      const powers = exponents.map(Math.exp)
      for (const data of [any, exponents, near, powers]) {
        data.set(odd, 3)
        for (const name of ['Exp', 'Log']) {
          const x = new Tensor('float64', data, dims)
          const [found] = runAccelerated(onnx(name, 13), [x], { region }) as [Tensor]
          const expected = Float64Array.from(data, name === 'Exp' ? Math.exp : Math.log)
          const off = Array.from(found.data as Float64Array).flatMap((value, i) =>
            isWithin(value, expected[i], 2) ? [] : [[data[i], value, expected[i]]]
          )
          expect(off).toEqual([])
        }
      }
    }
  })

  test.each(['float16', 'bfloat16'] as const)(
    'Abs, Neg and Sign by bits equal the reference, and NaN stays NaN: %s',
    type => {
      const x = bits(type, [1031])
      const odd = [0, 0x8000, 1, 0x8001, 0x7c00, 0xfc00, 0x7f80, 0xff80]
      odd.forEach((code, i) => (x.data[i] = code))
      const isNaN = (tensor: Tensor): boolean[] => Array.from(convert(tensor, 'float32').data, Number.isNaN)
      const isNone = isNaN(x)
      const noNumbersOf = ({ data }: Tensor): unknown[] => Array.from(data as Uint16Array).filter((_, i) => isNone[i])
      for (const name of ['Abs', 'Neg', 'Sign']) {
        const [found] = runAccelerated(onnx(name, 13), [x], { region }) as [Tensor]
        expect(isNaN(found)).toEqual(isNone)
        // By way of float32 the bits of what is no number would change.
        if (name === 'Sign') expect(noNumbersOf(found)).toEqual(noNumbersOf(x))
        const finite = new Tensor(type, (x.data as Uint16Array).slice(), [1031])
        isNone.forEach((isOdd, i) => {
          if (isOdd) finite.data[i] = 0x8000
        })
        expectEqual(onnx(name, 13), [finite], { region }, 0)
      }
    }
  )

  test('Reciprocal of float64 equals the reference', () => {
    expectEqual(onnx('Reciprocal', 13), [numbers('float64', [1031])], { region }, 0)
  })

  test.each(['int32', 'int64', 'uint32', 'uint64', 'float64'] as const)('PRelu equals the reference: %s', type => {
    for (const slope of [[40, 70], [], [70], [40, 1]])
      expectEqual(onnx('PRelu', 16), [numbers(type, [40, 70]), numbers(type, slope, 2)], { region }, 0)
  })
})

/** Quotients, remainders with the sign of the divisor, and those with the sign of the dividend. */
const QUOTIENTS = [
  [onnx('Div'), {}],
  [onnx('Mod', 13), {}],
  [onnx('Mod', 13), { fmod: 1 }],
  [openvino('Mod'), {}]
] as const

test.each(['int8', 'uint8'] as const)('quotients and remainders of all pairs of %s equal the reference', type => {
  const all = Array.from({ length: 256 }, (_, i) => (type === 'int8' ? i - 128 : i))
  const divisors = all.filter(value => value !== 0)
  const [a, b] = [new Tensor(type, all, [256, 1]), new Tensor(type, divisors, [255])]
  for (const [kind, attributes] of QUOTIENTS) {
    expectEqual(kind, [a, b], { attributes }, 0)
    expectEqual(kind, [new Tensor(type, all, [256]), new Tensor(type, divisors, [255, 1])], { attributes }, 0)
  }
})

const INTEGERS = ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64'] as const

test('quotients and remainders of any integers and dims equal the reference, and divisors of 0 are named', () => {
  const call = fc.record({
    type: fc.constantFrom(...INTEGERS),
    dims: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 3 }),
    spreads: fc.array(fc.constantFrom('both', 'a', 'b'), { minLength: 3, maxLength: 3 }),
    small: fc.boolean(),
    which: fc.constantFrom(...QUOTIENTS),
    hasZero: fc.boolean(),
    region: fc.constantFrom('heap' as const, 'array' as const)
  })
  fc.assert(
    fc.property(call, ({ type, dims, spreads, small, which: [kind, attributes], hasZero, region }) => {
      fc.pre(dims.reduce((product, dim) => product * dim, 1) >= 128)
      const of = (name: string, seed: number): Tensor => {
        const tensor = bits(
          type,
          dims.map((dim, i) => (spreads[i] === 'both' || spreads[i] === name ? dim : 1)),
          seed
        )
        const few = (value: unknown): unknown =>
          typeof value === 'bigint' ? BigInt.asIntN(4, value) : (value as number) % 8
        if (small) tensor.data.forEach((value: unknown, i: number) => (tensor.data[i] = few(value) as never))
        return tensor
      }
      const [a, b] = [of('a', 1), of('b', 2)]
      const [zero, one] = type.endsWith('64') ? [0n, 1n] : [0, 1]
      b.data.forEach((value: unknown, i: number) => {
        if (value === zero) b.data[i] = one as never
      })
      fc.pre(a.dims.some((dim, i) => dim === dims[i]))
      if (hasZero) b.data[b.data.length - 1] = zero as never
      const run = (): void => expectEqual(kind, [a, b], { region, attributes }, 0)
      if (hasZero) expect(run).toThrow('integer division by zero')
      else run()
    }),
    { numRuns: 300 }
  )
})
