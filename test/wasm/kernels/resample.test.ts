import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DType } from '../../../src/tensor/dtype.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import { runOp } from '../../ops/harness.ts'
import { codes } from '../bytes.ts'
import { bits, differenceOf, expectEqual, noise, runAccelerated } from '../compare.ts'

const RESIZE = ['onnx', 'Resize', 19] as const
const sizes = (list: readonly number[]): Tensor => new Tensor('int64', BigInt64Array.from(list, BigInt), [list.length])
const volume = (target: Tensor): number => Array.from(target.data, Number).reduce((a, b) => a * b, 1)
const scales = (list: readonly number[]): Tensor => new Tensor('float32', Float32Array.from(list), [list.length])

/** Largest differences as a share of the largest magnitude: of bytes, one unit where a sum is near a tie. */
const TOLERANCE: Readonly<Partial<Record<DType, number>>> = { float32: 1e-6, uint8: 1 / 200, int8: 1 / 100 }

const dataOf = (type: 'float32' | 'uint8' | 'int8', dims: readonly number[]): Tensor =>
  type === 'float32' ? noise(dims, 3) : codes(type, dims, 3)

/** Whether the accelerated kernel equals the reference; false where the call is left to the reference. */
function isServed(...call: Parameters<typeof expectEqual>): boolean {
  try {
    expectEqual(...call)
    return true
  } catch (error) {
    if (String(error).includes('no accelerated kernel')) return false
    throw error
  }
}

const side = fc.integer({ min: 1, max: 12 })
const axis = fc.record({ from: side, to: fc.oneof(side, fc.constant(undefined)) })
const coordinates = fc.constantFrom(
  'half_pixel',
  'half_pixel_symmetric',
  'pytorch_half_pixel',
  'align_corners',
  'asymmetric'
)

