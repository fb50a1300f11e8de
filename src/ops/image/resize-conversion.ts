import { gathered, joined, shapeOf, upTo } from '../../op-kit/conversion-kit.ts'
import {
  first,
  type Made,
  type NewAttributes,
  rankOf,
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

/** Before this opset sizes and scales are those of all axes. */
const MAY_NAME_AXES = 18

/** Resize of some axes by a list of their sizes or scales, all else of it left out. */
export function resizedBy(
  w: Writer,
  x: Made,
  by: 'sizes' | 'scales',
  list: Made,
  axes: readonly number[],
  attributes: NewAttributes
): Made {
  const namesAxes = w.opset >= MAY_NAME_AXES
  const given = namesAxes ? list : ofAllAxes(w, x, by, list, axes)
  const none = w.opset < MAY_LEAVE_OUT ? w.constant('float32', []) : undefined
  const inputs = by === 'sizes' ? [x, none, none, given] : [x, none, given]
  return w.node('Resize', inputs, { ...attributes, ...(namesAxes && { axes }) })
}

/** Sizes or scales of some axes with those of the other axes, which stay as they are. */
function ofAllAxes(w: Writer, x: Made, by: 'sizes' | 'scales', list: Made, axes: readonly number[]): Made {
  const all = upTo(rankOf(x))
  const kept =
    by === 'sizes'
      ? shapeOf(w, x)
      : w.constant(
          'float32',
          all.map(() => 1)
        )
  const entries = all.map(axis => (axes.includes(axis) ? all.length + axes.indexOf(axis) : axis))
  return gathered(w, joined(w, [kept, list], 0), w.constant('int64', entries), 0)
}

/** Resize in other operator sets of ONNX. */
export const resizeOpsetRule = first(within(toOnnx(resize, resizeWithin)))
