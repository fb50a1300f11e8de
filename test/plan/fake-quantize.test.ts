import { describe, expect, test } from 'vitest'
import type { Model } from '../../src/graph/graph.ts'
import { InferenceSession, Tensor } from '../../src/index.ts'
import { noise } from '../wasm/compare.ts'
import { Ir, planOfIr as planOf, WINDOWS } from './ir-model.ts'
import { opsOf } from './plan.ts'

const DIMS = [2, 6, 7, 6]
const INTO: readonly [number, number] = [-1.28, 1.27]
const OUT: readonly [number, number] = [0, 25.5]

/** A model whose input is quantized. */
function modelOf(
  make: (ir: Ir, x: string) => string,
  dims: readonly number[] = DIMS,
  range = INTO,
  levels = 256
): Model {
  const ir = new Ir()
  const x = ir.input('f32', dims)
  return ir.model(make(ir, ir.fake(x, dims, range, levels)))
}

const convolution = (ir: Ir, x: string, w: string, type = 'Convolution', channels = 6): string => {
  const made = ir.add(type, [x, w], 'f32', [2, channels, 7, 6], WINDOWS)
  const bias = ir.floats([1, channels, 1, 1], [...noise([channels], 8).data])
  return ir.add('Add', [made, bias], 'f32', [2, channels, 7, 6])
}
const conv = (ir: Ir, x: string, hasZeros = false): string =>
  convolution(ir, x, ir.weights('i8', [6, 6, 3, 3], [6, 1, 1, 1], hasZeros))

/** What a model gives for noise in each precision. */
async function results(model: Model, dims: readonly number[]): Promise<{ fast: Float32Array; exact: Float32Array }> {
  const of: Record<string, Float32Array> = {}
  for (const precision of ['fast', 'exact'] as const) {
    const session = new InferenceSession(model, { precision })
    const [y] = Object.values(await session.run({ [session.inputNames[0]]: noise(dims, 1, 1.4) }))
    of[precision] = (y.data as Float32Array).slice()
    session.dispose()
  }
  return of as { fast: Float32Array; exact: Float32Array }
}

const MATRIX = [2, 5, 40]
const NUMBERS = ['QuantizeLinear', 'DequantizeLinear']
const between = (op: string): string[] => [NUMBERS[0], op, NUMBERS[1]]

