import { describe, expect, test } from 'vitest'
import { allocate, Tensor } from '../../../src/tensor/tensor.ts'
import { dimsOf, errorOf, fact, inferOp, type Kind, runTensor } from '../harness.ts'
import { expectNear } from '../near.ts'
import { iota } from '../values.ts'

const DEFORM: Kind = ['onnx', 'DeformConv', 22]
const floats = (values: readonly number[], dims: readonly number[]): Tensor => new Tensor('float32', [...values], dims)
const one = floats([1], [1, 1, 1])

/** Reads a line of 1, 2, 3 at its own places moved by `offset`. */
const moved = (offset: number): Tensor =>
  runTensor(DEFORM, [floats([1, 2, 3], [1, 1, 3]), one, floats([offset, offset, offset], [1, 1, 3])])

describe('ONNX DeformConv', () => {
  test('interpolates between elements and fades out beyond the border', () => {
    expectNear(moved(0), [1, 2, 3])
    expectNear(moved(0.25), [1.25, 2.25, 2.25])
    expectNear(moved(-0.5), [0.5, 1.5, 2.5])
    expectNear(moved(1), [2, 3, 0])
    expectNear(moved(-1.25), [0, 0.75, 1.75])
    expectNear(moved(NaN), [0, 0, 0])
    expectNear(moved(1e30), [0, 0, 0])
  })

  test('offsets lie tap by tap, an offset for each axis', () => {
    const x = iota([1, 1, 3, 3])
    const offsets = [0, 1, 1, 0, 0, 0, -1, -1]
    const out = runTensor(DEFORM, [x, floats([1, 10, 100, 1000], [1, 1, 2, 2]), floats(offsets, [1, 8, 1, 1])], {
      attributes: { strides: [2, 2] }
    })
    // Taps at (0, 0), (0, 1), (1, 0) and (1, 1) read (0, 1), (1, 1), (1, 0) and (0, 0).
    expectNear(out, [1 + 40 + 300 + 0])
  })

  test('without offsets it is a convolution, with groups, bias, pads, strides and dilations', () => {
    const attributes = { group: 2, pads: [1, 0, 2, 1], strides: [2, 1], dilations: [1, 2] }
    const x = iota([2, 4, 5, 6])
    const w = iota([6, 2, 3, 2])
    const bias = iota([6])
    const expected = runTensor(['onnx', 'Conv', 22], [x, w, bias], { attributes })
    const places = expected.dims.slice(2)
    const offsets = allocate('float32', [2, 2 * 6 * 2, ...places])
    const out = runTensor(DEFORM, [x, w, offsets, bias], { attributes: { ...attributes, offset_group: 2 } })
    expectNear(out, [...expected.data] as number[])
    const mask = allocate('float32', [2, 2 * 6, ...places])
    mask.data.fill(0.5)
    const halved = runTensor(DEFORM, [x, w, offsets, undefined, mask], {
      attributes: { ...attributes, offset_group: 2 }
    })
    expectNear(
      halved,
      Array.from(
        expected.data as Float32Array,
        (value, i) => (value - (Math.floor(i / (places[0] * places[1])) % 6)) / 2
      )
    )
  })

  test('each group of offsets moves its own channels', () => {
    const x = floats([1, 2, 3, 10, 20, 30], [1, 2, 3])
    const offsets = floats([0, 0, 0, 1, 1, 1], [1, 2, 3])
    const mask = floats([1, 0, 1, 1, 1, 2], [1, 2, 3])
    const out = runTensor(DEFORM, [x, floats([1, 1], [1, 2, 1]), offsets, undefined, mask], {
      attributes: { offset_group: 2 }
    })
    expectNear(out, [1 + 20, 30, 3])
  })

  test('interpolates along three axes', () => {
    const offsets = floats([0.5, 0.5, 0.5], [1, 3, 1, 1, 1])
    expectNear(
      runTensor(DEFORM, [iota([1, 1, 2, 2, 2]), floats([1], [1, 1, 1, 1, 1]), offsets], {
        attributes: { strides: [2, 2, 2] }
      }),
      [3.5]
    )
  })

  test('refuses offsets, masks and groups that do not fit', () => {
    const x = iota([1, 2, 3])
    const w = iota([1, 2, 2])
    const codeOf = (offsets: Tensor, mask?: Tensor, attributes = {}): string =>
      errorOf(() => runTensor(DEFORM, [x, w, offsets, undefined, mask], { attributes })).code
    expect(codeOf(iota([1, 2, 3]))).toBe('shape-mismatch')
    expect(codeOf(iota([1, 2, 2]), iota([1, 1, 2]))).toBe('shape-mismatch')
    expect(codeOf(iota([1, 6, 2]), undefined, { offset_group: 3 })).toBe('value-out-of-range')
    expect(codeOf(iota([1, 6, 2]), undefined, { offset_group: 0 })).toBe('value-out-of-range')
    const many = new Array<number>(9).fill(1)
    expect(
      errorOf(() => runTensor(DEFORM, [iota([1, 1, ...many]), iota([1, 1, ...many]), iota([1, 9, ...many])])).code
    ).toBe('limit-exceeded')
  })
})

