import { describe, expect, test } from 'vitest'
import type { Tensor } from '../../../src/tensor/tensor.ts'
import { heapStats } from '../../../src/wasm/heap.ts'
import { type WatchedJob, watchingJobs } from '../../../src/wasm/job-watcher.ts'
import { runOp } from '../../ops/harness.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'

const KIND = ['onnx', 'Conv', 11] as const
/** Winograd's F(4,3), and F(4,4) along one axis, lose a digit to their transforms. */
const WINOGRAD_TOLERANCE = 5e-6

const cases = [
  ['one tap', [1, 40, 7, 9], [13, 40, 1, 1], {}],
  ['one tap, a plane of three positions', [2, 23, 1, 3], [30, 23, 1, 1], {}],
  ['one tap, a plane of one position, deeper than a block', [1, 301, 1, 1], [28, 301, 1, 1], {}],
  ['three by three', [2, 5, 9, 11], [7, 5, 3, 3], { pads: [1, 1, 1, 1] }],
  ['stride 2', [1, 6, 17, 22], [8, 6, 3, 3], { pads: [1, 1, 1, 1], strides: [2, 2] }],
  ['stride 3', [1, 6, 17, 22], [8, 6, 3, 3], { pads: [0, 2, 1, 0], strides: [3, 3] }],
  ['dilation', [1, 6, 17, 22], [8, 6, 3, 5], { pads: [2, 4, 2, 4], dilations: [2, 2] }],
  ['groups', [2, 12, 10, 13], [9, 4, 3, 3], { pads: [1, 1, 1, 1], group: 3 }],
  ['more taps than a block is deep', [1, 70, 8, 8], [5, 70, 3, 3], { pads: [1, 1, 1, 1] }],
  ['an odd depth', [1, 3, 9, 17], [6, 3, 3, 3], { pads: [1, 1, 1, 1] }],
  ['one axis', [2, 20, 50], [11, 20, 5], { pads: [2, 2], strides: [2] }],
  ['three axes', [1, 4, 6, 7, 8], [6, 4, 3, 2, 3], { pads: [1, 0, 1, 1, 1, 1] }],
  ['depthwise', [2, 24, 15, 18], [24, 1, 3, 3], { pads: [1, 1, 1, 1], group: 24 }],
  [
    'depthwise, stride 2, five by five',
    [1, 24, 15, 18],
    [24, 1, 5, 5],
    { pads: [2, 2, 2, 2], group: 24, strides: [2, 2] }
  ],
  ['depthwise, stride 3, dilation', [1, 24, 25, 18], [24, 1, 3, 3], { group: 24, strides: [3, 3], dilations: [2, 1] }],
  ['depthwise, stride 2', [1, 24, 17, 23], [24, 1, 3, 3], { pads: [1, 1, 1, 1], group: 24, strides: [2, 2] }],
  ['depthwise, five by five', [2, 24, 14, 14], [24, 1, 5, 5], { pads: [2, 2, 2, 2], group: 24 }],
  ['depthwise, five by five, three lines of outputs', [1, 24, 7, 9], [24, 1, 5, 5], { group: 24 }],
  ['depthwise, five by five, seven lines of outputs', [1, 24, 7, 7], [24, 1, 5, 5], { pads: [2, 2, 2, 2], group: 24 }],
  ['depthwise, wider than one copies by vectors', [1, 24, 9, 70], [24, 1, 5, 5], { pads: [2, 2, 2, 2], group: 24 }],
  ['depthwise, three outputs in a line', [2, 24, 7, 7], [24, 1, 5, 5], { group: 24 }],
  [
    'depthwise, two outputs in a line',
    [2, 48, 5, 4],
    [48, 1, 3, 3],
    { pads: [1, 1, 1, 1], group: 48, strides: [2, 2] }
  ],
  ['depthwise, one line of outputs', [1, 24, 3, 30], [24, 1, 3, 3], { group: 24 }],
  [
    'depthwise, stride 2, odd padding at the end only',
    [1, 24, 8, 39],
    [24, 1, 3, 3],
    { pads: [0, 0, 1, 1], group: 24, strides: [2, 2] }
  ],
  ['depthwise, strides that differ', [1, 24, 15, 18], [24, 1, 3, 3], { group: 24, strides: [2, 1] }],
  ['depthwise with a multiplier', [1, 8, 15, 18], [16, 1, 3, 3], { pads: [1, 1, 1, 1], group: 8 }],
  ['depthwise, one axis', [1, 32, 60], [32, 1, 7], { pads: [3, 3], group: 32 }],
  ['depthwise, one axis, stride 3', [2, 9, 85], [9, 1, 11], { pads: [4, 6], group: 9, strides: [3] }],
  ['depthwise, one axis, stride 5, dilation 3', [1, 9, 99], [9, 1, 4], { group: 9, strides: [5], dilations: [3] }],
  ['depthwise, one axis, nine outputs', [1, 40, 9], [40, 1, 31], { pads: [15, 15], group: 40 }],
  ['depthwise, seven by seven', [2, 24, 14, 18], [24, 1, 7, 7], { pads: [3, 3, 3, 3], group: 24 }],
  ['depthwise, seven by seven, as small', [1, 24, 7, 7], [24, 1, 7, 7], { pads: [3, 3, 3, 3], group: 24 }],
  [
    'depthwise, four by four, stride 4',
    [1, 24, 20, 31],
    [24, 1, 4, 4],
    { pads: [0, 1, 0, 2], group: 24, strides: [4, 4] }
  ],
  ['depthwise, stride 4 by 2', [1, 24, 25, 38], [24, 1, 3, 5], { pads: [1, 2, 1, 2], group: 24, strides: [4, 2] }],
  ['depthwise, three axes', [2, 6, 5, 9, 11], [6, 1, 3, 3, 3], { pads: [1, 1, 1, 1, 1, 1], group: 6 }],
  [
    'depthwise, three axes, strides and dilations',
    [1, 6, 11, 12, 13],
    [12, 1, 3, 2, 4],
    { pads: [2, 0, 1, 1, 1, 3], group: 6, strides: [2, 1, 3], dilations: [2, 3, 1] }
  ],
  ['depthwise, three axes, one deep', [1, 6, 1, 9, 11], [6, 1, 1, 3, 3], { pads: [1, 1, 1, 0, 1, 1], group: 6 }],
  [
    'depthwise, three axes, a plane before the only one',
    [1, 6, 1, 9, 11],
    [6, 1, 1, 3, 3],
    { pads: [1, 1, 1, 0, 1, 1], group: 6, strides: [2, 1, 1] }
  ],
  [
    'to few channels, a plane before the only one',
    [2, 1, 1, 8, 9],
    [3, 1, 1, 3, 3],
    { pads: [1, 1, 1, 1, 1, 1], strides: [3, 1, 1] }
  ],
  ['one axis of three, planes around the only one', [1, 32, 1, 1, 64], [32, 32, 1, 1, 5], { pads: [1, 0, 2, 1, 0, 2] }],
  [
    'one axis of two, a line before the only one',
    [1, 32, 1, 64],
    [32, 32, 1, 5],
    { pads: [1, 2, 1, 2], strides: [3, 1] }
  ],
  ['depthwise, three axes, five by five of three', [1, 6, 4, 9, 11], [6, 1, 1, 5, 5], { group: 6, strides: [2, 1, 1] }],
  ['to one channel', [2, 37, 19, 23], [1, 37, 3, 3], { pads: [1, 1, 1, 1] }],
  ['to two channels, several bands', [1, 20, 70, 50], [2, 20, 3, 3], { pads: [2, 0, 0, 3] }],
  [
    'to one channel, strides and dilations',
    [1, 20, 29, 30],
    [1, 20, 3, 2],
    { pads: [2, 1, 3, 2], strides: [2, 3], dilations: [2, 1] }
  ],
  ['to three channels, five by five', [1, 7, 20, 21], [3, 7, 5, 5], { pads: [2, 2, 2, 2] }],
  ['to one channel of a line, several bands', [2, 33, 5003], [1, 33, 7], { pads: [3, 3] }],
  ['to two channels of a line, stride 2', [1, 33, 1201], [2, 33, 8], { pads: [5, 0], strides: [2] }],
  ['to one channel, one by one with a stride', [1, 20, 29, 30], [1, 20, 1, 2], { strides: [2, 2] }],
  ['to one channel, a line of outputs', [1, 20, 3, 30], [1, 20, 3, 3], { pads: [0, 1, 0, 1] }],
  ['to one channel, a column of outputs', [1, 20, 30, 3], [1, 20, 3, 3], { pads: [1, 0, 1, 0] }],
  ['one channel of three axes', [2, 1, 5, 9, 11], [7, 1, 2, 3, 3], { pads: [1, 0, 1, 0, 1, 1] }],
  ['one channel to fourteen, five by five', [2, 1, 23, 21], [14, 1, 5, 5], { pads: [2, 2, 2, 2] }],
  ['one channel to ten, three by three', [1, 1, 23, 21], [10, 1, 3, 3], {}],
  ['one channel of a line', [2, 1, 200], [1, 1, 41], { pads: [19, 22], strides: [3] }],
  ['three channels of one', [2, 1, 19, 23], [3, 1, 3, 3], { pads: [1, 1, 1, 1] }],
  ['two channels of one, stride 2', [1, 1, 19, 24], [2, 1, 5, 5], { pads: [2, 2, 2, 2], strides: [2, 2] }]
] as const

