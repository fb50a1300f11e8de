import { expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { differenceInOther, inOther, modelOfNode } from '../converted.ts'
import { counted, picks, randomFloats } from '../random.ts'

test.each(['valid', 'same_upper', 'same_lower'])('ExtractImagePatches of IR in ONNX, %s', async auto_pad => {
  for (const sizes of [
    [3, 2],
    [1, 4]
  ])
    for (const isDynamic of [false, true])
      expect(
        await differenceInOther(['openvino', 'ExtractImagePatches', 3], [counted('float32', [2, 2, 7, 9])], {
          attributes: { sizes, strides: [2, 3], rates: [1, 2], auto_pad },
          isDynamic
        })
      ).toBe(0)
})

test('ExtractImagePatches of IR in ONNX, of data smaller than a window', async () => {
  const attributes = { sizes: [2, 2], strides: [1, 1], rates: [1, 7], auto_pad: 'valid' }
  const x = counted('float32', [1, 2, 4, 5])
  expect(await differenceInOther(['openvino', 'ExtractImagePatches', 3], [x], { attributes })).toBe(0)
})

test('Col2Im of IR in ONNX, of many pictures and of one', async () => {
  const image = new Tensor('int64', [4n, 5n], [2])
  const block = new Tensor('int64', [2n, 2n], [2])
  const attributes = { strides: [1, 1], dilations: [2, 1], pads_begin: [1, 0], pads_end: [1, 0] }
  for (const dims of [
    [16, 16],
    [2, 16, 16]
  ])
    expect(
      await differenceInOther(['openvino', 'Col2Im', 15], [randomFloats(1, dims), image, block], {
        attributes,
        constants: [1, 2]
      })
    ).toBeLessThan(1e-6)
})

const bits = new Tensor(
  'uint1',
  Array.from({ length: 2 * 3 * 2 * 2 }, (_, i) => picks(i, 2)),
  [2, 3, 2, 2]
)

test.each([0, -1, 1])('BinaryConvolution in ONNX: weights of bits become numbers, padding is %i', async pad_value => {
  for (const auto_pad of ['explicit', 'same_upper', 'same_lower'])
    expect(
      await differenceInOther(['openvino', 'BinaryConvolution', 1], [randomFloats(1, [2, 3, 4, 5]), bits], {
        attributes: {
          mode: 'xnor-popcount',
          pad_value,
          strides: [1, 2],
          dilations: [1, 1],
          pads_begin: [1, 0],
          pads_end: [0, 1],
          auto_pad
        },
        constants: [1]
      })
    ).toBe(0)
})

/** Offsets that also lead outside the data, some by less than an element. */
const offsets = new Tensor(
  'float32',
  Float32Array.from(randomFloats(2, [2, 16, 4, 5]).data as Float32Array, x => 3 * x),
  [2, 16, 4, 5]
)

test.each([true, false])(
  'DeformableConvolution in ONNX, fading beyond the border: %s',
  async bilinear_interpolation_pad => {
    const inputs = [
      randomFloats(1, [2, 4, 5, 6]),
      offsets,
      randomFloats(3, [2, 2, 2, 2]),
      randomFloats(4, [2, 8, 4, 5])
    ]
    for (const isDynamic of [false, true])
      expect(
        await differenceInOther(['openvino', 'DeformableConvolution', 8], inputs, {
          attributes: {
            bilinear_interpolation_pad,
            strides: [1, 1],
            dilations: [1, 1],
            pads_begin: [0, 0],
            pads_end: [0, 0],
            auto_pad: 'valid',
            group: 2,
            deformable_group: 2
          },
          constants: [2],
          isDynamic
        })
      ).toBeLessThan(1e-5)
  }
)

test('DeformConv in OpenVINO IR, with pads, groups, a bias and a mask', async () => {
  const [x, w] = [randomFloats(1, [1, 4, 5, 6]), randomFloats(2, [6, 2, 3, 3])]
  const [offsets, bias, mask] = [randomFloats(3, [1, 36, 5, 6]), randomFloats(4, [6]), randomFloats(5, [1, 18, 5, 6])]
  for (const extra of [{}, { kernel_shape: [3, 3] }])
    expect(
      await differenceInOther(['onnx', 'DeformConv', 19], [x, w, offsets, bias, mask], {
        attributes: { pads: [1, 1, 1, 1], group: 2, offset_group: 2, ...extra }
      })
    ).toBeLessThan(1e-5)
})

test('Col2Im of ONNX in IR: pads, strides and dilations of pictures; nothing of other ranks', async () => {
  const list = (...values: number[]): Tensor => new Tensor('int64', values.map(BigInt), [values.length])
  const attributes = { pads: [1, 0, 1, 1], strides: [1, 2], dilations: [2, 1] }
  for (const [given, count] of [
    [attributes, 12],
    [{}, 12],
    [{ pads: [0, 1, 0, 1] }, 18]
  ] as const)
    for (const isDynamic of [false, true])
      expect(
        await differenceInOther(['onnx', 'Col2Im', 18], [randomFloats(1, [2, 8, count]), list(4, 5), list(2, 2)], {
          attributes: given,
          constants: [1, 2],
          isDynamic
        })
      ).toBeLessThan(1e-6)
  const line = modelOfNode(['onnx', 'Col2Im', 18], [randomFloats(1, [2, 4, 4]), list(5), list(2)], {
    constants: [1, 2]
  })
  expect(() => inOther(line)).toThrow('images of 2 dims')
})

test.each(['same_upper', 'same_lower'])(
  'dilated windows of %s have pads in ONNX: ONNX Runtime refuses both',
  async auto_pad => {
    const attributes = { strides: [1, 2], dilations: [2, 3], pads_begin: [0, 0], pads_end: [0, 0], auto_pad }
    for (const [type, dims] of [
      ['Convolution', [3, 4, 2, 3]],
      ['GroupConvolution', [2, 3, 2, 2, 3]]
    ] as const) {
      const inputs = [randomFloats(1, [2, 4, 6, 7]), randomFloats(2, dims)]
      const node = inOther(modelOfNode(['openvino', type, 1], inputs, { attributes })).graph.nodes.find(
        ({ type }) => type === 'Conv'
      )
      expect([node?.attributes.has('auto_pad'), node?.attributes.has('pads')]).toEqual([false, true])
      for (const isDynamic of type === 'Convolution' ? [false, true] : [false])
        expect(await differenceInOther(['openvino', type, 1], inputs, { attributes, isDynamic })).toBeLessThan(1e-5)
    }
  }
)

test('NhwcConv of ONNX Runtime in IR', async () => {
  const kind = ['onnx', 'NhwcConv', 1, 'com.microsoft'] as const
  const [x, bias] = [randomFloats(1, [2, 5, 6, 4]), randomFloats(3, [6])]
  for (const [group, isDynamic] of [
    [1, false],
    [2, true]
  ] as const) {
    const attributes = { group, pads: [1, 1, 1, 1], strides: [2, 1] }
    const inputs = [x, randomFloats(2, [6, 3, 3, 4 / group]), bias]
    expect(await differenceInOther(kind, inputs, { attributes, isDynamic, constants: [1, 2] })).toBeLessThan(1e-5)
  }
  const line = [randomFloats(4, [1, 7, 4]), randomFloats(5, [3, 2, 4])]
  expect(await differenceInOther(kind, line)).toBeLessThan(1e-5)
})
