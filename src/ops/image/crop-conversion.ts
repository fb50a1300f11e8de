import { elementwise, gathered, joined, staticDims, unsqueezed, upTo } from '../../op-kit/conversion-kit.ts'
import { add, linearSampling, mul, part, plus, sub, times, widened } from '../../op-kit/conversion-parts.ts'
import {
  type Conversion,
  dimsOf,
  expands,
  type Made,
  type SourceCall,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { cropAndResize } from './crop-and-resize.ts'
import { imageScaler } from './image-scaler.ts'

/** Positions in an image of the rows or columns of each box, `[boxes, count]`. */
function positions(w: Writer, from: Made, to: Made, count: number, size: number): Made {
  if (count === 1) return times(w, add(w, from, to), (size - 1) / 2)
  const steps = w.constant(
    typeOf(from),
    upTo(count).map(i => (i * (size - 1)) / (count - 1))
  )
  return add(w, times(w, from, size - 1), mul(w, sub(w, to, from), steps))
}

/** Boxes of images, sampled by GridSample; points outside of the image have a value of their own. */
function expandCropAndResize(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const [, , height, width] = staticDims(x, 'the images')
  const [rows, columns] = call.param<readonly number[]>('size')
  const mode = call.param<'bilinear' | 'nearest'>('mode')
  const images = widened(w, gathered(w, x, call.operand('batch'), 0))
  const edges = upTo(4).map(i => part(w, widened(w, call.operand('boxes')), 1, i, i + 1))
  const ys = unsqueezed(w, positions(w, edges[0], edges[2], rows, height), [2])
  const xs = unsqueezed(w, positions(w, edges[1], edges[3], columns, width), [1])
  const inside = (at: Made, size: number): Made =>
    elementwise(
      w,
      'And',
      elementwise(w, 'GreaterOrEqual', at, w.scalar(typeOf(at), 0)),
      elementwise(w, 'LessOrEqual', at, w.scalar(typeOf(at), size - 1))
    )
  const isInside = elementwise(w, 'And', inside(ys, height), inside(xs, width))
  const whole = (at: Made): Made => (mode === 'nearest' ? elementwise(w, 'Floor', plus(w, at, 0.5)) : at)
  const none = w.constant(typeOf(ys), new Array<number>(rows * columns).fill(0), [1, rows, columns])
  const axis = (at: Made, size: number): Made =>
    unsqueezed(w, add(w, plus(w, times(w, whole(at), 2 / Math.max(1, size - 1)), -1), none), [3])
  const grid = joined(w, [axis(xs, width), axis(ys, height)], 3)
  const how = {
    align_corners: 1,
    mode: mode === 'nearest' ? 'nearest' : linearSampling(w)
  }
  const [sampled] = w.standard('GridSample', [images, grid], { ...how, padding_mode: 'border' })
  const outside = w.scalar(typeOf(sampled), call.param<number>('outside'))
  return [w.cast(elementwise(w, 'Where', unsqueezed(w, isInside, [1]), sampled, outside), typeOf(x))]
}

function expandScaler(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const scaled = times(w, widened(w, x), call.param('scale'))
  const bias = call.param<readonly number[] | undefined>('bias') ?? []
  const list = w.constant(typeOf(scaled), bias, [
    1,
    bias.length,
    ...dimsOf(x)
      .slice(2)
      .map(() => 1)
  ])
  return [w.cast(bias.length > 0 ? add(w, scaled, list) : scaled, typeOf(x))]
}

/** Crops and scales of images that only ONNX Runtime has. */
export const cropRules: readonly Conversion[] = [
  ...expands(cropAndResize, expandCropAndResize),
  ...expands(imageScaler, expandScaler)
]
