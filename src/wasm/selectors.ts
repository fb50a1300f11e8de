import type { Preparation } from '../op-kit/define.ts'
import { isHalf } from '../tensor/dtype.ts'
import { product } from '../tensor/tensor.ts'
import { selectWidened } from './halves.ts'
import {
  selectArithmetic,
  selectBitwiseNot,
  selectIntegerShrink,
  selectShift,
  selectSingle,
  selectWideClip,
  selectWideReciprocal,
  selectWideRelu,
  selectWideRound
} from './kernels/arithmetic.ts'
import { ofFloats, selectOfDoubles } from './kernels/as-floats.ts'
import { selectScaledDotProductAttention } from './kernels/attention.ts'
import { selectGatherBags } from './kernels/bags.ts'
import { selectBest, selectHardmax } from './kernels/best.ts'
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
import { selectRange } from './kernels/count.ts'
import { selectCumSum } from './kernels/cumulate.ts'
import { selectDeformConv } from './kernels/deform.ts'
import { selectDet } from './kernels/determinant.ts'
import { selectDistances } from './kernels/distances.ts'
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
import { selectFakeQuantize } from './kernels/fake-quantize.ts'
import { selectCol2Im } from './kernels/fold.ts'
import { selectFoldedHalves } from './kernels/folded-halves.ts'
import { selectFolded } from './kernels/folded.ts'
import { selectDft, selectStft } from './kernels/fourier.ts'
import { selectGridSample } from './kernels/grid-sample.ts'
import { selectGroupQueryAttention } from './kernels/grouped-attention.ts'
import { selectJoinedMatMul } from './kernels/joined-products.ts'
import { withLastPart } from './kernels/last-part.ts'
import { selectLinearClassifier, selectLinearRegressor } from './kernels/linear-models.ts'
import { selectSoftmaxLoss } from './kernels/losses.ts'
import { selectGemm, selectMatMul } from './kernels/matrix.ts'
import { selectMultiHeadAttention, selectProjectedAttention, selectQAttention } from './kernels/multi-head.ts'
import { selectNhwcConv } from './kernels/nhwc-conv.ts'
import { selectBatchNorm, selectGroupNorm, selectLayerNorm, selectMvn, selectRmsNorm } from './kernels/normalization.ts'
import { selectAttention } from './kernels/onnx-attention.ts'
import { selectPad } from './kernels/padding.ts'
import { selectConcat, selectSplit } from './kernels/parts.ts'
import { selectSampled } from './kernels/points.ts'
import { selectAveragePool, selectMaxPool } from './kernels/pool.ts'
import { selectIntegerPow, selectPow, selectWidePow } from './kernels/pow.ts'
import {
  selectDequantizeLinear,
  selectDynamicQuantizeLinear,
  selectDynamicQuantizeMatMul,
  selectQuantizeLinear,
  selectRoundedCodes,
  selectRoundedDequantizeLinear
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
  selectByDoubles,
  selectLogSum,
  selectLogSumExp,
  selectLpNorm,
  selectMvnSteps,
  selectNormalizeL2,
  selectNormalizer,
  selectWideLogSumExp
} from './kernels/reduce-steps.ts'
import { selectGlobalNorm, selectGlobalPool, selectReduce } from './kernels/reduce.ts'
import { selectRoiAlign } from './kernels/regions.ts'
import { selectResampled, selectTaken } from './kernels/resample.ts'
import { selectResponse } from './kernels/response.ts'
import { selectRotaryEmbedding, selectRotation } from './kernels/rotary.ts'
import { selectScatterElements, selectScatterND } from './kernels/scatter.ts'
import { selectReverseSequence } from './kernels/sequences.ts'
import { selectSine } from './kernels/sine.ts'
import { selectSoftmax } from './kernels/softmax.ts'
import { selectExpand, selectSlice, selectTile } from './kernels/strided.ts'
import { selectSvmClassifier, selectSvmRegressor } from './kernels/support-vectors.ts'
import { selectTopK } from './kernels/top.ts'
import { selectTranscendental } from './kernels/transcendental.ts'
import { selectBlocks, selectTranspose } from './kernels/transpose.ts'
import { selectTreeClassifier, selectTreeRegressor } from './kernels/trees.ts'
import { selectWideGemm, selectWideMatMul } from './kernels/wide-product.ts'
import {
  selectBiasAdd,
  selectBiasGelu,
  selectBiasSplitGelu,
  selectSkipGroupNorm,
  selectSkipLayerNorm
} from './kernels/with-addition.ts'
import type { Selector } from './selector.ts'