describe.each(['heap', 'array'] as const)('Resize in WebAssembly, operands in an %s', region => {
  test('by weights equals the reference for any axes, modes and types', () => {
    let served = 0
    const call = fc.record({
      axes: fc.array(axis, { minLength: 2, maxLength: 5 }),
      type: fc.constantFrom('float32', 'uint8', 'int8'),
      mode: fc.constantFrom('linear', 'cubic'),
      coordinates,
      antialias: fc.boolean(),
      excluded: fc.boolean()
    })
    fc.assert(
      fc.property(call, ({ axes, type, mode, coordinates, antialias, excluded }) => {
        const x = dataOf(
          type,
          axes.map(({ from }) => from)
        )
        const target = sizes(axes.map(({ from, to }) => to ?? from))
        if (x.data.length > 5000 || volume(target) > 10_000) return
        const attributes = {
          mode,
          coordinate_transformation_mode: coordinates,
          antialias: Number(antialias),
          exclude_outside: Number(excluded)
        }
        const options = { region, attributes }
        served += Number(isServed(RESIZE, [x, undefined, undefined, target], options, TOLERANCE[type]))
      }),
      { numRuns: 150, seed: 5 }
    )
    expect(served).toBeGreaterThan(25)
  })

  test('to the nearest equals the reference for any axes and widths', () => {
    let served = 0
    const call = fc.record({
      axes: fc.array(axis, { minLength: 2, maxLength: 4 }),
      type: fc.constantFrom<DType>('uint8', 'float16', 'bool', 'float32', 'int64', 'complex128'),
      nearest: fc.constantFrom('round_prefer_floor', 'round_prefer_ceil', 'floor', 'ceil'),
      coordinates
    })
    fc.assert(
      fc.property(call, ({ axes, type, nearest, coordinates }) => {
        const x = bits(
          type,
          axes.map(({ from }) => from)
        )
        const target = sizes(axes.map(({ from, to }) => to ?? from))
        if (x.data.length > 5000 || volume(target) > 10_000) return
        const attributes = { mode: 'nearest', nearest_mode: nearest, coordinate_transformation_mode: coordinates }
        served += Number(isServed(RESIZE, [x, undefined, undefined, target], { region, attributes }, 0))
      }),
      { numRuns: 150, seed: 5 }
    )
    expect(served).toBeGreaterThan(25)
  })

  test.each(['float32', 'uint8'] as const)('of pictures of %s', type => {
    for (const [dims, factors] of [
      [
        [1, 3, 40, 50],
        [1, 1, 2, 2]
      ],
      [
        [2, 3, 41, 53],
        [1, 1, 0.5, 0.5]
      ],
      [
        [1, 40, 50, 3],
        [1, 1.7, 2.3, 1]
      ],
      [
        [1, 40, 50, 2],
        [1, 0.3, 2, 1]
      ],
      [
        [1, 21, 35, 18],
        [1, 2, 2, 1]
      ],
      [
        [2, 5, 7, 8, 9],
        [1, 1, 2, 1.5, 0.7]
      ],
      [
        [3, 4, 99],
        [1, 1, 2]
      ],
      [
        [6, 9, 11, 5],
        [0.5, 3, 1, 1]
      ]
    ] as const) {
      const inputs = [dataOf(type, dims), undefined, scales(factors)]
      for (const mode of ['nearest', 'linear', 'cubic'])
        expectEqual(RESIZE, inputs, { region, attributes: { mode } }, mode === 'nearest' ? 0 : TOLERANCE[type])
      if (!factors.some(factor => factor < 1))
        expectEqual(['onnx', 'Upsample', 9], [inputs[0], inputs[2]], { region, attributes: { mode: 'nearest' } }, 0)
    }
  })

  test('an element of weight 0 does not count, whatever it is', () => {
    const data = Float32Array.from(noise([2, 3, 20, 20], 1).data)
    data.set([NaN, Infinity, -Infinity, Infinity], 17)
    data.set([Infinity, Infinity], 400)
    data.set([Infinity, NaN], 2396)
    const x = new Tensor('float32', data, [2, 3, 20, 20])
    for (const how of ['asymmetric', 'half_pixel', 'align_corners'])
      for (const mode of ['linear', 'cubic'])
        for (const factors of [
          [1, 1, 2, 2],
          [1, 1, 0.5, 3],
          [1, 1, 1, 2]
        ]) {
          const attributes = { mode, coordinate_transformation_mode: how }
          expectEqual(RESIZE, [x, undefined, scales(factors)], { region, attributes }, 1e-6)
        }
  })

  test.each([
    ['within the data', [0.1, 0.25, 0.8, 0.6], 0],
    ['within the data, turned around', [0.8, 0.6, 0.1, 0.25], 7],
    ['beyond one edge', [-0.2, 0.25, 0.8, 0.6], 0],
    ['beyond all edges', [-0.2, -0.1, 1.3, 1.2], 0],
    ['beside the data', [1.1, 0.2, 1.3, 0.6], 0]
  ] as const)('a crop %s', (_, [top, left, bottom, right], value) => {
    const common = { coordinate_transformation_mode: 'tf_crop_and_resize', extrapolation_value: value }
    for (const type of ['float32', 'uint8'] as const) {
      const x = dataOf(type, [1, 6, 20, 24])
      if (type === 'float32') (x.data as Float32Array).set([NaN, Infinity, -Infinity], 6 * 20 * 24 - 3)
      for (const [h, w] of [
        [9, 11],
        [31, 40],
        [1, 50]
      ]) {
        const inputs = [x, scales([0, 0, top, left, 1, 1, bottom, right]), undefined, sizes([1, 6, h, w])]
        for (const mode of ['linear', 'cubic'])
          expectEqual(RESIZE, inputs, { region, attributes: { ...common, mode } }, TOLERANCE[type])
        if (Math.min(top, left) >= 0 && bottom <= 1)
          expectEqual(RESIZE, inputs, { region, attributes: { ...common, mode: 'nearest' } }, 0)
      }
    }
  })

  test('float16 and bfloat16', () => {
    for (const type of ['float16', 'bfloat16'] as const) {
      const x = bits(type, [1, 3, 20, 20])
      const data = Uint16Array.from(x.data as Uint16Array, code => code & 0x3fff)
      const inputs = [new Tensor(type, data, x.dims), undefined, scales([1, 1, 2, 2])]
      expectEqual(RESIZE, inputs, { region, attributes: { mode: 'linear' } }, 1e-2)
      expectEqual(RESIZE, inputs, { region, attributes: { mode: 'nearest' } }, 0)
    }
  })

  test('Interpolate of OpenVINO', () => {
    const x = noise([1, 3, 17, 20], 1)
    const target = new Tensor('int64', [31n, 11n], [2])
    const factors = scales([31 / 17, 11 / 20])
    const axes = new Tensor('int64', [2n, 3n], [2])
    const common = { shape_calculation_mode: 'sizes' }
    for (const mode of ['nearest', 'linear', 'linear_onnx', 'cubic']) {
      for (const how of ['half_pixel', 'asymmetric', 'tf_half_pixel_for_nn', 'align_corners']) {
        const attributes = { ...common, mode, coordinate_transformation_mode: how }
        expectEqual(['openvino', 'Interpolate', 4], [x, target, factors, axes], { region, attributes })
      }
    }
    for (const mode of ['bilinear_pillow', 'bicubic_pillow'])
      expectEqual(['openvino', 'Interpolate', 11], [x, target, axes], { region, attributes: { ...common, mode } })
  })

  test('shared by two threads', () => {
    const inputs = [noise([1, 16, 99, 120], 1), undefined, scales([1, 1, 2, 2])]
    for (const mode of ['nearest', 'linear']) expectEqual(RESIZE, inputs, { region, attributes: { mode }, threads: 2 })
  })
})

