import type { Op } from './define.ts'
import { activationOps } from './activations.ts'
import { adaptivePoolOps } from './adaptive-pool.ts'
import { affineGrid } from './affine-grid.ts'
import { argOps } from './arg-max.ts'
import { arrayFeatureExtractor } from './array-feature-extractor.ts'
import { attention } from './attention.ts'
import { averagePool } from './average-pool.ts'
import { batchNormalization } from './batch-normalization.ts'
import { batchToSpace, spaceToBatch } from './batch-space.ts'
import { binarizer } from './binarizer.ts'
import { binaryOps } from './binary.ts'
import { binaryConvolution } from './binary-convolution.ts'
import { bitCast } from './bit-cast.ts'
import { cast, castLike } from './cast.ts'
import { causalConv } from './causal-conv.ts'
import { centerCropPad } from './center-crop-pad.ts'
import { matrixNms, multiclassNms } from './class-nms.ts'
import { clip } from './clip.ts'
import { col2im } from './col2im.ts'
import { compress } from './compress.ts'
import { concat } from './concat.ts'
import { concatFromSequence } from './concat-from-sequence.ts'
import { constantOfShape } from './constant-of-shape.ts'
import { conv } from './conv.ts'
import { convInteger, qlinearConv } from './conv-integer.ts'
import { convTranspose } from './conv-transpose.ts'
import { convertPromoteTypes } from './convert-promote-types.ts'
import { lossOps } from './cross-entropy-loss.ts'
import { ctcDecoderOps } from './ctc-greedy-decoder.ts'
import { ctcLoss } from './ctc-loss.ts'
import { cumProd, cumSum } from './cum-sum.ts'
import { deformConv } from './deform-conv.ts'
import { depthToSpace, spaceToDepth } from './depth-space.ts'
import { detectionOutput } from './detection-output.ts'
import { dftOps } from './dft.ts'
import { dropout } from './dropout.ts'
import { einsum } from './einsum.ts'
import { embeddingBagOffsets } from './embedding-bag-offsets.ts'
import { embeddingBagPacked } from './embedding-bag-packed.ts'
import { embeddingSegmentsSum } from './embedding-segments-sum.ts'
import { erfInv } from './erf-inv.ts'
import { expand } from './expand.ts'
import { extractImagePatches } from './extract-image-patches.ts'
import { eyeOps } from './eye.ts'
import { fakeConvert, fakeQuantize } from './fake-quantize.ts'
import { flatten } from './flatten.ts'
import { gather } from './gather.ts'
import { gatherElements } from './gather-elements.ts'
import { gatherND } from './gather-nd.ts'
import { gatherTree } from './gather-tree.ts'
import { gemm } from './gemm.ts'
import { globalPoolOps } from './global-pool.ts'
import { gridSample } from './grid-sample.ts'
import { groupNormalization } from './group-normalization.ts'
import { gru } from './gru.ts'
import { identity } from './identity.ts'
import { ifOp } from './if.ts'
import { interpolate } from './interpolate.ts'
import { det, inverse } from './inverse.ts'
import { istft } from './istft.ts'
import { labelEncoder } from './label-encoder.ts'
import { layerNormalization, rmsNormalization } from './layer-normalization.ts'
import { linearAttention } from './linear-attention.ts'
import { loop } from './loop.ts'
import { grn, lpNormalization, normalizeL2 } from './lp-normalization.ts'
import { lpPool } from './lp-pool.ts'
import { lrn } from './lrn.ts'
import { lstm } from './lstm.ts'
import { matmul, matmulInteger } from './matmul.ts'
import { maxPool } from './max-pool.ts'
import { maxUnpool } from './max-unpool.ts'
import { multinomial } from './multinomial.ts'
import { mvn } from './mvn.ts'
import { nmsRotated, nonMaxSuppression } from './non-max-suppression.ts'
import { nonZero } from './non-zero.ts'
import { oneHotOps } from './one-hot.ts'
import { optimizerOps } from './optimizers.ts'
import { optionalOps } from './optional.ts'
import { pad } from './pad.ts'
import { pow } from './pow.ts'
import { prelu } from './prelu.ts'
import { priorBox, priorBoxClustered } from './prior-box.ts'
import { proposal } from './proposal.ts'
import { deformablePsroiPooling, psroiPooling } from './psroi-pooling.ts'
import { qlinearMatmul } from './qlinear-matmul.ts'
import { dequantizeLinear, dynamicQuantizeLinear, quantizeLinear } from './quantize-linear.ts'
import { randomOps } from './random.ts'
import { randomUniform } from './random-uniform.ts'
import { range } from './range.ts'
import { reduceOps } from './reduce.ts'
import { regexFullMatch } from './regex-full-match.ts'
import { regionYolo } from './region-yolo.ts'
import { reorgYolo } from './reorg-yolo.ts'
import { reshape } from './reshape.ts'
import { resize } from './resize.ts'
import { reverse } from './reverse.ts'
import { reverseSequence } from './reverse-sequence.ts'
import { rnn } from './rnn.ts'
import { roiAlign, roiAlignRotated } from './roi-align.ts'
import { roiPooling } from './roi-pooling.ts'
import { roll } from './roll.ts'
import { rotaryEmbedding } from './rotary-embedding.ts'
import { scaledDotProductAttention } from './scaled-dot-product-attention.ts'
import { scan } from './scan.ts'
import { scatterElements } from './scatter-elements.ts'
import { scatterND } from './scatter-nd.ts'
import { scatterUpdate } from './scatter-update.ts'
import { searchOps } from './search-sorted.ts'
import { segmentMax } from './segment-max.ts'
import { sequenceOps } from './sequence.ts'
import { sequenceMap } from './sequence-map.ts'
import { shape } from './shape.ts'
import { shuffleChannels } from './shuffle-channels.ts'
import { size } from './size.ts'
import { slice } from './slice.ts'
import { sliceScatter } from './slice-scatter.ts'
import { softmaxOps } from './softmax.ts'
import { sparseFillEmptyRows } from './sparse-fill-empty-rows.ts'
import { split } from './split.ts'
import { splitToSequence } from './split-to-sequence.ts'
import { squeeze } from './squeeze.ts'
import { stateOps } from './state.ts'
import { stft } from './stft.ts'
import { stridedSlice } from './strided-slice.ts'
import { stringConcat } from './string-concat.ts'
import { stringNormalizer } from './string-normalizer.ts'
import { stringSplit } from './string-split.ts'
import { stringTensorPack, stringTensorUnpack } from './string-tensor.ts'
import { swiGlu } from './swiglu.ts'
import { tensorIterator } from './tensor-iterator.ts'
import { tensorScatter } from './tensor-scatter.ts'
import { tfIdfVectorizer } from './tfidf-vectorizer.ts'
import { tile } from './tile.ts'
import { topK } from './top-k.ts'
import { transpose } from './transpose.ts'
import { trilu } from './trilu.ts'
import { unaryOps } from './unary.ts'
import { unique } from './unique.ts'
import { unsqueeze } from './unsqueeze.ts'
import { variadicOps } from './variadic.ts'
import { where } from './where.ts'
import { melWeightMatrix, windowOps } from './window-functions.ts'
import { yuvOps } from './yuv.ts'

