import type { Conversions } from '../op-kit/conversion.ts'
import { attentionConversions } from './attention/conversions.ts'
import { controlConversions } from './control/conversions.ts'
import { convConversions } from './conv/conversions.ts'
import { detectionConversions } from './detection/conversions.ts'
import { elementwiseConversions } from './elementwise/conversions.ts'
import { elementwiseOpsetConversions } from './elementwise/opset-conversions.ts'
import { gatherConversions } from './gather/conversions.ts'
import { imageConversions } from './image/conversions.ts'
import { layoutConversions } from './layout/conversions.ts'
import { layoutOpsetConversions } from './layout/opset-conversions.ts'
import { matrixConversions } from './matrix/conversions.ts'
import { mlConversions } from './ml/conversions.ts'
import { normalizationConversions } from './normalization/conversions.ts'
import { poolConversions } from './pool/conversions.ts'
import { quantizedConversions } from './quantized/conversions.ts'
import { randomConversions } from './random/conversions.ts'
import { recurrentConversions } from './recurrent/conversions.ts'
import { reduceConversions } from './reduce/conversions.ts'
import { signalConversions } from './signal/conversions.ts'
import { textConversions } from './text/conversions.ts'

const FAMILIES: readonly Conversions[] = [
  elementwiseOpsetConversions,
  elementwiseConversions,
  layoutConversions,
  layoutOpsetConversions,
  gatherConversions,
  reduceConversions,
  matrixConversions,
  convConversions,
  poolConversions,
  normalizationConversions,
  attentionConversions,
  controlConversions,
  recurrentConversions,
  quantizedConversions,
  randomConversions,
  signalConversions,
  imageConversions,
  detectionConversions,
  textConversions,
  mlConversions
]

/** What all families of operators know of saying their operators in the other dialect. */
export const ALL_CONVERSIONS: Conversions = {
  rules: FAMILIES.flatMap(({ rules }) => rules),
  leniencies: FAMILIES.flatMap(({ leniencies }) => leniencies)
}
