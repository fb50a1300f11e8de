import { describe, expect, test } from 'vitest'
import { bind } from '../../../src/bind/bind.ts'
import { isUnbound } from '../../../src/bind/call.ts'
import { registryWith } from '../../../src/built-in.ts'
import { type Tensor as AnyTensor, check, InferenceSession } from '../../../src/index.ts'
import { load } from '../../../src/load.ts'
import { Tensor } from '../../../src/tensor/tensor.ts'
import {
  floats,
  type GraphParts,
  int64s,
  type ModelParts,
  node,
  onnxBytes,
  onnxModel,
  port
} from '../../fixtures/onnx.ts'

const DOMAIN = 'ai.onnx.preview.training'

/** A Gradient of `y` by `xs`, taken at the inputs. */
const gradient = (
  xs: readonly string[],
  y: string,
  outputs: readonly string[],
  zs: readonly string[] = [],
  inputs: readonly string[] = [...xs, ...zs]
): object =>
  node('Gradient', inputs, outputs, { xs: { strings: xs }, y, ...(zs.length > 0 && { zs: { strings: zs } }) }, DOMAIN)

/** A number in [low, high) that depends on the seed alone. */
function* numbers(seed: number, low: number, high: number): Generator<number, never> {
  let state = (seed * 2654435761) >>> 0
  for (;;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    yield low + (state / 2 ** 32) * (high - low)
  }
}

function doubles(dims: readonly number[], seed: number, [low, high] = [-1.5, 1.5]): Tensor {
  const source = numbers(seed, low, high)
  return new Tensor(
    'float64',
    Float64Array.from({ length: dims.reduce((a, b) => a * b, 1) }, () => source.next().value),
    dims
  )
}

interface Case {
  readonly type: string
  /** Dims of what is differentiated by. */
  readonly xs: readonly (readonly number[])[]
  /** Names of all inputs, where there are others: `x0`, `x1` …, and those of `constants`. */
  readonly inputs?: readonly string[]
  readonly constants?: readonly object[]
  readonly attributes?: Parameters<typeof node>[3]
  readonly range?: readonly [number, number]
  readonly opset?: number
  /** Outputs of the node; the first is differentiated. */
  readonly outputs?: number
  /** The rule has no rule for a node that it writes. */
  readonly isFirstOrderOnly?: boolean
}

const unary = (types: string, range?: readonly [number, number]): Case[] =>
  types.split(' ').map(type => ({ type, xs: [[2, 3]], ...(range && { range }) }))
const pairs = (types: string, range?: readonly [number, number]): Case[] =>
  types.split(' ').flatMap(type => [
    { type, xs: [[2, 3], [3]], ...(range && { range }) },
    {
      type,
      xs: [
        [3, 1],
        [2, 1, 4]
      ],
      ...(range && { range })
    }
  ])
const float = (value: number): { float: number } => ({ float: value })
const ints = (name: string, ...values: readonly number[]): object => int64s(name, [values.length], values)

const double = (name: string, value: number): object => ({ name, dims: [], dataType: 11, doubleData: [value] })

