import { describe, expect, test } from 'vitest'
import { product, Tensor, withDims } from '../../../src/tensor/tensor.ts'
import { type Kind, runOp } from '../../ops/harness.ts'
import { type AcceleratedOptions, differenceOf, expectEqual, noise, runAccelerated } from '../compare.ts'

/** Numbers at which functions have their edges, among noise of several magnitudes. */
function numbers(count: number): Tensor {
  const edges = [
    0, -0, 1, -1, 0.5, -0.5, 1.5, 2.5, 1e-8, -1e-8, 10, -10, 30, -30, 88, -87, -100, 100, 1e-40, 0.62, 0.63
  ]
  const special = [Infinity, -Infinity, NaN]
  const data = Float32Array.from(noise([count], 5, 8).data)
  ;[...edges, ...special].forEach((value, i) => {
    data[i] = value
  })
  return new Tensor('float32', data, [count])
}

/** What a kernel and the reference make of one tensor. */
function bothOf(type: string, version: number, x: Tensor, options: AcceleratedOptions): Float32Array[] {
  const kind: Kind = ['onnx', type, version]
  return [runAccelerated(kind, [x], options), runOp(kind, [x], options)].map(
    ([y]) => (y as Tensor).data as Float32Array
  )
}

const functions = [
  ['Relu', 14, {}, 0],
  ['Sigmoid', 13, {}, 2e-7],
  ['Tanh', 13, {}, 2e-7],
  ['Gelu', 20, {}, 2e-7],
  ['Gelu', 20, { approximate: 'tanh' }, 2e-7],
  ['Swish', 24, { alpha: 1.702 }, 2e-7],
  ['LeakyRelu', 16, { alpha: 0.3 }, 1e-7],
  ['Elu', 6, { alpha: 0.7 }, 2e-7],
  ['HardSwish', 14, {}, 2e-7],
  ['Exp', 13, {}, 2e-7],
  ['Log', 13, {}, 2e-7],
  ['Erf', 13, {}, 2e-7],
  ['Abs', 13, {}, 0],
  ['Neg', 13, {}, 0],
  ['Sqrt', 13, {}, 0],
  ['Reciprocal', 13, {}, 0],
  ['Floor', 13, {}, 0],
  ['Ceil', 13, {}, 0],
  ['Round', 11, {}, 0],
  ['Sign', 13, {}, 0],
  ['IsNaN', 13, {}, 0],
  ['ThresholdedRelu', 10, { alpha: 0.3 }, 0],
  ['Shrink', 9, { lambd: 0.5, bias: 0.25 }, 0],
  ['Shrink', 9, { lambd: -0.5, bias: 0.25 }, 0],
  ['HardSigmoid', 6, { alpha: 0.3, beta: 0.4 }, 2e-7],
  ['Celu', 12, { alpha: 0.7 }, 2e-7],
  ['Selu', 6, {}, 2e-7],
  ['Softsign', 1, {}, 2e-7],
  ['Mish', 18, {}, 2e-7],
  ['Softplus', 1, {}, 2e-7]
] as const