// In bundles for Node this module runs when a call is first met that is no gather; see scripts/lazy-modules.mjs.

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
  ['Sqrt', either(selectUnary(['sqrt'], 2), selectSingle('sqrt'))],
  ['Reciprocal', either(selectUnary(['reciprocal'], 2), selectWideReciprocal)],
  ['Floor', either(selectUnary(['floor']), selectSingle('floor'))],
  ['Ceil', either(selectUnary(['ceil']), selectSingle('ceil'))],
  ['Round', either(selectRound, selectWideRound)],
  ['Sign', either(selectUnary(['sign']), selectSingle('sign'))],
  ['ThresholdedRelu', selectWithAlpha('thresholdedRelu', 1)],
  ['Shrink', either(selectShrink, selectIntegerShrink)],
  ['IsNaN', selectIsNaN],
  ['IsInf', selectIsInf],
  ['Add', either(selectBinary('add'), selectArithmetic('add'))],
  ['Sub', either(selectBinary('subtract'), selectArithmetic('subtract'))],
  ['Mul', either(selectBinary('multiply'), selectArithmetic('multiply'))],
  ['Div', either(selectBinary('divide'), selectArithmetic('divide'))],
  ['Maximum', either(selectBinary('maximum'), selectArithmetic('maximum'))],
  ['Minimum', either(selectBinary('minimum'), selectArithmetic('minimum'))],
  ['Pow', selectIntegerPow],
  ['Mod', either(selectArithmetic('floorMod'), selectArithmetic('truncatedMod'))],
  ['FloorMod', selectArithmetic('floorMod')],
  ['BitwiseAnd', selectArithmetic('and')],
  ['BitwiseOr', selectArithmetic('or')],
  ['BitwiseXor', selectArithmetic('xor')],
  ['BitShift', selectShift],
  ['BitwiseNot', selectBitwiseNot],
  ['ArgMax', selectBest(true)],
  ['ArgMin', selectBest(false)],
  ['Hardmax', selectHardmax],
  ['TopK', selectTopK],
  ['CumSum', selectCumSum],
  ['Det', selectDet],
  ['Scaler', selectOfDoubles],
  ['Range', selectRange],
  ['ReverseSequence', selectReverseSequence],
  ['Col2Im', selectCol2Im],
  ['Cast', selectCast],
  ['CastLike', selectCastLike],
  ['Max', either(selectFolded('maximum'), selectFoldedHalves('maximum', true))],
  ['Min', either(selectFolded('minimum'), selectFoldedHalves('minimum', true))],
  ['Sum', either(selectFolded('add'), selectFoldedHalves('add', true))],
  ['Mean', either(selectFolded('add', true), selectFoldedHalves('add', true, true))],
  ['Transpose', selectTranspose],
  ['Expand', selectExpand],
  ['Slice', selectSlice],
  ['Tile', selectTile],
  ['FakeQuantize', selectFakeQuantize],
  ['TreeEnsembleClassifier', selectTreeClassifier],
  ['TreeEnsembleRegressor', selectTreeRegressor],
  ['ScatterElements', selectScatterElements],
  ['ScatterND', selectScatterND],
  ['SpaceToDepth', selectBlocks(true)],
  ['DepthToSpace', selectBlocks(false)],
  ['Concat', selectConcat],
  ['Split', selectSplit],
  ['MatMul', either(selectWideMatMul('int32'), selectWideMatMul('int64'))],
  ['Gemm', either(selectWideGemm('int32'), selectWideGemm('int64'))],
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
  ['RoundedCodes', selectRoundedCodes],
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
  ['Pad', selectPad],
  ['Resize', selectTaken],
  ['Interpolate', selectTaken]
])