const CASES: readonly Case[] = [
  ...unary(
    'Abs Asinh Atan Cos Cosh Elu Erf Exp Gelu Identity LeakyRelu Neg Relu Selu Sigmoid Sin Sinh Softplus',
    [-1.4, 1.6]
  ).map(each => ({ ...each, opset: 20 })),
  ...unary('Softsign Tan Tanh HardSigmoid HardSwish Mish ThresholdedRelu', [-1, 1.2]).map(each => ({
    ...each,
    opset: 22
  })),
  ...unary('Log Sqrt Reciprocal', [0.3, 2]),
  ...unary('Acos Asin Atanh', [-0.9, 0.9]),
  ...unary('Acosh', [1.2, 3]),
  { type: 'Gelu', xs: [[5]], attributes: { approximate: 'tanh' }, opset: 20 },
  { type: 'Elu', xs: [[5]], attributes: { alpha: float(0.7) } },
  { type: 'HardSigmoid', xs: [[5]], attributes: { alpha: float(0.5), beta: float(0.3) } },
  { type: 'Swish', xs: [[5]], attributes: { alpha: float(1.5) }, opset: 24 },
  ...pairs('Add Sub Mul PRelu Max Min Mean Sum').filter(({ type, xs }) => type !== 'PRelu' || xs[1].length === 1),
  ...pairs('Div Pow', [0.4, 2]),
  { type: 'Pow', xs: [[4]], inputs: ['x0', 'two'], constants: [ints('two', 2)] },
  { type: 'Sum', xs: [[2, 1], [3], [2, 3]] },
  { type: 'Max', xs: [[2, 1], [3], [2, 3]] },
  { type: 'Clip', xs: [[9]], inputs: ['x0', 'low', 'high'], constants: [double('low', -0.8), double('high', 0.7)] },
  { type: 'Clip', xs: [[9]], attributes: { min: float(-0.8), max: float(0.7) }, opset: 6 },
  {
    type: 'Where',
    xs: [[2, 3], [3]],
    inputs: ['c', 'x0', 'x1'],
    constants: [{ name: 'c', dims: [2, 1], dataType: 9, int32Data: [1, 0] }]
  },
  ...'Sum Mean Max Min L1 L2 SumSquare LogSumExp Prod'.split(' ').flatMap((name): Case[] => [
    { type: `Reduce${name}`, xs: [[2, 3, 2]], inputs: ['x0', 'axes'], constants: [ints('axes', -1, 0)], opset: 18 },
    {
      type: `Reduce${name}`,
      xs: [[2, 3]],
      inputs: ['x0', 'axes'],
      constants: [ints('axes', 1)],
      attributes: { keepdims: 0 },
      opset: 18
    },
    { type: `Reduce${name}`, xs: [[2, 3]], attributes: { keepdims: 0 }, opset: 18 },
    { type: `Reduce${name}`, xs: [[2, 3]], attributes: { axes: [0], keepdims: 0 }, opset: 11 }
  ]),
  {
    type: 'ReduceLogSum',
    xs: [[2, 3]],
    inputs: ['x0', 'axes'],
    constants: [ints('axes', 1)],
    opset: 18,
    range: [0.5, 2]
  },
  { type: 'ReduceSum', xs: [[2, 3]], attributes: { noop_with_empty_axes: 1 } },
  {
    type: 'CumSum',
    xs: [[2, 3]],
    inputs: ['x0', 'axis'],
    constants: [int64s('axis', [], [1])],
    attributes: { exclusive: 1 }
  },
  { type: 'Softmax', xs: [[2, 3, 2]], attributes: { axis: 1 } },
  { type: 'Softmax', xs: [[2, 3, 2]], opset: 11 },
  { type: 'LogSoftmax', xs: [[2, 3]] },
  { type: 'LogSoftmax', xs: [[2, 3, 2]], attributes: { axis: 1 }, opset: 9 },
  { type: 'GlobalAveragePool', xs: [[2, 2, 3, 2]] },
  { type: 'GlobalMaxPool', xs: [[2, 2, 3, 2]] },
  {
    type: 'LayerNormalization',
    xs: [
      [2, 3, 2],
      [3, 2],
      [3, 2]
    ],
    attributes: { axis: 1 }
  },
  { type: 'RMSNormalization', xs: [[2, 3], [3]], opset: 23 },
  { type: 'InstanceNormalization', xs: [[2, 2, 5], [2], [2]] },
  { type: 'BatchNormalization', xs: [[2, 3, 2], [3], [3], [3], [3]], range: [0.4, 2] },
  {
    type: 'MatMul',
    xs: [
      [2, 3],
      [3, 4]
    ]
  },
  {
    type: 'MatMul',
    xs: [
      [2, 1, 2, 3],
      [4, 3, 2]
    ]
  },
  { type: 'MatMul', xs: [[3], [2, 3, 4]] },
  { type: 'MatMul', xs: [[2, 4, 3], [3]] },
  { type: 'MatMul', xs: [[3], [3]] },
  ...[0, 1].flatMap(transA =>
    [0, 1].map((transB): Case => ({
      type: 'Gemm',
      xs: [transA ? [3, 2] : [2, 3], transB ? [4, 3] : [3, 4], [4]],
      attributes: { transA, transB, alpha: float(0.5), beta: float(2) }
    }))
  ),
  {
    type: 'Gemm',
    xs: [
      [2, 3],
      [3, 4]
    ]
  },
  {
    type: 'Einsum',
    xs: [
      [2, 3],
      [3, 4]
    ],
    attributes: { equation: 'ij,jk' }
  },
  {
    type: 'Einsum',
    xs: [
      [2, 2, 3],
      [1, 3, 4]
    ],
    attributes: { equation: '...ij,...jk->...ki' }
  },
  { type: 'Einsum', xs: [[2, 3], [4]], attributes: { equation: 'ij,k->j' } },
  { type: 'Conv', xs: [[2, 2, 5], [3, 2, 2], [3]] },
  {
    type: 'Conv',
    xs: [
      [1, 4, 5, 6],
      [2, 2, 3, 2]
    ],
    attributes: { group: 2, strides: [2, 3], pads: [1, 0, 2, 1], dilations: [1, 2] }
  },
  { type: 'Conv', xs: [[1, 1, 5, 6], [2, 1, 2, 3], [2]], attributes: { auto_pad: 'SAME_UPPER', strides: [2, 2] } },
  {
    type: 'Conv',
    xs: [
      [1, 1, 6],
      [1, 1, 2]
    ],
    attributes: { auto_pad: 'SAME_LOWER' }
  },
  {
    type: 'ConvTranspose',
    xs: [[2, 2, 3], [2, 3, 3], [3]],
    attributes: { strides: [2], pads: [1, 0], output_padding: [1] }
  },
  {
    type: 'ConvTranspose',
    xs: [
      [1, 4, 3, 2],
      [4, 1, 2, 2]
    ],
    attributes: { group: 2, dilations: [2, 1] }
  },
  { type: 'AveragePool', xs: [[2, 2, 5]], attributes: { kernel_shape: [3], strides: [2], pads: [1, 1] } },
  {
    type: 'AveragePool',
    xs: [[1, 2, 4, 4]],
    attributes: { kernel_shape: [2, 3], auto_pad: 'SAME_UPPER', count_include_pad: 1 }
  },
  {
    type: 'MaxPool',
    xs: [[2, 2, 4, 5]],
    attributes: { kernel_shape: [2, 2], strides: [1, 2] },
    isFirstOrderOnly: true
  },
  { type: 'Reshape', xs: [[2, 3]], inputs: ['x0', 'to'], constants: [ints('to', 3, -1)] },
  { type: 'Flatten', xs: [[2, 3, 2]] },
  { type: 'Squeeze', xs: [[2, 1]], inputs: ['x0', 'axes'], constants: [ints('axes', 1)] },
  { type: 'Unsqueeze', xs: [[2]], inputs: ['x0', 'axes'], constants: [ints('axes', 0)] },
  { type: 'Transpose', xs: [[2, 3, 4]], attributes: { perm: [1, 2, 0] } },
  { type: 'Transpose', xs: [[2, 3, 4]] },
  { type: 'Expand', xs: [[3, 1]], inputs: ['x0', 'to'], constants: [ints('to', 2, 3, 4)] },
  {
    type: 'Concat',
    xs: [
      [2, 3],
      [2, 1],
      [2, 2]
    ],
    attributes: { axis: -1 }
  },
  {
    type: 'Split',
    xs: [[2, 5]],
    inputs: ['x0', 'sizes'],
    constants: [ints('sizes', 2, 3)],
    attributes: { axis: 1 },
    outputs: 2
  },
  {
    type: 'Slice',
    xs: [[4, 5]],
    inputs: ['x0', 'from', 'to', 'axes', 'steps'],
    constants: [ints('from', 3, 0), ints('to', 0, 4), ints('axes', 0, 1), ints('steps', -1, 2)]
  },
  { type: 'Gather', xs: [[4, 2]], inputs: ['x0', 'at'], constants: [int64s('at', [2, 2], [0, 3, -1, 0])] },
  { type: 'Gather', xs: [[2, 4]], inputs: ['x0', 'at'], constants: [ints('at', 1, 1, -2)], attributes: { axis: 1 } },
  {
    type: 'GatherElements',
    xs: [[3, 2]],
    inputs: ['x0', 'at'],
    constants: [int64s('at', [3, 2], [0, 2, -1, 1, 0, 0])]
  },
  { type: 'GatherND', xs: [[3, 2]], inputs: ['x0', 'at'], constants: [int64s('at', [3, 1], [0, 2, -1])] },
  {
    type: 'GatherND',
    xs: [[2, 3]],
    inputs: ['x0', 'at'],
    constants: [int64s('at', [2, 1], [1, 2])],
    attributes: { batch_dims: 1 }
  },
  {
    type: 'ScatterElements',
    xs: [
      [3, 2],
      [2, 2]
    ],
    inputs: ['x0', 'at', 'x1'],
    constants: [int64s('at', [2, 2], [0, 2, 1, 0])]
  },
  {
    type: 'ScatterElements',
    xs: [
      [3, 2],
      [2, 2]
    ],
    inputs: ['x0', 'at', 'x1'],
    constants: [int64s('at', [2, 2], [0, 2, 0, 2])],
    attributes: { reduction: 'add' },
    opset: 18
  },
  {
    type: 'ScatterND',
    xs: [
      [3, 2],
      [2, 2]
    ],
    inputs: ['x0', 'at', 'x1'],
    constants: [int64s('at', [2, 1], [2, 0])]
  },
  { type: 'Tile', xs: [[2, 3]], inputs: ['x0', 'times'], constants: [ints('times', 2, 1)] },
  { type: 'Trilu', xs: [[3, 3]] },
  { type: 'DepthToSpace', xs: [[1, 4, 2, 2]], attributes: { blocksize: 2 } },
  { type: 'Pad', xs: [[2, 3], []], inputs: ['x0', 'pads', 'x1'], constants: [ints('pads', 1, -1, 0, 2)] },
  {
    type: 'Pad',
    xs: [[2, 3]],
    inputs: ['x0', 'pads'],
    constants: [ints('pads', 1, 0, 0, 2)],
    attributes: { mode: 'reflect' }
  },
  { type: 'Pad', xs: [[2, 3]], attributes: { pads: [0, 1, 1, 0] }, opset: 9 },
  { type: 'TopK', xs: [[2, 4]], inputs: ['x0', 'k'], constants: [ints('k', 2)], outputs: 2 },
  {
    type: 'NegativeLogLikelihoodLoss',
    xs: [[2, 3, 2], [3]],
    inputs: ['x0', 'labels', 'x1'],
    constants: [int64s('labels', [2, 2], [0, 2, 1, 1])],
    range: [0.3, 2]
  },
  {
    type: 'SoftmaxCrossEntropyLoss',
    xs: [[3, 4]],
    inputs: ['x0', 'labels'],
    constants: [ints('labels', 0, 3, 1)],
    attributes: { ignore_index: 3 }
  },
  {
    type: 'SoftmaxCrossEntropyLoss',
    xs: [[3, 4]],
    inputs: ['x0', 'labels'],
    constants: [ints('labels', 0, 3, 1)],
    attributes: { reduction: 'none' }
  },
  { type: 'Cast', xs: [[3]], attributes: { to: 11 } },
  { type: 'Dropout', xs: [[3]] }
]

