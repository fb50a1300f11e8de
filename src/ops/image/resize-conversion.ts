import { fail } from '../../errors.ts'
import { gathered, joined, shapeOf, upTo } from '../../op-kit/conversion-kit.ts'
import {
  type Conversion,
  dimsOf,
  first,
  type Made,
  type NewAttributes,
  rankOf,
  type SourceCall,
  toOnnx,
  toOpenvino,
  typeOf,
  within,
  type Writer
} from '../../op-kit/conversion.ts'
import { normalizeAxes } from '../../shapes/dim.ts'
import { isFloat } from '../../tensor/dtype.ts'
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

/** From this opset of IR one input of Interpolate gives sizes or scales; before it there is one for each. */
const HAS_ONE_LIST = 11

/** The sizes or scales of axes. */
interface Target {
  readonly by: 'sizes' | 'scales'
  readonly axes: readonly number[]
  /** One number for each axis; undefined: not known before the model runs. */
  readonly numbers: readonly number[] | undefined
  readonly list: Made | undefined
}

/** Resize and Upsample as Interpolate. */
function resizeToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const mode = call.param<string>('mode')
  const coordinates = call.param<string>('coordinates')
  const target = targetOf(call, x)
  const { by, axes, numbers } = target
  if (coordinates === 'tf_crop_and_resize') fail('unsupported-op', 'coordinates of a region of interest')
  if (mode !== 'nearest' && !isFloat(typeOf(x))) fail('unsupported-op', 'integers that are interpolated')
  if (mode === 'cubic' && call.param('excludeOutside'))
    fail('unsupported-op', 'cubic weights without those of elements outside')
  if (by === 'sizes' && call.param('policy') !== 'stretch') fail('unsupported-op', 'sizes that keep the aspect ratio')
  if (call.param('antialias') && mode !== 'nearest' && !enlarges(x, target))
    fail('unsupported-op', 'antialiasing, whose weights are others in OpenVINO')
  if (by === 'scales' && !resizesAll(x, target))
    fail('unsupported-op', 'scales by which an axis may keep its size: OpenVINO leaves its elements as they are')
  if (by === 'scales' && coordinates === 'align_corners' && !fillsAll(x, target))
    fail('unsupported-op', 'aligned corners of scales that may give a fraction of an element')
  const entries = upTo(axes.length).filter(i => numbers === undefined || changes(x, target, i))
  const kept = entries.length > 0 ? entries : [axes.length - 1]
  const type = by === 'sizes' ? 'int64' : 'float32'
  const list = numbers
    ? w.constant(
        type,
        kept.map(i => numbers[i])
      )
    : w.cast(target.list!, type)
  const along = w.constant(
    'int64',
    kept.map(i => axes[i])
  )
  const attributes = {
    mode: mode === 'linear' ? 'linear_onnx' : mode,
    shape_calculation_mode: by,
    coordinate_transformation_mode: coordinates,
    nearest_mode: call.param<string>('nearest'),
    ...(mode === 'cubic' && { cube_coeff: call.param<number>('cubicCoefficient') })
  }
  if (w.opset >= HAS_ONE_LIST) return [w.node('Interpolate', [x, list, along], attributes, { since: HAS_ONE_LIST })]
  const ones = kept.map(() => 1)
  const lists = by === 'sizes' ? [list, w.constant('float32', ones)] : [w.constant('int64', ones), list]
  return [w.node('Interpolate', [x, ...lists, along], attributes, { since: 4 })]
}

function targetOf(call: SourceCall, x: Made): Target {
  const by = call.source('sizes') ? 'sizes' : 'scales'
  const rank = rankOf(x)
  const axes = normalizeAxes(call.param<readonly number[] | undefined>('axes') ?? upTo(rank), rank)
  const numbers = call.knows(by) ? call.param<readonly number[]>(by) : undefined
  return { by, axes, numbers, list: call.source(by) }
}

/** Whether an axis gets other elements than it has, as far as that is known. */
const changes = (x: Made, { by, axes, numbers }: Target, i: number): boolean =>
  by === 'scales' ? numbers?.[i] !== 1 : dimsOf(x)[axes[i]] !== numbers?.[i]

/** Whether it is known that no axis shrinks: antialiasing changes nothing then. */
const enlarges = (x: Made, { by, axes, numbers }: Target): boolean =>
  numbers?.every((number, i) => {
    const size = dimsOf(x)[axes[i]]
    return by === 'scales' ? number >= 1 : typeof size === 'number' && number >= size
  }) ?? false

/**
 * Whether it is known that each scale but 1 gives another size or has one element alone: an axis of 2 elements and more
 * keeps its size only by a scale between 1 and 1.5.
 */
const resizesAll = (x: Made, { axes, numbers }: Target): boolean =>
  numbers?.every((scale, i) => {
    const size = dimsOf(x)[axes[i]]
    return scale <= 1 || scale >= 1.5 || (typeof size === 'number' && (size < 2 || Math.floor(size * scale) !== size))
  }) ?? false

/** Whether it is known that sizes times scales are integers: ONNX aligns corners by the products, OpenVINO by sizes. */
const fillsAll = (x: Made, { axes, numbers }: Target): boolean =>
  numbers?.every((scale, i) => {
    const size = dimsOf(x)[axes[i]]
    return Number.isInteger(scale) || (typeof size === 'number' && Number.isInteger(size * scale))
  }) ?? false

/** Resize in other operator sets of ONNX, and as Interpolate. */
export const resizeRules: readonly Conversion[] = [
  first(within(toOnnx(resize, resizeWithin))),
  toOpenvino(resize, resizeToOpenvino)
]