/** Selectors of kernels that round otherwise: sums in float32, polynomials for exp and the like. */
const ROUNDED: ReadonlyMap<string, Selector> = new Map([
  ['Sum', selectFoldedHalves('add', false)],
  ['Mean', selectFoldedHalves('add', false, true)],
  ['DequantizeLinear', selectRoundedDequantizeLinear],
  ['MatMul', either(selectMatMul, selectWideMatMul('float64'))],
  ['Gemm', either(selectGemm, selectWideGemm('float64'))],
  ['Einsum', selectEinsum],
  ['Conv', selectConv],
  ['NhwcConv', selectNhwcConv],
  ['MatMulNBits', selectMatMulNBits],
  ['MatMulBnb4', selectMatMulBnb4],
  ['CompressedMatMul', selectCompressedMatMul],
  ['MoE', selectMoe],
  ['QMoE', selectQMoe],
  // What plans make of a MatMul: the type FusedMatMul of com.microsoft is a MatMul that scales.
  ['FusedMatMul', selectMatMul],
  ['JoinedMatMul', selectJoinedMatMul],
  ['FusedGemm', withLastPart(selectGemm)],
  ['FusedMatMulIntegerToFloat', selectMatMulIntegerToFloat],
  ['FusedConv', withLastPart(selectConv)],
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
  ['SoftmaxCrossEntropyLoss', selectSoftmaxLoss],
  ['LayerNormalization', selectLayerNorm],
  ['RMSNormalization', selectRmsNorm],
  ['SkipLayerNormalization', selectSkipLayerNorm],
  ['EmbedLayerNormalization', selectEmbedLayerNorm],
  ['QEmbedLayerNormalization', selectEmbedLayerNorm],
  ['MeanVarianceNormalization', either(selectMvn, selectMvnSteps)],
  ['GroupNormalization', selectGroupNorm],
  ['GroupNorm', selectSkipGroupNorm],
  ['BatchNormalization', selectBatchNorm],
  ['ReduceSum', selectReduce('sum')],
  ['ReduceMean', selectReduce('mean')],
  ['ReduceProd', selectReduce('prod')],
  ['ReduceSumSquare', selectReduce('sumSquare')],
  ['ReduceL1', selectReduce('l1')],
  ['ReduceL2', either(selectReduce('l2'), selectByDoubles('l2'))],
  ['ReduceLogSum', either(selectLogSum, selectByDoubles('logSum'))],
  ['ReduceLogSumExp', either(selectLogSumExp, selectWideLogSumExp)],
  ['GatherBags', selectGatherBags],
  ...(['DFT', 'IDFT', 'RDFT', 'IRDFT'] as const).map(name => [name, selectDft] as const),
  ['STFT', selectStft],
  ['CDist', selectDistances],
  ['LRN', selectResponse],
  ['Normalizer', either(selectNormalizer, ofFloats(selectNormalizer))],
  ['LinearRegressor', selectLinearRegressor],
  ['LinearClassifier', selectLinearClassifier],
  ['SVMRegressor', selectSvmRegressor],
  ['SVMClassifier', selectSvmClassifier],
  ['LpNormalization', selectLpNorm],
  ['NormalizeL2', selectNormalizeL2],
  ['GlobalAveragePool', selectGlobalPool('mean')],
  ['GlobalLpPool', selectGlobalNorm],
  ['AveragePool', selectAveragePool],
  ['Sigmoid', either(selectUnary(['sigmoid'], 6), selectSingle('sigmoid'))],
  ['Tanh', selectUnary(['tanh'], 8)],
  ['Gelu', selectGelu],
  ['BiasAdd', selectBiasAdd],
  ['BiasGelu', selectBiasGelu],
  ['BiasSplitGelu', selectBiasSplitGelu],
  ['Elu', selectWithAlpha('elu', 6)],
  ['HardSwish', selectUnary(['hardSwish', 1 / 6, 0.5])],
  ['HardSigmoid', selectHardSigmoid],
  ['Celu', selectWithAlpha('celu', 7)],
  ['Selu', selectSelu],
  ['Softsign', selectUnary(['softsign'], 2)],
  ['Mish', selectUnary(['mish'], 7)],
  ['Softplus', selectUnary(['softplus'], 8)],
  ['HSigmoid', selectUnary(['hardSigmoid', 1 / 6, 0.5])],
  ['Exp', either(selectUnary(['exp'], 5), selectSingle('exp'))],
  ['Log', either(selectUnary(['log'], 5), selectSingle('log'))],
  ['Erf', selectUnary(['erf'], 8)],
  ['SquaredDifference', selectBinary('squaredDifference')],
  ['DeformConv', selectDeformConv],
  ['ConvTranspose', selectConvTranspose],
  ['LSTM', selectLstm],
  ['DynamicQuantizeLSTM', selectDynamicQuantizeLstm],
  ['Pow', either(selectPow, selectWidePow)],
  ['Sin', selectSine('sine')],
  ['Cos', selectSine('cosine')],
  ['Tan', selectSine('tangent')],
  ['Asin', selectTranscendental('asin')],
  ['Acos', selectTranscendental('acos')],
  ['Atan', selectTranscendental('atan')],
  ['Sinh', selectTranscendental('sinh')],
  ['Cosh', selectTranscendental('cosh')],
  ['Asinh', selectTranscendental('asinh')],
  ['Acosh', selectTranscendental('acosh')],
  ['Atanh', selectTranscendental('atanh')],
  ['GRU', selectGru],
  ['RNN', selectRnn],
  ['Resize', selectResampled],
  ['Interpolate', selectResampled],
  ['GridSample', either(selectGridSample, selectSampled)],
  ['RoiAlign', either(selectRoiAlign, selectSampled)],
  ['ROIAlignRotated', selectSampled]
])