test('pads of Interpolate count as zeros, those of nearest elements by the reference', () => {
  const inputs = [noise([1, 3, 17, 20], 1), new Tensor('int64', [31n, 40n], [2]), scales([1, 1])]
  const axes = new Tensor('int64', [2n, 3n], [2])
  const attributes = { mode: 'linear_onnx', shape_calculation_mode: 'sizes', pads_begin: '0,0,3,0' }
  expectEqual(['openvino', 'Interpolate', 4], [...inputs, axes], { attributes })
  const nearest = { attributes: { ...attributes, mode: 'nearest' } }
  expect(() => runAccelerated(['openvino', 'Interpolate', 4], [...inputs, axes], nearest)).toThrow(
    'no accelerated kernel'
  )
})

test('crops with a value outside the data, small data and other types are left to the reference', () => {
  const refused = (x: Tensor, attributes: Record<string, string | number>, inputs: (Tensor | undefined)[]): void =>
    expect(() => runAccelerated(RESIZE, [x, ...inputs], { attributes })).toThrow('no accelerated kernel')
  const twice = [undefined, scales([1, 1, 2, 2])]
  refused(noise([1, 1, 5, 5], 1), { mode: 'linear' }, twice)
  refused(bits('int32', [1, 1, 50, 50]), { mode: 'linear' }, twice)
  const beyond = [scales([0, 0, 0, 0, 1, 1, 0.5, 1.5]), scales([1, 1, 2, 2])]
  const crop = { coordinate_transformation_mode: 'tf_crop_and_resize' }
  refused(noise([1, 1, 50, 50], 1), { ...crop, mode: 'linear', extrapolation_value: 1 }, beyond)
  refused(noise([1, 1, 50, 50], 1), { ...crop, mode: 'nearest' }, beyond)
})

test('sums of bytes are rounded as by the reference but near ties', () => {
  const inputs = [codes('uint8', [1, 3, 64, 64], 1), undefined, scales([1, 1, 2, 2])]
  const [found] = runAccelerated(RESIZE, inputs, { attributes: { mode: 'linear' } }) as Tensor[]
  const [expected] = runOp(RESIZE, inputs, { attributes: { mode: 'linear' } }) as Tensor[]
  expect(differenceOf(found, expected)).toBe(0)
})

describe.each(['heap', 'array'] as const)('Pad that repeats elements in WebAssembly, operands in an %s', region => {
  const pads = (...list: number[]): Tensor => sizes(list)

  test.each([
    [
      [2, 3, 17, 19],
      [0, 0, 3, 3, 0, 0, 3, 3]
    ],
    [
      [9, 40],
      [0, 7, 0, -11]
    ],
    [
      [30, 20],
      [70, -3, 1, 45]
    ],
    [
      [1, 300],
      [2, 0, 3, 0]
    ],
    [
      [3, 5],
      [1, 2, 0, 1]
    ]
  ])('%j by %j', (dims, list) => {
    for (const mode of ['reflect', 'edge', 'wrap'])
      for (const type of ['uint8', 'float16', 'float32', 'int64'] as const)
        expectEqual(['onnx', 'Pad', 19], [bits(type, dims), pads(...list)], { region, attributes: { mode } }, 0)
  })

  test('symmetric pads of an IR', () => {
    const inputs = [bits('float32', [20, 30]), pads(3, 20), pads(0, 30)]
    expectEqual(['openvino', 'Pad', 1], inputs, { region, attributes: { pad_mode: 'symmetric' } }, 0)
  })
})