type Make = (ir: Ir, x: string) => string
type Region = readonly [what: string, ops: string[], make: Make, dims: readonly number[]]
const REGIONS: readonly Region[] = [
  ['a convolution', between('QLinearConv'), (ir, x) => ir.fake(conv(ir, x), DIMS, OUT), DIMS],
  [
    'a convolution with zero points and ReLU',
    between('QLinearConv'),
    (ir, x) => ir.fake(ir.add('ReLU', [conv(ir, x, true)], 'f32', DIMS), DIMS, OUT),
    DIMS
  ],
  [
    'a convolution channel by channel',
    between('QLinearConv'),
    (ir, x) => {
      const w = ir.weights('i8', [6, 1, 1, 3, 3], [6, 1, 1, 1, 1], false)
      return ir.fake(convolution(ir, x, w, 'GroupConvolution'), DIMS, [-5.12, 5.08])
    },
    DIMS
  ],
  [
    'a convolution channel by channel, groups put in front of its weights',
    between('QLinearConv'),
    (ir, x) => {
      const w = ir.move(
        'Reshape',
        ir.weights('i8', [6, 1, 3, 3], [6, 1, 1, 1], false),
        [6, 1, 1, 3, 3],
        [6, 1, 1, 3, 3]
      )
      return ir.fake(convolution(ir, x, w, 'GroupConvolution'), DIMS, [-5.12, 5.08])
    },
    DIMS
  ],
  [
    'a convolution whose zero points are floats that were rounded',
    between('QLinearConv'),
    (ir, x) => {
      const codes = ir.constant('i8', [6, 6, 3, 3], Int8Array.from(noise([6, 6, 3, 3], 5, 127).data, Math.round))
      const shifted = ir.add(
        'Subtract',
        [ir.convert(codes, 'f32', [6, 6, 3, 3]), ir.floats([1], [-3.0000076])],
        'f32',
        [6, 6, 3, 3]
      )
      const w = ir.add('Multiply', [shifted, ir.floats([1], [0.01])], 'f32', [6, 6, 3, 3])
      return ir.fake(convolution(ir, x, w), DIMS, OUT)
    },
    DIMS
  ],
  [
    'a convolution whose result stays float',
    ['QuantizeLinear', 'ConvIntegerToFloat'],
    (ir, x) => conv(ir, x, true),
    DIMS
  ],
  [
    'a convolution whose weights are rounded',
    ['QuantizeLinear', 'ConvIntegerToFloat'],
    (ir, x) => convolution(ir, x, ir.rounded([6, 6, 6, 6])),
    DIMS
  ],
  [
    'MaxPool before a convolution',
    ['QuantizeLinear', 'MaxPool', 'ConvIntegerToFloat'],
    (ir, x) => conv(ir, ir.add('MaxPool', [x], 'f32', DIMS, `kernel="3,3" rounding_type="floor" ${WINDOWS}`)),
    DIMS
  ],
  [
    'Interpolate of the nearest before a convolution',
    ['QuantizeLinear', 'Interpolate', 'ConvIntegerToFloat'],
    (ir, x) => {
      const [sizes, axes] = [
        [14n, 12n],
        [2n, 3n]
      ].map(list => ir.constant('i64', [2], BigInt64Array.from(list)))
      const modes = 'mode="nearest" shape_calculation_mode="sizes" coordinate_transformation_mode="asymmetric"'
      const scales = ir.floats([2], [2, 2])
      const wide = ir.add(
        'Interpolate@opset4',
        [x, sizes, scales, axes],
        'f32',
        [2, 6, 14, 12],
        `${modes} nearest_mode="floor"`
      )
      const w = ir.weights('i8', [6, 6, 3, 3], [6, 1, 1, 1], false)
      return ir.add('Convolution', [wide, w], 'f32', [2, 6, 14, 12], WINDOWS)
    },
    DIMS
  ],
  [
    'Concat of numbers of one range before a convolution',
    ['QuantizeLinear', 'Concat', 'ConvIntegerToFloat'],
    (ir, x) => {
      const joined = ir.add('Concat', [x, x], 'f32', [2, 12, 7, 6], 'axis="1"')
      return convolution(ir, joined, ir.weights('u8', [6, 12, 3, 3], [6, 1, 1, 1], true))
    },
    DIMS
  ],
  [
    'ShuffleChannels and Split before convolutions',
    ['QuantizeLinear', 'ShuffleChannels', 'Split', 'ConvIntegerToFloat', 'ConvIntegerToFloat', 'Add'],
    (ir, x) => {
      const shuffled = ir.add('ShuffleChannels', [x], 'f32', DIMS, 'axis="1" group="2"')
      const made = ir
        .halves(shuffled, DIMS)
        .map(half => convolution(ir, half, ir.weights('i8', [6, 3, 3, 3], [6, 1, 1, 1], false)))
      return ir.add('Add', made, 'f32', DIMS)
    },
    DIMS
  ],
  [
    'a product, transposed, with a bias',
    ['QuantizeLinear', 'MatMulIntegerToFloat'],
    (ir, x) => {
      const w = ir.weights('i8', [24, 40], [24, 1], false)
      const made = ir.add('MatMul', [x, w], 'f32', [2, 5, 24], 'transpose_a="false" transpose_b="true"')
      return ir.add('Add', [made, ir.floats([1, 1, 24], [...noise([24], 8).data])], 'f32', [2, 5, 24])
    },
    MATRIX
  ],
  [
    'a product of a matrix that is transposed',
    ['QuantizeLinear', 'MatMulIntegerToFloat'],
    (ir, x) => {
      const w = ir.move('Transpose', ir.weights('i8', [24, 40], [24, 1], true), [40, 24], [1, 0])
      return ir.add('MatMul', [x, w], 'f32', [2, 5, 24], 'transpose_a="false" transpose_b="false"')
    },
    MATRIX
  ],
  [
    'a product that is quantized',
    between('QLinearMatMul'),
    (ir, x) => {
      const w = ir.weights('i8', [24, 40], [24, 1], true)
      const made = ir.add('MatMul', [x, w], 'f32', [2, 5, 24], 'transpose_a="false" transpose_b="true"')
      return ir.fake(made, [2, 5, 24], [-12.8, 12.7])
    },
    MATRIX
  ],
  [
    'a mean over planes',
    between('QLinearGlobalAveragePool'),
    (ir, x) => {
      const axes = ir.constant('i64', [2], BigInt64Array.of(2n, -1n))
      const mean = ir.add('ReduceMean', [x, axes], 'f32', [2, 6, 1, 1], 'keep_dims="true"')
      return ir.fake(mean, [2, 6, 1, 1], [-0.64, 0.635])
    },
    DIMS
  ]
]

