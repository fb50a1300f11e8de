import { geluPattern, geluTanhPattern, siluPattern, swishPattern } from './fuse-activation.ts'
import { attentionPattern, sharedHeadsPattern } from './fuse-attention.ts'
import { codePatterns } from './fuse-codes.ts'
import { compressedPattern } from './fuse-compressed.ts'
import { dequantizedPattern } from './fuse-dequantized.ts'
import { activationPattern, biasPatterns, channelPattern, residualPatterns } from './fuse-epilogue.ts'
import { layoutPatterns } from './fuse-layout.ts'
import { layerNormBiasPattern, layerNormPattern, meanVariancePattern, rmsNormPattern } from './fuse-norm.ts'
import { quantizedPatterns } from './fuse-quantized.ts'
import { rotationPatterns } from './fuse-rotation.ts'
import type { Pattern } from './fuse.ts'
import { fusedConvert } from './fused-convert.ts'

/** Patterns of quantized models that give the same codes as the calls that they stand for. */
export const QUANTIZED: readonly Pattern[] = codePatterns

/** These and the ones that round otherwise. */
export const QUANTIZED_ROUNDED: readonly Pattern[] = [...quantizedPatterns, ...QUANTIZED]

/** Patterns whose fused operators give the same numbers as the calls that they stand for. */
export const IDENTICAL: readonly Pattern[] = [fusedConvert]

/** These and the ones that round otherwise, in the order in which they are tried. */
export const ROUNDED: readonly Pattern[] = [
  ...IDENTICAL,
  compressedPattern,
  dequantizedPattern,
  siluPattern,
  swishPattern,
  geluPattern,
  geluTanhPattern,
  meanVariancePattern,
  layerNormPattern,
  layerNormBiasPattern,
  rmsNormPattern,
  ...rotationPatterns,
  attentionPattern,
  sharedHeadsPattern,
  ...layoutPatterns,
  ...biasPatterns,
  channelPattern,
  ...residualPatterns,
  activationPattern
]
