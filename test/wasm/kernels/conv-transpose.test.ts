import { describe, expect, test } from 'vitest'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

const KIND = ['onnx', 'ConvTranspose', 11] as const

const cases = [
  ['no overlap', [1, 24, 9, 7], [24, 10, 2, 2], { strides: [2, 2] }],
  ['no overlap of four taps and of three', [2, 12, 5, 7], [12, 5, 3, 4], { strides: [3, 4] }],
  ['five taps at a stride of three', [1, 12, 5, 11], [12, 5, 2, 5], { strides: [2, 3], pads: [0, 2, 0, 1] }],
  ['overlap and pads', [2, 16, 9, 11], [16, 9, 4, 4], { strides: [2, 2], pads: [1, 1, 1, 1] }],
  ['output padding', [1, 16, 8, 8], [16, 7, 3, 3], { strides: [2, 2], pads: [1, 1, 1, 1], output_padding: [1, 1] }],
  ['stride 4', [1, 12, 5, 13], [12, 5, 8, 7], { strides: [4, 4], pads: [2, 1, 2, 3] }],
  ['stride 1, dilation', [1, 12, 10, 10], [12, 6, 3, 5], { dilations: [2, 3], pads: [1, 4, 2, 5] }],
  ['stride longer than the kernel', [1, 20, 10, 10], [20, 6, 2, 1], { strides: [3, 4] }],
  ['groups', [2, 12, 9, 10], [12, 6, 3, 3], { strides: [2, 2], group: 3 }],
  ['depthwise', [1, 16, 20, 21], [16, 1, 4, 4], { strides: [2, 2], group: 16, pads: [1, 1, 1, 1] }],
  [
    'depthwise of stride 1 and dilation 2',
    [1, 5, 9, 11],
    [5, 1, 3, 5],
    { dilations: [2, 2], group: 5, pads: [2, 5, 1, 3] }
  ],
  ['depthwise, stride longer than the kernel', [1, 4, 9, 7], [4, 1, 2, 3], { strides: [3, 5], group: 4 }],
  ['some of one channel', [2, 6, 9, 10], [6, 3, 3, 4], { strides: [2, 2], group: 6, output_padding: [1, 1] }],
  ['depthwise along one axis', [2, 5, 40], [5, 1, 9], { strides: [4], group: 5, pads: [3, 2] }],
  ['one channel', [1, 64, 12, 12], [64, 1, 2, 2], { strides: [2, 2] }],
  ['one axis', [2, 40, 60], [40, 11, 8], { strides: [4], pads: [2, 2] }],
  ['three axes', [2, 12, 3, 5, 9], [12, 6, 3, 2, 4], { strides: [2, 3, 2], pads: [1, 0, 2, 2, 1, 0] }],
  ['three axes, dilations', [1, 16, 4, 3, 10], [16, 3, 2, 3, 3], { dilations: [3, 1, 2], pads: [2, 1, 0, 1, 2, 3] }],
  ['three axes, groups', [1, 12, 3, 4, 5], [12, 5, 2, 2, 2], { strides: [2, 2, 2], group: 2 }],
  [
    'depthwise over three axes',
    [2, 6, 4, 5, 7],
    [6, 1, 3, 4, 3],
    { strides: [2, 1, 2], dilations: [1, 2, 1], group: 6, pads: [1, 3, 0, 2, 2, 1] }
  ],
  ['pads as long as the kernel', [1, 16, 9, 10], [16, 8, 3, 3], { pads: [3, 2, 3, 2] }],
  ['an output shape', [1, 16, 8, 8], [16, 8, 3, 3], { strides: [2, 2], output_shape: [16, 17] }],
  ['pads that keep the size', [1, 16, 8, 8], [16, 8, 3, 3], { strides: [2, 2], auto_pad: 'SAME_LOWER' }]
] as const

describe.each(['heap', 'array'] as const)('transposed convolutions in WebAssembly, operands in an %s', region => {
  test.each(cases)('equal the reference: %s', (_, x, w, attributes) => {
    const channels = w[1] * ('group' in attributes ? attributes.group : 1)
    const inputs = [noise(x, 1), noise(w, 2), noise([channels], 3)]
    for (const threads of [1, 2]) {
      expectEqual(KIND, inputs, { region, attributes, constants: { w: 1 }, threads })
      expectEqual(KIND, inputs.slice(0, 2), { region, attributes, constants: { w: 1 }, threads })
    }
  })

  test('of OpenVINO equal the reference, also with groups in front', () => {
    const attributes = { strides: '2,2', dilations: '1,1', pads_begin: '1,1', pads_end: '1,0', output_padding: '0,1' }
    const options = { region, attributes, constants: { w: 1 } }
    const x = noise([1, 12, 9, 9], 1)
    expectEqual(['openvino', 'ConvolutionBackpropData', 1], [x, noise([12, 5, 3, 3], 2)], options)
    expectEqual(['openvino', 'GroupConvolutionBackpropData', 1], [x, noise([3, 4, 5, 3, 3], 2)], options)
  })

  test('keep NaN and infinities', () => {
    const x = noise([1, 16, 8, 8], 1)
    x.data[3] = NaN
    x.data[70] = Infinity
    expectEqual(KIND, [x, noise([16, 8, 2, 2], 2)], { region, attributes: { strides: [2, 2] }, constants: { w: 1 } })
  })

  test.each(cases)('of weights that are no constant equal the reference: %s', (_, x, w, attributes) => {
    expectEqual(KIND, [noise(x, 1), noise(w, 2)], { region, attributes })
  })
})

test('small transposed convolutions, empty ones, and those over four axes are left to the reference', () => {
  for (const [x, w] of [
    [
      [1, 2, 3, 3],
      [2, 2, 2, 2]
    ],
    [
      [0, 20, 9, 9],
      [20, 20, 3, 3]
    ],
    [
      [1, 8, 2, 3, 4, 6],
      [8, 8, 2, 2, 2, 2]
    ]
  ])
    expect(() => runAccelerated(KIND, [noise(x, 1), noise(w, 2)])).toThrow('no accelerated kernel')
})
