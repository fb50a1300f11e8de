import { describe, expect, test } from 'vitest'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { type Kind, runOp } from '../../ops/harness.ts'
import { differenceOf, expectEqual, noise, runAccelerated } from '../compare.ts'

/** Shares of the largest magnitude: about five roundings to float32, since the sums are corrected. */
const TOLERANCE = 4e-7

/** Noise around a number, and lines of one number. */
function shifted(dims: readonly number[], seed: number, shift: number): Tensor {
  const { data } = noise(dims, seed)
  return new Tensor(
    'float32',
    data.map(value => value + shift),
    dims
  )
}

const positive = (dims: readonly number[], seed: number): Tensor => shifted(dims, seed, 1.5)

describe.each(['heap', 'array'] as const)('normalization of float32 in WebAssembly, operands in an %s', region => {
  test('LayerNormalization over the axes from one on', () => {
    for (const [dims, axis, scale] of [
      [[3, 5, 100], -1, [100]],
      [[3, 5, 101], 1, [5, 101]],
      [[3, 5, 101], 1, [1, 5, 101]],
      [[4, 1, 99], 1, [99]],
      [[4, 3003], -1, [3003]],
      [[300, 1], 1, [1]],
      [[300, 3], 1, [3]]
    ] as const) {
      const inputs = [noise(dims, 1), noise(scale, 2), noise(scale, 3)]
      const attributes = { axis, epsilon: 1e-5 }
      expectEqual(['onnx', 'LayerNormalization', 17], inputs, { region, attributes }, TOLERANCE)
      expectEqual(['onnx', 'LayerNormalization', 17], inputs.slice(0, 2), { region, attributes }, TOLERANCE)
    }
  })

  test('LayerNormalization and RMSNormalization of float64', () => {
    const wide = (tensor: Tensor): Tensor =>
      new Tensor(
        'float64',
        Float64Array.from(tensor.data as Float32Array, value => value / 3 + 1e-9),
        tensor.dims
      )
    for (const [dims, axis, scale] of [
      [[3, 5, 100], -1, [100]],
      [[3, 5, 101], 1, [5, 101]],
      [[4, 3003], -1, [3003]],
      [[300, 1], 1, [1]],
      [[300, 3], 1, [3]]
    ] as const) {
      const inputs = [shifted(dims, 1, 3), noise(scale, 2), noise(scale, 3)].map(wide)
      for (const epsilon of [1e-5, 0.25]) {
        const attributes = { axis, epsilon }
        expectEqual(['onnx', 'LayerNormalization', 17], inputs, { region, attributes }, 1e-13)
        expectEqual(['onnx', 'LayerNormalization', 17], inputs.slice(0, 2), { region, attributes }, 1e-13)
        expectEqual(['onnx', 'RMSNormalization', 23], inputs.slice(0, 2), { region, attributes }, 1e-13)
      }
      expectEqual(['onnx', 'LayerNormalization', 17], inputs, { region, attributes: { axis }, outputs: 3 }, 1e-6)
    }
  })

  test('RMSNormalization', () => {
    for (const size of [64, 100, 1027, 4099]) {
      const inputs = [noise([5, size], 1, 4), noise([size], 2)]
      expectEqual(['onnx', 'RMSNormalization', 23], inputs, { region, attributes: { axis: -1 } }, TOLERANCE)
    }
  })

  test('SimplifiedLayerNormalization, with its second result where that is wanted', () => {
    const inputs = [noise([5, 1027], 1, 4), noise([1027], 2)]
    const kind = ['onnx', 'SimplifiedLayerNormalization', 13] as const
    expectEqual(kind, inputs, { region }, TOLERANCE)
    expectEqual(kind, inputs, { region, outputs: 2 }, TOLERANCE)
  })

  test('SkipLayerNormalization and its simplified form, with and without shift and bias, and the sum', () => {
    const kind = (type: string): Kind => ['onnx', type, 1, 'com.microsoft']
    for (const [dims, skipDims] of [
      [
        [3, 5, 100],
        [3, 5, 100]
      ],
      [
        [3, 5, 101],
        [1, 5, 101]
      ],
      [
        [3, 5, 101],
        [5, 101]
      ],
      [
        [7, 1027],
        [7, 1027]
      ]
    ]) {
      const size = [dims[dims.length - 1]]
      const [x, skip, scale, shift, bias] = [dims, skipDims, size, size, size].map((own, i) => noise(own, i + 1))
      for (const outputs of [1, 4]) {
        const options = { region, outputs, unwanted: [1, 2], attributes: { epsilon: 1e-3 } }
        for (const inputs of [
          [x, skip, scale, shift, bias],
          [x, skip, scale, undefined, bias],
          [x, skip, scale]
        ])
          expectEqual(kind('SkipLayerNormalization'), inputs, options, TOLERANCE)
        for (const inputs of [
          [x, skip, scale, bias],
          [x, skip, scale]
        ])
          expectEqual(kind('SkipSimplifiedLayerNormalization'), inputs, options, TOLERANCE)
      }
      expectEqual(kind('SkipLayerNormalization'), [x, skip, scale], { region, outputs: 3 }, 0)
    }
  })

  test('MeanVarianceNormalization and MVN over the last axes', () => {
    const x = noise([3, 4, 5, 27], 1)
    const over = (axes: number[]): Tensor => new Tensor('int64', axes.map(BigInt), [axes.length])
    expectEqual(['onnx', 'MeanVarianceNormalization', 13], [x], { region, attributes: { axes: [2, 3] } }, TOLERANCE)
    expectEqual(['onnx', 'MeanVarianceNormalization', 13], [noise([1, 8, 9, 9], 1)], { region }, TOLERANCE)
    const mvn2 = { eps: '1e-6', across_channels: 'true', normalize_variance: 'true' }
    expectEqual(['openvino', 'MVN', 2], [x], { region, attributes: mvn2 }, TOLERANCE)
    for (const [scales, mode] of [
      [true, 'inside_sqrt'],
      [true, 'outside_sqrt'],
      [false, 'inside_sqrt']
    ] as const) {
      const attributes = { eps: '1e-3', normalize_variance: String(scales), eps_mode: mode }
      expectEqual(['openvino', 'MVN', 6], [x, over([-1, 2])], { region, attributes }, TOLERANCE)
    }
  })

  test('MeanVarianceNormalization and MVN over axes that are not the last ones', () => {
    const kind = ['onnx', 'MeanVarianceNormalization', 13] as const
    // Means are not corrected here, so they are off by a rounding of the largest magnitudes.
    const tolerance = 2e-6
    for (const x of [noise([4, 6, 9, 11], 1), shifted([4, 6, 9, 11], 2, 3)]) {
      for (const axes of [[0, 2, 3], [1], [0, 1], [0], [2], [-1, 0], [0, 2], [1, 3]])
        expectEqual(kind, [x], { region, attributes: { axes } }, tolerance)
      for (const attributes of [
        { eps: '1e-3', normalize_variance: 'true', eps_mode: 'inside_sqrt' },
        { eps: '1e-3', normalize_variance: 'false', eps_mode: 'inside_sqrt' }
      ])
        expectEqual(['openvino', 'MVN', 6], [x, new Tensor('int64', [1n], [1])], { region, attributes }, tolerance)
    }
    const tiny = noise([4, 6, 9, 11], 3, 1e-25)
    const inside = { eps: '1e-50', normalize_variance: 'true', eps_mode: 'inside_sqrt' }
    expectEqual(['openvino', 'MVN', 6], [tiny, new Tensor('int64', [1n], [1])], { region, attributes: inside }, 0)
    expectEqual(kind, [noise([4, 6, 9, 11], 3, 1e25)], { region }, 0)
  })

  test('GroupNormalization with scale and bias by group or by channel, and InstanceNormalization', () => {
    for (const dims of [
      [2, 12, 9, 7],
      [1, 6, 1030],
      [3, 6, 4, 4],
      [2, 6, 7],
      [3, 6, 2]
    ]) {
      const x = noise(dims, 1)
      const by = (count: number): Tensor[] => [x, noise([count], 2), noise([count], 3)]
      const attributes = { num_groups: 3, epsilon: 1e-5 }
      expectEqual(['onnx', 'GroupNormalization', 18], by(3), { region, attributes }, TOLERANCE)
      expectEqual(['onnx', 'GroupNormalization', 21], by(dims[1]), { region, attributes }, TOLERANCE)
      expectEqual(['openvino', 'GroupNormalization', 12], by(dims[1]), { region, attributes }, TOLERANCE)
      expectEqual(['onnx', 'InstanceNormalization', 6], by(dims[1]), { region }, TOLERANCE)
    }
  })

  test('BatchNormalization by given statistics', () => {
    for (const dims of [
      [2, 12, 9, 7],
      [3, 6, 30],
      [3, 6, 5],
      [4, 6, 2],
      [5, 27],
      [1, 64, 1, 1],
      [300, 130]
    ]) {
      const lists = [2, 3, 4].map(seed => noise([dims[1]], seed))
      const inputs = [noise(dims, 1), ...lists, positive([dims[1]], 5)]
      for (const version of [7, 9, 15])
        expectEqual(['onnx', 'BatchNormalization', version], inputs, { region }, TOLERANCE)
      const attributes = { epsilon: '1e-3' }
      expectEqual(['openvino', 'BatchNormInference', 5], inputs, { region, attributes }, TOLERANCE)
      const [x, scale, bias, mean, variance] = inputs
      const first = [scale, bias, x, mean, variance]
      expectEqual(['openvino', 'BatchNormInference', 1], first, { region, attributes }, TOLERANCE)
    }
  })

  test('NaN and infinities reach what they reach in the reference', () => {
    const data = Float32Array.from(noise([8 * 70], 3).data)
    data[5] = NaN
    data[139] = Infinity
    data[150] = -Infinity
    const x = new Tensor('float32', data, [8, 70])
    const lists = [noise([70], 1), noise([70], 2)]
    expectEqual(['onnx', 'LayerNormalization', 17], [x, ...lists], { region }, TOLERANCE)
    expectEqual(['onnx', 'RMSNormalization', 23], [x, lists[0]], { region }, TOLERANCE)
    const over = new Tensor('int64', [1n], [1])
    const attributes = { eps: '1e-3', normalize_variance: 'false', eps_mode: 'inside_sqrt' }
    expectEqual(['openvino', 'MVN', 6], [x, over], { region, attributes }, TOLERANCE)
    const channels = [new Tensor('float32', data, [2, 4, 70]), noise([4], 1), noise([4], 2)]
    expectEqual(['onnx', 'InstanceNormalization', 6], channels, { region }, TOLERANCE)
    const statistics = [noise([4], 3), positive([4], 4)]
    expectEqual(['onnx', 'BatchNormalization', 15], [...channels, ...statistics], { region }, TOLERANCE)
  })

  test('shared by two threads', () => {
    const x = noise([500, 768], 1)
    const lists = [noise([768], 2), noise([768], 3)]
    expectEqual(['onnx', 'LayerNormalization', 17], [x, ...lists], { region, threads: 2 }, TOLERANCE)
    const channels = [noise([4, 64, 40, 40], 1), noise([64], 2), noise([64], 3)]
    expectEqual(['onnx', 'InstanceNormalization', 6], channels, { region, threads: 2 }, TOLERANCE)
  })
})