/** The sum of the node's result, each element with a factor, and its derivatives; twice, where `hasSecond`. */
function modelOf(
  { type, xs, inputs, constants = [], attributes, opset = 17, outputs = 1 }: Case,
  isDynamic: boolean,
  hasSecond: boolean
): ModelParts {
  const names = xs.map((_, i) => `x${i}`)
  const made = Array.from({ length: outputs }, (_, i) => `made${i}`)
  const weighted = (from: readonly string[], sum: string, factors: string): object[] => [
    ...from.flatMap((id, i) => [
      node('Cos', [id], [`${sum}cos${i}`]),
      node('Add', [`${sum}cos${i}`, factors], [`${sum}sum${i}`]),
      node('Mul', [`${sum}sum${i}`, id], [`${sum}mul${i}`]),
      node('ReduceSum', [`${sum}mul${i}`], [`${sum}of${i}`], { keepdims: 0 })
    ]),
    node(
      'Sum',
      from.map((_, i) => `${sum}of${i}`),
      [sum]
    )
  ]
  const first = names.map(name => `d${name}`)
  return {
    opset: Math.max(opset, 7),
    domains: [DOMAIN],
    inputs: names.map((name, i) => port(name, 'double', isDynamic ? undefined : xs[i])),
    outputs: [...(hasSecond ? ['y', 'z', ...names.map(name => `dd${name}`)] : ['y']), ...first].map(name =>
      port(name, 'double')
    ),
    initializers: [...constants, double('factor', 0.7), double('other', 0.4)],
    nodes: [
      node(type, inputs ?? names, made, attributes),
      ...weighted(made.slice(0, type === 'TopK' ? 1 : outputs), 'y', 'factor'),
      gradient(names, 'y', first),
      ...(hasSecond
        ? [
            ...weighted(first, 'z', 'other'),
            gradient(
              names,
              'z',
              names.map(name => `dd${name}`)
            )
          ]
        : [])
    ]
  }
}