describe.each(['heap', 'array'] as const)('convolutions of float32 in WebAssembly, operands in an %s', region => {
  test.each(cases)('equal the reference: %s', (_, x, w, attributes) => {
    const inputs = [noise(x, 1), noise(w, 2), noise([w[0]], 3)]
    expectEqual(KIND, inputs, { region, attributes, constants: { w: 1 } })
    expectEqual(KIND, inputs.slice(0, 2), { region, attributes, constants: { w: 1 } })
  })

  test.each(cases)('add a residual before the activation: %s', (_, x, w, attributes) => {
    const inputs = [noise(x, 1), noise(w, 2, 0.1), noise([w[0]], 3)]
    const [{ dims }] = runOp(KIND, inputs, { attributes }) as Tensor[]
    const residual = noise(dims, 4)
    for (const activation of [{ activation: 'Tanh' }, { activation: 'Clip', activation_params: [-0.5, 0.75] }])
      for (const bias of [inputs[2], undefined])
        expectEqual(
          ['onnx', 'FusedConv', 1, 'com.microsoft'],
          [inputs[0], inputs[1], bias, residual],
          { region, attributes: { ...attributes, ...activation }, constants: { w: 1 } },
          2e-6
        )
  })

  test.each([
    ['few rows, which parts of the output channels share', [2, 20, 10, 10], [150, 20, 3, 3], 1],
    ['a plane of four tiles', [1, 40, 7, 7], [130, 40, 3, 3], 1],
    ['a plane of one tile', [3, 16, 3, 2], [18, 16, 3, 3], 1],
    ['more channels than scratch memory has room for at once', [1, 460, 20, 18], [32, 460, 3, 3], 1],
    ['several groups of tile rows', [1, 40, 61, 62], [33, 40, 3, 3], 1],
    ['one axis, several spans', [2, 70, 700], [150, 70, 5], 1],
    ['one axis, more channels than a product is deep', [1, 300, 64], [32, 300, 3], 1],
    ['panels', [2, 70, 14, 15], [150, 70, 1, 1], 1],
    ['bands of lines', [2, 40, 61, 62], [2, 40, 3, 3], 1],
    ['bands of a line', [1, 40, 6001], [1, 40, 7], 1],
    ['panels of groups', [1, 40, 9, 9], [140, 20, 2, 2], 2]
  ])('in parts equal the reference, by one thread and by two: %s', (_, x, w, group) => {
    const half = (w[2] - 1) >> 1
    const attributes = { group, activation: 'Relu', pads: new Array(2 * x.length - 4).fill(half) }
    const out = x.slice(2).map(size => (w[2] === 2 ? size - 1 : size))
    const inputs = [noise(x, 1), noise(w, 2, 0.1), noise([w[0]], 3), noise([x[0], w[0], ...out], 4)]
    const fused = ['onnx', 'FusedConv', 1, 'com.microsoft'] as const
    for (const threads of [1, 2])
      expectEqual(fused, inputs, { region, attributes, constants: { w: 1 }, threads }, WINOGRAD_TOLERANCE)
  })

  test.each([
    ['Relu', []],
    ['Tanh', []],
    ['LeakyRelu', [0.2]],
    ['HardSigmoid', [0.3, 0.4]],
    ['HardSwish', [0.2, 0.6]],
    ['Clip', [-0.5, 0.75]]
  ])('of FusedConv end with %s, after what is added: %j', (activation, parameters) => {
    const inputs = [noise([2, 8, 12, 12], 1), noise([6, 8, 2, 3], 2, 0.3), noise([6], 3), noise([2, 6, 11, 10], 4)]
    const attributes = { activation, ...(parameters.length > 0 && { activation_params: parameters }) }
    const options = { region, attributes, constants: { w: 1 } }
    expectEqual(['onnx', 'FusedConv', 1, 'com.microsoft'], inputs, options, 2e-6)
    expectEqual(['onnx', 'FusedConv', 1, 'com.microsoft'], inputs.with(2, undefined as never), options, 2e-6)
    expectEqual(['onnx', 'FusedConv', 1, 'com.microsoft'], inputs.slice(0, 3), options, 2e-6)
  })

  test.each([
    [7, 7],
    [5, 10],
    [3, 17],
    [14, 14],
    [1, 53],
    [6, 9],
    [5, 11],
    [1, 3]
  ])('equal the reference where panels end within a plane of %i x %i, and channels within twelve', (h, w) => {
    const fused = ['onnx', 'FusedConv', 1, 'com.microsoft'] as const
    for (const [m, channels] of [
      [26, 37],
      [24, 300],
      [7, 256]
    ])
      for (const [kernel, pads] of [[1, [0, 0, 0, 0]] as const, [2, [1, 0, 0, 1]] as const]) {
        const inputs = [noise([2, channels, h, w], 1), noise([m, channels, kernel, kernel], 2, 0.1), noise([m], 3)]
        const sum = noise([2, m, h, w], 4)
        for (const activation of ['Relu', 'Tanh']) {
          const options = { region, attributes: { activation, pads }, constants: { w: 1 } }
          expectEqual(fused, [...inputs, sum], options, 2e-6)
          expectEqual(fused, inputs, options, 2e-6)
        }
        expectEqual(KIND, inputs.slice(0, 2), { region, attributes: { pads }, constants: { w: 1 } }, 2e-6)
      }
  })

  test.each([
    [5, 2],
    [6, 5],
    [7, 7],
    [8, 3],
    [9, 4],
    [17, 6],
    [4, 7]
  ])('by channel equal the reference where the input is read in place: a plane of %i by %i', (width, height) => {
    const fused = ['onnx', 'FusedConv', 1, 'com.microsoft'] as const
    const inputs = [noise([2, 13, height, width], 1), noise([26, 1, 3, 3], 2), noise([26], 3)]
    const pads = [1, 1, 1, 1]
    for (const parameters of [
      { activation: 'Clip', activation_params: [-0.5, 0.75] },
      { activation: 'Relu' },
      { activation: 'Tanh' }
    ]) {
      const options = { region, attributes: { ...parameters, pads, group: 13 }, constants: { w: 1 } }
      expectEqual(fused, inputs, options, 2e-6)
      expectEqual(fused, [...inputs, noise([2, 26, height, width], 4)], options, 2e-6)
    }
    expectEqual(KIND, inputs.slice(0, 2), { region, attributes: { pads, group: 13 }, constants: { w: 1 } })
  })

  test.each([
    [8, 4],
    [8, 10],
    [10, 6],
    [12, 4],
    [14, 14],
    [16, 6],
    [34, 12],
    // Read from a copy.
    [6, 8],
    [8, 2],
    [9, 8],
    [8, 9]
  ])('by channel with a stride of two equal the reference: a plane of %i by %i', (width, height) => {
    const fused = ['onnx', 'FusedConv', 1, 'com.microsoft'] as const
    const inputs = [noise([2, 13, height, width], 1), noise([26, 1, 3, 3], 2), noise([26], 3)]
    const shared = { pads: [1, 1, 1, 1], strides: [2, 2], group: 13 }
    const residual = noise([2, 26, Math.ceil(height / 2), Math.ceil(width / 2)], 4)
    for (const parameters of [{ activation: 'Clip', activation_params: [-0.5, 0.75] }, { activation: 'Tanh' }])
      for (const added of [[], [residual]]) {
        const options = { region, attributes: { ...parameters, ...shared }, constants: { w: 1 } }
        expectEqual(fused, [...inputs, ...added], options, 2e-6)
      }
    expectEqual(KIND, inputs.slice(0, 2), { region, attributes: shared, constants: { w: 1 } })
  })

  test('of weights that are no constant equal the reference, and leave nothing on the heap', () => {
    const { used } = heapStats()
    for (const [x, w] of [
      [
        [1, 20, 9, 9],
        [20, 20, 3, 3]
      ],
      [
        [2, 6, 12, 12],
        [5, 6, 1, 4]
      ]
    ]) {
      const inputs = [noise(x, 1), noise(w, 2), noise([w[0]], 3)]
      expectEqual(KIND, inputs, { region: 'array' }, WINOGRAD_TOLERANCE)
    }
    expect(heapStats().used).toBe(used)
  })

  test('of OpenVINO with groups in front equal the reference', () => {
    const attributes = { strides: '1,1', dilations: '1,1', pads_begin: '1,1', pads_end: '1,1' }
    const inputs = [noise([1, 12, 9, 9], 1), noise([3, 5, 4, 3, 3], 2)]
    expectEqual(['openvino', 'GroupConvolution', 1], inputs, { region, attributes, constants: { w: 1 } })
  })
})

