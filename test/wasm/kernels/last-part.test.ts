import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import type { Kind } from '../../ops/harness.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

const GEMM: Kind = ['onnx', 'FusedGemm', 1, 'com.microsoft']
const CONV: Kind = ['onnx', 'FusedConv', 1, 'com.microsoft']

describe.each(['heap', 'array'] as const)('activations that the reference applies, operands in an %s', region => {
  test.each([
    ['Softplus', {}],
    ['Softsign', {}],
    ['ThresholdedRelu', { activation_alpha: 0.5 }],
    ['Selu', { activation_alpha: 1.5, activation_gamma: 1.1 }]
  ])('FusedGemm with %s', (activation, numbers) => {
    const attributes = { activation, alpha: 0.5, transB: 1, ...numbers }
    const inputs = [noise([33, 70], 1), noise([40, 70], 2), noise([40], 3)]
    expectEqual(GEMM, inputs, { region, attributes })
    expectEqual(GEMM, inputs, { region, attributes, constants: { b: 1, c: 2 } })
    expectEqual(GEMM, inputs.slice(0, 2), { region, attributes, constants: { b: 1 } })
    expectEqual(GEMM, [...inputs.slice(0, 2), noise([33, 40], 4)], { region, attributes })
  })

  test('FusedConv with Softplus, after a bias and a tensor are added', () => {
    const inputs = [noise([1, 16, 12, 12], 1), noise([16, 16, 3, 3], 2, 0.2), noise([16], 3), noise([1, 16, 10, 10], 4)]
    const attributes = { activation: 'Softplus' }
    expectEqual(CONV, inputs, { region, attributes }, 2e-6)
    expectEqual(CONV, inputs, { region, attributes, constants: { w: 1, b: 2 } }, 2e-6)
    expectEqual(CONV, inputs.slice(0, 3), { region, attributes, constants: { w: 1, b: 2 } }, 2e-6)
  })

  test('of float16', () => {
    const inputs = [noise([33, 70], 1), noise([70, 40], 2)].map(tensor => convert(tensor, 'float16'))
    const options = { region, attributes: { activation: 'Softplus' } }
    // Results are compared as codes, of which 1,024 are one power of two.
    expectEqual(GEMM, inputs, options, 1 / 0x4000)
  })
})

test('where no kernel computes what comes before, none is selected', () => {
  const attributes = { activation: 'Softplus' }
  const inputs = [noise([2, 3], 1), noise([3, 2], 2), noise([2], 3)]
  expect(() => runAccelerated(GEMM, inputs, { attributes })).toThrow('no accelerated kernel')
})