/** The slope along a direction, by differences of the fourth order. */
async function slopeAlong(
  direction: Tensor,
  of: (x: readonly Tensor[]) => Promise<number>,
  at: readonly Tensor[],
  which: number
): Promise<number> {
  const h = 2e-4
  const moved = (step: number): Promise<number> => {
    const data = Float64Array.from(at[which].data as Float64Array, (x, i) => x + step * h * Number(direction.data[i]))
    return of(at.with(which, new Tensor('float64', data, at[which].dims)))
  }
  return (8 * ((await moved(1)) - (await moved(-1))) - ((await moved(2)) - (await moved(-2)))) / (12 * h)
}

async function holds(each: Case, isDynamic: boolean, hasSecond: boolean): Promise<void> {
  const session = new InferenceSession(await onnxModel(modelOf(each, isDynamic, hasSecond)), { precision: 'exact' })
  const at = each.xs.map((dims, i) => doubles(dims, i + 3, each.range as [number, number]))
  const run = (x: readonly Tensor[]): Promise<Record<string, AnyTensor>> =>
    session.run<Record<string, AnyTensor>>(Object.fromEntries(x.map((tensor, i) => [`x${i}`, tensor])))
  const found = await run(at)
  for (const [outcome, prefix] of hasSecond
    ? [
        ['y', 'd'],
        ['z', 'dd']
      ]
    : [['y', 'd']])
    for (const i of at.keys()) {
      const name = `${prefix}x${i}`
      expect(found[name].dims, name).toEqual(each.xs[i])
      const derivatives = [...(found[name].data as Float64Array)]
      // One direction suffices: a wrong derivative is right along a random one with probability zero.
      const direction = doubles(each.xs[i], 17 + i)
      const slope = derivatives.reduce((sum, d, k) => sum + d * Number(direction.data[k]), 0)
      const expected = await slopeAlong(direction, async x => Number((await run(x))[outcome].data[0]), at, i)
      expect(Math.abs(slope - expected) / Math.max(1, Math.abs(expected)), name).toBeLessThan(1e-6)
    }
  session.dispose()
}