describe('between FakeQuantize of bytes', () => {
  test.each(REGIONS)('%s computes with codes', async (_, ops, make, dims) => {
    const model = modelOf(make, dims)
    expect(opsOf(planOf(model))).toEqual(ops)
    const { fast, exact } = await results(model, dims)
    const largest = Math.max(...exact.map(Math.abs))
    const far = fast.filter((value, i) => Math.abs(value - exact[i]) > 1e-6 * largest)
    // A value that lies between two levels may be rounded to the other one.
    expect(far.length).toBeLessThanOrEqual(ops.length > 2 && ops.at(-1) === NUMBERS[1] ? fast.length / 100 : 0)
    expect(Math.max(...fast.map((value, i) => Math.abs(value - exact[i])))).toBeLessThan((1.01 / 100) * largest)
  })

  test.each(REGIONS)('%s stays as it is in exact precision', (_, ops, make, dims) => {
    expect(
      opsOf(planOf(modelOf(make, dims), true)).filter(op => ops.includes(op) && /Linear|ToFloat/.test(op))
    ).toEqual([])
  })

  test('codes that are moved twice and quantized alike are moved', async () => {
    const moved = (ir: Ir, x: string): string =>
      ir.fake(
        ir.move('Reshape', ir.move('Transpose', x, [2, 7, 6, 6], [0, 2, 1, 3]), [2, 42, 6], [2, 42, 6]),
        [2, 42, 6],
        INTO
      )
    const model = modelOf(moved)
    expect(opsOf(planOf(model))).toEqual(['QuantizeLinear', 'Transpose', 'Reshape', 'DequantizeLinear'])
    const { fast, exact } = await results(model, DIMS)
    fast.forEach((value, i) => expect(value).toBeCloseTo(exact[i], 6))
  })

  test('weights that a run may transpose or not are left to it', async () => {
    const ir = new Ir()
    const x = ir.input('f32', [4, 6])
    const order = ir.input('i64', [2], 'order')
    const turned = ir.add('Transpose', [ir.weights('i8', [6, 6], [6, 1], false), order], 'f32', [6, 6])
    const factors = [ir.fake(x, [4, 6], INTO), turned]
    const model = ir.model(ir.add('MatMul', factors, 'f32', [4, 6], 'transpose_a="false" transpose_b="false"'))
    const results: Float32Array[] = []
    for (const precision of ['fast', 'exact'] as const) {
      const session = new InferenceSession(model, { precision })
      const feeds = { x: noise([4, 6], 1), order: new Tensor('int64', [0n, 1n], [2]) }
      const [y] = Object.values(await session.run(feeds))
      results.push(y.data as Float32Array)
      session.dispose()
    }
    const [fast, exact] = results
    fast.forEach((value, i) => expect(value).toBeCloseTo(exact[i], 5))
  })

  test('a sum of two becomes a table', () => {
    const dims = [1, 6, 60, 60]
    const sum = (ir: Ir, x: string): string => ir.fake(ir.add('Add', [x, x], 'f32', dims), dims, [-2.56, 2.54])
    expect(opsOf(planOf(modelOf(sum, dims)))).toEqual(between('ByteTable'))
  })

  test('weights stay bytes in memory', () => {
    const { steps, initial } = planOf(modelOf((ir, x) => conv(ir, x)))
    const { inputs, call } = steps[1]
    const weights = call.operands.find(({ name }) => name === 'w')!.index
    expect(initial[inputs[weights]]?.type).toBe('int8')
  })
})

/** Numbers of codes by one scale. */
const scaled = (ir: Ir, codes: string): string =>
  ir.add('Multiply', [ir.convert(codes, 'f32', [40, 40]), ir.floats([1, 1], [0.01])], 'f32', [40, 40])

/** Numbers of codes with a scale for each row and a zero point for each column. */
function apartAxes(ir: Ir): string {
  const codes = ir.constant(
    'i8',
    [40, 40],
    Int8Array.from({ length: 1600 }, (_, i) => i * 7)
  )
  const zeros = ir.constant(
    'i8',
    [1, 40],
    Int8Array.from({ length: 40 }, (_, i) => i)
  )
  const shifted = [ir.convert(codes, 'f32', [40, 40]), ir.convert(zeros, 'f32', [1, 40])]
  const scales = ir.floats(
    [40, 1],
    Array.from({ length: 40 }, (_, i) => (i + 1) / 1000)
  )
  return ir.add('Multiply', [ir.add('Subtract', shifted, 'f32', [40, 40]), scales], 'f32', [40, 40])
}

