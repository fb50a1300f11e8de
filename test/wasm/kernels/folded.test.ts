import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
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

test('one operand, few elements and other types are left to the reference', () => {
  const run =
    (...inputs: Tensor[]) =>
    () =>
      runAccelerated(['onnx', 'Max', 13], inputs)
  const halves = new Tensor('float16', new Uint16Array(400), [400])
  const refused = 'no accelerated kernel is selected'
  expect(run(noise([400], 1))).toThrow(refused)
  expect(run(noise([20], 1), noise([20], 2))).toThrow(refused)
  expect(run(halves, halves)).toThrow(refused)
})