const told = ({ type, xs, attributes, opset }: Case): string =>
  `${type}${opset ? `, opset ${opset}` : ''} ${JSON.stringify(xs)} ${attributes ? JSON.stringify(attributes) : ''}`

const isFirstOfType = ({ type }: Case, i: number, among: readonly Case[]): boolean =>
  among.findIndex(each => each.type === type) === i

// Of each type one case has second derivatives, and one no rank: both cost as much as all that is tested otherwise.
describe('derivatives, and their derivatives, are what differences of the outcome come to', () => {
  const all = CASES.map(
    (each, i) => [told(each), each, each.isFirstOrderOnly !== true && isFirstOfType(each, i, CASES)] as const
  )
  test.each(all)('%s', async (_, each, hasSecond) => holds(each, false, hasSecond))
})

describe('the same where no rank is known before the run', () => {
  const all = CASES.filter(({ xs, attributes, constants }) => xs.length > 1 || attributes || constants).filter(
    isFirstOfType
  )
  test.each(all.map(each => [told(each), each] as const))('%s', async (_, each) => holds(each, true, false))
})

const run = async (parts: ModelParts, feeds: Readonly<Record<string, Tensor>>): Promise<Record<string, number[]>> => {
  const session = new InferenceSession(await onnxModel(parts))
  const results = await session.run<Record<string, AnyTensor>>(feeds)
  session.dispose()
  return Object.fromEntries(Object.entries(results).map(([name, { data }]) => [name, [...data].map(Number)]))
}