describe.each(['heap', 'array'] as const)('functions of float32 elements in WebAssembly, operands in an %s', region => {
  test.each(functions)('%s-%i %j equals the reference', (type, version, attributes, tolerance) => {
    for (const count of [2048, 4099])
      expectEqual(['onnx', type, version], [numbers(count)], { region, attributes }, tolerance)
  })

  test.each([
    ['Gelu', 20, {}],
    ['Gelu', 20, { approximate: 'tanh' }],
    ['Swish', 24, {}],
    ['Swish', 24, { alpha: -1.702 }]
  ])(
    '%s-%i %j of each element is within 2e-7 of the element, however small the result',
    (type, version, attributes) => {
      const x = new Tensor(
        'float32',
        Float32Array.from({ length: 2051 }, (_, i) => (i - 1025) / 128),
        [2051]
      )
      const [found, exact] = bothOf(type, version, x, { region, attributes })
      found.forEach((value, i) => {
        expect(Math.abs(value - exact[i])).toBeLessThanOrEqual(2e-7 * Math.abs(x.data[i]))
      })
    }
  )

  test.each([
    ['Gelu', 20, {}],
    ['Gelu', 20, { approximate: 'tanh' }],
    ['Swish', 24, {}],
    ['Tanh', 13, {}],
    ['Erf', 13, {}],
    ['Elu', 6, { alpha: 0.7 }],
    ['Celu', 12, { alpha: 0.7 }],
    ['Selu', 6, {}]
  ])('%s-%i %j of the tiniest normal numbers has all digits', (type, version, attributes) => {
    const x = new Tensor(
      'float32',
      Float32Array.from({ length: 2051 }, (_, i) => (-1) ** i * 10 ** (-37 + i / 60)),
      [2051]
    )
    const [found, exact] = bothOf(type, version, x, { region, attributes })
    found.forEach((value, i) => {
      expect(Math.abs(value - exact[i])).toBeLessThanOrEqual(4e-7 * Math.abs(exact[i]))
    })
  })

  test.each([
    ['Sigmoid', 13],
    ['Swish', 24]
  ])('%s where e^-x is no normal number', (type, version) => {
    const far = [-1e38, -3e38, -127, -104, -90, -89, -88.5, -88.3, -87.4, 87.2, 87.4, 88.8, 127, 1e38, 3e38]
    // Behind whole vectors, too, in those with one element each.
    const x = new Tensor('float32', [...far, ...new Array(2048).fill(0), ...far], [2048 + 2 * far.length])
    const [found, exact] = bothOf(type, version, x, { region })
    // Below 88 the function is a subnormal number, or next to it, or 0.
    found.forEach((value, i) => {
      expect(Math.abs(value - exact[i])).toBeLessThanOrEqual(1e-35 + 2e-7 * Math.abs(exact[i]))
    })
    for (const value of [Infinity, -Infinity, NaN])
      for (const count of [2048, 2049]) {
        const [same, wanted] = bothOf(type, version, new Tensor('float32', new Array(count).fill(value), [count]), {
          region
        })
        expect([same.at(0), same.at(-1)]).toEqual([wanted[0], wanted[0]])
      }
  })

  test('Round of an IR with ties to the even one; ties away from zero are left to the reference', () => {
    const round = (mode: string): void =>
      expectEqual(['openvino', 'Round', 5], [numbers(2048)], { region, attributes: { mode } }, 0)
    round('half_to_even')
    expect(() => round('half_away_from_zero')).toThrow('no accelerated kernel is selected')
  })

  test('BiasGelu and FastGelu, with a bias and without, and QuickGelu', () => {
    const microsoft = (type: string): Kind => ['onnx', type, 1, 'com.microsoft']
    for (const dims of [[3, 7, 100], [4099]]) {
      const x = withDims(numbers(product(dims)), dims)
      const bias = noise(dims.slice(-1), 3)
      expectEqual(microsoft('BiasGelu'), [x, bias], { region }, 2e-7)
      expectEqual(microsoft('FastGelu'), [x, bias], { region }, 2e-7)
      expectEqual(microsoft('FastGelu'), [x], { region }, 2e-7)
      expectEqual(microsoft('Gelu'), [x], { region }, 2e-7)
      expectEqual(microsoft('QuickGelu'), [x], { region }, 2e-7)
    }
  })

  test.each([
    [3, 7, 100],
    [1, 1, 4098],
    [2, 80, 2560]
  ])('BiasAdd and BiasSplitGelu of %d by %d by %d', (...dims) => {
    const x = withDims(numbers(product(dims)), dims)
    const bias = noise(dims.slice(-1), 3)
    for (const threads of [1, 2]) {
      expectEqual(['onnx', 'BiasAdd', 1, 'com.microsoft'], [x, bias, noise(dims, 4)], { region, threads }, 1e-6)
      expectEqual(['onnx', 'BiasSplitGelu', 1, 'com.microsoft'], [x, bias], { region, threads }, 1e-6)
    }
  })

  test.each([
    [
      [2, 9, 7, 11],
      [9, 1, 1]
    ],
    [[2, 9, 7, 11], [1]],
    [[5, 400], [400]],
    [
      [2, 9, 7, 11],
      [2, 9, 7, 11]
    ]
  ])('PRelu of %j with slopes of %j is the same number', (dims, slopes) => {
    const x = withDims(numbers(product(dims)), dims)
    expectEqual(['onnx', 'PRelu', 16], [x, noise(slopes, 3)], { region }, 0)
  })

  test.each([
    [[2, 9, 7, 11], [9]],
    [[2, 5, 300], [300]]
  ])('PReLU of an IR finds the axis of its slopes: %j with %j', (dims, slopes) => {
    const x = withDims(numbers(product(dims)), dims)
    expectEqual(['openvino', 'PReLU', 1], [x, noise(slopes, 3)], { region }, 0)
  })

  test.each(['Add', 'Sub', 'Mul', 'Div'])('%s of elements side by side is the same number', type => {
    expectEqual(['onnx', type, 14], [numbers(5000), noise([5000], 3)], { region }, 0)
  })

  test.each([
    [[40, 70], []],
    [[], [40, 70]],
    [[40, 70], [70]],
    [
      [40, 70],
      [40, 1]
    ],
    [
      [8, 1, 70],
      [9, 1]
    ],
    [
      [2, 3, 20, 30],
      [3, 1, 30]
    ],
    [
      [1, 30, 1, 11],
      [4, 1, 5, 1]
    ]
  ])('broadcast: %j with %j', (a, b) => {
    for (const type of ['Add', 'Sub', 'Mul', 'Div'])
      expectEqual(['onnx', type, 14], [noise(a, 1), noise(b, 2)], { region }, 0)
  })

  test('Maximum and Minimum let NaN win', () => {
    for (const type of ['Maximum', 'Minimum'])
      expectEqual(['openvino', type, 1], [numbers(3000), noise([3000], 4, 8)], { region }, 0)
  })

  test('Clip reads bounds that are operands in every run, and leaves NaN', () => {
    const bounds = [new Tensor('float32', [-0.5], []), new Tensor('float32', [6], [])]
    expectEqual(['onnx', 'Clip', 13], [numbers(3000), ...bounds], { region }, 0)
    expectEqual(['onnx', 'Clip', 13], [numbers(3000), undefined, bounds[1]], { region }, 0)
    const nan = new Tensor('float32', [NaN], [])
    expectEqual(['onnx', 'Clip', 13], [numbers(3000), nan, bounds[1]], { region }, 0)
    expectEqual(['onnx', 'Clip', 13], [numbers(3000), bounds[0], nan], { region }, 0)
    expectEqual(['openvino', 'Clamp', 1], [numbers(3000)], { region, attributes: { min: '-1', max: '2.5' } }, 0)
  })

  test('are shared by two threads', () => {
    expectEqual(['onnx', 'Sigmoid', 13], [noise([200_003], 1)], { region, threads: 2 }, 2e-7)
    expectEqual(['onnx', 'Add', 14], [noise([200_003], 1), noise([], 2)], { region, threads: 2 }, 0)
  })
})

test('few elements, and other types, are left to the reference', () => {
  expect(() => runAccelerated(['onnx', 'Relu', 14], [noise([10], 1)])).toThrow('no accelerated kernel')
  const doubles = new Tensor('float64', new Float64Array(4000), [4000])
  expect(() => runAccelerated(['onnx', 'Erf', 13], [doubles])).toThrow('no accelerated kernel')
  expect(differenceOf(runOp(['onnx', 'Floor', 13], [doubles])[0] as Tensor, doubles)).toBe(0)
})
