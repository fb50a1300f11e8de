import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { runOp } from '../../ops/harness.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

describe.each(['heap', 'array'] as const)('%s: sines and cosines of float32 in WebAssembly', region => {
  test.each(['Sin', 'Cos'])('%s equals the reference', name => {
    const kind = ['onnx', name, 22] as const
    for (const scale of [0.01, 1, 10, 1000, 65_000]) expectEqual(kind, [noise([4099], 1, scale)], { region }, 2e-7)
    const x = noise([2051], 3, 50)
    ;[0, -0, NaN, 1e-40, -1e-30, Math.PI, Math.PI / 2, 65_536].forEach((edge, i) => {
      x.data[i * 250] = edge
    })
    expectEqual(kind, [x], { region }, 2e-7)
  })

  test('large and infinite angles are computed by the reference', () => {
    for (const edge of [70_000, -1e30, Infinity]) {
      const x = noise([2051], 3)
      x.data[2050] = edge
      for (const name of ['Sin', 'Cos']) expectEqual(['onnx', name, 22], [x], { region }, 0)
    }
  })

  // An angle that is too large for the kernel stops it when other elements have been written.
  test.each(['Sin', 'Cos', 'Tan'])('%s over its operand, with a large angle', name => {
    const kind = ['onnx', name, 22] as const
    for (const at of [0, 700, 2050]) {
      const x = noise([2051], 3)
      x.data[at] = 70_000
      const expected = runOp(kind, [x])
      const given = new Tensor('float32', x.data.slice(), x.dims)
      expect(runAccelerated(kind, [given], { region, over: 0 })).toEqual(expected)
    }
  })

  test('Tan equals the reference', () => {
    const kind = ['onnx', 'Tan', 7] as const
    for (const scale of [0.01, 1, 1.4]) expectEqual(kind, [noise([4099], 1, scale)], { region }, 2e-7)
    // Of angles near a pole each one is held to its own magnitude.
    const x = noise([4099], 2, 300)
    ;[0, -0, NaN, 1e-40, -1e-30, Math.PI, Math.PI / 2, 65_536, -Math.PI / 2, -65_000].forEach((edge, i) => {
      x.data[i * 250] = edge
    })
    const [found] = runAccelerated(kind, [x], { region }) as Tensor<'float32'>[]
    const [expected] = runOp(kind, [x]) as Tensor<'float32'>[]
    expected.data.forEach((value, i) => {
      if (Number.isNaN(value)) expect(found.data[i]).toBeNaN()
      else expect(Math.abs(found.data[i] - value)).toBeLessThanOrEqual(3e-7 * Math.abs(value))
    })
    expect(found.data[250]).toBe(-0)
    x.data[4098] = 70_000
    expectEqual(kind, [x], { region }, 0)
  })

  test('Tan of large angles next to its poles and zeros has all digits', () => {
    // The first three are next to odd multiples of a quarter turn, which are poles; the others are next to even ones.
    const near = [52_516.43359375, 56_993.203125, 48_039.6640625, 53_721.234375, 26_860.6171875, 710]
    const x = new Tensor('float32', [...near, ...new Array<number>(2048).fill(1), ...near], [2048 + 2 * near.length])
    const [found] = runAccelerated(['onnx', 'Tan', 7], [x], { region }) as Tensor<'float32'>[]
    for (const place of [0, near.length + 2048])
      near.forEach((angle, i) => {
        expect(Math.abs(found.data[place + i] / Math.tan(angle) - 1)).toBeLessThanOrEqual(3e-7)
      })
  })

  test('sines of zeros keep their sign', () => {
    const zeros = new Tensor('float32', new Float32Array(2048).fill(-0), [2048])
    const [out] = runAccelerated(['onnx', 'Sin', 22], [zeros], { region }) as Tensor[]
    expect(out.data[2047]).toBe(-0)
  })
})
