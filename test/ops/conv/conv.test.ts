import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { iota } from '../values.ts'

const ones = (...dims: number[]): Tensor<'float32'> => {
  const tensor = allocate('float32', dims)
  tensor.data.fill(1)
  return tensor
}

const CONV: Kind = ['onnx', 'Conv', 22]
const CONVOLUTION: Kind = ['openvino', 'Convolution', 1]
const GROUPS: Kind = ['openvino', 'GroupConvolution', 1]
const row = (...values: number[]): Tensor => new Tensor('float32', values, [1, 1, values.length])
const kernel = row(1, 10, 100)

describe('ONNX Conv', () => {
  test('sums products of kernel and data, the kernel not turned around', () => {
    expectNear(runTensor(CONV, [row(1, 2, 3, 4), kernel]), [321, 432])
  })

  test('pads, strides and dilations apply along each axis', () => {
    const x = iota([1, 1, 3, 4])
    const out = runTensor(CONV, [x, ones(1, 1, 2, 2)], {
      attributes: { pads: [1, 0, 0, 1], strides: [2, 1], dilations: [1, 2] }
    })
    expect(out.dims).toEqual([1, 1, 2, 3])
    expectNear(out, [0 + 2, 1 + 3, 2, 4 + 6 + 8 + 10, 5 + 7 + 9 + 11, 6 + 10])
  })

  test('each group has channels and a bias of its own', () => {
    const x = iota([1, 4, 1])
    const w = iota([4, 2, 1])
    const out = runTensor(CONV, [x, w, new Tensor('float32', [100, 200, 300, 400])], { attributes: { group: 2 } })
    expectNear(out, [100 + 1, 200 + 3, 300 + 4 * 2 + 5 * 3, 400 + 6 * 2 + 7 * 3])
  })

  test('automatic pads go to both sides, the odd one to the end or the beginning', () => {
    const run = (autoPad: string, ...strides: number[]): Tensor =>
      runTensor(CONV, [row(1, 2, 3, 4), row(1, 10)], { attributes: { auto_pad: autoPad, strides } })
    expectNear(run('SAME_UPPER', 1), [21, 32, 43, 4])
    expectNear(run('SAME_LOWER', 1), [10, 21, 32, 43])
    expectNear(run('SAME_UPPER', 3), [21, 4])
    expectNear(run('VALID', 3), [21])
  })

  test('kernel_shape may be absent, and must be that of the weights', () => {
    expectNear(runTensor(CONV, [row(1, 2, 3), kernel], { attributes: { kernel_shape: [3] } }), [321])
    expect(errorOf(() => runTensor(CONV, [row(1, 2, 3), kernel], { attributes: { kernel_shape: [2] } })).code).toBe(
      'dims-mismatch'
    )
  })

  test('goes beyond three spatial axes', () => {
    const out = runTensor(CONV, [ones(1, 2, 2, 2, 2, 2), ones(5, 2, 2, 2, 2, 2)])
    expect(out.dims).toEqual([1, 5, 1, 1, 1, 1])
    expectNear(out, [32, 32, 32, 32, 32])
  })

  test('float16 is computed exactly and rounded once', () => {
    const half = (...values: number[]): Tensor => new Tensor('float16', new Uint16Array(values), [1, 1, values.length])
    // 2048 + 1 + 1 is 2050; rounding after each step would stay at 2048.
    expect([...runTensor(CONV, [half(0x6800, 0x3c00, 0x3c00), half(0x3c00, 0x3c00, 0x3c00)]).data]).toEqual([0x6801])
  })

  test('an empty batch gives an empty result', () => {
    expect(runTensor(CONV, [allocate('float32', [0, 1, 4]), kernel]).dims).toEqual([0, 1, 2])
  })

  test('refuses what cannot be', () => {
    const codeOf = (inputs: Tensor[], attributes = {}): string =>
      errorOf(() => runTensor(CONV, inputs, { attributes })).code
    expect(codeOf([row(1, 2), kernel])).toBe('shape-mismatch')
    expect(codeOf([ones(1, 3, 4), ones(2, 2, 2)])).toBe('dims-mismatch')
    expect(codeOf([ones(1, 4, 4), ones(3, 2, 2)], { group: 2 })).toBe('dims-mismatch')
    expect(codeOf([ones(1, 4, 4), ones(2, 4, 2)], { group: 0 })).toBe('value-out-of-range')
    expect(codeOf([ones(1, 4), ones(2, 4)])).toBe('rank-mismatch')
    expect(codeOf([ones(1, 1, 4), ones(1, 1, 2, 2)])).toBe('rank-mismatch')
    expect(codeOf([row(1, 2, 3), kernel, ones(2)])).toBe('dims-mismatch')
    expect(codeOf([row(1, 2, 3), kernel, ones(1, 1)])).toBe('rank-mismatch')
    expect(codeOf([row(1, 2, 3), kernel], { strides: [0] })).toBe('value-out-of-range')
    expect(codeOf([row(1, 2, 3), kernel], { pads: [-1, 1] })).toBe('value-out-of-range')
    expect(codeOf([row(1, 2, 3), kernel], { pads: [1] })).toBe('dims-mismatch')
    expect(codeOf([row(1, 2, 3), kernel], { pads: [1, 1], auto_pad: 'SAME_UPPER' })).toBe('value-out-of-range')
    expect(codeOf([row(1, 2, 3), kernel], { dilations: [2 ** 40] })).toBe('value-out-of-range')
    expect(codeOf([row(1, 2, 3), kernel], { dilations: [2 ** 30] })).toBe('shape-mismatch')
    expect(codeOf([row(1, 2, 3), kernel], { pads: [2 ** 31 - 1, 2 ** 31 - 1] })).toBe('limit-exceeded')
    expect(codeOf([row(1, 2, 3), new Tensor('float64', [1], [1, 1, 1])])).toBe('type-mismatch')
  })
})