test('rows of one number become zeros', () => {
  const constant = new Tensor('float32', new Float32Array(4 * 2999).fill(1000.1), [4, 2999])
  const ones = new Tensor('float32', new Float32Array(2999).fill(1), [2999])
  const [zeros] = runAccelerated(['onnx', 'LayerNormalization', 17], [constant, ones]) as [Tensor]
  expect(zeros.data.every(value => value === 0)).toBe(true)
})

test.each([30, 1000, 1e6])('a mean of %d, far from the deviation of 0.6, costs no digits', mean => {
  const x = shifted([4, 2999], 1, mean)
  const kind = (type: string, version: number): Kind => ['onnx', type, version]
  expectEqual(kind('LayerNormalization', 17), [x, noise([2999], 2), noise([2999], 3)], {}, TOLERANCE)
  const over = new Tensor('int64', [1n], [1])
  for (const normalize_variance of ['true', 'false']) {
    const attributes = { eps: '1e-3', normalize_variance, eps_mode: 'inside_sqrt' }
    expectEqual(['openvino', 'MVN', 6], [x, over], { attributes }, TOLERANCE)
  }
  const channels = [shifted([2, 4, 701], 1, mean), noise([4], 2), noise([4], 3)]
  expectEqual(kind('InstanceNormalization', 6), channels, {}, TOLERANCE)
  expectEqual(kind('GroupNormalization', 21), channels, { attributes: { num_groups: 2 } }, TOLERANCE)
})

