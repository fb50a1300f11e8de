import {
  geluPattern,
  geluTanhPattern,
  hardSigmoidPattern,
  hardSwishPattern,
  mishPattern,
  siluPattern,
  swishPattern
} from './fuse-activation.ts'
import { attentionPattern, scaledOperandPattern, sharedHeadsPattern } from './fuse-attention.ts'
import { codePatterns } from './fuse-codes.ts'
import { compressedPattern } from './fuse-compressed.ts'
import { dequantizedPattern } from './fuse-dequantized.ts'
import { einsumPattern } from './fuse-einsum.ts'
import {
  activationPattern,
  biasPatterns,
  channelPattern,
  residualPatterns,
  scaledProductPattern
} from './fuse-epilogue.ts'
import { layoutPatterns, matricesPattern, transposesPattern } from './fuse-layout.ts'
import {
  layerNormBiasPattern,
  layerNormPattern,
  meanVariancePattern,
  rootMeanSquarePattern,
  scaledInversePatterns
} from './fuse-norm.ts'
import { paddingPatterns } from './fuse-padding.ts'
import { partPatterns } from './fuse-parts.ts'
import { productSumPattern } from './fuse-product-sum.ts'
import { quantizedPatterns } from './fuse-quantized.ts'
import { rotationPatterns } from './fuse-rotation.ts'
import { rowsPattern } from './fuse-rows.ts'
import { transposedPattern } from './fuse-transposed.ts'
import { fusedConvert } from './fused-convert.ts'
import type { Pattern } from './match.ts'
import { writtenQuantization } from './written-quantization.ts'

/** Patterns of quantized models that give the same codes as the calls that they stand for. */
export const QUANTIZED: readonly Pattern[] = [writtenQuantization, ...codePatterns]

/** {@link QUANTIZED}, and patterns of quantized models that round otherwise. */
export const QUANTIZED_ROUNDED: readonly Pattern[] = [channelPattern, ...quantizedPatterns, ...QUANTIZED]

/** Patterns whose fused operators give the same numbers as the calls that they stand for. */
export const IDENTICAL: readonly Pattern[] = [fusedConvert, matricesPattern, transposesPattern]

/** {@link IDENTICAL}, and patterns that round otherwise, in the order in which they are tried. */
export const ROUNDED: readonly Pattern[] = [
  ...IDENTICAL,
  ...paddingPatterns,
  compressedPattern,
  dequantizedPattern,
  siluPattern,
  swishPattern,
  mishPattern,
  hardSigmoidPattern,
  hardSwishPattern,
  geluPattern,
  geluTanhPattern,
  meanVariancePattern,
  rootMeanSquarePattern,
  ...scaledInversePatterns,
  layerNormPattern,
  layerNormBiasPattern,
  ...rotationPatterns,
  productSumPattern,
  einsumPattern,
  transposedPattern,
  attentionPattern,
  scaledOperandPattern,
  sharedHeadsPattern,
  ...layoutPatterns,
  ...partPatterns,
  rowsPattern,
  scaledProductPattern,
  ...biasPatterns,
  channelPattern,
  ...residualPatterns,
  activationPattern
]
