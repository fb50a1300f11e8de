import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor, type Value } from '../../../src/tensor/tensor.ts'
import { runOp } from '../../ops/harness.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

const holes = (dims: readonly number[], seed: number): Tensor =>
  new Tensor(
    'float32',
    noise(dims, seed, 2).data.map((value, i) => (i % 7 === seed ? NaN : i % 11 === seed ? -0 : value)),
    dims
  )

describe.each(['heap', 'array'] as const)('Max, Min, Sum and Mean in WebAssembly, operands in an %s', region => {
  describe.each(['Max', 'Min', 'Sum', 'Mean'])('%s is the same, bit for bit, as the reference', name => {
    test.each([
      [
        'two',
        [
          [6, 40],
          [6, 40]
        ]
      ],
      ['three that are broadcast, the first too', [[40], [6, 1], [3, 1, 40]]],
      ['five, a scalar among them', [[4, 6, 40], [], [6, 40], [4, 1, 1], [40]]]
    ])('%s operands', (_, shapes) => {
      expectEqual(
        ['onnx', name, 13],
        shapes.map((dims, i) => holes(dims, i + 1)),
        { region },
        0
      )
    })
  })
})

test('one operand and few elements are left to the reference', () => {
  const run =
    (...inputs: Tensor[]) =>
    () =>
      runAccelerated(['onnx', 'Max', 13], inputs)
  const refused = 'no accelerated kernel is selected'
  expect(run(noise([400], 1))).toThrow(refused)
  expect(run(noise([20], 1), noise([20], 2))).toThrow(refused)
})

const list = fc.record({
  type: fc.constantFrom('float16', 'bfloat16'),
  name: fc.constantFrom('Max', 'Min', 'Sum', 'Mean'),
  dims: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 3 }),
  ones: fc.array(fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }), { minLength: 2, maxLength: 5 }),
  region: fc.constantFrom('heap' as const, 'array' as const),
  threads: fc.constantFrom(1, 2)
})

test('lists of floats of 16 bits, broadcast in any way, give what the reference gives', () => {
  fc.assert(
    fc.property(list, ({ type, name, dims, ones, region, threads }) => {
      const inputs = ones.map((isOne, i) => {
        const own = dims.map((dim, axis) => (isOne[axis] ? 1 : dim))
        return convert(holes(own.slice(i % 2 && own[0] === 1 ? 1 : 0), i + 1), type)
      })
      const rank = Math.max(...inputs.map(input => input.dims.length))
      const sizes = Array.from({ length: rank }, (_, axis) =>
        Math.max(...inputs.map(input => input.dims.at(axis - rank) ?? 1))
      )
      fc.pre(sizes.reduce((product, dim) => product * dim, 1) >= 128)
      // Sums of more than two are rounded as float32 first.
      const isExact = inputs.length === 2 || (name.startsWith('M') && name !== 'Mean')
      const options = { region, threads }
      const [expected, found] = [runOp(['onnx', name, 13], inputs), runAccelerated(['onnx', name, 13], inputs, options)]
      const numbers = ([value]: readonly Value[]): ArrayLike<number> => convert(value as Tensor, 'float64').data
      const [a, b] = [numbers(expected), numbers(found)]
      for (let i = 0; i < a.length; i++) {
        if (Object.is(a[i], b[i]) || a[i] === b[i]) continue
        const unit = Math.max(Math.abs(a[i]) * (type === 'float16' ? 2 ** -10 : 2 ** -7), 2 ** -24)
        expect(isExact ? NaN : Math.abs(a[i] - b[i])).toBeLessThanOrEqual(unit)
      }
    }),
    { numRuns: 300 }
  )
})
