import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { node, onnxBytes, port } from '../../fixtures/onnx.ts'
import { runOp } from '../../ops/harness.ts'
import { expectEqual, noise, runAccelerated } from '../compare.ts'
import { heldBy } from '../held.ts'
import { packedBytes } from '../packed.ts'

const KIND = ['onnx', 'Conv', 11] as const
/** Winograd's F(4,3), and F(4,4) along one axis, lose a digit to their transforms. F(2,3) of small planes does not. */
const WINOGRAD_TOLERANCE = 5e-6

describe.each(['heap', 'array'] as const)('convolutions by Winograd, operands in an %s', region => {
  test.each([
    [8, 8],
    [7, 7],
    [3, 5],
    [10, 9],
    [1, 21],
    [14, 15],
    [33, 18],
    [4, 40]
  ])('equal the reference: a plane of %i x %i, with and without padding', (h, w) => {
    const inputs = [noise([2, 17, h, w], 1), noise([19, 17, 3, 3], 2), noise([19], 3)]
    for (const pads of [
      [1, 1, 1, 1],
      [0, 0, 0, 0],
      [0, 2, 1, 0]
    ])
      if (h + pads[0] + pads[2] >= 3)
        expectEqual(KIND, inputs, { region, attributes: { pads }, constants: { w: 1 } }, WINOGRAD_TOLERANCE)
  })

  test.each([
    { x: [2, 16, 5, 9, 10], w: [18, 16, 3, 3, 3], pads: [1, 1, 1, 1, 1, 1] },
    { x: [1, 17, 6, 7, 7], w: [16, 17, 3, 3, 3], pads: [2, 0, 1, 1, 1, 0], strides: [2, 1, 1] },
    { x: [1, 16, 9, 12, 12], w: [20, 16, 2, 3, 3], pads: [0, 1, 1, 3, 1, 1], dilations: [3, 1, 1] },
    { x: [1, 16, 4, 6, 30], w: [16, 16, 1, 3, 3], pads: [0, 1, 0, 0, 1, 2] },
    { x: [1, 64, 8, 14, 14], w: [64, 64, 3, 3, 3], pads: [1, 1, 1, 1, 1, 1] },
    { x: [2, 17, 3, 6, 5], w: [19, 17, 3, 3, 3], pads: [1, 1, 1, 1, 1, 1], strides: [2, 1, 1] }
  ])('over planes equal the reference: %j', ({ x, w, ...attributes }) => {
    const inputs = [noise(x, 1), noise(w, 2), noise([w[0]], 3)]
    const options = { region, attributes, constants: { w: 1 }, threads: 2 }
    expectEqual(KIND, inputs, options, WINOGRAD_TOLERANCE)
    const [{ dims }] = runOp(KIND, inputs, { attributes }) as Tensor[]
    const relu = { ...options, attributes: { ...attributes, activation: 'Relu' } }
    const fused = ['onnx', 'FusedConv', 1, 'com.microsoft'] as const
    expectEqual(fused, [...inputs, noise(dims, 4)], relu, WINOGRAD_TOLERANCE)
  })

  test.each([
    [3, 1, 40],
    [3, 2, 61],
    [3, 3, 95],
    [4, 1, 23],
    [5, 3, 200],
    [7, 1, 130],
    [7, 3, 600],
    [8, 5, 333],
    [11, 4, 97],
    [11, 1, 1031],
    [11, 5, 601],
    [16, 16, 500]
  ])('along one axis equal the reference: %i taps, dilation %i, %i inputs', (taps, dilation, size) => {
    const reach = (taps - 1) * dilation
    const inputs = [noise([2, 33, size], 1), noise([35, 33, taps], 2, 0.2), noise([35], 3)]
    for (const pads of [
      [reach >> 1, (reach + 1) >> 1],
      [0, 0],
      [reach, 3]
    ]) {
      if (size + pads[0] + pads[1] <= reach) continue
      const attributes = { pads, dilations: [dilation] }
      expectEqual(KIND, inputs, { region, attributes, constants: { w: 1 } }, WINOGRAD_TOLERANCE)
      expectEqual(KIND, inputs.slice(0, 2), { region, attributes, constants: { w: 1 } }, WINOGRAD_TOLERANCE)
    }
  })

  test.each([16, 17, 18, 19])('and by panels equal the reference: %i output channels', channels => {
    const attributes = { pads: [1, 1, 1, 1] }
    for (const [height, width] of [[3, 3] as const, [3, 1] as const]) {
      const inputs = [noise([1, 18, 9, 10], 1), noise([channels, 18, height, width], 2)]
      expectEqual(KIND, inputs, { region, attributes, constants: { w: 1 } }, WINOGRAD_TOLERANCE)
    }
  })
})

test.each([
  ['over a plane', [1, 256, 16, 16], [32, 256, 3, 3], 6.5e-7],
  ['over a small plane', [1, 512, 7, 7], [24, 512, 3, 3], 2.5e-7],
  ['along one axis', [1, 256, 128], [32, 256, 7], 5e-7]
])('Winograd errs little %s, since deep sums are made in spans', (_, dims, weights, bound) => {
  // As behind a Relu: sums of products that mostly have one sign at a point grow with the depth.
  const data = noise(dims, 1).data.map(value => Math.max(0, value))
  const inputs = [new Tensor('float32', data, dims), noise(weights, 2)]
  const attributes = { pads: dims.slice(2).flatMap(() => [1, 1]) }
  const [reference] = runOp(KIND, inputs, { attributes }) as Tensor<'float32'>[]
  const [output] = runAccelerated(KIND, inputs, { attributes, constants: { w: 1 } }) as Tensor<'float32'>[]
  let error = 0
  let size = 0
  reference.data.forEach((value, at) => {
    error += Math.abs(output.data[at] - value)
    size += Math.abs(value)
  })
  expect(error / size).toBeLessThan(bound)
})

