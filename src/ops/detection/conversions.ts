import { type Conversions, refuses } from '../../op-kit/conversion.ts'
import { classNmsRules } from './class-nms-conversion.ts'
import { detectionOutputRules } from './detection-output-conversion.ts'
import { nmsRules } from './nms-conversions.ts'
import { nmsRotated } from './non-max-suppression.ts'
import { positionRules } from './position-conversions.ts'
import { priorRules } from './prior-conversions.ts'
import { proposalRules } from './proposal-conversions.ts'
import { regionRules } from './region-conversions.ts'
import { roiRules } from './roi-conversions.ts'

/** Detection of objects in words of the other dialect. */
export const detectionConversions: Conversions = {
  rules: [
    ...nmsRules,
    ...priorRules,
    ...regionRules,
    ...roiRules,
    ...positionRules,
    ...classNmsRules,
    ...detectionOutputRules,
    ...proposalRules,
    refuses(nmsRotated, 'onnx', 'ONNX has no overlap of rotated boxes')
  ],
  leniencies: []
}
