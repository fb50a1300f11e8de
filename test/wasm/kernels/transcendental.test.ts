import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { runOp } from '../../ops/harness.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

const NAMES = ['Asin', 'Acos', 'Atan', 'Sinh', 'Cosh', 'Asinh', 'Acosh', 'Atanh']
const EDGES = [0, -0, NaN, Infinity, -Infinity, 1, -1, 0.5, -0.5, 1e-40, -1e-30, 1e-5, 1.0000001, 3e38, -3e38, 2, -2]

/** Numbers of all magnitudes, both signs, and edges. */
function numbers(): Tensor<'float32'> {
  const x = noise([5003], 1, 40)
  for (let i = 0; i < x.data.length; i++) x.data[i] = Math.sign(x.data[i]) * Math.exp(x.data[i])
  EDGES.forEach((edge, i) => {
    x.data[i * 17] = edge
  })
  return x
}

describe.each(['heap', 'array'] as const)('%s: transcendental functions of float32 in WebAssembly', region => {
  test.each(NAMES)('%s equals the reference, each element by its own magnitude', name => {
    const kind = ['onnx', name, name.endsWith('h') ? 9 : 7] as const
    const near = noise([4099], 2)
    const above = new Tensor(
      'float32',
      near.data.map(value => 1 + Math.abs(value)),
      [4099]
    )
    for (const x of [near, above, noise([4099], 3, 5), noise([4099], 4, 90), numbers()]) {
      const [found] = runAccelerated(kind, [x], { region }) as Tensor<'float32'>[]
      const [expected] = runOp(kind, [x]) as Tensor<'float32'>[]
      let worst = 0
      for (let i = 0; i < x.data.length; i++) {
        const [value, other] = [expected.data[i], found.data[i]]
        if (Object.is(value, other)) continue
        // Near its zero at 1 an arccosine is as exact as pi/2 is.
        const size = name === 'Acos' ? Math.max(Math.abs(value), 0.1) : Math.abs(value)
        const error = Math.abs(value - other) / size
        worst = Math.max(worst, Number.isNaN(error) ? Infinity : error)
      }
      expect(worst).toBeLessThan(4e-7)
    }
  })

  test.each(NAMES)('%s is shared by two threads, and leaves short operands to the reference', name => {
    const kind = ['onnx', name, name.endsWith('h') ? 9 : 7] as const
    const x = new Tensor(
      'float32',
      noise([100_000], 5).data.map(value => (name === 'Acosh' ? 2 + value : value)),
      [100_000]
    )
    expectEqual(kind, [x], { region, threads: 2 }, 2e-7)
    expect(() => runAccelerated(kind, [noise([100], 1)])).toThrow('no accelerated')
  })
})
