/**
 * The operators of index.ts as `check` holds them: of those whose kernels are large and decide no shapes, the rules
 * under the operator's name, in the order of index.ts. All others are the same: a name that is exported here hides the
 * one of index.ts.
 */
export * from './index.ts'
export { attentionRules as attention } from './attention/attention.ts'
export { engramGateRules as engramGate } from './attention/engram-gate.ts'
export { flexAttentionRules as flexAttention } from './attention/flex-attention.ts'
export { groupQueryAttentionRules as groupQueryAttention } from './attention/group-query-attention.ts'
export {
  hyperConnectionPostMixRules as hyperConnectionPostMix,
  hyperConnectionPreMixRules as hyperConnectionPreMix
} from './attention/hyper-connection.ts'
export { linearAttentionGateRules as linearAttentionGate } from './attention/linear-attention-gate.ts'
export { linearAttentionRules as linearAttention } from './attention/linear-attention.ts'
export { multiHeadAttentionRules as multiHeadAttention } from './attention/multi-head-attention.ts'
export { positionRotaryRules as positionRotary } from './attention/position-rotary.ts'
export { projectedAttentionRules as projectedAttention } from './attention/projected-attention.ts'
export { rotaryEmbeddingRules as rotaryEmbedding } from './attention/rotary-embedding.ts'
export { scaledDotProductRules as scaledDotProductAttention } from './attention/scaled-dot-product-attention.ts'
export { binaryConvolutionRules as binaryConvolution } from './conv/binary-convolution.ts'
export { causalConvRules as causalConv } from './conv/causal-conv.ts'
export { col2imRules as col2im } from './conv/col2im.ts'
export { convTransposeRules as convTranspose } from './conv/conv-transpose.ts'
export { convRules as conv } from './conv/conv.ts'
export { deformConvRules as deformConv } from './conv/deform-conv.ts'
export { fusedConvRules as fusedConv } from './conv/fused-conv.ts'
export { nhwcConvRules as nhwcConv } from './conv/nhwc-conv.ts'
export { wordConvEmbeddingRules as wordConvEmbedding } from './conv/word-conv-embedding.ts'
export { detectionOutputRules as detectionOutput } from './detection/detection-output.ts'
export { detectronDetectionOutputRules as detectronDetectionOutput } from './detection/detectron-output.ts'
export { priorBoxRules as priorBox, priorBoxClusteredRules as priorBoxClustered } from './detection/prior-box.ts'
export { priorGridGeneratorRules as priorGridGenerator } from './detection/prior-grid-generator.ts'
export { proposalRules as proposal } from './detection/proposal.ts'
export {
  deformablePsroiPoolingRules as deformablePsroiPooling,
  psroiPoolingRules as psroiPooling
} from './detection/psroi-pooling.ts'
export { regionYoloRules as regionYolo } from './detection/region-yolo.ts'
export { roiAlignRules as roiAlign, roiAlignRotatedRules as roiAlignRotated } from './detection/roi-align.ts'
export { roiFeatureExtractorRules as roiFeatureExtractor } from './detection/roi-feature-extractor.ts'
export { roiPoolingRules as roiPooling } from './detection/roi-pooling.ts'
export { affineGridRules as affineGrid } from './image/affine-grid.ts'
export { cropAndResizeRules as cropAndResize } from './image/crop-and-resize.ts'
export { gridSampleRules as gridSample } from './image/grid-sample.ts'
export { imageDecoderRules as imageDecoder } from './image/image-decoder.ts'
export { imageScalerRules as imageScaler } from './image/image-scaler.ts'
export { interpolateRules as interpolate } from './image/interpolate.ts'
export { resizeRules as resize } from './image/resize.ts'
export { cdistRules as cdist } from './matrix/cdist.ts'
export { einsumRules as einsum } from './matrix/einsum.ts'
export { fusedGemmRules as fusedGemm } from './matrix/fused-gemm.ts'
export { gemmRules as gemm } from './matrix/gemm.ts'
export { groupedMatmulRules as groupedMatmul } from './matrix/grouped-matmul.ts'
export { detRules as det, inverseRules as inverse } from './matrix/inverse.ts'
export { matmulRules as matmul, matmulIntegerRules as matmulInteger } from './matrix/matmul.ts'
export { moeRules as moe } from './matrix/moe.ts'
export { binarizerRules as binarizer } from './ml/binarizer.ts'
export { castMapRules as castMap } from './ml/cast-map.ts'
export { categoryMapperRules as categoryMapper } from './ml/category-mapper.ts'
export { dictVectorizerRules as dictVectorizer } from './ml/dict-vectorizer.ts'
export { featureVectorizerRules as featureVectorizer } from './ml/feature-vectorizer.ts'
export { imputerRules as imputer } from './ml/imputer.ts'
export { labelEncoderRules as labelEncoder } from './ml/label-encoder.ts'
export { linearClassifierRules as linearClassifier } from './ml/linear-classifier.ts'
export { linearRegressorRules as linearRegressor } from './ml/linear-regressor.ts'
export { normalizerRules as normalizer } from './ml/normalizer.ts'
export { oneHotEncoderRules as oneHotEncoder } from './ml/one-hot-encoder.ts'
export { scalerRules as scaler } from './ml/scaler.ts'
export { zipMapRules as zipMap } from './ml/zip-map.ts'
export { svmClassifierRules as svmClassifier } from './ml/svm-classifier.ts'
export { svmRegressorRules as svmRegressor } from './ml/svm-regressor.ts'
export { treeEnsembleClassifierRules as treeEnsembleClassifier } from './ml/tree-ensemble-classifier.ts'
export { treeEnsembleRegressorRules as treeEnsembleRegressor } from './ml/tree-ensemble-regressor.ts'
export { batchNormalizationRules as batchNormalization } from './normalization/batch-normalization.ts'
export { embedLayerNormalizationRules as embedLayerNormalization } from './normalization/embed-layer-normalization.ts'
export {
  branchwiseRmsNormRules as branchwiseRmsNorm,
  gatedRmsNormRules as gatedRmsNorm
} from './normalization/gated-rms-norm.ts'
export { groupNormRules as groupNorm } from './normalization/group-norm.ts'
export { groupNormalizationRules as groupNormalization } from './normalization/group-normalization.ts'
export {
  layerNormalizationRules as layerNormalization,
  rmsNormalizationRules as rmsNormalization
} from './normalization/layer-normalization.ts'
export {
  grnRules as grn,
  lpNormalizationRules as lpNormalization,
  normalizeL2Rules as normalizeL2
} from './normalization/lp-normalization.ts'
export { lrnRules as lrn } from './normalization/lrn.ts'
export { mvnRules as mvn } from './normalization/mvn.ts'
export { skipLayerNormalizationRules as skipLayerNormalization } from './normalization/skip-layer-normalization.ts'
export { averagePoolRules as averagePool } from './pool/average-pool.ts'
export { lpPoolRules as lpPool } from './pool/lp-pool.ts'
export { maxPoolRules as maxPool } from './pool/max-pool.ts'
export { maxUnpoolRules as maxUnpool } from './pool/max-unpool.ts'
export { maxpoolWithMaskRules as maxpoolWithMask } from './pool/maxpool-with-mask.ts'
export { nhwcMaxPoolRules as nhwcMaxPool } from './pool/nhwc-max-pool.ts'
export { convIntegerRules as convInteger, qlinearConvRules as qlinearConv } from './quantized/conv-integer.ts'
export { dynamicQuantizeLstmRules as dynamicQuantizeLstm } from './quantized/dynamic-quantize-lstm.ts'
export { fakeConvertRules as fakeConvert, fakeQuantizeRules as fakeQuantize } from './quantized/fake-quantize.ts'
export {
  mulIntegerRules as mulInteger,
  reduceSumIntegerRules as reduceSumInteger
} from './quantized/integer-arithmetic.ts'
export { qattentionRules as qattention } from './quantized/qattention.ts'
export { qembedLayerNormalizationRules as qembedLayerNormalization } from './quantized/qembed-layer-normalization.ts'
export { matmulBnb4Rules as matmulBnb4 } from './quantized/matmul-bnb4.ts'
export { matmulFpQ4Rules as matmulFpQ4 } from './quantized/matmul-fpq4.ts'
export { matmulNBitsRules as matmulNBits } from './quantized/matmul-nbits.ts'
export { qlinearMatmulRules as qlinearMatmul } from './quantized/qlinear-matmul.ts'
export { qmoeRules as qmoe } from './quantized/qmoe.ts'
export {
  dequantizeLinearRules as dequantizeLinear,
  dynamicQuantizeLinearRules as dynamicQuantizeLinear,
  quantizeLinearRules as quantizeLinear
} from './quantized/quantize-linear.ts'
export { qlinearConcatRules as qlinearConcat, qlinearWhereRules as qlinearWhere } from './quantized/recoded.ts'
export {
  dynamicQuantizeMatmulRules as dynamicQuantizeMatmul,
  matmulIntegerToFloatRules as matmulIntegerToFloat,
  qgemmRules as qgemm
} from './quantized/scaled-products.ts'
export { attnLstmRules as attnLstm } from './recurrent/attn-lstm.ts'
export { gruRules as gru } from './recurrent/gru.ts'
export { lstmRules as lstm } from './recurrent/lstm.ts'
export { rnnRules as rnn } from './recurrent/rnn.ts'
export { dftRules as dftOps } from './signal/dft.ts'
export { istftRules as istft } from './signal/istft.ts'
export { stftRules as stft } from './signal/stft.ts'
export { melWeightMatrixRules as melWeightMatrix } from './signal/window-functions.ts'
export { ctcDecoderRules as ctcDecoderOps } from './text/ctc-greedy-decoder.ts'
export { murmurHash3Rules as murmurHash3 } from './text/murmur-hash3.ts'
export {
  ngramHashMappingRules as ngramHashMapping,
  varlenNGramHashMappingRules as varlenNGramHashMapping
} from './text/ngram-hash-mapping.ts'
export { ngramRepeatBlockRules as ngramRepeatBlock } from './text/ngram-repeat-block.ts'
export { regexFullMatchRules as regexFullMatch } from './text/regex-full-match.ts'
export { stringConcatRules as stringConcat } from './text/string-concat.ts'
export { tfIdfVectorizerRules as tfIdfVectorizer } from './text/tfidf-vectorizer.ts'
export { lossRules as lossOps } from './training/cross-entropy-loss.ts'
export { ctcLossRules as ctcLoss } from './training/ctc-loss.ts'
export { gradientRules as gradient } from './training/gradient.ts'