/** What the weights are transformed by. F(4, 3) has the roots in float32 in its other transforms. */
const [INNER, OUTER] = [1 / (3 * Math.fround(Math.SQRT1_2)), 1 / (3 * Math.fround(Math.SQRT2))]
const MATRICES = {
  2: [
    [1, 0, 0],
    [1 / 2, 1 / 2, 1 / 2],
    [1 / 2, -1 / 2, 1 / 2],
    [0, 0, 1]
  ],
  4: [
    [1, 0, 0],
    [-2 / 3, -INNER, -1 / 3],
    [-2 / 3, INNER, -1 / 3],
    [1 / 6, OUTER, 1 / 3],
    [1 / 6, -OUTER, 1 / 3],
    [0, 0, 1]
  ]
}

test.each([
  [4, 3, 4],
  [5, 4, 4],
  [6, 7, 4],
  [7, 4, 4],
  [4, 3, 2],
  [6, 7, 2],
  [5, 8, 2]
] as const)('Winograd rounds the weights of %i output and %i input channels once: F(%i, 3)', (m, channels, side) => {
  const G = MATRICES[side]
  const reach = G.length
  const given = noise([m, channels, 3, 3], 1).data
  const strips = Math.ceil(m / 4)
  const job = { kernel: 'packWinograd', blocks: strips, args: [m, channels, side] } as const
  const packed = packedBytes(job, [given], reach ** 2 * strips * channels * 16, 1)
  new Float32Array(packed.buffer).forEach((value, at) => {
    const [point, strip] = [Math.floor(at / (strips * channels * 4)), Math.floor(at / (channels * 4)) % strips]
    const [channel, o] = [Math.floor(at / 4) % channels, 4 * strip + (at % 4)]
    let sum = 0
    for (let i = 0; i < 9 && o < m; i++)
      sum +=
        G[Math.floor(point / reach)][Math.floor(i / 3)] *
        given[(o * channels + channel) * 9 + i] *
        G[point % reach][i % 3]
    expect(Math.abs(value - sum)).toBeLessThanOrEqual(Math.abs(sum) * 2 ** -24 + 1e-15)
  })
})

test.each([
  [4, 3],
  [6, 7],
  [5, 8]
])('Winograd transforms the weights of %i output channels and %i taps as its points say', (m, taps) => {
  const points = [1 / 2, -1 / 2, 1, -1, 2, -2]
  const channels = 3
  const given = noise([m, channels, taps], 1).data
  const [strips, groups] = [Math.ceil(m / 4), Math.ceil(taps / 4)]
  const count = 7 * strips * groups * channels * 4
  const job = { kernel: 'packLines', blocks: strips, args: [m, channels, taps] } as const
  const packed = packedBytes(job, [given], 4 * count, 1)
  new Float32Array(packed.buffer).forEach((value, at) => {
    const column = Math.floor(at / 4)
    const channel = column % channels
    const group = Math.floor(column / channels) % groups
    const row = Math.floor(column / (channels * groups))
    const [point, o] = [Math.floor(row / strips), 4 * (row % strips) + (at % 4)]
    const a = points.at(point)
    const factor = points.reduce((sum, b) => (b === a ? sum : sum / (a! - b)), 1)
    let sum = 0
    for (let i = 0; i < 4 && o < m && 4 * group + i < taps; i++) {
      const weight = given[(o * channels + channel) * taps + 4 * group + i]
      sum += point === 6 ? Number(i === 3) * weight : factor * a! ** i * weight
    }
    expect(Math.abs(value - sum)).toBeLessThan(2e-7)
  })
})

test.each([
  ['F(2, 3) for small planes', 256, 8, 16 / 9],
  ['F(2, 3) where its tiles fit better', 256, 10, 16 / 9],
  ['F(4, 3) for others', 256, 12, 4],
  ['F(2, 3) for wide planes of few tiles', 512, 16, 16 / 9],
  ['F(4, 3) for wide planes of more', 512, 20, 4]
])('weights are held as transformed by %s', async (_, channels, size, times) => {
  const bytes = 4 * channels * channels * 9
  const weights = { name: 'w', dims: [channels, channels, 3, 3], dataType: 1, rawData: new Uint8Array(bytes) }
  const model = onnxBytes({
    inputs: [port('x', 'float', [1, channels, size, size])],
    outputs: [port('y', 'float', [1, channels, 1, 1])],
    initializers: [weights],
    nodes: [node('Conv', ['x', 'w'], ['c'], { pads: [1, 1, 1, 1] }), node('GlobalAveragePool', ['c'], ['y'])]
  })
  const held = await heldBy(model, { x: noise([1, channels, size, size], 1) }, 1)
  expect(held / bytes).toBeCloseTo(times, 1)
})
