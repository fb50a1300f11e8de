import { geluPattern, geluTanhPattern, siluPattern, swishPattern } from './fuse-activation.ts'
import { attentionPattern } from './fuse-attention.ts'
import { compressedPattern } from './fuse-compressed.ts'
import { activationPattern, biasPatterns, residualPatterns } from './fuse-epilogue.ts'
import { layerNormBiasPattern, layerNormPattern, meanVariancePattern, rmsNormPattern } from './fuse-norm.ts'
import type { Pattern } from './fuse.ts'
import { fusedConvert } from './fused-convert.ts'

/** Patterns whose fused operators give the same numbers as the calls that they stand for. */
export const IDENTICAL: readonly Pattern[] = [fusedConvert]

/** These and the ones that round otherwise, in the order in which they are tried. */
export const ROUNDED: readonly Pattern[] = [
  ...IDENTICAL,
  compressedPattern,
  siluPattern,
  swishPattern,
  geluPattern,
  geluTanhPattern,
  meanVariancePattern,
  layerNormPattern,
  layerNormBiasPattern,
  rmsNormPattern,
  attentionPattern,
  ...biasPatterns,
  ...residualPatterns,
  activationPattern
]
