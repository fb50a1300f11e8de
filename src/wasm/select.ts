import {
  isBuiltIn,
  type Kernel,
  type Op,
  type Preparation,
  type Selection,
  type SelectKernel,
  type ValueOperands
} from '../op-kit/define.ts'
import { isConcrete } from '../shapes/dim.ts'
import { isTensor, product, type Tensor } from '../tensor/tensor.ts'
import { byJobs } from './by-jobs.ts'
import { isHalf, selectWidened } from './halves.ts'
import { selectArithmetic, selectSingle, selectWideClip, selectWideRelu } from './kernels/arithmetic.ts'
import { selectAttention, selectScaledDotProductAttention } from './kernels/attention.ts'
import { selectBest } from './kernels/best.ts'
import { selectQLinearBinary } from './kernels/byte-binary.ts'
import { selectByteConcat, selectQLinearConcat } from './kernels/byte-concat.ts'
import { selectConvInteger, selectConvIntegerToFloat, selectQLinearConv } from './kernels/byte-conv.ts'
import { selectQLinearAveragePool, selectQLinearGlobalPool } from './kernels/byte-pool.ts'
import { selectQLinearSoftmax } from './kernels/byte-softmax.ts'
import { selectByteTable, selectRecoding } from './kernels/byte-table.ts'
import { selectComparison, selectIsInf, selectIsNaN, selectLogical, selectNot, selectWhere } from './kernels/choose.ts'
import { selectCompressedMatMul, selectMatMulBnb4, selectMatMulNBits } from './kernels/coded-products.ts'
import { selectConvTranspose } from './kernels/conv-transpose.ts'
import { selectConv } from './kernels/conv.ts'
import { selectCast, selectCastLike } from './kernels/convert.ts'
import { selectCumSum } from './kernels/cumulate.ts'
import { selectEinsum } from './kernels/einsum.ts'
import {
  selectBinary,
  selectClip,
  selectGelu,
  selectHardSigmoid,
  selectPRelu,
  selectRound,
  selectSelu,
  selectShrink,
  selectSwish,
  selectUnary,
  selectWithAlpha
} from './kernels/elementwise.ts'
import { selectEmbedLayerNorm } from './kernels/embedding.ts'
import { selectMoe, selectQMoe } from './kernels/experts.ts'
import { selectFolded } from './kernels/folded.ts'
import { gatherTreeJobs } from './kernels/gather-tree.ts'
import { gatherElementsJobs, gatherJobs, gatherNDJobs } from './kernels/gather.ts'
import { selectBilinear } from './kernels/grid-sample.ts'
import { selectGroupQueryAttention } from './kernels/grouped-attention.ts'
import { selectJoinedMatMul } from './kernels/joined-products.ts'
import { selectLinearClassifier, selectLinearRegressor } from './kernels/linear-models.ts'
import { selectGemm, selectMatMul } from './kernels/matrix.ts'
import { selectMultiHeadAttention, selectProjectedAttention, selectQAttention } from './kernels/multi-head.ts'
import { selectBatchNorm, selectGroupNorm, selectLayerNorm, selectMvn, selectRmsNorm } from './kernels/normalization.ts'
import { selectConcat, selectSplit } from './kernels/parts.ts'
import { selectSampled } from './kernels/points.ts'
import { selectAveragePool, selectMaxPool } from './kernels/pool.ts'
import { selectIntegerPow, selectPow } from './kernels/pow.ts'
import {
  selectDequantizeLinear,
  selectDynamicQuantizeLinear,
  selectDynamicQuantizeMatMul,
  selectQuantizeLinear
} from './kernels/quantize.ts'
import {
  selectMatMulInteger,
  selectMatMulIntegerToFloat,
  selectQGemm,
  selectQLinearMatMul
} from './kernels/quantized-products.ts'
import { selectDynamicQuantizeLstm } from './kernels/recurrent-quantized.ts'
import { selectGru, selectLstm, selectRnn } from './kernels/recurrent.ts'
import {
  selectLogSum,
  selectLogSumExp,
  selectLpNorm,
  selectNormalizeL2,
  selectNormalizer
} from './kernels/reduce-steps.ts'
import { selectGlobalNorm, selectGlobalPool, selectReduce } from './kernels/reduce.ts'
import { selectRoiAlign } from './kernels/regions.ts'
import { selectResampled, selectTaken } from './kernels/resample.ts'
import { selectResponse } from './kernels/response.ts'
import { selectRotaryEmbedding, selectRotation } from './kernels/rotary.ts'
import { selectScatterElements } from './kernels/scatter.ts'
import { selectSine } from './kernels/sine.ts'
import { selectSoftmax } from './kernels/softmax.ts'
import { selectExpand, selectSlice, selectTile } from './kernels/strided.ts'
import { selectSvmClassifier, selectSvmRegressor } from './kernels/support-vectors.ts'
import { selectBlocks, selectTranspose } from './kernels/transpose.ts'
import { selectWideMatMul } from './kernels/wide-product.ts'
import { selectBiasGelu, selectSkipGroupNorm, selectSkipLayerNorm } from './kernels/with-addition.ts'
import type { Candidate, Selector, TensorOperands } from './selector.ts'
import { isComputeMade, wasm } from './wasm.ts'

