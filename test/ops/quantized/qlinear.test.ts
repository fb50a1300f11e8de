import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { type CallOptions, dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { scalar } from '../values.ts'

const kind = (type: string): Kind => ['onnx', type, 1, 'com.microsoft']
const u8 = (values: readonly number[], dims: readonly number[] = [values.length]): Tensor =>
  new Tensor('uint8', [...values], dims)
const i8 = (values: readonly number[], dims: readonly number[] = [values.length]): Tensor =>
  new Tensor('int8', [...values], dims)
const scale = (value: number): Tensor => scalar(value, 'float32')
const zero = (value: number): Tensor => scalar(value, 'uint8')
const signedZero = (value: number): Tensor => scalar(value, 'int8')
/** Two channels of 2 x 3 elements: 0, 10, 20 … */
const image = Array.from({ length: 12 }, (_, i) => 10 * i)
const IMAGE = u8(image, [1, 2, 2, 3])
/** The same with the channels last. */
const IMAGE_LAST = u8(
  image.map((_, i) => image[(i % 2) * 6 + Math.floor(i / 2)]),
  [1, 2, 3, 2]
)

// Results are those of ONNX Runtime 1.32.

describe('QLinearAdd and QLinearMul', () => {
  test('compute on what the codes stand for, and broadcast', () => {
    const a = u8([10, 20, 30], [1, 3])
    const b = u8([0, 128], [2, 1])
    const sum = runTensor(kind('QLinearAdd'), [a, scale(0.5), zero(10), b, scale(0.25), zero(128), scale(1), zero(100)])
    expect(sum).toMatchObject({ type: 'uint8', dims: [2, 3] })
    expect([...sum.data]).toEqual([68, 73, 78, 100, 105, 110])
  })

  test('saturate', () => {
    const a = i8([10, -20, 127], [1, 3])
    const b = i8([5, -128], [2, 1])
    const zeros = [1, -3, 10].map(signedZero)
    const product = runTensor(kind('QLinearMul'), [
      a,
      scale(0.5),
      zeros[0],
      b,
      scale(0.25),
      zeros[1],
      scale(2),
      zeros[2]
    ])
    expect(product.type).toBe('int8')
    expect([...product.data]).toEqual([14, 0, 73, -60, 127, -128])
  })

  test('a zero point that is left out is 0; ties go to the even code', () => {
    const inputs = [u8([1, 3, 5]), scale(1), undefined, u8([0]), scale(1), undefined, scale(2)]
    expect([...runTensor(kind('QLinearAdd'), inputs).data]).toEqual([0, 2, 2])
  })

  test('of an odd zero point, ties go to the even code, too', () => {
    const sums = [u8([0, 1, 2, 3, 4]), scale(0.5), zero(0), u8([0]), scale(0.5), zero(0), scale(1), zero(121)]
    expect([...runTensor(kind('QLinearAdd'), sums).data]).toEqual([121, 122, 122, 122, 123])
    const products = [u8([0, 1, 2, 3, 4]), scale(0.5), zero(0), u8([1]), scale(1), zero(0), scale(1), zero(121)]
    expect([...runTensor(kind('QLinearMul'), products).data]).toEqual([121, 122, 122, 122, 123])
  })

  test('refuse scales and zero points of more than one element', () => {
    const call = (aScale: Tensor, aZero: Tensor): unknown =>
      runTensor(kind('QLinearAdd'), [u8([1, 2]), aScale, aZero, u8([1]), scale(1), zero(0), scale(1), zero(0)])
    expect(errorOf(() => call(new Tensor('float32', [1, 2]), zero(0))).code).toBe('dims-mismatch')
    expect(errorOf(() => call(scale(1), u8([0, 0]))).code).toBe('dims-mismatch')
    expect(errorOf(() => call(new Tensor('float32', [1], [1, 1]), zero(0))).code).toBe('rank-mismatch')
    expect(errorOf(() => call(scale(1), signedZero(0))).code).toBe('type-mismatch')
  })

  test('have the shape of the sum, symbols too', () => {
    const facts = [fact('uint8', ['n', 1]), fact('float32', []), fact('uint8', [])]
    const [result] = inferOp(kind('QLinearMul'), [...facts, fact('uint8', [3]), ...facts.slice(1), ...facts.slice(1)])
    expect(result).toMatchObject({ type: 'uint8' })
    expect(dimsOf(result)).toEqual(['n', 3])
    expect(
      errorOf(() =>
        inferOp(kind('QLinearMul'), [
          fact('uint8', [2]),
          ...facts.slice(1),
          fact('uint8', [3]),
          ...facts.slice(1),
          ...facts.slice(1)
        ])
      ).code
    ).toBe('shape-mismatch')
  })

  test('empty tensors give empty tensors', () => {
    const out = runTensor(kind('QLinearAdd'), [u8([], [0, 2]), scale(1), zero(0), u8([1]), scale(1), zero(0), scale(1)])
    expect(out).toMatchObject({ type: 'uint8', dims: [0, 2] })
  })
})

describe('quantized pools and means', () => {
  const around = (x: Tensor): Tensor[] => [x, scale(0.5), zero(20), scale(1), zero(8)]
  const run = (type: string, x: Tensor, attributes: CallOptions['attributes']): Tensor =>
    runTensor(kind(type), around(x), { attributes })

  test('QLinearAveragePool: padding is the number 0 where it counts', () => {
    const attributes = { kernel_shape: [2, 2], pads: [0, 0, 1, 1] }
    expect([...run('QLinearAveragePool', IMAGE, attributes).data]).toEqual([
      8, 13, 16, 16, 20, 23, 38, 43, 46, 46, 50, 53
    ])
    const counted = run('QLinearAveragePool', IMAGE, { ...attributes, count_include_pad: 1 })
    expect([...counted.data]).toEqual([8, 13, 12, 12, 14, 12, 38, 43, 27, 27, 29, 19])
  })

  test('QLinearAveragePool: of an odd zero point, ties go to the even code, too; not so of means of planes', () => {
    const inputs = [u8([0, 1, 1, 2, 2, 3], [1, 1, 6]), scale(1), zero(0), scale(1), zero(121)]
    const attributes = { kernel_shape: [2], strides: [2] }
    expect([...runTensor(kind('QLinearAveragePool'), inputs, { attributes }).data]).toEqual([122, 122, 124])
    const planes = [u8([0, 1, 1, 2, 2, 3], [1, 3, 2]), ...inputs.slice(1)]
    expect([...runTensor(kind('QLinearGlobalAveragePool'), planes).data]).toEqual([121, 123, 123])
  })

  test('the channels may come last', () => {
    const pooled = run('QLinearAveragePool', IMAGE_LAST, { kernel_shape: [2, 2], channels_last: 1 })
    expect(pooled.dims).toEqual([1, 1, 2, 2])
    expect([...pooled.data]).toEqual([8, 38, 13, 43])
    const means = run('QLinearGlobalAveragePool', IMAGE_LAST, { channels_last: 1 })
    expect(means.dims).toEqual([1, 1, 1, 2])
    expect([...means.data]).toEqual([10, 40])
    const facts = around(IMAGE).slice(1)
    const attributes = { kernel_shape: [2, 2], channels_last: 1 }
    const [result] = inferOp(kind('QLinearAveragePool'), [fact('uint8', ['n', 'h', 5, 'c']), ...facts], { attributes })
    expect(dimsOf(result)).toEqual(['n', 'h-1', 4, 'c'])
  })

  test('QLinearGlobalAveragePool', () => {
    const means = run('QLinearGlobalAveragePool', IMAGE, {})
    expect(means.dims).toEqual([1, 2, 1, 1])
    expect([...means.data]).toEqual([10, 40])
    expect(errorOf(() => run('QLinearGlobalAveragePool', u8([1, 2], [1, 2]), {})).code).toBe('rank-mismatch')
    expect(errorOf(() => run('QLinearGlobalAveragePool', u8([1, 2], [1, 2]), { channels_last: 1 })).code).toBe(
      'rank-mismatch'
    )
  })

  test('QLinearReduceMean takes its axes from an attribute', () => {
    const out = run('QLinearReduceMean', IMAGE, { axes: [-1, 2], keepdims: 0 })
    expect(out.dims).toEqual([1, 2])
    expect([...out.data]).toEqual([10, 40])
    expect(run('QLinearReduceMean', IMAGE, { axes: [1], keepdims: 1 }).dims).toEqual([1, 1, 2, 3])
    expect(errorOf(() => run('QLinearReduceMean', IMAGE, { axes: [4], keepdims: 1 })).code).toBe('axis-out-of-range')
  })
})

describe('QLinearSoftmax', () => {
  const run = (attributes: CallOptions['attributes']): number[] => {
    const inputs = [u8([0, 10, 20, 30], [2, 2]), scale(0.1), zero(0), scale(1 / 256), zero(0)]
    return [...(runTensor(kind('QLinearSoftmax'), inputs, { attributes }).data as Uint8Array)]
  }

  test('flattens from the axis on for opsets before 13', () => {
    expect(run({ opset: 12, axis: 0 })).toEqual([8, 22, 61, 165])
    expect(run({ opset: 13, axis: 0 })).toEqual([31, 31, 225, 225])
  })

  test('takes the last axis by default', () => {
    expect(run({ opset: 12 })).toEqual([69, 187, 69, 187])
    expect(run({ opset: 13 })).toEqual([69, 187, 69, 187])
  })

  test('multiplies by the reciprocal of the scale, rounded down', () => {
    const inputs = [u8([0, 255]), scale(1), zero(0), scale(Math.fround(1 / 150.9)), zero(0)]
    expect([...runTensor(kind('QLinearSoftmax'), inputs, { attributes: { opset: 13 } }).data]).toEqual([0, 150])
    const coarse = inputs.with(3, scale(1.5))
    expect([...runTensor(kind('QLinearSoftmax'), coarse, { attributes: { opset: 13 } }).data]).toEqual([0, 0])
  })

  test('refuses an axis that is not there', () => {
    expect(errorOf(() => run({ opset: 13, axis: 2 })).code).toBe('axis-out-of-range')
    expect(errorOf(() => run({})).code).toBe('missing-attribute')
  })
})