export const identicalSelector = (name: string): Selector | undefined => IDENTICAL.get(name)
export const roundedSelector = (name: string): Selector | undefined => ROUNDED.get(name)

const CONVERSIONS = ['Cast', 'CastLike']
/** Operators that give booleans of floats of 16 bits. */
const OF_BOOLEANS: ReadonlySet<string> = new Set([
  'Equal',
  'NotEqual',
  'Greater',
  'GreaterOrEqual',
  'Less',
  'LessOrEqual',
  'IsNaN',
  'IsInf'
])

/** The result of MultiHeadAttention that holds scores. */
const SCORES = 3

/** Elements of a Softmax of float16 below which the reference takes no longer than converting them. */
const MIN_ROUNDED_SUMS = 1 << 9

/**
 * A selector of calls whose floats have 16 bits, by kernels of float32. Softmax of bfloat16 is left to the reference,
 * and so are small ones of float16: each step of its definition is rounded to 16 bits, which shows. So is attention
 * whose scores are a result: those of keys that causality hides are the lowest number of their type, and that of
 * float32 would be rounded to an infinity.
 */
export function widenedSelector(name: string, { outputs }: Preparation): Selector | undefined {
  const selector = ROUNDED.get(name) ?? IDENTICAL.get(name)
  const [first] = outputs
  if (selector === undefined || first?.kind !== 'tensor' || first.type === undefined) return undefined
  if (!isHalf(first.type) && !OF_BOOLEANS.has(name)) return undefined
  // Their kernels write the type that is converted to, not float32.
  if (CONVERSIONS.includes(name)) return undefined
  if (name === 'MultiHeadAttention' && outputs.length > SCORES) return undefined
  const isRoundedSum = name === 'Softmax'
  if (isRoundedSum && first.type === 'bfloat16') return undefined
  return call => (isRoundedSum && product(call.dims) < MIN_ROUNDED_SUMS ? undefined : selectWidened(selector, call))
}
