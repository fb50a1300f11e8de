import type { shapes } from 'nodewise'

/**
 * What a value has to do with the rows of a batch: nothing (`fixed`), it says how many there are (`size`), or row `i`
 * of it depends on row `i` of the inputs alone (`rows`).
 */
export type Kind = 'fixed' | 'size' | 'rows'

/** What is known of a value: {@link Kind}, and its shape. */
export interface Known {
  readonly kind: Kind
  readonly shape: readonly shapes.Dim[] | undefined
}

/** A call as rules see it. */
export interface RuleCall {
  readonly inputs: readonly (Known | undefined)[]
  readonly output: readonly shapes.Dim[]
  /** Which output that is; 0 for the first. */
  readonly position: number
  /** A parameter that is known, from an attribute or an input. */
  parameter(name: string): unknown
}

/** What is asked of an operator: how it is called, and whether it works element by element. */
interface Operator {
  readonly name: string
  readonly inPlace?: unknown
  readonly elem?: unknown
}

const rankOf = (known: Known | undefined): number => known?.shape?.length ?? -1

/** Whether a value is the same for every row: it has no dim where the batch is, or one of 1. */
const isShared = (known: Known | undefined, rank: number): boolean =>
  known === undefined ||
  (known.kind === 'fixed' && known.shape !== undefined && (rankOf(known) < rank || known.shape[0] === 1))

const isRows = (known: Known | undefined): boolean => known?.kind === 'rows'
const isFixed = (known: Known | undefined): boolean => known === undefined || known.kind === 'fixed'

/** Axes that are known, counted from the front; undefined where they are not. */
function axesOf(call: RuleCall, rank: number, name: 'axis' | 'axes'): readonly number[] | undefined {
  const given = call.parameter(name)
  const list = typeof given === 'number' ? [given] : given
  if (!Array.isArray(list) || rank < 1) return undefined
  return list.map(axis => (Number(axis) < 0 ? Number(axis) + rank : Number(axis)))
}

/** Rows in the first operand, and axes that are not the first: along them a row is changed by itself. */
function alongOtherAxes(call: RuleCall, name: 'axis' | 'axes'): boolean {
  const [first, ...rest] = call.inputs
  const axes = axesOf(call, rankOf(first), name)
  return isRows(first) && rest.every(isFixed) && axes !== undefined && axes.length > 0 && axes.every(axis => axis > 0)
}

/** Each is enough by itself to keep rows apart; that the output has the batch first, and nowhere else, is known. */
export const RULES = {
  /** Element by element, operands broadcast: what is not shared has its rows where the output has them. */
  elements: ({ inputs, output }: RuleCall): boolean =>
    inputs.every(input => isShared(input, output.length) || (isRows(input) && rankOf(input) === output.length)),
  /** Rows in the first operand alone; the first dim is the batch by the operator's definition. */
  firstIsBatch: ({ inputs: [first, ...rest] }: RuleCall): boolean =>
    isRows(first) && rankOf(first) >= 2 && rest.every(isFixed),
  /** The same, where more operands have rows. */
  allAreBatch: ({ inputs }: RuleCall): boolean =>
    inputs.every(input => isFixed(input) || isRows(input)) && isRows(inputs[0]),
  /** Maxima alone: what says where they were counts the elements of all rows. */
  maxima: (call: RuleCall): boolean => call.position === 0 && RULES.firstIsBatch(call),
  /** Elements that are put elsewhere in their own row, by indices of their own row. */
  scatter: (call: RuleCall): boolean =>
    call.inputs.every(input => isRows(input) && rankOf(input) === call.output.length) &&
    axesOf(call, call.output.length, 'axis')?.every(axis => axis > 0) === true,
  /** What names rows by their number. */
  never: (): boolean => false,
  /** Matrices: rows of the first with one matrix for all, or stacks of matrices. */
  product: ({ inputs: [a, b, ...rest], output }: RuleCall): boolean =>
    rest.every(input => isShared(input, output.length)) &&
    ((isRows(a) && rankOf(a) === output.length && rankOf(a) >= 2 && isShared(b, Math.max(3, output.length))) ||
      (isRows(b) && rankOf(b) === output.length && rankOf(b) >= 3 && isShared(a, output.length)) ||
      (isRows(a) && isRows(b) && rankOf(a) >= 3 && rankOf(a) === rankOf(b))),
  axis: (call: RuleCall): boolean => alongOtherAxes(call, 'axis'),
  axes: (call: RuleCall): boolean => alongOtherAxes(call, 'axes'),
  /** Parts of which each has rows, put together along another axis. */
  join: (call: RuleCall): boolean =>
    call.inputs.every(isRows) && axesOf(call, call.output.length, 'axis')?.every(axis => axis > 0) === true,
  /** The order of elements stays, so a row stays a row where the first dim is the batch before and after. */
  reshape: ({ inputs: [data] }: RuleCall): boolean => isRows(data),
  transpose: (call: RuleCall): boolean => {
    const order = call.parameter('order')
    return isRows(call.inputs[0]) && Array.isArray(order) && order[0] === 0
  },
  /** Rows of a table by indices of the batch, or elements of each row by indices that all rows share. */
  lookup: (call: RuleCall): boolean => {
    const [data, indices] = call.inputs
    const axes = axesOf(call, rankOf(data), 'axis')
    if (axes === undefined || Number(call.parameter('batchDims') ?? 0) !== 0) return false
    return isFixed(data) ? isRows(indices) && axes[0] === 0 : isRows(data) && isFixed(indices) && axes[0] > 0
  },
  /** Statistics of a whole tensor are none of a row's: training mixes rows. */
  inference: (call: RuleCall): boolean => RULES.firstIsBatch(call) && call.parameter('trains') === false,
  /** What is not an operator on rows: the shape of a value. */
  shape: (): boolean => false,
  /** Copies of what does not depend on the batch. */
  fill: ({ inputs: [data], output }: RuleCall): boolean =>
    (isRows(data) && rankOf(data) === output.length) || isShared(data, output.length)
} satisfies Readonly<Record<string, (call: RuleCall) => boolean>>

