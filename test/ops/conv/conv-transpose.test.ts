import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { ints, iota } from '../values.ts'

const TRANSPOSE: Kind = ['onnx', 'ConvTranspose', 22]
const BACKPROP: Kind = ['openvino', 'ConvolutionBackpropData', 1]
const row = (...values: number[]): Tensor => new Tensor('float32', values, [1, 1, values.length])
const [x, kernel] = [row(1, 2, 3), row(1, 10, 100)]
/** What each number of `x` gives at a stride of 2. */
const whole = [1, 10, 102, 20, 203, 30, 300]

describe('ONNX ConvTranspose', () => {
  const run = (attributes: object = {}, opset = 22): Tensor =>
    runTensor(['onnx', 'ConvTranspose', opset], [x, kernel], { attributes: { strides: [2], ...attributes } })

  test('spreads each number over the places of the kernel', () => {
    expectNear(run(), whole)
    expectNear(run({ pads: [1, 2] }), whole.slice(1, -2))
    expectNear(run({ output_padding: [1] }), [...whole, 0])
    expectNear(run({ strides: [1], dilations: [2] }), [1, 2, 13, 20, 130, 200, 300])
  })

  test('groups and bias', () => {
    const out = runTensor(TRANSPOSE, [iota([1, 2, 2]), iota([2, 2, 1]), new Tensor('float32', [0, 100, 200, 300])], {
      attributes: { group: 2 }
    })
    expect(out.dims).toEqual([1, 4, 2])
    expectNear(out, [0, 0, 100, 101, 204, 206, 306, 309])
  })

  test('a given shape implies pads, the odd one at the beginning unless SAME_UPPER', () => {
    expectNear(run({ output_shape: [6] }), whole.slice(1))
    expectNear(run({ output_shape: [6], auto_pad: 'SAME_LOWER' }), whole.slice(1))
    expectNear(run({ output_shape: [6], auto_pad: 'SAME_UPPER' }), whole.slice(0, -1))
    expectNear(run({ output_shape: [5], pads: [0, 2] }), whole.slice(1, -1))
  })

  test('version 1 has the odd pad the other way round, and may write the whole shape', () => {
    expectNear(run({ output_shape: [6] }, 10), whole.slice(0, -1))
    expectNear(run({ output_shape: [6], auto_pad: 'SAME_UPPER' }, 10), whole.slice(1))
    expectNear(run({ output_shape: [1, 1, 6] }, 10), whole.slice(0, -1))
    expect(errorOf(() => run({ output_shape: [1, 1, 6] })).code).toBe('dims-mismatch')
  })

  test('a given shape beyond the reach of the kernel has zeros, or the bias, at the end', () => {
    expectNear(run({ output_shape: [9] }), [...whole, 0, 0])
    expectNear(
      runTensor(TRANSPOSE, [row(1), row(1), new Tensor('float32', [5])], { attributes: { output_shape: [3] } }),
      [6, 5, 5]
    )
  })

  test('output_padding takes part in the pads that a given shape implies', () => {
    expectNear(run({ output_shape: [7], output_padding: [1] }), [...whole.slice(1), 0])
  })

  test('SAME_* gives as many elements as the stride makes, also where the kernel is shorter', () => {
    expectNear(run({ auto_pad: 'SAME_UPPER' }), whole.slice(0, -1))
    expectNear(run({ auto_pad: 'SAME_LOWER' }), whole.slice(1))
    expectNear(run({ auto_pad: 'SAME_UPPER' }, 10), whole.slice(0, -1))
    expectNear(run({ auto_pad: 'SAME_UPPER', strides: [4] }), [1, 10, 100, 0, 2, 20, 200, 0, 3, 30, 300, 0])
    expectNear(run({ auto_pad: 'VALID' }), whole)
  })

  test('refuses what cannot be', () => {
    const codeOf = (attributes: object, inputs = [x, kernel]): string =>
      errorOf(() => runTensor(TRANSPOSE, inputs, { attributes: attributes as never })).code
    expect(codeOf({ pads: [5, 5] })).toBe('shape-mismatch')
    expect(codeOf({ output_padding: [1] })).toBe('value-out-of-range')
    expect(codeOf({ output_padding: [-1] })).toBe('value-out-of-range')
    expect(codeOf({ output_shape: [1, 2] })).toBe('dims-mismatch')
    expect(codeOf({ output_shape: [-1] })).toBe('shape-mismatch')
    expect(codeOf({ strides: [-1] })).toBe('value-out-of-range')
    expect(codeOf({ strides: [2 ** 31 - 1], dilations: [2 ** 31 - 1] })).toBe('limit-exceeded')
    expect(codeOf({}, [iota([1, 2, 3]), iota([3, 1, 2])])).toBe('dims-mismatch')
    expect(codeOf({ group: 2 }, [iota([1, 3, 3]), iota([3, 1, 2])])).toBe('dims-mismatch')
  })
})

