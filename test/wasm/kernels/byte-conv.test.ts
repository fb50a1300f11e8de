import { describe, expect, test } from 'vitest'
import { convIntegerToFloat } from '../../../src/op-kit/conv-to-float.ts'
import { convInteger } from '../../../src/ops/quantized/conv-integer.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { callOf, type Kind, runOp } from '../../ops/harness.ts'
import { type Byte, BYTE_PAIRS, codes, filled, one } from '../bytes.ts'
import { expectEqual, noise, onHeap, runPlanned } from '../compare.ts'

const scales = (n: number, seed: number): Tensor =>
  new Tensor('float32', Array.from(noise([n], seed, 0.01).data, Math.abs), n === 1 ? [] : [n])
const integers = (n: number, seed: number, scale: number): Tensor =>
  new Tensor('int32', Int32Array.from(noise([n], seed, scale).data, Math.round), [n])

const CASES = [
  ['one tap', [1, 40, 7, 9], [13, 40, 1, 1], {}],
  ['one tap, an odd number of channels', [2, 17, 8, 8], [6, 17, 1, 1], {}],
  ['one tap, stride 2', [1, 16, 9, 33], [8, 16, 1, 1], { strides: [2, 2] }],
  ['one tap, panels by twos and one alone', [2, 18, 6, 12], [7, 18, 1, 1], {}],
  ['one tap, half of a panel at the end', [1, 19, 14, 14], [66, 19, 1, 1], {}],
  ['lines that end within panels', [1, 18, 7, 7], [70, 18, 3, 3], { pads: [1, 1, 1, 1] }],
  ['lines of three', [1, 5, 6, 3], [7, 5, 3, 3], { pads: [1, 1, 1, 1] }],
  ['lines that end within panels, stride 2', [1, 7, 14, 15], [70, 7, 3, 3], { pads: [1, 1, 1, 1], strides: [2, 2] }],
  ['three by three', [2, 5, 9, 11], [7, 5, 3, 3], { pads: [1, 1, 1, 1] }],
  ['rows of many panels', [1, 3, 5, 150], [4, 3, 3, 3], { pads: [1, 1, 1, 1] }],
  ['stride 2', [1, 6, 17, 42], [8, 6, 3, 3], { pads: [1, 1, 1, 1], strides: [2, 2] }],
  ['stride 3', [1, 6, 17, 62], [8, 6, 3, 3], { pads: [0, 2, 1, 0], strides: [3, 3] }],
  ['dilation', [1, 6, 17, 22], [8, 6, 3, 5], { pads: [2, 4, 2, 4], dilations: [2, 2] }],
  ["Winograd's algorithm", [2, 16, 14, 14], [16, 16, 3, 3], { pads: [1, 1, 1, 1] }],
  ["Winograd's algorithm, odd sizes", [2, 17, 9, 11], [18, 17, 3, 3], { pads: [1, 1, 1, 1] }],
  ["Winograd's algorithm, one tile", [1, 21, 3, 4], [19, 21, 3, 3], {}],
  ["Winograd's algorithm, pads of any size", [1, 20, 12, 27], [33, 20, 3, 3], { pads: [0, 3, 2, 0] }],
  ["Winograd's algorithm, many strips", [1, 16, 5, 70], [70, 16, 3, 3], { pads: [1, 1, 1, 1] }],
  ['parts of the output channels', [1, 18, 7, 7], [131, 18, 1, 1], {}],
  ['parts of the output channels of groups', [1, 8, 7, 7], [134, 4, 2, 2], { group: 2 }],
  ["Winograd's algorithm, parts of the output channels", [1, 17, 7, 7], [131, 17, 3, 3], { pads: [1, 1, 1, 1] }],
  ['groups', [2, 12, 10, 13], [9, 4, 3, 3], { pads: [1, 1, 1, 1], group: 3 }],
  ['more panels than a block has', [1, 3, 40, 50], [5, 3, 2, 2], {}],
  ['one axis', [2, 20, 50], [11, 20, 5], { pads: [2, 2], strides: [2] }],
  ['three axes', [1, 4, 6, 7, 8], [6, 4, 3, 2, 3], { pads: [1, 0, 1, 1, 1, 1] }],
  ['depthwise', [2, 24, 15, 18], [24, 1, 3, 3], { pads: [1, 1, 1, 1], group: 24 }],
  ['depthwise, an even kernel', [2, 7, 15, 17], [7, 1, 2, 4], { pads: [0, 3, 1, 1], group: 7 }],
  [
    'depthwise, stride 2, five by five',
    [1, 24, 15, 18],
    [24, 1, 5, 5],
    { pads: [2, 2, 2, 2], group: 24, strides: [2, 2] }
  ],
  [
    'depthwise, stride 2, lines that begin in the second part',
    [1, 24, 9, 71],
    [24, 1, 3, 3],
    { pads: [1, 1, 1, 1], group: 24, strides: [2, 2] }
  ],
  ['depthwise, lines of several hundred sums', [1, 8, 5, 203], [8, 1, 3, 3], { pads: [1, 1, 1, 1], group: 8 }],
  ['depthwise, stride 3, dilation', [1, 24, 25, 18], [24, 1, 3, 3], { group: 24, strides: [3, 3], dilations: [2, 1] }],
  ['depthwise with a multiplier', [1, 8, 15, 18], [16, 1, 3, 3], { pads: [1, 1, 1, 1], group: 8 }],
  ['depthwise, one axis', [1, 32, 60], [32, 1, 7], { pads: [3, 3], group: 32 }],
  ['depthwise, three axes', [1, 8, 5, 6, 9], [8, 1, 3, 3, 3], { pads: [1, 1, 1, 1, 1, 1], group: 8 }],
  [
    'depthwise, three axes, a plane before the only one',
    [1, 8, 1, 6, 9],
    [8, 1, 1, 3, 3],
    { pads: [1, 1, 1, 1, 1, 1], group: 8, strides: [3, 1, 1] }
  ],
  [
    "Winograd's algorithm, three axes, planes around the only one",
    [1, 16, 1, 8, 9],
    [16, 16, 1, 3, 3],
    { pads: [1, 1, 1, 1, 1, 1] }
  ]
] as const