/** The first selector that has a kernel for a call. */
const either =
  (...selectors: readonly Selector[]): Selector =>
  call => {
    for (const selector of selectors) {
      const selection = selector(call)
      if (selection) return selection
    }
    return undefined
  }

/** Selectors of kernels that give the same numbers as the reference, by the name of the operator. */
const IDENTICAL: ReadonlyMap<string, Selector> = new Map([
  ['Gather', byJobs(['data', 'indices'], gatherJobs)],
  ['GatherElements', byJobs(['data', 'indices'], gatherElementsJobs)],
  ['GatherND', byJobs(['data', 'indices'], gatherNDJobs)],
  ['GatherTree', byJobs(['stepIds', 'parentIds', 'maxSeqLen', 'endToken'], gatherTreeJobs)],
  ['ReduceMax', selectReduce('max')],
  ['ReduceMin', selectReduce('min')],
  ['GlobalMaxPool', selectGlobalPool('max')],
  ['MaxPool', selectMaxPool],
  ['Relu', either(selectUnary(['clip', 0, Infinity]), selectWideRelu)],
  ['Clip', either(selectClip, selectWideClip)],
  ['LeakyRelu', selectWithAlpha('leakyRelu', 1)],
  ['PRelu', selectPRelu],
  ['Abs', either(selectUnary(['abs']), selectSingle('abs'))],
  ['Neg', either(selectUnary(['negate']), selectSingle('negate'))],
  ['Sqrt', selectUnary(['sqrt'], 2)],
  ['Reciprocal', selectUnary(['reciprocal'], 2)],
  ['Floor', selectUnary(['floor'])],
  ['Ceil', selectUnary(['ceil'])],
  ['Round', selectRound],
  ['Sign', either(selectUnary(['sign']), selectSingle('sign'))],
  ['ThresholdedRelu', selectWithAlpha('thresholdedRelu', 1)],
  ['Shrink', selectShrink],
  ['IsNaN', selectIsNaN],
  ['IsInf', selectIsInf],
  ['Add', either(selectBinary('add'), selectArithmetic('add'))],
  ['Sub', either(selectBinary('subtract'), selectArithmetic('subtract'))],
  ['Mul', either(selectBinary('multiply'), selectArithmetic('multiply'))],
  ['Div', either(selectBinary('divide'), selectArithmetic('divide'))],
  ['Maximum', either(selectBinary('maximum'), selectArithmetic('maximum'))],
  ['Minimum', either(selectBinary('minimum'), selectArithmetic('minimum'))],
  ['Pow', selectIntegerPow],
  ['Mod', selectArithmetic('floorMod')],
  ['FloorMod', selectArithmetic('floorMod')],
  ['BitwiseAnd', selectArithmetic('and')],
  ['BitwiseOr', selectArithmetic('or')],
  ['BitwiseXor', selectArithmetic('xor')],
  ['ArgMax', selectBest(true)],
  ['ArgMin', selectBest(false)],
  ['CumSum', selectCumSum],
  ['Cast', selectCast],
  ['CastLike', selectCastLike],
  ['Max', selectFolded('maximum')],
  ['Min', selectFolded('minimum')],
  ['Sum', selectFolded('add')],
  ['Mean', selectFolded('add', true)],
  ['Transpose', selectTranspose],
  ['Expand', selectExpand],
  ['Slice', selectSlice],
  ['Tile', selectTile],
  ['ScatterElements', selectScatterElements],
  ['SpaceToDepth', selectBlocks(true)],
  ['DepthToSpace', selectBlocks(false)],
  ['Concat', selectConcat],
  ['Split', selectSplit],
  ['MatMul', either(selectWideMatMul('int32'), selectWideMatMul('int64'))],
  ['MatMulInteger', selectMatMulInteger],
  ['QLinearMatMul', selectQLinearMatMul],
  ['MatMulIntegerToFloat', selectMatMulIntegerToFloat],
  ['ByteTable', selectByteTable],
  ['ConvInteger', selectConvInteger],
  ['ConvIntegerToFloat', selectConvIntegerToFloat],
  ['QLinearConv', selectQLinearConv],
  ['QLinearAdd', selectQLinearBinary('add')],
  ['QLinearMul', selectQLinearBinary('multiply')],
  ['QLinearSigmoid', selectRecoding],
  ['QLinearLeakyRelu', selectRecoding],
  ['QLinearAveragePool', selectQLinearAveragePool],
  ['QLinearGlobalAveragePool', selectQLinearGlobalPool],
  ['QLinearSoftmax', selectQLinearSoftmax],
  ['QLinearConcat', selectQLinearConcat],
  ['ByteConcat', selectByteConcat],
  ['QGemm', selectQGemm],
  ['DynamicQuantizeMatMul', selectDynamicQuantizeMatMul],
  ['QuantizeLinear', selectQuantizeLinear],
  ['DequantizeLinear', selectDequantizeLinear],
  ['DynamicQuantizeLinear', selectDynamicQuantizeLinear],
  ['Equal', selectComparison('equal')],
  ['NotEqual', selectComparison('notEqual')],
  ['Greater', selectComparison('greater')],
  ['GreaterOrEqual', selectComparison('greaterEqual')],
  ['Less', selectComparison('less')],
  ['LessOrEqual', selectComparison('lessEqual')],
  ['And', selectLogical('and')],
  ['Or', selectLogical('or')],
  ['Xor', selectLogical('xor')],
  ['Not', selectNot],
  ['Where', selectWhere],
  ['Pad', selectTaken],
  ['Resize', selectTaken],
  ['Interpolate', selectTaken]
])

