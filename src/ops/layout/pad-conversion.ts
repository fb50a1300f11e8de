import { fail } from '../../errors.ts'
import { asScalar, elementwise, gathered, sliced, upTo } from '../../op-kit/conversion-kit.ts'
import { sub } from '../../op-kit/conversion-parts.ts'
import {
  addSizes,
  counted,
  extremeSize,
  isKnown,
  mulSizes,
  type Size,
  sizeAt,
  sizeList,
  sizesParameter,
  subSizes
} from '../../op-kit/conversion-sizes.ts'
import { dimsOf, type Made, rankOf, type SourceCall, typeOf, type Writer } from '../../op-kit/conversion.ts'
import { normalizeAxes } from '../../shapes/dim.ts'

/**
 * Pads of IR: mode symmetric, which ONNX does not have, reads by indices. Where a pad may be negative, the others are
 * done first and the negative ones crop, since ONNX Runtime reads repeated elements from what is left.
 */
export function padToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const begin = sizesParameter(call, 'begin', w, rankOf(data))
  const end = sizesParameter(call, 'end', w, rankOf(data))
  const mode = call.param<string>('mode')
  const mayCrop = call.param<boolean>('negative') && [...begin, ...end].some(pad => typeof pad !== 'number' || pad < 0)
  const positive = (pads: readonly Size[]): Size[] =>
    mayCrop ? pads.map(pad => extremeSize(w, 'Max', pad, 0)) : [...pads]
  const [before, after] = [positive(begin), positive(end)]
  const fill = mode === 'constant' ? call.optional('fill') : undefined
  const padded =
    mode === 'symmetric'
      ? mirrored(w, data, before, after)
      : w.node('Pad', [data, sizeList(w, [...before, ...after]), fill && asScalar(w, fill)], { mode })
  if (!mayCrop) return [padded]
  const crop = (pad: Size): Size => subSizes(w, 0, extremeSize(w, 'Min', pad, 0))
  const stops = end.map((pad, axis) => subSizes(w, sizeAt(w, padded, axis), crop(pad)))
  const ends = stops.map(stop => extremeSize(w, 'Max', stop, 0))
  return [sliced(w, padded, sizeList(w, begin.map(crop)), sizeList(w, ends), upTo(rankOf(data)))]
}

/** Elements before and after an axis are those at its end in reverse, the edge itself included. */
function mirrored(w: Writer, data: Made, begin: readonly Size[], end: readonly Size[]): Made {
  let result = data
  for (const axis of upTo(rankOf(data))) {
    if (begin[axis] === 0 && end[axis] === 0) continue
    const size = sizeAt(w, data, axis)
    const at = counted(w, subSizes(w, 0, begin[axis]), addSizes(w, size, end[axis]))
    // The distance from the line between -1 and 0, then from the one behind the last element.
    const fromStart = elementwise(
      w,
      'Where',
      elementwise(w, 'Less', at, w.scalar('int64', 0)),
      sub(w, w.scalar('int64', -1), at),
      at
    )
    const last = sizeList(w, [subSizes(w, mulSizes(w, size, 2), 1)])
    const fromEnd = sub(w, last, fromStart)
    const isInside = elementwise(w, 'Less', fromStart, sizeList(w, [size]))
    result = gathered(w, result, elementwise(w, 'Where', isInside, fromStart, fromEnd), axis)
  }
  return result
}

/** Pads of ONNX are those of the beginnings, then those of the ends, of all axes or of some. */
export function padToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const data = call.operand('data')
  const mode = call.param<string>('mode')
  if (mode === 'wrap') fail('unsupported-op', 'OpenVINO has no Pad of mode wrap')
  const rank = rankOf(data)
  const axes = call.param<readonly number[] | undefined>('axes')
  const places = axes ? normalizeAxes(axes, rank) : upTo(rank)
  const pads = sizesParameter(call, 'pads', w, 2 * places.length)
  const [begin, end] = [0, places.length].map(first => {
    const list = new Array<Size>(rank).fill(0)
    places.forEach((axis, i) => (list[axis] = pads[first + i]))
    return list
  })
  if (mode === 'reflect') checkReflection(data, [begin, end])
  const value = call.param<number>('value')
  const fill = call.optional('fill') ?? (value === 0 ? undefined : w.scalar(typeOf(data), value))
  const inputs = [
    data,
    sizeList(w, begin),
    sizeList(w, end),
    ...(fill && mode === 'constant' ? [asScalar(w, fill)] : [])
  ]
  return [w.node('Pad', inputs, { pad_mode: mode }, { since: 12 })]
}

/** IR reflects once: a pad is smaller than the dim. */
function checkReflection(data: Made, lists: readonly (readonly Size[])[]): void {
  for (const [axis, dim] of dimsOf(data).entries())
    for (const list of lists)
      if (isKnown([list[axis]]) && typeof dim === 'number' && (list[axis] as number) >= dim)
        fail('unsupported-op', `a reflection beyond axis ${axis} and back, which OpenVINO's Pad does not do`)
}
