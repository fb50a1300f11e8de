import { fail } from '../../errors.ts'
import { drain } from '../../kernels/core/pace.ts'
import type { AxisTaps } from '../../kernels/image/resample.ts'
import { type CoordinateMode, nearestIndices, type ResizedAxis } from '../../kernels/image/resize-taps.ts'
import { gathered, restored, transposed, upTo } from '../../op-kit/conversion-kit.ts'
import { inputOf } from '../../op-kit/conversion-sizes.ts'
import { dimsOf, type Made, rankOf, type SourceCall, typeOf, type Writer } from '../../op-kit/conversion.ts'
import { type Dim, normalizeAxes } from '../../shapes/dim.ts'
import { type DType, DTYPES, isFloat } from '../../tensor/dtype.ts'
import { axesToResize, coordinatesOf, type InterpolateParams, isPillow, tapsOf } from './interpolate.ts'
import { resizedBy } from './resize-conversion.ts'

type Given = Omit<InterpolateParams, 'axes' | 'sizes' | 'scales'>
type Known = Given & { coordinates: CoordinateMode }

/** The most weights of one axis that are written as a matrix. */
const MAX_WEIGHTS = 2 ** 20

/**
 * Interpolate as Resize where that means the same; else, where all dims are known, each axis by a Gather or by a
 * product with the weights of its elements.
 */
export function interpolateToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const names = ['mode', 'by', 'coordinates', 'nearest', 'antialias', 'cubicCoefficient'] as const
  const given = Object.fromEntries([...names, 'begin', 'end'].map(name => [name, call.param(name)])) as Given
  const source = call.operand('x')
  const type = typeOf(source)
  const isExact = given.mode === 'nearest'
  const x = padded(w, isExact || isFloat(type) ? source : w.cast(source, widerThan(type)), given)
  const axes = normalizeAxes(
    (call.knows('axes')
      ? call.param<readonly number[] | undefined>('axes')
      : fail('unsupported-op', 'axes that are not known before the model runs')) ?? upTo(rankOf(x)),
    rankOf(x)
  )
  const p = { ...given, coordinates: coordinatesOf({ ...given, axes }, rankOf(x)) }
  const resized = staticAxes(call, x, axes, p)
  const y = resized ? sampled(w, x, resized, p) : resizeOf(call, w, x, axes, p)
  if (isExact || isFloat(type)) return [y]
  return [w.cast(bounded(w, w.node('Round', [y]), type), type)]
}

/** Zeros around the data, which are resized with it. */
function padded(w: Writer, x: Made, { begin, end }: Given): Made {
  if (![...begin, ...end].some(pad => pad > 0)) return x
  const rank = rankOf(x)
  const at = (pads: readonly number[]): number[] => upTo(rank).map(axis => pads[axis] ?? 0)
  return w.node('Pad', [x, w.constant('int64', [...at(begin), ...at(end)])])
}

/** Floats that hold the integers of a type. */
const widerThan = (type: DType): DType => (DTYPES[type].bits > 16 ? 'float64' : 'float32')

/** Integers overshoot in mode cubic; no float holds the bounds of 64 bits. */
function bounded(w: Writer, x: Made, type: DType): Made {
  const { bits, kind } = DTYPES[type]
  if (bits > 32) return x
  const size = 2 ** bits
  const [low, high] = kind === 'uint' ? [0, size - 1] : [-size / 2, size / 2 - 1]
  return w.node('Clip', [x, w.scalar(widerThan(type), low), w.scalar(widerThan(type), high)])
}

/** The axes that change where everything about them is known. */
function staticAxes(call: SourceCall, x: Made, axes: readonly number[], p: Known): ResizedAxis[] | undefined {
  const [dims, outDims] = [dimsOf(x), dimsOf({ id: '', fact: call.results[0] })]
  if (!axes.every(axis => typeof dims[axis] === 'number' && typeof outDims[axis] === 'number')) return undefined
  const known = p.by === 'scales' ? call.knows('scales') : true
  if (!known) return undefined
  const others = (list: readonly Dim[]): number[] => list.map(dim => (typeof dim === 'number' ? dim : 0))
  const scales = p.by === 'scales' ? call.param<readonly number[]>('scales') : undefined
  const all = { ...p, begin: [], end: [], axes, sizes: undefined, scales }
  return axesToResize(others(dims), others(outDims), all)
}