/** Selectors of kernels that round otherwise: sums in float32, polynomials for exp and the like. */
const ROUNDED: ReadonlyMap<string, Selector> = new Map([
  ['MatMul', either(selectMatMul, selectWideMatMul('float64'))],
  ['Gemm', selectGemm],
  ['Einsum', selectEinsum],
  ['Conv', selectConv],
  ['MatMulNBits', selectMatMulNBits],
  ['MatMulBnb4', selectMatMulBnb4],
  ['CompressedMatMul', selectCompressedMatMul],
  ['MoE', selectMoe],
  ['QMoE', selectQMoe],
  ['FusedMatMul', selectMatMul],
  ['JoinedMatMul', selectJoinedMatMul],
  ['FusedGemm', selectGemm],
  ['FusedMatMulIntegerToFloat', selectMatMulIntegerToFloat],
  ['FusedConv', selectConv],
  ['Silu', selectUnary(['silu'], 6)],
  ['Swish', selectSwish],
  ['Attention', either(selectAttention, selectProjectedAttention)],
  ['MultiHeadAttention', selectMultiHeadAttention],
  ['QAttention', selectQAttention],
  ['GroupQueryAttention', selectGroupQueryAttention],
  ['ScaledDotProductAttention', selectScaledDotProductAttention],
  ['Rotation', selectRotation],
  ['RotaryEmbedding', selectRotaryEmbedding],
  ['Softmax', selectSoftmax(false)],
  ['LogSoftmax', selectSoftmax(true)],
  ['LayerNormalization', selectLayerNorm],
  ['RMSNormalization', selectRmsNorm],
  ['SkipLayerNormalization', selectSkipLayerNorm],
  ['EmbedLayerNormalization', selectEmbedLayerNorm],
  ['QEmbedLayerNormalization', selectEmbedLayerNorm],
  ['MeanVarianceNormalization', selectMvn],
  ['GroupNormalization', selectGroupNorm],
  ['GroupNorm', selectSkipGroupNorm],
  ['BatchNormalization', selectBatchNorm],
  ['ReduceSum', selectReduce('sum')],
  ['ReduceMean', selectReduce('mean')],
  ['ReduceProd', selectReduce('prod')],
  ['ReduceSumSquare', selectReduce('sumSquare')],
  ['ReduceL1', selectReduce('l1')],
  ['ReduceL2', selectReduce('l2')],
  ['ReduceLogSum', selectLogSum],
  ['ReduceLogSumExp', selectLogSumExp],
  ['LRN', selectResponse],
  ['Normalizer', selectNormalizer],
  ['LinearRegressor', selectLinearRegressor],
  ['LinearClassifier', selectLinearClassifier],
  ['SVMRegressor', selectSvmRegressor],
  ['SVMClassifier', selectSvmClassifier],
  ['LpNormalization', selectLpNorm],
  ['NormalizeL2', selectNormalizeL2],
  ['GlobalAveragePool', selectGlobalPool('mean')],
  ['GlobalLpPool', selectGlobalNorm],
  ['AveragePool', selectAveragePool],
  ['Sigmoid', selectUnary(['sigmoid'], 6)],
  ['Tanh', selectUnary(['tanh'], 8)],
  ['Gelu', selectGelu],
  ['BiasGelu', selectBiasGelu],
  ['Elu', selectWithAlpha('elu', 6)],
  ['HardSwish', selectUnary(['hardSwish', 1 / 6, 0.5])],
  ['HardSigmoid', selectHardSigmoid],
  ['Celu', selectWithAlpha('celu', 7)],
  ['Selu', selectSelu],
  ['Softsign', selectUnary(['softsign'], 2)],
  ['Mish', selectUnary(['mish'], 7)],
  ['HSigmoid', selectUnary(['hardSigmoid', 1 / 6, 0.5])],
  ['Exp', selectUnary(['exp'], 5)],
  ['Log', selectUnary(['log'], 5)],
  ['Erf', selectUnary(['erf'], 8)],
  ['SquaredDifference', selectBinary('squaredDifference')],
  ['ConvTranspose', selectConvTranspose],
  ['LSTM', selectLstm],
  ['DynamicQuantizeLSTM', selectDynamicQuantizeLstm],
  ['Pow', selectPow],
  ['Sin', selectSine(false)],
  ['Cos', selectSine(true)],
  ['GRU', selectGru],
  ['RNN', selectRnn],
  ['Resize', selectResampled],
  ['Interpolate', selectResampled],
  ['GridSample', either(selectBilinear, selectSampled)],
  ['RoiAlign', either(selectRoiAlign, selectSampled)],
  ['ROIAlignRotated', selectSampled]
])