test('wanted statistics, rows in part, few elements and training are left to the reference', () => {
  const x = noise([40, 100], 1)
  const scale = noise([100], 2)
  const kind = ['onnx', 'LayerNormalization', 17] as const
  // The harness wants every output: the selected kernel then runs the reference.
  const all = runAccelerated(kind, [x, scale], { outputs: 3 })
  runOp(kind, [x, scale], { outputs: 3 }).forEach((value, i) => {
    expect(differenceOf(all[i] as Tensor, value as Tensor)).toBe(0)
  })
  const refused = (type: string, version: number, inputs: Tensor[], attributes = {}, outputs = 1): void =>
    expect(() => runAccelerated(['onnx', type, version], inputs, { attributes, outputs })).toThrow('no accelerated')
  refused('LayerNormalization', 17, [x, noise([1], 1)])
  refused('LayerNormalization', 17, [noise([2, 40, 100], 1), scale], { axis: 1 })
  refused('LayerNormalization', 17, [noise([10], 1), noise([10], 1)])
  refused('LayerNormalization', 17, [noise([0, 100], 1), scale])
  refused('RMSNormalization', 23, [x, new Tensor('float64', new Float64Array(100), [100])])
  refused('MeanVarianceNormalization', 13, [noise([2, 8, 9, 9], 1)])
  refused('MeanVarianceNormalization', 13, [noise([3, 8, 9, 12], 1)], { axes: [0] })
  const four = [1, 2, 3].map(seed => noise([4], seed))
  const batch = [noise([3, 4, 50], 1), ...four, positive([4], 1)]
  refused('BatchNormalization', 15, batch, { training_mode: 1 }, 3)
  for (const size of [0, 1]) refused('InstanceNormalization', 6, [noise([20, 4, size], 1), ...four.slice(1)])
})
