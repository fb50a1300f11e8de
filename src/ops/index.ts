import type { Op } from '../op-kit/define.ts'
import { attention } from './attention/attention.ts'
import { linearAttention } from './attention/linear-attention.ts'
import { rotaryEmbedding } from './attention/rotary-embedding.ts'
import { scaledDotProductAttention } from './attention/scaled-dot-product-attention.ts'
import { concatFromSequence } from './control/concat-from-sequence.ts'
import { ifOp } from './control/if.ts'
import { loop } from './control/loop.ts'
import { optionalOps } from './control/optional.ts'
import { scan } from './control/scan.ts'
import { sequenceMap } from './control/sequence-map.ts'
import { sequenceOps } from './control/sequence.ts'
import { splitToSequence } from './control/split-to-sequence.ts'
import { stateOps } from './control/state.ts'
import { tensorIterator } from './control/tensor-iterator.ts'
import { binaryConvolution } from './conv/binary-convolution.ts'
import { causalConv } from './conv/causal-conv.ts'
import { col2im } from './conv/col2im.ts'
import { convTranspose } from './conv/conv-transpose.ts'
import { conv } from './conv/conv.ts'
import { deformConv } from './conv/deform-conv.ts'
import { extractImagePatches } from './conv/extract-image-patches.ts'
import { matrixNms, multiclassNms } from './detection/class-nms.ts'
import { detectionOutput } from './detection/detection-output.ts'
import { nmsRotated, nonMaxSuppression } from './detection/non-max-suppression.ts'
import { priorBox, priorBoxClustered } from './detection/prior-box.ts'
import { proposal } from './detection/proposal.ts'
import { deformablePsroiPooling, psroiPooling } from './detection/psroi-pooling.ts'
import { regionYolo } from './detection/region-yolo.ts'
import { reorgYolo } from './detection/reorg-yolo.ts'
import { roiAlign, roiAlignRotated } from './detection/roi-align.ts'
import { roiPooling } from './detection/roi-pooling.ts'
import { activationOps } from './elementwise/activations.ts'
import { binaryOps } from './elementwise/binary.ts'
import { bitCast } from './elementwise/bit-cast.ts'
import { cast, castLike } from './elementwise/cast.ts'
import { clip } from './elementwise/clip.ts'
import { convertPromoteTypes } from './elementwise/convert-promote-types.ts'
import { erfInv } from './elementwise/erf-inv.ts'
import { pow } from './elementwise/pow.ts'
import { prelu } from './elementwise/prelu.ts'
import { swiGlu } from './elementwise/swiglu.ts'
import { unaryOps } from './elementwise/unary.ts'
import { variadicOps } from './elementwise/variadic.ts'
import { where } from './elementwise/where.ts'
import { compress } from './gather/compress.ts'
import { embeddingBagOffsets } from './gather/embedding-bag-offsets.ts'
import { embeddingBagPacked } from './gather/embedding-bag-packed.ts'
import { embeddingSegmentsSum } from './gather/embedding-segments-sum.ts'
import { gatherElements } from './gather/gather-elements.ts'
import { gatherND } from './gather/gather-nd.ts'
import { gatherTree } from './gather/gather-tree.ts'
import { gather } from './gather/gather.ts'
import { oneHotOps } from './gather/one-hot.ts'
import { scatterElements } from './gather/scatter-elements.ts'
import { scatterND } from './gather/scatter-nd.ts'
import { scatterUpdate } from './gather/scatter-update.ts'
import { segmentMax } from './gather/segment-max.ts'
import { sparseFillEmptyRows } from './gather/sparse-fill-empty-rows.ts'
import { tensorScatter } from './gather/tensor-scatter.ts'
import { affineGrid } from './image/affine-grid.ts'
import { gridSample } from './image/grid-sample.ts'
import { interpolate } from './image/interpolate.ts'
import { resize } from './image/resize.ts'
import { yuvOps } from './image/yuv.ts'
import { batchToSpace, spaceToBatch } from './layout/batch-space.ts'
import { centerCropPad } from './layout/center-crop-pad.ts'
import { concat } from './layout/concat.ts'
import { constantOfShape } from './layout/constant-of-shape.ts'
import { depthToSpace, spaceToDepth } from './layout/depth-space.ts'
import { expand } from './layout/expand.ts'
import { eyeOps } from './layout/eye.ts'
import { flatten } from './layout/flatten.ts'
import { identity } from './layout/identity.ts'
import { pad } from './layout/pad.ts'
import { range } from './layout/range.ts'
import { reshape } from './layout/reshape.ts'
import { reverseSequence } from './layout/reverse-sequence.ts'
import { reverse } from './layout/reverse.ts'
import { roll } from './layout/roll.ts'
import { shape } from './layout/shape.ts'
import { shuffleChannels } from './layout/shuffle-channels.ts'
import { size } from './layout/size.ts'
import { sliceScatter } from './layout/slice-scatter.ts'
import { slice } from './layout/slice.ts'
import { split } from './layout/split.ts'
import { squeeze } from './layout/squeeze.ts'
import { stridedSlice } from './layout/strided-slice.ts'
import { tile } from './layout/tile.ts'
import { transpose } from './layout/transpose.ts'
import { trilu } from './layout/trilu.ts'
import { unsqueeze } from './layout/unsqueeze.ts'
import { einsum } from './matrix/einsum.ts'
import { gemm } from './matrix/gemm.ts'
import { det, inverse } from './matrix/inverse.ts'
import { matmul, matmulInteger } from './matrix/matmul.ts'
import { arrayFeatureExtractor } from './ml/array-feature-extractor.ts'
import { binarizer } from './ml/binarizer.ts'
import { labelEncoder } from './ml/label-encoder.ts'
import { batchNormalization } from './normalization/batch-normalization.ts'
import { groupNormalization } from './normalization/group-normalization.ts'
import { layerNormalization, rmsNormalization } from './normalization/layer-normalization.ts'
import { grn, lpNormalization, normalizeL2 } from './normalization/lp-normalization.ts'
import { lrn } from './normalization/lrn.ts'
import { mvn } from './normalization/mvn.ts'
import { softmaxOps } from './normalization/softmax.ts'
import { adaptivePoolOps } from './pool/adaptive-pool.ts'
import { averagePool } from './pool/average-pool.ts'
import { globalPoolOps } from './pool/global-pool.ts'
import { lpPool } from './pool/lp-pool.ts'
import { maxPool } from './pool/max-pool.ts'
import { maxUnpool } from './pool/max-unpool.ts'
import { convInteger, qlinearConv } from './quantized/conv-integer.ts'
import { fakeConvert, fakeQuantize } from './quantized/fake-quantize.ts'
import { qlinearMatmul } from './quantized/qlinear-matmul.ts'
import { dequantizeLinear, dynamicQuantizeLinear, quantizeLinear } from './quantized/quantize-linear.ts'
import { dropout } from './random/dropout.ts'
import { multinomial } from './random/multinomial.ts'
import { randomUniform } from './random/random-uniform.ts'
import { randomOps } from './random/random.ts'
import { gru } from './recurrent/gru.ts'
import { lstm } from './recurrent/lstm.ts'
import { rnn } from './recurrent/rnn.ts'
import { argOps } from './reduce/arg-max.ts'
import { cumProd, cumSum } from './reduce/cum-sum.ts'
import { nonZero } from './reduce/non-zero.ts'
import { reduceOps } from './reduce/reduce.ts'
import { searchOps } from './reduce/search-sorted.ts'
import { topK } from './reduce/top-k.ts'
import { unique } from './reduce/unique.ts'
import { dftOps } from './signal/dft.ts'
import { istft } from './signal/istft.ts'
import { stft } from './signal/stft.ts'
import { melWeightMatrix, windowOps } from './signal/window-functions.ts'
import { ctcDecoderOps } from './text/ctc-greedy-decoder.ts'
import { regexFullMatch } from './text/regex-full-match.ts'
import { stringConcat } from './text/string-concat.ts'
import { stringNormalizer } from './text/string-normalizer.ts'
import { stringSplit } from './text/string-split.ts'
import { stringTensorPack, stringTensorUnpack } from './text/string-tensor.ts'
import { tfIdfVectorizer } from './text/tfidf-vectorizer.ts'
import { lossOps } from './training/cross-entropy-loss.ts'
import { ctcLoss } from './training/ctc-loss.ts'
import { optimizerOps } from './training/optimizers.ts'

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
