import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runOp, runTensor } from '../harness.ts'
import { ints } from '../values.ts'

const NLL: Kind = ['onnx', 'NegativeLogLikelihoodLoss', 22]
const SCE: Kind = ['onnx', 'SoftmaxCrossEntropyLoss', 13]

describe('NegativeLogLikelihoodLoss', () => {
  // The examples of the specification.
  const scores = new Tensor('float32', [1, 2, 2, 2, 3, 2, 0, 1, 2, 2, 1, 2], [2, 3, 2])
  const labels = new Tensor('int32', [2, 1, 0, 2], [2, 2])
  const weights = new Tensor('float32', [0.2, 0.3, 0.1])
  const loss = (given: (Tensor | undefined)[], attributes: Record<string, number | string> = {}): number[] => [
    ...(runTensor(NLL, given, { attributes }).data as Float32Array)
  ]

  test('is the negative score of each label', () => {
    const out = runTensor(NLL, [scores, labels], { attributes: { reduction: 'none' } })
    expect(out.dims).toEqual([2, 2])
    expect([...out.data].map(value => Math.abs(value as number))).toEqual([3, 2, 0, 2])
  })

  test('is weighted by the label, and a mean divides by the weights', () => {
    expect(loss([scores, labels, weights], { reduction: 'sum' })[0]).toBeCloseTo(-1.1, 6)
    expect(loss([scores, labels, weights])[0]).toBeCloseTo(-1.5714286, 6)
    expect(loss([scores, labels])[0]).toBeCloseTo(-1.75, 6)
  })

  test('leaves out ignored labels, and their weights', () => {
    expect(loss([scores, labels], { reduction: 'none', ignore_index: 2 }).map(Math.abs)).toEqual([0, 2, 0, 0])
    expect(loss([scores, labels], { ignore_index: 2 })[0]).toBeCloseTo(-1, 6)
    expect(loss([scores, new Tensor('int32', [-1, -1, -1, -1], [2, 2])], { ignore_index: -1 })).toEqual([NaN])
  })

  test('takes scores of rank 2 and more', () => {
    expect(loss([new Tensor('float32', [1, 2, 3, 4], [2, 2]), ints(1, 0)], { reduction: 'none' })).toEqual([-2, -3])
    const deep = new Tensor('float32', [1, 2, 3, 4, 5, 6, 7, 8], [1, 2, 2, 2])
    expect(loss([deep, new Tensor('int64', [0n, 1n, 1n, 0n], [1, 2, 2])], { reduction: 'none' })).toEqual([
      -1, -6, -7, -4
    ])
  })

  test('names a label that is no class', () => {
    const error = errorOf(() => loss([scores, new Tensor('int32', [0, 1, 3, 0], [2, 2])]))
    expect(error).toMatchObject({
      code: 'index-out-of-range',
      details: { index: '3', position: [1, 0], axis: 1, size: 3 }
    })
    expect(errorOf(() => inferOp(NLL, [fact('float32', ['n', 3]), ints(-1)])).code).toBe('index-out-of-range')
  })

  test('has the shape of the labels, or none when reduced', () => {
    expect(
      dimsOf(
        inferOp(NLL, [fact('float32', ['n', 3, 'd']), fact('int64', ['?', 5])], {
          attributes: { reduction: 'none' }
        })[0]
      )
    ).toEqual(['n', 5])
    expect(dimsOf(inferOp(NLL, [fact('float32', ['n', 3]), fact('int64', ['n'])])[0])).toEqual([])
    expect(errorOf(() => inferOp(NLL, [fact('float32', [2, 3]), fact('int64', [3])])).code).toBe('shape-mismatch')
    expect(errorOf(() => inferOp(NLL, [fact('float32', [2, 3]), fact('int64', [2]), fact('float32', [2])])).code).toBe(
      'shape-mismatch'
    )
    expect(errorOf(() => inferOp(NLL, [fact('float32', [3]), fact('int64', [3])])).code).toBe('rank-mismatch')
  })
})

describe('SoftmaxCrossEntropyLoss', () => {
  const scores = new Tensor('float32', [0, Math.log(3), 1000, 0], [2, 2])

  test('is the loss of the logarithms of softmax, which are the second result', () => {
    const [loss, logarithms] = runOp(SCE, [scores, ints(1, 1)], {
      attributes: { reduction: 'none' },
      outputs: 2
    }) as Tensor[]
    expect((loss.data as Float32Array)[0]).toBeCloseTo(-Math.log(0.75), 6)
    expect((loss.data as Float32Array)[1]).toBe(1000)
    expect(logarithms.dims).toEqual([2, 2])
    expect((logarithms.data as Float32Array)[0]).toBeCloseTo(Math.log(0.25), 6)
  })

  test('float16 is rounded once', () => {
    const half = convert(new Tensor('float32', [1, 2, 3], [1, 3]), 'float16')
    expect(convert(runTensor(SCE, [half, ints(0)]), 'float32').data[0]).toBe(
      convert(convert(new Tensor('float64', [2.40760596444438], []), 'float16'), 'float32').data[0]
    )
  })

  test('means are weighted', () => {
    const weights = new Tensor('float32', [1, 3])
    const out = runTensor(SCE, [new Tensor('float32', [0, 0, 0, 0], [2, 2]), ints(0, 1), weights])
    expect(out).toMatchObject({ dims: [] })
    expect((out.data as Float32Array)[0]).toBeCloseTo(Math.LN2, 6)
  })
})