describe('OpenVINO Convolution', () => {
  test('a missing list stands for ones or zeros along every axis', () => {
    const out = runTensor(CONVOLUTION, [ones(1, 1, 2, 2, 2), ones(1, 1, 2, 2, 2)])
    expectNear(out, [8])
  })

  test('pads are left aside when they are automatic', () => {
    const attributes = { strides: [2], pads_begin: [7], pads_end: [7], dilations: [1], auto_pad: 'same_lower' }
    expectNear(runTensor(CONVOLUTION, [row(1, 2, 3), row(1, 10)], { attributes }), [10, 32])
  })

  test('integers wrap', () => {
    const bytes = (...values: number[]): Tensor => new Tensor('int8', values, [1, 1, values.length])
    expect([...runTensor(CONVOLUTION, [bytes(100, 100), bytes(1, 1)]).data]).toEqual([-56])
  })

  test('groups are a dim of the weights', () => {
    const out = runTensor(GROUPS, [iota([1, 2, 2]), iota([2, 3, 1, 1])])
    expect(out.dims).toEqual([1, 6, 2])
    expectNear(out, [0, 0, 0, 1, 0, 2, 6, 9, 8, 12, 10, 15])
    expect(errorOf(() => runTensor(GROUPS, [iota([1, 3, 2]), iota([2, 3, 1, 1])])).code).toBe('dims-mismatch')
    expect(errorOf(() => runTensor(GROUPS, [iota([1, 2, 2]), iota([2, 1, 1])])).code).toBe('rank-mismatch')
  })
})

describe('the shape rule of convolutions', () => {
  const infer = (x: Parameters<typeof fact>[1], w: Parameters<typeof fact>[1], attributes = {}): unknown =>
    dimsOf(inferOp(CONV, [fact('float32', x), fact('float32', w)], { attributes })[0])

  test('keeps names, through strides too', () => {
    expect(infer(['n', 3, 'h', 'w'], [8, 3, 3, 3], { pads: [1, 1, 1, 1], strides: [1, 2] })).toEqual([
      'n',
      8,
      'h',
      'floor((w+1)/2)'
    ])
    expect(infer(['n', 3, 'h'], [8, 3, 5], { auto_pad: 'SAME_UPPER', strides: [1] })).toEqual(['n', 8, 'h'])
  })

  test('intervals stay intervals', () => {
    expect(infer([1, 3, '4..9'], [8, 3, 2], { strides: [2] })).toEqual([1, 8, '2..4'])
    expect(infer([1, 3, '4..9'], [8, 3, '1..3'])).toEqual([1, 8, '2..9'])
  })

  test('needs the rank of either, or the kernel', () => {
    expect(infer(undefined, [8, 3, 2])).toEqual(['?', 8, '1..'])
    expect(infer([1, 3, 4], undefined)).toEqual([1, '?', '1..4'])
    expect(infer(undefined, undefined, { kernel_shape: [2, 2] })).toEqual(['?', '?', '1..', '1..'])
    expect(infer(undefined, undefined)).toBeUndefined()
  })

  test('channels that cannot agree are an error, those that may are not', () => {
    expect(errorOf(() => infer([1, '4..9', 4], [8, 3, 2])).code).toBe('dims-mismatch')
    expect(infer([1, '1..9', 4], [8, 3, 2])).toEqual([1, 8, 3])
    const groups = inferOp(GROUPS, [fact('float32', [1, '?', 4]), fact('float32', ['g', 2, 3, 2])])[0]
    expect(dimsOf(groups)).toEqual([1, '2*g', 3])
  })
})