describe('FakeQuantize stays', () => {
  const bounds = (ir: Ir): string[] =>
    [-1.28, 1.27, -1.28, 1.27].map(bound =>
      ir.floats(
        [1, 6, 1, 1],
        Array.from({ length: 6 }, (_, channel) => bound * (1 + channel))
      )
    )
  test.each([
    ['where zero is none of its levels', modelOf((ir, x) => conv(ir, x), DIMS, [-1, 1])],
    ['where its levels are no bytes', modelOf((ir, x) => conv(ir, x), DIMS, INTO, 255)],
    [
      'where bounds are those of channels',
      modelOf((ir, x) =>
        ir.add('FakeQuantize', [ir.add('ReLU', [x], 'f32', DIMS), ...bounds(ir)], 'f32', DIMS, 'levels="256"')
      )
    ]
  ])('%s', (_, model) => {
    expect(opsOf(planOf(model))).toContain('FakeQuantize')
    expect(opsOf(planOf(model))).not.toContain('DequantizeLinear')
  })

  test('where a Reshape parts the axis along which weights have their scales', async () => {
    const model = modelOf((ir, x) => {
      const weights = ir.weights('i8', [6, 2, 3, 3], [6, 1, 1, 1], false)
      const parted = ir.move('Reshape', weights, [3, 2, 2, 3, 3], [3, 2, 2, 3, 3])
      return ir.add('GroupConvolution', [x, parted], 'f32', DIMS, WINDOWS)
    })
    expect(opsOf(planOf(model))).toEqual(['FakeQuantize', 'Conv'])
    const { fast, exact } = await results(model, DIMS)
    fast.forEach((value, i) => expect(value).toBeCloseTo(exact[i], 4))
  })

  test.each([
    ['scales lie along another axis than zero points', (ir: Ir) => apartAxes(ir)],
    [
      'a Reshape widens the axis of scales',
      (ir: Ir) => ir.move('Reshape', ir.weights('i8', [40, 2, 20], [1, 2, 1], false), [40, 40], [40, 40])
    ],
    ['codes are given to a run', (ir: Ir) => scaled(ir, ir.input('u8', [40, 40], 'w'))]
  ])('where %s', async (_, weights) => {
    const ir = new Ir()
    const x = ir.fake(ir.input('f32', MATRIX), MATRIX, INTO)
    const model = ir.model(ir.add('MatMul', [x, weights(ir)], 'f32', MATRIX, 'transpose_a="false" transpose_b="true"'))
    expect(opsOf(planOf(model))).not.toContain('DequantizeLinear')
    const [fast, exact] = await Promise.all(
      (['fast', 'exact'] as const).map(async precision => {
        const session = new InferenceSession(model, { precision })
        const w = new Tensor(
          'uint8',
          Uint8Array.from({ length: 1600 }, (_, i) => i * 7),
          [40, 40]
        )
        const feeds = { x: noise(MATRIX, 1), ...(model.graph.inputs.length > 1 && { w }) }
        const [y] = Object.values(await session.run(feeds))
        session.dispose()
        return y.data as Float32Array
      })
    )
    const largest = Math.max(...exact.map(Math.abs))
    fast.forEach((value, i) => expect(Math.abs(value - exact[i])).toBeLessThan(1e-5 * largest))
  })

  test('where weights have scales along two axes', async () => {
    const model = modelOf((ir, x) => convolution(ir, x, ir.weights('i8', [6, 6, 3, 3], [6, 6, 1, 1], false)))
    expect(opsOf(planOf(model))).toContain('FakeQuantize')
    const { fast, exact } = await results(model, DIMS)
    fast.forEach((value, i) => expect(value).toBeCloseTo(exact[i], 4))
  })

  test('to the last bit where nothing computes with its codes', async () => {
    const model = modelOf((ir, x) => ir.add('ReLU', [x], 'f32', DIMS))
    expect(opsOf(planOf(model))).toEqual(['FakeQuantize', 'Relu'])
    const { fast, exact } = await results(model, DIMS)
    expect(fast).toEqual(exact)
  })
})

describe('weights of a convolution of floats', () => {
  test.each([
    ['bytes', (ir: Ir) => ir.weights('i8', [6, 6, 7, 6], [6, 1, 1, 1], true)],
    ['rounded', (ir: Ir) => ir.rounded([6, 6, 7, 6])]
  ])('are made once: %s', async (_, make) => {
    const ir = new Ir()
    const x = ir.input('f32', DIMS)
    const model = ir.model(ir.add('Convolution', [x, make(ir)], 'f32', [2, 6, 3, 3], WINDOWS))
    for (const isExact of [false, true]) expect(opsOf(planOf(model, isExact))).toEqual(['Conv'])
    const session = new InferenceSession(model, { precision: 'exact' })
    const feeds = { x: noise(DIMS, 1) }
    const [once, apart] = [await session.run(feeds), await session.run(feeds, { onStep: () => undefined })]
    expect(Object.values(once)[0].data).toEqual(Object.values(apart)[0].data)
    session.dispose()
  })
})