/**
 * - `fast`: float32 is computed in float32
 * - `exact`: sums are in double precision, and results are the same on every machine
 */
export type Precision = 'fast' | 'exact'

/**
 * Decides whether an accelerated kernel computes a call: from types, dims and parameters, and from where the operands
 * lie. Without WebAssembly, or with `NODEWISE_KERNELS=ts`, none does.
 */
export const select: SelectKernel = (op, operands, prepared) =>
  selectIdentical(op, operands, prepared) ??
  selectAmong(ROUNDED.get(op.name), op, operands, prepared) ??
  selectAmong(widenedSelector(op.name, prepared), op, operands, prepared)

/** Elements of a Softmax of float16 below which the reference takes no longer than converting them. */
const MIN_ROUNDED_SUMS = 1 << 9

/**
 * A selector of calls whose floats have 16 bits, by kernels of float32. Softmax of bfloat16 is left to the reference,
 * and so are small ones of float16: the sums of its definition are rounded to 16 bits, which shows.
 */
function widenedSelector(name: string, { outputs }: Preparation): Selector | undefined {
  const selector = ROUNDED.get(name) ?? IDENTICAL.get(name)
  const [first] = outputs
  if (selector === undefined || first?.kind !== 'tensor' || first.type === undefined || !isHalf(first.type))
    return undefined
  const isRoundedSum = name === 'Softmax'
  if (isRoundedSum && first.type === 'bfloat16') return undefined
  return call => (isRoundedSum && product(call.dims) < MIN_ROUNDED_SUMS ? undefined : selectWidened(selector, call))
}

