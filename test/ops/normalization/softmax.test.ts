import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { convert } from '../../../src/tensor/convert.ts'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { iota } from '../values.ts'

const softmax = (values: number[]): number[] => {
  const powers = values.map(Math.exp)
  return powers.map(power => power / powers.reduce((a, b) => a + b))
}

describe('ONNX Softmax', () => {
  test('along one axis from version 13 on', () => {
    const out = runTensor(['onnx', 'Softmax', 13], [iota([2, 2])], { attributes: { axis: 0 } })
    expectNear(out, [softmax([0, 2])[0], softmax([1, 3])[0], softmax([0, 2])[1], softmax([1, 3])[1]])
    expectNear(runTensor(['onnx', 'Softmax', 13], [iota([2, 2])]), [...softmax([0, 1]), ...softmax([2, 3])])
  })

  test('over all axes from the given one on before version 13', () => {
    expectNear(runTensor(['onnx', 'Softmax', 11], [iota([2, 2, 2])]), [
      ...softmax([0, 1, 2, 3]),
      ...softmax([4, 5, 6, 7])
    ])
    expectNear(runTensor(['onnx', 'Softmax', 1], [iota([2, 2])], { attributes: { axis: 0 } }), softmax([0, 1, 2, 3]))
  })

  test('does not overflow', () => {
    expectNear(runTensor(['onnx', 'Softmax', 13], [new Tensor('float32', [1000, 1000, -Infinity])]), [0.5, 0.5, 0])
    expectNear(runTensor(['onnx', 'LogSoftmax', 13], [new Tensor('float32', [1000, 1000])]), [-Math.LN2, -Math.LN2])
  })

  test.each(['float16', 'bfloat16'] as const)('sums as many %s as a line has', type => {
    const x = convert(new Tensor('float32', new Float32Array(2000).fill(1)), type)
    const out = runTensor(['onnx', 'Softmax', 13], [x])
    expectNear(convert(out, 'float32'), new Array<number>(2000).fill(1 / 2000), 2 ** -8 / 2000)
  })

  test.each([3e7, 1e30, 1e308])('LogSoftmax of two elements of %d is that of two ones', large => {
    const logarithms = runTensor(['onnx', 'LogSoftmax', 13], [new Tensor('float64', [large, large])])
    expect([...logarithms.data]).toEqual([-Math.LN2, -Math.LN2])
  })

  test('LogSoftmax is its logarithm, Hardmax marks the first of the highest', () => {
    expectNear(runTensor(['onnx', 'LogSoftmax', 13], [iota([3])]), softmax([0, 1, 2]).map(Math.log))
    expect([...runTensor(['onnx', 'Hardmax', 13], [new Tensor('float32', [1, 3, 3, 2, 2, 2], [2, 3])]).data]).toEqual([
      0, 1, 0, 1, 0, 0
    ])
    expect([...runTensor(['onnx', 'Hardmax', 11], [new Tensor('float32', [1, 3, 3, 2], [1, 2, 2])]).data]).toEqual([
      0, 1, 0, 0
    ])
  })

  test('Hardmax along any axis has one 1 in each line, where its first highest element is', () => {
    const dims = fc.tuple(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 40 }),
      fc.integer({ min: 1, max: 5 })
    )
    const elements = fc.infiniteStream(fc.constantFrom(-Infinity, -1, 0, 2, 3, NaN))
    fc.assert(
      fc.property(dims, elements, fc.constantFrom('float32' as const, 'float16' as const), (shape, stream, type) => {
        const [outer, size, inner] = shape
        const values = [...stream.take(outer * size * inner)]
        const x = convert(new Tensor('float32', values, shape), type)
        const wanted = new Array<number>(values.length).fill(0)
        for (let o = 0; o < outer; o++) {
          for (let i = 0; i < inner; i++) {
            const at = (n: number): number => (o * size + n) * inner + i
            let first = 0
            for (let n = 1; n < size; n++) if (values[at(n)] > values[at(first)]) first = n
            wanted[at(first)] = 1
          }
        }
        const out = runTensor(['onnx', 'Hardmax', 13], [x], { attributes: { axis: 1 } })
        expect([...convert(out, 'float32').data]).toEqual(wanted)
      }),
      { numRuns: 60, seed: 4 }
    )
  })

  test('empty tensors and far axes', () => {
    expect(runTensor(['onnx', 'Softmax', 13], [allocate('float32', [0, 3])]).dims).toEqual([0, 3])
    expect(runTensor(['onnx', 'Softmax', 13], [allocate('float32', [3, 0])]).dims).toEqual([3, 0])
    expect(
      errorOf(() => inferOp(['onnx', 'Softmax', 13], [fact('float32', ['n', 3])], { attributes: { axis: 2 } })).code
    ).toBe('axis-out-of-range')
    expect(dimsOf(inferOp(['onnx', 'Softmax', 13], [fact('float32', ['n', 3])])[0])).toEqual(['n', 3])
  })
})

describe('OpenVINO SoftMax', () => {
  test('is along one axis in every version', () => {
    const attributes = { axis: 1 }
    const expected = [...softmax([0, 2]), ...softmax([1, 3])]
    const out = runTensor(['openvino', 'SoftMax', 1], [iota([1, 2, 2])], { attributes })
    expectNear(out, [expected[0], expected[2], expected[1], expected[3]])
    expectNear(runTensor(['openvino', 'SoftMax', 8], [iota([1, 2, 2])], { attributes: { axis: -2 } }), [
      ...out.data
    ] as number[])
    expectNear(runTensor(['openvino', 'LogSoftmax', 5], [iota([1, 2])], { attributes }), softmax([0, 1]).map(Math.log))
  })
})
