import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { product, Tensor } from '../../../src/tensor/tensor.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

const KIND = ['onnx', 'SoftmaxCrossEntropyLoss', 13] as const

describe.each(['heap', 'array'] as const)('SoftmaxCrossEntropyLoss in WebAssembly, operands in an %s', region => {
  test('equals the reference: any dims, reductions, weights and ignored labels', () => {
    const size = fc.integer({ min: 1, max: 9 })
    const reductions = fc.constantFrom('none', 'sum', 'mean')
    const flags = fc.tuple(fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean())
    fc.assert(
      fc.property(size, size, fc.array(size, { maxLength: 2 }), reductions, flags, (n, few, more, reduction, given) => {
        const [isWide, isWeighted, isIgnoring, hasLogarithms] = given
        const classes = 256 + few
        const [dims, ofLabels] = [
          [n, classes, ...more],
          [n, ...more]
        ]
        const type = isWide ? 'float64' : 'float32'
        const scores = new Tensor(type, Array.from(noise(dims, few, 9).data), dims)
        const labels = new Tensor(
          'int32',
          Array.from({ length: product(ofLabels) }, (_, i) => (i * 37) % classes),
          ofLabels
        )
        if (isIgnoring) labels.data[0] = -1
        const weights = isWeighted
          ? new Tensor(type, Array.from(noise([classes], 5).data, Math.abs), [classes])
          : undefined
        const attributes = { reduction, ...(isIgnoring && { ignore_index: -1 }) }
        const outputs = hasLogarithms ? 2 : 1
        // Of the one label that is ignored there is no mean.
        fc.pre(!(isIgnoring && reduction === 'mean' && labels.data.length === 1))
        expectEqual(KIND, [scores, labels, weights], { region, attributes, outputs }, isWide ? 1e-14 : 2e-6)
      }),
      { numRuns: 60 }
    )
  })

  test('a label that is out of range is named', () => {
    const labels = new Tensor('int64', new BigInt64Array([5n, 300n]), [2])
    expect(() => runAccelerated(KIND, [noise([2, 300], 1), labels], { region })).toThrow('300')
  })

  test('scores of float16, and few, equal the reference or are left to it', () => {
    const labels = new Tensor('int32', [3, 299], [2])
    const halves = new Tensor('float16', Array.from(noise([2, 300], 1).data), [2, 300])
    expectEqual(KIND, [halves, labels], { region, outputs: 2 }, 1e-3)
    expect(() => runAccelerated(KIND, [noise([2, 5], 1), new Tensor('int32', [3, 4], [2])], { region })).toThrow(
      'no accelerated kernel'
    )
  })
})