describe('OpenVINO ConvolutionBackpropData', () => {
  const run = (attributes: object, ...shape: Tensor[]): Tensor =>
    runTensor(BACKPROP, [x, kernel, ...shape], { attributes: { strides: [2], ...attributes } })

  test('takes the shape from an input, the odd pad at the beginning for same_upper alone', () => {
    expectNear(run({ auto_pad: 'same_upper' }, ints(6)), whole.slice(1))
    expectNear(run({ auto_pad: 'same_lower' }, ints(6)), whole.slice(0, -1))
    expectNear(run({ auto_pad: 'valid' }, ints(5)), whole.slice(1, -1))
    expectNear(run({ pads_begin: [0], pads_end: [2] }, ints(5)), whole.slice(1, -1))
    expectNear(run({}, ints(8)), [...whole, 0])
  })

  test('automatic pads are none where no shape is given', () => {
    expectNear(run({ auto_pad: 'same_upper', pads_begin: [1], pads_end: [1] }), whole)
    expectNear(run({ pads_begin: [1], pads_end: [1], output_padding: [3] }), [...whole.slice(1), 0, 0])
  })

  test('groups are a dim of the weights', () => {
    const out = runTensor(['openvino', 'GroupConvolutionBackpropData', 1], [iota([1, 2, 2]), iota([2, 1, 2, 1])])
    expectNear(out, [0, 0, 0, 1, 4, 6, 6, 9])
  })

  test('integers wrap', () => {
    const words = (...values: bigint[]): Tensor => new Tensor('int64', values, [1, 1, values.length])
    expect([...runTensor(BACKPROP, [words(2n ** 62n, 1n), words(2n, 3n)]).data]).toEqual([
      -(2n ** 63n),
      -(2n ** 62n) + 2n,
      3n
    ])
  })
})

describe('the shape rule of transposed convolutions', () => {
  test('keeps names', () => {
    const infer = (attributes: object): unknown =>
      dimsOf(
        inferOp(TRANSPOSE, [fact('float32', ['n', 4, 'h']), fact('float32', [4, 3, 4])], {
          attributes: attributes as never
        })[0]
      )
    expect(infer({ strides: [2], pads: [1, 1] })).toEqual(['n', 3, '2*h'])
    expect(infer({ strides: [3], auto_pad: 'SAME_UPPER' })).toEqual(['n', 3, '3*h'])
    expect(infer({ strides: [3], output_shape: [9] })).toEqual(['n', 3, 9])
  })

  test('a shape that comes late leaves its dims open', () => {
    const out = (shape: Parameters<typeof fact>[1]): unknown =>
      dimsOf(inferOp(BACKPROP, [fact('float32', [1, 4, 5, 5]), fact('float32', [4, 3, 2, 2]), fact('int64', shape)])[0])
    expect(out([2])).toEqual([1, 3, '?', '?'])
    expect(out(undefined)).toEqual([1, 3, '?', '?'])
    expect(errorOf(() => out([3])).code).toBe('dims-mismatch')
  })

  test('an empty batch gives an empty result', () => {
    expect(runTensor(TRANSPOSE, [allocate('float32', [0, 1, 3]), kernel]).dims).toEqual([0, 1, 5])
  })
})

describe('ConvTransposeWithDynamicPads', () => {
  const kind: Kind = ['onnx', 'ConvTransposeWithDynamicPads', 1, 'com.microsoft']
  const x = new Tensor('float32', [1, 2, 3], [1, 1, 3])
  const w = new Tensor('float32', [1, 10, 100], [1, 1, 3])
  const pads = (...values: number[]): Tensor => new Tensor('int64', values.map(BigInt), [values.length])

  test('takes its pads from an input, none where that is left out', () => {
    expect([...runTensor(kind, [x, w, pads(1, 2)]).data]).toEqual([12, 123])
    expect([...runTensor(kind, [x, w]).data]).toEqual([1, 12, 123, 230, 300])
    const bias = new Tensor('float32', [1000], [1])
    expect([...runTensor(kind, [x, w, pads(2, 2), bias]).data]).toEqual([1123])
  })

  test('has dims that are known where the pads are', () => {
    const facts = [fact('float32', ['n', 1, 'w']), fact('float32', [1, 4, 3])]
    expect(dimsOf(inferOp(kind, [...facts, pads(1, 1)])[0])).toEqual(['n', 4, 'w'])
    expect(dimsOf(inferOp(kind, [...facts, fact('int64', [2])])[0])?.slice(0, 2)).toEqual(['n', 4])
    expect(errorOf(() => inferOp(kind, [...facts, pads(1)])).code).toBe('dims-mismatch')
    expect(errorOf(() => runTensor(kind, [x, w, pads(1, -1)])).code).toBe('value-out-of-range')
  })
})