const vector = (...data: number[]): Tensor => new Tensor('float32', data)
const model = (
  nodes: readonly object[],
  inputs: readonly string[],
  outputs: readonly string[],
  rest: Partial<GraphParts> = {}
): ModelParts => ({
  ...rest,
  domains: [DOMAIN],
  inputs: inputs.map(name => port(name, 'float')),
  outputs: outputs.map(name => port(name, 'float')),
  nodes
})

describe('Gradient', () => {
  test('of Celu, which takes float32 alone', async () => {
    const nodes = [node('Celu', ['x'], ['y'], { alpha: float(0.5) }), gradient(['x'], 'y', ['dx'])]
    const { dx } = await run(model(nodes, ['x'], ['dx']), { x: vector(-1, 2) })
    expect(dx[0]).toBeCloseTo(Math.exp(-2), 6)
    expect(dx[1]).toBe(1)
  })

  test('is taken at the inputs, which may be other values than those that are named', async () => {
    const nodes = [
      node('Mul', ['x', 'z'], ['y']),
      node('Mul', ['y', 'x'], ['w']),
      gradient(['x'], 'w', ['dx'], ['z'], ['a', 'b'])
    ]
    const parts = model(nodes, ['x', 'z', 'a', 'b'], ['w', 'dx'])
    const results = await run(parts, { x: vector(1), z: vector(1), a: vector(3), b: vector(5) })
    expect(results).toEqual({ w: [1], dx: [30] })
  })

  test('tells variables apart to which one value is fed', async () => {
    const nodes = [
      node('Mul', ['x', 'x'], ['q']),
      node('Mul', ['q', 'z'], ['y']),
      gradient(['x', 'z'], 'y', ['dx', 'dz'], [], ['a', 'a'])
    ]
    const results = await run(model(nodes, ['x', 'z', 'a'], ['dx', 'dz']), { x: vector(0), z: vector(0), a: vector(3) })
    expect(results).toEqual({ dx: [18], dz: [9] })
  })

  test('by a value in between goes no further than that value', async () => {
    const nodes = [node('Exp', ['w'], ['h']), node('Mul', ['h', 'z'], ['y']), gradient(['h', 'z'], 'y', ['dh', 'dz'])]
    const { dh, dz } = await run(model(nodes, ['w', 'z'], ['dh', 'dz']), { w: vector(0), z: vector(7) })
    expect([dh, dz]).toEqual([[7], [1]])
  })

  test('of a value that does not depend on a variable is zero, and outputs may be left out', async () => {
    const nodes = [node('Floor', ['x'], ['f']), node('Mul', ['f', 'z'], ['y']), gradient(['x', 'z'], 'y', ['dx'])]
    expect(await run(model(nodes, ['x', 'z'], ['dx']), { x: vector(1.5, 2), z: vector(3, 4) })).toEqual({ dx: [0, 0] })
    const skipped = [node('Mul', ['x', 'z'], ['y']), gradient(['x', 'z'], 'y', ['', 'dz'])]
    expect(await run(model(skipped, ['x', 'z'], ['dz']), { x: vector(2), z: vector(3) })).toEqual({ dz: [2] })
  })

  test('may stand before the nodes that it differentiates, and in a function or a body', async () => {
    const first = [gradient(['x'], 'y', ['dx']), node('Mul', ['x', 'x'], ['y'])]
    expect(await run(model(first, ['x'], ['dx']), { x: vector(4) })).toEqual({ dx: [8] })
    const slope = {
      name: 'Slope',
      domain: 'own',
      input: ['a'],
      output: ['da'],
      node: [node('Mul', ['a', 'a'], ['s']), gradient(['a'], 's', ['da'])],
      opsetImport: [
        { domain: '', version: 17 },
        { domain: DOMAIN, version: 1 }
      ]
    }
    const calling = {
      ...model([node('Slope', ['x'], ['dx'], {}, 'own')], ['x'], ['dx']),
      functions: [slope],
      domains: [DOMAIN, 'own']
    }
    expect(await run(calling, { x: vector(5) })).toEqual({ dx: [10] })
    const branch = (factor: number): GraphParts => ({
      initializers: [floats('k', [], [factor])],
      nodes: [node('Mul', ['x', 'x'], ['s']), node('Mul', ['s', 'k'], ['t']), gradient(['x'], 't', ['r'], ['k'])],
      outputs: [port('r', 'float')]
    })
    const branches = { then_branch: { graph: branch(2) }, else_branch: { graph: branch(3) } }
    const parts = model([node('If', ['c'], ['dx'], branches)], ['x'], ['dx'], {})
    const withCondition = { ...parts, inputs: [port('c', 'bool', []), ...(parts.inputs ?? [])] }
    expect(await run(withCondition, { c: new Tensor('bool', [false], []), x: vector(2) })).toEqual({ dx: [12] })
  })

  test.each([
    [
      'an operator without a derivative',
      [node('Det', ['x'], ['y']), gradient(['x'], 'y', ['dx'])],
      'unsupported-op',
      'there is no derivative of Det "Det_y"'
    ],
    [
      'a name of nothing',
      [gradient(['x'], 'nothing', ['dx'])],
      'invalid-graph',
      '"nothing", which y names, is no value of this graph'
    ],
    [
      'itself',
      [node('Mul', ['x', 'dx'], ['y']), gradient(['x'], 'y', ['dx'])],
      'invalid-graph',
      'Gradient is needed to work out itself'
    ],
    [
      'too few inputs',
      [node('Neg', ['x'], ['y']), gradient(['x', 'x'], 'y', ['dx'], [], ['x'])],
      'wrong-input-count',
      '1 inputs are given; xs and zs name 2'
    ],
    [
      'too many outputs',
      [node('Neg', ['x'], ['y']), gradient(['x'], 'y', ['dx', 'more'])],
      'wrong-output-count',
      '2 outputs are listed; xs names 1'
    ]
  ])('refuses %s', async (_, nodes, code, message) => {
    const failure = { code, reason: expect.stringContaining(message) as unknown }
    const bound = bind(await onnxModel(model(nodes, ['x'], ['dx'])), registryWith())
    expect(bound.items.filter(isUnbound).map(({ error }) => error)).toContainEqual(expect.objectContaining(failure))
    await expect(run(model(nodes, ['x'], ['dx']), { x: vector(1) })).rejects.toMatchObject({ code })
  })

  test('is of floats alone', async () => {
    const parts = {
      ...model([node('Mul', ['x', 'x'], ['y']), gradient(['x'], 'y', ['dx'])], [], ['dx']),
      inputs: [port('x', 'int64', [2])]
    }
    expect(check(await onnxModel(parts)).findings).toContainEqual(expect.objectContaining({ code: 'type-not-allowed' }))
  })

  test('of ever higher order meets the limit of nodes before it takes memory', async () => {
    const orders = Array.from({ length: 30 }, (_, i) => [
      node('Pow', [`d${i}`, 'x'], [`y${i}`]),
      gradient(['x'], `y${i}`, [`d${i + 1}`])
    ])
    const parts = model([node('Identity', ['x'], ['d0']), ...orders.flat()], ['x'], ['d30'])
    const bound = bind(await load(onnxBytes(parts), { limits: { nodes: 50_000 } }), registryWith())
    expect(bound.items.filter(isUnbound).map(({ error }) => error.code)).toContain('limit-exceeded')
  })
})
