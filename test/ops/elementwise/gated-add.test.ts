import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { errorOf, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'

const kind = (type: string): Kind => ['onnx', type, 1, 'com.microsoft']
const list = (values: number[], ...dims: number[]): Tensor => new Tensor('float32', values, dims)

describe('GatedAdd', () => {
  test('adds rows, each times its gate', () => {
    const inputs = [list([1, 2, 3, 4], 2, 2), list([10, 20, 30, 40], 2, 2), list([0.1, -1], 2, 1)]
    expectNear(runTensor(kind('GatedAdd'), inputs), [2, 4, -27, -36])
    const code = (at: number, tensor: Tensor): string =>
      errorOf(() => runTensor(kind('GatedAdd'), inputs.with(at, tensor))).code
    expect(code(1, list([1, 2], 2))).toBe('rank-mismatch')
    expect(code(2, list([1, 2], 2))).toBe('rank-mismatch')
    expect(code(2, list([1, 2, 3, 4], 2, 2))).toBe('dims-mismatch')
    expect(code(0, list([1]))).toBe('rank-mismatch')
    expect(runTensor(kind('GatedAdd'), [list([], 0, 2), list([], 0, 2), list([], 0, 1)]).dims).toEqual([0, 2])
  })
})
