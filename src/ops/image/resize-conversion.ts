import {
  first,
  type Made,
  type NewAttributes,
  type SourceCall,
  toOnnx,
  within,
  type Writer
} from '../../op-kit/conversion.ts'
import { resize } from './resize.ts'

/** Before this opset an empty list stands for roi or scales that are left out: both inputs are required. */
const MAY_LEAVE_OUT = 13

/** Resize of another opset of ONNX. */
function resizeWithin(call: SourceCall, w: Writer): readonly Made[] | undefined {
  if (call.dialect !== 'onnx' || w.opset < 11 || w.opset >= MAY_LEAVE_OUT) return undefined
  const { parameters } = call
  const { roi = [], scales = [] } = parameters
  return w.op(resize, { x: call.operand('x') }, { ...parameters, roi, scales })
}

/** Resize by a list of sizes or of scales, all else of it left out. */
export const resizedBy = (w: Writer, x: Made, by: 'sizes' | 'scales', list: Made, attributes: NewAttributes): Made => {
  const none = w.opset < MAY_LEAVE_OUT ? w.constant('float32', []) : undefined
  return w.node('Resize', [x, none, ...(by === 'sizes' ? [none, list] : [list])], attributes)
}

/** Resize in other operator sets of ONNX. */
export const resizeOpsetRule = first(within(toOnnx(resize, resizeWithin)))