describe.each(['heap', 'array'] as const)('convolutions of bytes in WebAssembly, operands in an %s', region => {
  describe.each(BYTE_PAIRS)('of %s and %s', (data, weights) => {
    test.each(CASES)('have the sums of the reference: %s', (_, x, w, attributes) => {
      const inputs = [codes(data, x, 1), codes(weights, w, 2)]
      const options = { region, attributes }
      expectEqual(['onnx', 'ConvInteger', 10], inputs, options, 0)
      expectEqual(['onnx', 'ConvInteger', 10], [...inputs, one(data, 101), codes(weights, [w[0]], 3)], options, 0)
      expectEqual(['onnx', 'ConvInteger', 10], [...inputs, undefined, one(weights, 101)], options, 0)
      const zeros = [one(data, 101), codes(weights, [w[0]], 3)]
      expectEqual(['onnx', 'ConvInteger', 10], [...inputs, ...zeros], { ...options, constants: { w: 1, wZero: 3 } }, 0)
    })

    test.each(CASES)('have the sums of the reference where weights have no zero points: %s', (_, x, w, attributes) => {
      const zero = one(weights, weights === 'int8' ? 0 : 128)
      const inputs = [codes(data, x, 1), codes(weights, w, 2), codes(data, [], 3), zero]
      expectEqual(['onnx', 'ConvInteger', 10], inputs, { region, attributes, constants: { w: 1, wZero: 3 } }, 0)
    })

    test.each([917, 918])('have exact sums of %i channels where all codes are the largest, zero points least', n => {
      const [high, low] = [(type: Byte) => (type === 'int8' ? 127 : 255), (type: Byte) => (type === 'int8' ? -128 : 0)]
      const x = filled(data, [1, n, 4, 4], high(data))
      const w = filled(weights, [16, n, 3, 3], high(weights))
      const inputs = [x, w, one(data, low(data)), one(weights, low(weights))]
      expectEqual(['onnx', 'ConvInteger', 10], inputs, { region, constants: { w: 1, wZero: 3 } }, 0)
    })

    test.each(CASES)('are quantized as the reference quantizes them: %s', (_, x, w, attributes) => {
      const [m] = w
      for (const channels of [1, m]) {
        const type = channels === 1 ? data : weights
        const inputs = [
          codes(data, x, 1),
          one('float32', 0.013),
          codes(data, [], 3),
          codes(weights, w, 2),
          scales(channels, 5),
          codes(weights, channels === 1 ? [] : [channels], 4),
          one('float32', 0.07),
          codes(type, [], 6)
        ]
        expectEqual(['onnx', 'QLinearConv', 10], inputs, { region, attributes }, 0)
        expectEqual(['onnx', 'QLinearConv', 10], [...inputs, integers(m, 7, 1e5)], { region, attributes }, 0)
        const constants = { w: 3, wZero: 5 }
        expectEqual(['onnx', 'QLinearConv', 10], inputs, { region, attributes, constants }, 0)
        const all = { ...constants, xScale: 1, wScale: 4, yScale: 6, yZero: 7, bias: 8 }
        const options = { region, attributes, constants: all }
        expectEqual(['onnx', 'QLinearConv', 10], [...inputs, integers(m, 7, 1e5)], options, 0)
      }
    })
  })

  test.each(CASES.filter((_, i) => i % 4 === 0))(
    'are scaled to float32 as the reference does: %s',
    (_, x, w, attributes) => {
      const integers = [codes('uint8', x, 1), codes('int8', w, 2), one('uint8', 101), codes('int8', [w[0]], 3)]
      const call = callOf(['onnx', 'ConvInteger', 10], integers, { attributes })
      const { dims } = runOp(['onnx', 'ConvInteger', 10], integers, { attributes })[0] as Tensor
      const operands = {
        ...{ x: integers[0], w: integers[1], xZero: integers[2], wZero: integers[3] },
        ...{ xScale: one('float32', 0.013), wScale: scales(w[0], 5), bias: noise([w[0]], 7) }
      }
      const given =
        region === 'heap'
          ? Object.fromEntries(Object.entries(operands).map(([name, tensor]) => [name, onHeap(tensor)]))
          : operands
      for (const bias of [given.bias, undefined]) {
        const [found, expected] = [true, false].map(isAccelerated =>
          runPlanned(convIntegerToFloat(convInteger), { ...given, bias }, call.known, dims, isAccelerated)
        )
        expect(found.data).toEqual(expected.data)
      }
    }
  )

  test.each([
    ['one tap', [1, 4096, 1, 3], [1301, 4096, 1, 1], {}],
    ['groups', [1, 4096, 1, 3], [2602, 2048, 1, 1], { group: 2 }],
    ["Winograd's algorithm", [1, 910, 4, 4], [642, 910, 3, 3], {}]
  ] as const)('read weights that are packed in several turns: %s', (_, x, w, attributes) => {
    const inputs = [codes('uint8', x, 1), codes('int8', w, 2), one('uint8', 101)]
    for (const zeros of [one('int8', 0), codes('int8', [w[0]], 3)])
      expectEqual(
        ['onnx', 'ConvInteger', 10],
        [...inputs, zeros],
        { region, attributes, constants: { w: 1, wZero: 3 } },
        0
      )
  })

  test('read weights that are packed without zero points', () => {
    const inputs = [codes('uint8', [2, 17, 8, 9], 1), codes('int8', [6, 17, 3, 3], 2), one('uint8', 101)]
    expectEqual(['onnx', 'ConvInteger', 10], inputs, { region, constants: { w: 1 } }, 0)
  })

  test.each([
    ['0.5', 1, 0.5, 1],
    ['1 / 6, which no float holds', 1 / 3, 0.5, 1],
    ['a factor whose ties float32 cannot tell', 0.1, 0.05, 0.01],
    ['a factor below the normal range', 1e-30, 1e-20, 1],
    ['a factor above the range', 1e30, 1e30, 1e-3],
    ['an infinite factor', 1e30, 1, 0]
  ])('are rounded as in double precision where sums end at or beside ties: %s', (_, xScale, wScale, yScale) => {
    const constants = { xScale: 1, w: 3, wScale: 4, wZero: 5, yScale: 6, yZero: 7, bias: 8 }
    // Sums are small, so that many quotients are whole numbers and a half.
    const x = new Tensor(
      'uint8',
      Array.from(noise([12 * 400], 1).data, v => Math.floor(4 * Math.abs(v))),
      [1, 12, 20, 20]
    )
    const w = new Tensor(
      'int8',
      Array.from(noise([9 * 12], 2).data, v => Math.round(3 * v)),
      [9, 12, 1, 1]
    )
    for (const bias of [[], [integers(9, 7, 20)], [integers(9, 7, 2 ** 30)]])
      for (const zero of [0, 128, 255]) {
        const first = [x, one('float32', xScale), one('uint8', 0), w, one('float32', wScale), one('int8', 0)]
        const inputs = [...first, one('float32', yScale), one('uint8', zero), ...bias]
        expectEqual(['onnx', 'QLinearConv', 10], inputs, { region }, 0)
        const { bias: last, ...others } = constants
        const own = bias.length > 0 ? { ...others, bias: last } : others
        expectEqual(['onnx', 'QLinearConv', 10], inputs, { region, constants: own }, 0)
      }
  })

  test('have exact sums where all codes are the largest and zero points the smallest', () => {
    const [channels, side] = [3669, 3]
    const x = new Tensor('uint8', new Uint8Array(channels * side * side).fill(255), [1, channels, side, side])
    const w = new Tensor('int8', new Int8Array(5 * channels * side * side).fill(127), [5, channels, side, side])
    expectEqual(['onnx', 'ConvInteger', 10], [x, w, one('uint8', 0), one('int8', -128)], { region }, 0)
  })

  test('have biases added that leave the range of sums', () => {
    const bias = new Tensor('int32', [2 ** 31 - 1, -(2 ** 31)], [2])
    const [x, w] = [codes('uint8', [1, 20, 5, 5], 1), codes('int8', [2, 20, 3, 3], 2)]
    const number = one('float32', 1)
    const inputs = [x, number, one('uint8', 3), w, number, one('int8', 4), one('float32', 3e7), one('uint8', 90), bias]
    expectEqual(['onnx', 'QLinearConv', 10], inputs, { region }, 0)
  })

  test.each([
    ['one tap', [2, 7, 9, 24], [10, 24, 1, 1], {}],
    ['stride 2', [2, 17, 42, 6], [9, 6, 3, 3], { pads: [1, 1, 1, 1], strides: [2, 2] }],
    ['groups', [1, 10, 13, 12], [9, 4, 3, 3], { group: 3 }],
    ['depthwise', [2, 15, 18, 24], [24, 1, 3, 3], { pads: [1, 1, 1, 1], group: 24 }],
    ['depthwise, stride 2', [1, 15, 18, 24], [24, 1, 3, 3], { pads: [1, 1, 1, 1], group: 24, strides: [2, 2] }]
  ])('have channels last as the reference has: %s', (_, x, w, attributes) => {
    const kind: Kind = ['onnx', 'QLinearConv', 1, 'com.microsoft']
    const inputs = [
      ...[codes('uint8', x, 1), one('float32', 0.013), one('uint8', 120)],
      ...[codes('int8', w, 2), scales(w[0], 5), codes('int8', [w[0]], 4)],
      ...[one('float32', 0.07), one('uint8', 99), integers(w[0], 7, 1e4)]
    ]
    expectEqual(kind, inputs, { region, attributes: { ...attributes, channels_last: 1 } }, 0)
  })
})

test.each([
  ['three by three', [1, 64, 40, 40], [96, 64, 3, 3]],
  ['one tap, parts of the output channels', [1, 300, 7, 7], [257, 300, 1, 1]],
  ["Winograd's algorithm, parts of the output channels", [1, 96, 7, 7], [257, 96, 3, 3]]
])('several threads compute what one does: %s', (_, x, w) => {
  const pads = w[2] === 3 ? [1, 1, 1, 1] : [0, 0, 0, 0]
  const inputs = [codes('uint8', x, 1), codes('int8', w, 2), one('uint8', 120)]
  expectEqual(['onnx', 'ConvInteger', 10], inputs, { threads: 2, attributes: { pads } }, 0)
  expectEqual(['onnx', 'ConvInteger', 10], inputs, { threads: 2, attributes: { pads }, constants: { w: 1 } }, 0)
})
