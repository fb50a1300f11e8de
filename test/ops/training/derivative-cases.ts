import { int64s, type node } from '../../fixtures/onnx.ts'

/** A node whose derivatives are held against differences of its result. */
export interface Case {
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

/** A constant without dims. */
export const double = (name: string, value: number): object => ({ name, dims: [], dataType: 11, doubleData: [value] })

export const CASES: readonly Case[] = [
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
  { type: 'Clip', xs: [[9], [], []], inputs: ['x0', 'x1', 'x2'] },
  { type: 'Clip', xs: [[9], []], inputs: ['x0', '', 'x1'], range: [-1.2, 1.6] },
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
  {
    type: 'Einsum',
    xs: [
      [2, 1],
      [3, 4]
    ],
    attributes: { equation: 'ij,jk' }
  },
  {
    type: 'Einsum',
    xs: [
      [1, 2, 1],
      [3, 2, 4]
    ],
    attributes: { equation: 'i...j,j...k->k...i' }
  },
  {
    type: 'Einsum',
    xs: [
      [2, 2, 2],
      [2, 2]
    ],
    attributes: { equation: 'i...,i...->...' }
  },
  { type: 'Einsum', xs: [[2, 3, 4, 2], [4]], attributes: { equation: 'i...j,...->ji...' } },
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
  { type: 'CastLike', xs: [[3]], inputs: ['x0', 'like'], constants: [double('like', 1)] },
  { type: 'Range', xs: [[], []], inputs: ['x0', 'limit', 'x1'], constants: [double('limit', 4.1)], range: [0.2, 0.9] },
  {
    type: 'OneHot',
    xs: [[2]],
    inputs: ['at', 'depth', 'x0'],
    constants: [ints('at', 1, -1, 1), int64s('depth', [], [4])],
    attributes: { axis: 0 }
  },
  { type: 'Dropout', xs: [[3]] }
]
