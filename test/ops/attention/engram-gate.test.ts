import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { errorOf, type Kind, runOp, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'

const kind = (type: string): Kind => ['onnx', type, 1, 'com.microsoft']
const list = (values: number[], ...dims: number[]): Tensor => new Tensor('float32', values, dims)
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))

describe('EngramGate', () => {
  // Rows (3, 4) and (0, 0) are normalized by the root of 12.5 and of the epsilon.
  const inputs = [
    list([3, 4, 0, 0], 1, 1, 2, 2),
    list([3, 4, 1, 1], 1, 1, 2, 2),
    list([2, -2], 1, 1, 2),
    list([1, 1, 1, 1], 2, 2),
    list([1, 1, 1, 1], 2, 2)
  ]

  test('gates a value that branches share by the signed root of the product', () => {
    const gate = sigmoid(Math.sqrt(2 / Math.sqrt(2)))
    const out = runTensor(kind('EngramGate'), inputs, { attributes: { epsilon: 1e-12 } })
    // A product of 0 has no sign, so its gate is a half.
    expectNear(out, [2 * gate, -2 * gate, 1, -1])
    const against = inputs.with(3, list([-1, -1, 1, 1], 2, 2))
    expectNear(runTensor(kind('EngramGate'), against, { attributes: { epsilon: 1e-12 } }), [
      2 * (1 - gate),
      -2 * (1 - gate),
      1,
      -1
    ])
  })

  test('the second result is normalized', () => {
    const given = [...inputs, list([1, 2, 3, 4], 2, 2)]
    const [, normed] = runOp(kind('EngramGate'), given, { attributes: { epsilon: 1e-12 }, outputs: 2 }) as Tensor[]
    expectNear(normed, [1, -2, 3, -4])
    expect(errorOf(() => runOp(kind('EngramGate'), inputs, { outputs: 2 })).code).toBe('missing-input')
  })

  test('operands must fit', () => {
    const code = (at: number, tensor: Tensor): string =>
      errorOf(() => runTensor(kind('EngramGate'), inputs.with(at, tensor))).code
    expect(code(0, list([1, 2], 1, 1, 2))).toBe('rank-mismatch')
    expect(code(1, list([1, 2], 1, 1, 1, 2))).toBe('dims-mismatch')
    expect(code(2, list([1], 1, 1, 1))).toBe('dims-mismatch')
    expect(code(3, list([1, 2], 2))).toBe('rank-mismatch')
  })
})