/** Every operator, one line a file. */
export const ALL_OPS: readonly Op[] = [
  ...activationOps,
  ...adaptivePoolOps,
  affineGrid,
  ...argOps,
  arrayFeatureExtractor,
  attention,
  averagePool,
  batchNormalization,
  batchToSpace,
  binarizer,
  binaryConvolution,
  ...binaryOps,
  bitCast,
  cast,
  castLike,
  causalConv,
  centerCropPad,
  clip,
  col2im,
  compress,
  concat,
  concatFromSequence,
  constantOfShape,
  conv,
  convertPromoteTypes,
  convInteger,
  convTranspose,
  ...ctcDecoderOps,
  ctcLoss,
  cumProd,
  cumSum,
  deformablePsroiPooling,
  deformConv,
  depthToSpace,
  dequantizeLinear,
  det,
  detectionOutput,
  ...dftOps,
  dropout,
  dynamicQuantizeLinear,
  einsum,
  embeddingBagOffsets,
  embeddingBagPacked,
  embeddingSegmentsSum,
  erfInv,
  expand,
  extractImagePatches,
  ...eyeOps,
  fakeConvert,
  fakeQuantize,
  flatten,
  gather,
  gatherElements,
  gatherND,
  gatherTree,
  gemm,
  ...globalPoolOps,
  gridSample,
  grn,
  groupNormalization,
  gru,
  identity,
  ifOp,
  interpolate,
  inverse,
  istft,
  labelEncoder,
  layerNormalization,
  linearAttention,
  loop,
  ...lossOps,
  lpNormalization,
  lpPool,
  lrn,
  lstm,
  matmul,
  matmulInteger,
  matrixNms,
  maxPool,
  maxUnpool,
  melWeightMatrix,
  multiclassNms,
  multinomial,
  mvn,
  nmsRotated,
  nonMaxSuppression,
  nonZero,
  normalizeL2,
  ...oneHotOps,
  ...optimizerOps,
  ...optionalOps,
  pad,
  pow,
  prelu,
  priorBox,
  priorBoxClustered,
  proposal,
  psroiPooling,
  qlinearConv,
  qlinearMatmul,
  quantizeLinear,
  ...randomOps,
  randomUniform,
  range,
  ...reduceOps,
  regexFullMatch,
  regionYolo,
  reorgYolo,
  reshape,
  resize,
  reverse,
  reverseSequence,
  rmsNormalization,
  rnn,
  roiAlign,
  roiAlignRotated,
  roiPooling,
  roll,
  rotaryEmbedding,
  scaledDotProductAttention,
  scan,
  scatterElements,
  scatterND,
  scatterUpdate,
  ...searchOps,
  segmentMax,
  sequenceMap,
  ...sequenceOps,
  shape,
  shuffleChannels,
  size,
  slice,
  sliceScatter,
  ...softmaxOps,
  spaceToBatch,
  spaceToDepth,
  sparseFillEmptyRows,
  split,
  splitToSequence,
  squeeze,
  ...stateOps,
  stft,
  stridedSlice,
  stringConcat,
  stringNormalizer,
  stringSplit,
  stringTensorPack,
  stringTensorUnpack,
  swiGlu,
  tensorIterator,
  tensorScatter,
  tfIdfVectorizer,
  tile,
  topK,
  transpose,
  trilu,
  ...unaryOps,
  unique,
  unsqueeze,
  ...variadicOps,
  where,
  ...windowOps,
  ...yuvOps
]
