import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp } from '../harness.ts'
import { expectNear } from '../near.ts'

const kind = (type: string): Kind => ['onnx', type, 1, 'com.microsoft']
const list = (values: number[], ...dims: number[]): Tensor => new Tensor('float32', values, dims)
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))

describe('LinearAttentionGate', () => {
  const inputs = [list([0, 1, -1, 2], 1, 2, 2), list([1, -1], 2), list([-2, 3], 2)]

  test('decays by a softplus of each head, and gives rates', () => {
    const b = list([0, 1, -50, 50], 1, 2, 2)
    const [decay, beta] = runOp(kind('LinearAttentionGate'), [...inputs, b], { outputs: 2 }) as Tensor[]
    const softplus = (x: number): number => Math.log(1 + Math.exp(x))
    expectNear(decay, [-2 * softplus(1), 3 * softplus(0), -2 * softplus(0), 3 * softplus(1)])
    expectNear(beta, [0.5, sigmoid(1), 0, 1])
  })

  test('operands must fit', () => {
    const code = (given: Tensor[], outputs = 1): string =>
      errorOf(() => runOp(kind('LinearAttentionGate'), given, { outputs })).code
    expect(code(inputs, 2)).toBe('missing-input')
    expect(code([inputs[0], list([1], 1), inputs[2]])).toBe('dims-mismatch')
    expect(code([...inputs, list([1, 2], 1, 2, 1)])).toBe('dims-mismatch')
    expect(code([list([1]), list([1], 1), list([1], 1)])).toBe('rank-mismatch')
    const facts = [fact('float16', ['b', 't', 4]), fact('float32', [4]), fact('float32', [4]), fact('float16')]
    expect(inferOp(kind('LinearAttentionGate'), facts, { outputs: 2 }).map(dimsOf)).toEqual([
      ['b', 't', 4],
      ['b', 't', 4]
    ])
  })
})