test.each([
  ['a plane of Winograd that fits into scratch memory is halved', [1, 16, 40, 40], [16, 16, 3, 3], 1, 2],
  ['parts of output channels are even where there is one block of positions', [1, 400, 7, 7], [160, 400, 1, 1], 0, 4]
])('two threads share few blocks: %s', (_, x, w, pad, count) => {
  const blocks: number[] = []
  const inputs = [noise(x, 1), noise(w, 2)]
  const options = { region: 'heap', attributes: { pads: [pad, pad, pad, pad] }, constants: { w: 1 } } as const
  const watcher = {
    ran: (job: WatchedJob) => blocks.push(job.blocks),
    missed: () => blocks.push(0),
    take: () => undefined
  }
  watchingJobs(watcher, () => {
    runAccelerated(KIND, inputs, options)
  })
  // The weights are packed before.
  expect(blocks.at(-1)).toBe(count)
  expectEqual(KIND, inputs, options, WINOGRAD_TOLERANCE)
})

test.each([
  ['by panels', [1, 40, 5, 9], [30, 40, 1, 1], {}],
  ['by panels, deeper than a block', [1, 300, 5, 9], [16, 300, 1, 1], {}],
  ['of windows', [1, 6, 17, 22], [13, 6, 3, 3], { strides: [2, 2] }],
  ['by Winograd', [1, 20, 9, 9], [16, 20, 3, 3], {}],
  ['to one output channel', [1, 12, 9, 9], [1, 12, 5, 5], {}],
  ['depthwise', [1, 9, 20, 20], [9, 1, 7, 7], { group: 9 }],
  ['depthwise, in place', [1, 9, 20, 20], [9, 1, 3, 3], { group: 9, pads: [1, 1, 1, 1] }],
  ['depthwise, in place by two', [1, 9, 20, 20], [9, 1, 3, 3], { group: 9, pads: [1, 1, 1, 1], strides: [2, 2] }],
  ['depthwise, three by three', [1, 9, 20, 20], [9, 1, 3, 3], { group: 9 }],
  ['depthwise, five by five', [1, 9, 19, 19], [9, 1, 5, 5], { group: 9, strides: [2, 2] }]
])('biases are added to whole sums, so that each output is rounded once: %s', (_, x, w, attributes) => {
  const bias = noise([w[0]], 3)
  // Sums are below 1,000, biases above 2,048: a unit in their last place is 2 ** -12.
  bias.data.forEach((value, i) => (bias.data[i] = 3000 + value))
  const inputs = [noise(x, 1), noise(w, 2), bias]
  for (const fused of [{}, { activation: 'Relu' }, { activation: 'LeakyRelu', activation_params: [0.1] }]) {
    const kind = 'activation' in fused ? (['onnx', 'FusedConv', 1, 'com.microsoft'] as const) : KIND
    const options = { attributes: { ...attributes, ...fused }, constants: { w: 1 } }
    const [reference] = runOp(kind, inputs, options) as Tensor<'float32'>[]
    const [output] = runAccelerated(kind, inputs, options) as Tensor<'float32'>[]
    const errors = reference.data.map((value, i) => Math.abs(output.data[i] - value))
    expect(Math.max(...errors)).toBeLessThanOrEqual(2 ** -12)
  }
})