export type RuleName = keyof typeof RULES

/** Rules by names of operators. What works element by element needs none here. */
const OPERATORS: readonly (readonly [RuleName, string])[] = [
  ['shape', 'Shape Size'],
  ['fill', 'ConstantOfShape Expand'],
  [
    'elements',
    'Cast CastLike Identity Where Clip PRelu Pow Swish BiasGelu HardSigmoid Selu FakeQuantize IsNaN IsInf Not'
  ],
  ['product', 'MatMul Gemm MatMulInteger'],
  [
    'firstIsBatch',
    'Conv ConvTranspose ConvInteger QLinearConv AveragePool LpPool GlobalAveragePool GlobalMaxPool ' +
      'GlobalLpPool ' +
      'InstanceNormalization GroupNormalization DepthToSpace SpaceToDepth TreeEnsembleClassifier ' +
      'TreeEnsembleRegressor LinearClassifier LinearRegressor Scaler Normalizer Imputer Binarizer SVMClassifier ' +
      'SVMRegressor ArrayFeatureExtractor MatMulNBits'
  ],
  ['maxima', 'MaxPool'],
  ['scatter', 'ScatterElements'],
  ['never', 'ScatterND'],
  ['allAreBatch', 'SkipLayerNormalization FeatureVectorizer'],
  ['inference', 'BatchNormalization'],
  [
    'axis',
    'Softmax LogSoftmax Hardmax LayerNormalization RMSNormalization LpNormalization ArgMax ArgMin TopK CumSum ' +
      'CumProd ' +
      'Split Flatten'
  ],
  [
    'axes',
    'ReduceMean ReduceSum ReduceMax ReduceMin ReduceProd ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ' +
      'ReduceSumSquare ReduceLogicalAnd ReduceLogicalOr NormalizeL2 LRN Squeeze Unsqueeze Slice'
  ],
  ['join', 'Concat'],
  ['reshape', 'Reshape Flatten Squeeze Unsqueeze'],
  ['transpose', 'Transpose'],
  ['lookup', 'Gather']
]

/** The rules that hold for an operator; none: nothing is known of it. */
export function rulesOf({ name, inPlace, elem }: Operator): readonly RuleName[] {
  const rules = OPERATORS.filter(([, names]) => names.split(' ').includes(name)).map(([rule]) => rule)
  return rules.length === 0 && (inPlace !== undefined || elem !== undefined) ? ['elements'] : rules
}
