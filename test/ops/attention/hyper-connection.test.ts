import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'

const kind = (type: string): Kind => ['onnx', type, 1, 'com.microsoft']
const list = (values: number[], ...dims: number[]): Tensor => new Tensor('float32', values, dims)

describe('HyperConnectionPreMix', () => {
  const streams = list([1, 2, 3, 4], 1, 2, 2)
  const sum = (mix: Tensor, given = streams, attributes = {}): Tensor =>
    runTensor(kind('HyperConnectionPreMix'), [given, mix], { attributes })

  test('sums streams by a factor each, or by one for each element', () => {
    expectNear(sum(list([10, 1], 1, 2)), [13, 24])
    expectNear(sum(list([10, 1], 1, 2, 1), streams, { reduction_scale: 0.5 }), [6.5, 12])
    expectNear(sum(list([1, 0, 0, 1], 1, 2, 2)), [1, 4])
  })

  test('streams may lie side by side', () => {
    const flat = list([1, 2, 3, 4], 1, 4)
    expectNear(sum(list([10, 1], 1, 2), flat, { num_branches: 2 }), [13, 24])
    expectNear(sum(list([1, 0, 0, 1], 1, 4), flat, { num_branches: 2 }), [1, 4])
    expect(errorOf(() => sum(list([1], 1, 1), flat, { num_branches: 3 })).code).toBe('dims-mismatch')
    expect(errorOf(() => sum(list([1], 1, 1), flat, { num_branches: -1 })).code).toBe('unknown-attribute-value')
  })

  test('factors must fit; shapes stay symbolic', () => {
    expect(errorOf(() => sum(list([1, 2, 3], 1, 3))).code).toBe('dims-mismatch')
    expect(errorOf(() => sum(list([1, 2, 3, 4], 1, 4))).code).toBe('dims-mismatch')
    expect(errorOf(() => sum(list([1]), list([1], 1))).code).toBe('rank-mismatch')
    const facts = [fact('float16', ['b', 's', 4, 8]), fact('float32', ['b', 's', 4])]
    expect(inferOp(kind('HyperConnectionPreMix'), facts).map(dimsOf)).toEqual([['b', 's', 8]])
  })
})

describe('HyperConnectionPostMix', () => {
  const inputs = [list([1, 2, 3, 4], 1, 2, 2), list([10, 20], 1, 2), list([1, -1], 1, 2)]

  test('adds what the block gives to each stream', () => {
    expectNear(runTensor(kind('HyperConnectionPostMix'), inputs), [11, 22, -7, -16])
    const elements = inputs.with(2, list([1, 0, 0, 1], 1, 2, 2))
    expectNear(runTensor(kind('HyperConnectionPostMix'), elements), [11, 2, 3, 24])
  })

  test('streams are mixed before', () => {
    const mix = list([1, 2, 0, 1], 1, 2, 2)
    expectNear(runTensor(kind('HyperConnectionPostMix'), [...inputs, mix]), [11, 22, -5, -12])
    const flat = [list([1, 2, 3, 4], 1, 4), ...inputs.slice(1), mix]
    const out = runTensor(kind('HyperConnectionPostMix'), flat, { attributes: { num_branches: 2 } })
    expect(out.dims).toEqual([1, 4])
    expectNear(out, [11, 22, -5, -12])
  })

  test('operands must fit', () => {
    const code = (at: number, tensor: Tensor): string =>
      errorOf(() => runTensor(kind('HyperConnectionPostMix'), inputs.with(at, tensor))).code
    expect(code(1, list([1], 1, 1))).toBe('dims-mismatch')
    expect(code(2, list([1, 2, 3], 1, 3))).toBe('dims-mismatch')
    expect(errorOf(() => runTensor(kind('HyperConnectionPostMix'), [...inputs, list([1, 2], 1, 2)])).code).toBe(
      'rank-mismatch'
    )
  })
})
