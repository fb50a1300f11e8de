import type { Conversions } from '../../op-kit/conversion.ts'
import { nmsRules } from './nms-conversions.ts'
import { priorRules } from './prior-conversions.ts'
import { regionRules } from './region-conversions.ts'

/** Detection of objects in words of the other dialect. */
export const detectionConversions: Conversions = { rules: [...nmsRules, ...priorRules, ...regionRules], leniencies: [] }