describe('OpenVINO DeformableConvolution', () => {
  const run = (version: number, offset: number, attributes = {}): Tensor => {
    const offsets = floats([0, 0, 0, offset, offset, offset], [1, 2, 1, 3])
    const lists = {
      strides: [1, 1],
      pads_begin: [0, 0],
      pads_end: [0, 0],
      dilations: [1, 1],
      group: 1,
      deformable_group: 1
    }
    const inputs = [floats([1, 2, 3], [1, 1, 1, 3]), offsets, floats([1], [1, 1, 1, 1])]
    return runTensor(['openvino', 'DeformableConvolution', version], inputs, {
      attributes: { ...lists, ...attributes }
    })
  }

  test('holds the last element beyond the end, and reads zero before the beginning', () => {
    for (const version of [1, 8]) {
      expectNear(run(version, 0.25), [1.25, 2.25, 3])
      expectNear(run(version, -0.25), [0, 1.75, 2.75])
    }
  })

  test('fades out where bilinear_interpolation_pad says so', () => {
    expectNear(run(8, 0.25, { bilinear_interpolation_pad: true }), [1.25, 2.25, 2.25])
    expectNear(run(8, -0.25, { bilinear_interpolation_pad: true }), [0.75, 1.75, 2.75])
  })

  test('takes a mask in version 8 and data of rank 4', () => {
    const kind: Kind = ['openvino', 'DeformableConvolution', 8]
    const attributes = { group: 1, deformable_group: 1 }
    const inputs = [
      fact('float32', ['n', 4, 'h', 'w']),
      fact('float32', ['n', 2, 'h', 'w']),
      fact('float32', [8, 4, 1, 1])
    ]
    expect(dimsOf(inferOp(kind, [...inputs, fact('float32', ['n', 1, 'h', 'w'])], { attributes })[0])).toEqual([
      'n',
      8,
      'h',
      'w'
    ])
    expect(errorOf(() => inferOp(kind, [...inputs, fact('float32', ['n', 2, 'h', 'w'])], { attributes })).code).toBe(
      'shape-mismatch'
    )
    expect(
      errorOf(() =>
        inferOp(kind, [fact('float32', [1, 4, 3]), fact('float32', [1, 1, 3]), fact('float32', [8, 4, 1])], {
          attributes
        })
      ).code
    ).toBe('rank-mismatch')
  })

  test('integers are truncated', () => {
    const integers = (values: number[], dims: number[]): Tensor => new Tensor('int32', values, dims)
    const inputs = [integers([5], [1, 1, 1, 1]), integers([0, 0], [1, 2, 1, 1]), integers([3], [1, 1, 1, 1])]
    const out = runTensor(['openvino', 'DeformableConvolution', 1], inputs, {
      attributes: { group: 1, deformable_group: 1 }
    })
    expect([...out.data]).toEqual([15])
  })
})
