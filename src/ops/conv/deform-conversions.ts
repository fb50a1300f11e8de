import { fail } from '../../errors.ts'
import { elementwise, extreme, joined, reduced, staticDims, unsqueezed, upTo } from '../../op-kit/conversion-kit.ts'
import { add, mul, sub } from '../../op-kit/conversion-parts.ts'
import { counted, isKnown, mulSizes, reshapedBy, type Size, sizeAt, sizeList } from '../../op-kit/conversion-sizes.ts'
import {
  onnxWindowAttributes,
  openvinoWindowAttributes,
  padsOf,
  perChannel,
  type Windows,
  windowsOf
} from '../../op-kit/conversion-windows.ts'
import {
  type Conversion,
  type Made,
  rankOf,
  type SourceCall,
  toOnnx,
  toOpenvino,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { type DType, isFloat } from '../../tensor/dtype.ts'
import { deformConv } from './deform-conv.ts'

/** The float type that ONNX Runtime computes in; integers are truncated at the end. */
const computedIn = (type: DType): DType =>
  type === 'float64' || (!isFloat(type) && type !== 'int8' && type !== 'uint8') ? 'float64' : 'float32'

function deformToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const type = typeOf(call.operand('x'))
  const own = computedIn(type)
  const [x, weights, given] = ['x', 'w', 'offsets'].map(name => w.cast(call.operand(name), own))
  const mask = call.optional('mask')
  const windows = windowsOf(call, rankOf(x) - 2)
  const groups = call.param<number>('offsetGroups')
  const attributes = { group: call.param<number>('group'), offset_group: groups }
  const conv: Convolution = { x, windows, kernel: staticDims(weights, 'the weights').slice(2), groups }
  const moved =
    call.param('border') === 'zeros'
      ? { offsets: given, mask: mask && w.cast(mask, own) }
      : movedInside(w, conv, given, mask && w.cast(mask, own))
  const inputs = [x, weights, moved.offsets, undefined, moved.mask]
  return [w.cast(w.node('DeformConv', inputs, { ...onnxWindowAttributes(explicit(w, conv)), ...attributes }), type)]
}

interface Convolution {
  readonly x: Made
  readonly windows: Windows
  readonly kernel: readonly number[]
  readonly groups: number
}

/** ONNX's operator has no `auto_pad`. */
function explicit(w: Writer, { x, windows, kernel }: Convolution): Windows {
  const { begin, end } = padsOf(w, windows, [sizeAt(w, x, 2), sizeAt(w, x, 3)], kernel)
  if (!isKnown(begin) || !isKnown(end))
    return fail('unsupported-op', 'pads that follow from dims which are not known before the model runs')
  return { ...windows, begin, end, autoPad: 'explicit' }
}

/**
 * Without fading a location outside the data reads zero, and one in the last cell reads the last element: the mask of
 * the former is zero, and the latter are moved to it.
 */
function movedInside(w: Writer, conv: Convolution, given: Made, mask: Made | undefined): { offsets: Made; mask: Made } {
  const type = typeOf(given)
  const { x, kernel, groups } = conv
  const { strides, dilations, begin } = explicit(w, conv)
  const taps = kernel[0] * kernel[1]
  const [batch, height, width] = [0, 2, 3].map(axis => sizeAt(w, given, axis))
  const offsets = reshapedBy(w, given, [batch, groups, taps, 2, height, width])
  const ofTaps = upTo(taps).flatMap(tap => [
    Math.floor(tap / kernel[1]) * dilations[0] - begin[0],
    (tap % kernel[1]) * dilations[1] - begin[1]
  ])
  const starts = (count: Size, stride: number, axis: number): Made => {
    const numbers = mul(w, w.cast(counted(w, 0, count), type), w.scalar(type, stride))
    return w.node('Expand', [unsqueezed(w, numbers, [0, axis]), sizeList(w, [1, height, width])])
  }
  const windows = joined(w, [starts(height, strides[0], 2), starts(width, strides[1], 1)], 0)
  const base = add(w, windows, w.constant(type, ofTaps, [taps, 2, 1, 1]))
  const locations = add(w, offsets, base)
  const ends = w.cast(sizeList(w, [sizeAt(w, x, 2), sizeAt(w, x, 3)]), type)
  const sizes = w.reshape(ends, [2, 1, 1])
  const isInside = elementwise(
    w,
    'And',
    elementwise(w, 'GreaterOrEqual', locations, w.scalar(type, 0)),
    elementwise(w, 'Less', locations, sizes)
  )
  const both = reduced(w, 'ReduceMin', w.cast(isInside, type), [3], false)
  const weight = reshapedBy(w, both, [batch, groups * taps, height, width])
  const last = sub(w, sizes, w.scalar(type, 1))
  const inside = sub(w, extreme(w, 'Min', locations, last), base)
  return {
    offsets: reshapedBy(w, inside, [batch, mulSizes(w, 2 * groups, taps), height, width]),
    mask: mask ? mul(w, mask, weight) : weight
  }
}

/** The kernel's shape is that of the weights, and the bias is added. Values fade out beyond the data, as in ONNX. */
function deformToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const inputs = [x, call.operand('offsets'), call.operand('w'), call.optional('mask')]
  const y = w.node('DeformableConvolution', inputs, {
    ...openvinoWindowAttributes(windowsOf(call, rankOf(x) - 2)),
    group: call.param<number>('group'),
    deformable_group: call.param<number>('offsetGroups'),
    bilinear_interpolation_pad: true
  })
  const bias = call.optional('bias')
  return [bias ? add(w, y, perChannel(w, bias, y)) : y]
}

/** Deformable convolutions of one dialect in nodes of the other. */
export const deformRules: readonly Conversion[] = [
  toOnnx(deformConv, deformToOnnx),
  toOpenvino(deformConv, deformToOpenvino)
]