/** {@link select} among kernels that give the same numbers as the reference. */
const selectIdentical: SelectKernel = (op, operands, prepared) =>
  selectAmong(IDENTICAL.get(op.name), op, operands, prepared)

export const selectorOf = (precision: Precision): SelectKernel => (precision === 'exact' ? selectIdentical : select)

/** Whether there is a kernel in WebAssembly for some calls of an operator, by its name in the library. */
export const hasKernel = (name: string): boolean => IDENTICAL.has(name) || ROUNDED.has(name)

/** Elements of a call that the reference computes as fast as the module that computes is made. */
const SMALL = 1 << 12
/** Calls of so few elements after which the module is made, which takes some milliseconds. */
const MAX_EARLY_CALLS = 256
let earlyCalls = 0

/**
 * Whether a call looks at few elements: neither the output nor an operand that is computed with has many. A maximum of
 * many numbers is one number; of what is only moved the reference reads what it writes.
 */
function isSmall({ moves }: Op, operands: ValueOperands, { outputs: [first] }: Preparation): boolean {
  if (first?.kind !== 'tensor' || first.shape === undefined || !isConcrete(first.shape)) return false
  if (product(first.shape) >= SMALL) return false
  for (const name in operands) {
    const value = operands[name] as Tensor | undefined
    if (value?.dims !== undefined && moves?.includes(name) !== true && product(value.dims) >= SMALL) return false
  }
  return true
}

/** A kernel that the reference stands for while the module that computes has not been made, and may never be. */
const laterOn =
  (op: Op, kernel: Kernel): Kernel =>
  (operands, parameters, context) => {
    if (isComputeMade() || earlyCalls >= MAX_EARLY_CALLS) {
      if (wasm()) return kernel(operands, parameters, context)
    } else earlyCalls++
    return op.run(operands, parameters, context)
  }

/** @param selector by the name of the operator, which must be built in: a caller's own runs its own kernel */
function selectAmong(
  selector: Selector | undefined,
  op: Op,
  operands: ValueOperands,
  prepared: Preparation
): Selection | undefined {
  if (selector === undefined || !isBuiltIn(op)) return undefined
  const call = candidateOf(op, operands, prepared)
  const selection = call && selector(call)
  if (selection?.kernel === undefined) return selection
  if (selector === IDENTICAL.get(op.name) && isSmall(op, operands, prepared))
    return { ...selection, kernel: laterOn(op, selection.kernel) }
  // Only here, since most small models pick none: WebAssembly takes milliseconds to start.
  return wasm() && selection
}

/** Operators whose selectors know operands that are lists. */
const TAKES_LISTS: ReadonlySet<string> = new Set([
  'ByteConcat',
  'QLinearConcat',
  'Concat',
  'Einsum',
  'Max',
  'Mean',
  'Min',
  'Sum'
])

/** Undefined where an operand is no single tensor, and where the kernel decides on the dims of the output. */
function candidateOf(op: Op, operands: ValueOperands, { parameters, outputs }: Preparation): Candidate | undefined {
  const [first] = outputs
  if (first?.kind !== 'tensor' || first.shape === undefined || !isConcrete(first.shape)) return undefined
  for (const name in operands) {
    const value = operands[name]
    const isList = Array.isArray(value) && TAKES_LISTS.has(op.name) && value.every(isTensor)
    if (value !== undefined && !isList && (Array.isArray(value) || !isTensor(value as Tensor))) return undefined
  }
  return { op, operands: operands as TensorOperands, parameters, dims: first.shape }
}
