import { batchNorms } from './batch-norms.ts'
import { biases } from './biases.ts'
import { branches } from './branches.ts'
import { bypass } from './bypass.ts'
import { computeWide } from './compute-wide.ts'
import { computedWeights } from './computed-weights.ts'
import { constantRows } from './constant-rows.ts'
import { convWeights } from './conv-weights.ts'
import { einsumProducts } from './einsum-products.ts'
import { fakeQuantizePattern, stateCodes } from './fake-quantize.ts'
import { fold, foldNumbers } from './fold.ts'
import { floatPatterns } from './fuse-to-floats.ts'
import { fuse } from './fuse.ts'
import { IDENTICAL, QUANTIZED, QUANTIZED_ROUNDED, ROUNDED } from './fusions.ts'
import { grow } from './grow.ts'
import { integerProducts } from './integer-products.ts'
import { joinProducts } from './join-products.ts'
import { lastConvolutions } from './last-convolutions.ts'
import { levels } from './levels.ts'
import { loopBags } from './loop-bags.ts'
import { loopLists } from './loop-lists.ts'
import { oneElement } from './one-element.ts'
import { pack } from './pack.ts'
import type { Pass } from './pass.ts'
import { prune } from './prune.ts'
import { scanDistances } from './scan-distances.ts'
import { schedule } from './schedule.ts'
import { sequenceBags } from './sequence-bags.ts'
import { sequences } from './sequences.ts'
import { share } from './share.ts'
import { tablesOfCodes } from './tables-of-codes.ts'
import { widen } from './widen.ts'

/** Passes up to where all that is left has to be sound. */
export const SELECTING: readonly Pass[] = [fold, prune, loopLists]
/** The same with patterns whose fused operators round otherwise than the calls that they stand for. */
export const SELECTING_FAST: readonly Pass[] = [fold, prune, sequenceBags, loopLists]
/** What the patterns of quantized models leave of codes, and weights that nodes compute. */
const LEFT_OF_CODES: readonly Pass[] = [levels, prune, foldNumbers, convWeights, computedWeights, prune]

/** Passes after that. */
export const IMPROVING: readonly Pass[] = [
  branches,
  constantRows,
  bypass,
  sequences,
  tablesOfCodes,
  integerProducts,
  fuse(QUANTIZED),
  ...LEFT_OF_CODES,
  fuse(IDENTICAL),
  // What is left of Transposes, and of codes, that come back to what they were.
  bypass,
  share,
  oneElement,
  prune,
  widen,
  pack,
  schedule
]
/** The same with patterns whose fused operators round otherwise than the calls that they stand for. */
export const IMPROVING_FAST: readonly Pass[] = [
  branches,
  constantRows,
  scanDistances,
  loopBags,
  bypass,
  sequences,
  computeWide,
  // Casts between float32 and 16 bits are from float32 to float32 now.
  bypass,
  biases,
  stateCodes,
  tablesOfCodes,
  integerProducts,
  fuse(QUANTIZED_ROUNDED),
  fuse(floatPatterns),
  fuse([fakeQuantizePattern]),
  ...LEFT_OF_CODES,
  einsumProducts,
  batchNorms,
  // Reshapes around a normalization that is part of a product now, and what asked for dims to undo them.
  bypass,
  prune,
  fuse(ROUNDED),
  bypass,
  share,
  oneElement,
  // What computed the dims of what is fused away, or what calls that are gone read.
  prune,
  grow,
  joinProducts,
  lastConvolutions,
  widen,
  pack,
  schedule
]