/** Each axis in turn, by elements or by weights that are constants. */
function sampled(w: Writer, x: Made, axes: readonly ResizedAxis[], p: Known): Made {
  if (axes.length === 0) return w.node('Identity', [x])
  if (p.mode === 'nearest')
    return axes.reduce((data, axis) => {
      const { indices } = drain(nearestIndices(axis, p.coordinates, p.nearest))
      return gathered(w, data, w.constant('int64', [...indices]), axis.axis)
    }, x)
  const taps = drain(tapsOf(axes, p))
  const isRounded = isPillow(p.mode) && !isFloat(typeOf(x))
  return taps.reduce((data, one) => {
    const size = axes.find(({ axis }) => axis === one.axis)!.size
    const y = weighted(w, data, one, size)
    return isRounded ? w.node('Round', [y]) : y
  }, x)
}

/** A product with the weights of one axis, `[count, size]`. */
function weighted(w: Writer, x: Made, { axis, count, taps, indices, weights }: AxisTaps, size: number): Made {
  if (count * size > MAX_WEIGHTS) fail('unsupported-op', `an axis of ${size} elements is resampled to ${count}`)
  const last = rankOf(x) - 1
  const isLast = axis === last
  const [rows, columns] = isLast ? [size, count] : [count, size]
  const matrix = new Array<number>(rows * columns).fill(0)
  for (let i = 0; i < count; i++)
    for (let t = i * taps; t < (i + 1) * taps; t++)
      matrix[isLast ? indices[t] * count + i : i * size + indices[t]] += weights[t]
  const constant = w.constant(typeOf(x), matrix, [rows, columns])
  if (isLast) return w.node('MatMul', [x, constant])
  if (axis === last - 1) return w.node('MatMul', [constant, x])
  const order = [...upTo(last).filter(other => other !== axis), axis, last]
  return restored(w, w.node('MatMul', [constant, transposed(w, x, order)]), order)
}

/** Resize with sizes or scales that are found while the model runs. */
function resizeOf(call: SourceCall, w: Writer, x: Made, axes: readonly number[], p: Known): Made {
  const { mode, coordinates, by, nearest } = p
  if (isPillow(mode) || (p.antialias && mode === 'linear'))
    fail('unsupported-op', `the dims are not known before the model runs, on which the weights of ${mode} depend`)
  if (coordinates === 'tf_half_pixel_for_nn')
    fail('unsupported-op', 'tf_half_pixel_for_nn, and the dims are not known before the model runs')
  const scales = by === 'scales' && call.knows('scales') ? call.param<readonly number[]>('scales') : undefined
  const isSure = scales?.every(scale => scale <= 1 || scale >= 2)
  if (by === 'scales' && (!isSure || coordinates === 'align_corners'))
    fail('unsupported-op', 'scales, by which an axis of unknown size may keep its elements here and not in ONNX')
  const list = w.cast(inputOf(call, by), by === 'sizes' ? 'int64' : 'float32')
  return resizedBy(w, x, by, list, axes, {
    mode: mode === 'nearest' ? 'nearest' : mode === 'cubic' ? 'cubic' : 'linear',
    coordinate_transformation_mode: coordinates,
    ...(mode === 'nearest' && { nearest_mode: nearest === 'simple' ? simpleMode(scales) : nearest }),
    ...(mode === 'cubic' && { cubic_coeff_a: p.cubicCoefficient })
  })
}

/** `simple` is `ceil` where an axis shrinks, else `floor`. */
function simpleMode(scales: readonly number[] | undefined): string {
  if (scales?.every(scale => scale <= 1)) return 'ceil'
  if (scales?.every(scale => scale >= 1)) return 'floor'
  return fail('unsupported-op', 'nearest_mode simple, and it is not known before the model runs which axes shrink')
}
