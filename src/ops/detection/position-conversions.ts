import { fail } from '../../errors.ts'
import { elementwise, extreme, reduced, unsqueezed, upTo } from '../../op-kit/conversion-kit.ts'
import { add, div, mul, sub } from '../../op-kit/conversion-parts.ts'
import { mulSizes, reshapedBy, sizeAt, sizeList } from '../../op-kit/conversion-sizes.ts'
import {
  type Conversion,
  dimsOf,
  knownSizes,
  type Made,
  type SourceCall,
  toOnnx,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { deformablePsroiPooling, psroiPooling } from './psroi-pooling.ts'
import {
  columnOf,
  linearWeights,
  mapsOf,
  movedInside,
  operandsOf,
  sampledAt,
  sizeAs,
  stepsTo,
  weighted,
  within
} from './sampling.ts'

/** Least height and width of a region, in elements. */
const MIN_SIZE = 0.1

/** To the nearest integer; of two, to the one away from zero. */
function rounded(w: Writer, x: Made): Made {
  const half = w.scalar(typeOf(x), 0.5)
  const size = w.node('Floor', [add(w, elementwise(w, 'Abs', x), half)])
  return mul(w, w.node('Sign', [x]), size)
}

/** A rounded corner of the regions, moved and scaled. */
function cornerOf(call: SourceCall, w: Writer, rois: Made, index: number, extra: number): Made {
  const type = typeOf(rois)
  const moved = add(w, rounded(w, columnOf(w, rois, index)), w.scalar(type, extra))
  return mul(w, moved, w.scalar(type, call.param<number>('scale')))
}

/** The most rows of an identity matrix, which is a constant of the model. */
const MAX_IDENTITY = 2 ** 11

/** The elements of an identity matrix. */
const identityOf = (count: number): number[] =>
  upTo(count * count).map(i => (Math.floor(i / count) === i % count ? 1 : 0))

/** Of values `[regions, channels, bins, bins]` with a channel for each bin, those of their own bins. */
function ownBins(w: Writer, values: Made, channels: number, pooled: number): Made {
  const bins = pooled * pooled
  const split = reshapedBy(w, values, [sizeAt(w, values, 0), channels, bins, bins])
  const own = mul(w, split, w.constant(typeOf(values), identityOf(bins), [bins, bins]))
  return reshapedBy(w, reduced(w, 'ReduceSum', own, [2], false), [sizeAt(w, values, 0), channels, pooled, pooled])
}

/** Sums of the elements of bins by products with zeros and ones, divided by their counts. */
function averagesOf(call: SourceCall, w: Writer, x: Made, rois: Made): Made {
  const type = typeOf(x)
  const pooled = call.param<number>('pooled')
  const masks = [0, 1].map(axis => {
    const size = sizeAt(w, x, 2 + axis)
    const start = cornerOf(call, w, rois, 2 - axis, 0)
    const length = sub(w, cornerOf(call, w, rois, 4 - axis, 1), start)
    const step = div(w, extreme(w, 'Max', length, w.scalar(type, MIN_SIZE)), w.scalar(type, pooled))
    const edge = (first: number): Made => add(w, start, mul(w, step, w.constant(type, upTo(pooled, first))))
    const cells = stepsTo(w, size, type)
    const from = unsqueezed(w, w.node('Floor', [edge(0)]), [2])
    const to = unsqueezed(w, w.node('Ceil', [edge(1)]), [2])
    const isIn = elementwise(w, 'And', elementwise(w, 'GreaterOrEqual', cells, from), elementwise(w, 'Less', cells, to))
    return w.cast(isIn, type)
  })
  const sums = weighted(w, mapsOf(w, x, rois), masks[0], masks[1])
  const [rows, columns] = masks.map((mask, axis) =>
    unsqueezed(w, reduced(w, 'ReduceSum', mask, [2], false), [1, 3 - axis])
  )
  const counts = extreme(w, 'Max', mul(w, rows, columns), w.scalar(type, 1))
  return div(w, ownBins(w, sums, call.param('channels'), pooled), counts)
}

/** One sample of each part of a region, which has channels of its own. */
function samplesOf(call: SourceCall, w: Writer, x: Made, rois: Made): Made {
  const type = typeOf(x)
  const [channels, pooled] = [call.param<number>('channels'), call.param<number>('pooled')]
  const parts = [call.param<number>('binsY'), call.param<number>('binsX')]
  const weights = parts.map((count, axis) => {
    const size = sizeAt(w, x, 2 + axis)
    const scaled = (index: number): Made =>
      mul(w, columnOf(w, rois, index), w.scalar(type, call.param<number>('scale')))
    const start = scaled(2 - axis)
    const part = div(w, sub(w, scaled(4 - axis), start), w.scalar(type, count))
    const places = upTo(count * pooled).map(
      i => Math.floor(i / pooled) + (pooled > 1 ? (i % pooled) / (pooled - 1) : 0.5)
    )
    const share = add(w, start, mul(w, part, w.constant(type, places)))
    const end = sizeAs(w, size, type)
    const points = mul(w, share, sub(w, end, w.scalar(type, 1)))
    const isOn = unsqueezed(w, within(w, points, end, false), [2])
    return mul(w, linearWeights(w, movedInside(w, points, size), size), isOn)
  })
  const [rows, columns] = parts
  const values = weighted(w, mapsOf(w, x, rois), weights[0], weights[1])
  const regions = sizeAt(w, rois, 0)
  const split = reshapedBy(w, values, [regions, rows, columns, channels, rows, pooled, columns, pooled])
  const identity = (count: number, dims: readonly number[]): Made => w.constant(type, identityOf(count), dims)
  const ofRows = mul(w, split, identity(rows, [rows, 1, 1, rows, 1, 1, 1]))
  const own = mul(w, ofRows, identity(columns, [columns, 1, 1, 1, columns, 1]))
  const sums = reduced(w, 'ReduceSum', own, [1, 2, 4, 6], false)
  return div(w, sums, w.scalar(type, rows * columns))
}

function psroiToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const { x, rois, type } = operandsOf(call, w)
  const isAverage = call.param('mode') === 'average'
  const [pooled, rows, columns] = ['pooled', 'binsY', 'binsX'].map(name => call.param<number>(name))
  const most = isAverage ? pooled * pooled : Math.max(pooled, rows, columns)
  if (most > MAX_IDENTITY) fail('unsupported-op', `${most} bins or parts of a region`)
  return [w.cast((isAverage ? averagesOf : samplesOf)(call, w, x, rois), type)]
}

/** A number for each region, class and bin: where offsets move the bins along an axis, relative to the region. */
function shiftsOf(call: SourceCall, w: Writer, offsets: Made, axis: number, classes: number): Made {
  const type = typeOf(offsets)
  const [parts, pooled] = [call.param<number>('parts'), call.param<number>('pooled')]
  const cells = w.constant(
    'int64',
    upTo(pooled).map(bin => Math.floor((bin * parts) / pooled))
  )
  const split = reshapedBy(w, offsets, [sizeAt(w, offsets, 0), classes, 2, parts, parts])
  const along = w.node('Gather', [split, w.scalar('int64', axis)], { axis: 2 })
  const bins = w.node('Gather', [w.node('Gather', [along, cells], { axis: 2 }), cells], { axis: 3 })
  return mul(w, bins, w.scalar(type, call.param<number>('deviation')))
}

/** Samples of bins which offsets may move; those outside the map are left out. */
function deformableToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const { x, rois, type, own } = operandsOf(call, w)
  const offsets = call.optional('offsets')
  const [channels, pooled] = [call.param<number>('channels'), call.param<number>('pooled')]
  const samples = [call.param<number>('binsY'), call.param<number>('binsX')]
  const [twice] = knownSizes('the number of classes', offsets ? dimsOf(offsets)[1] : 2)
  const classes = twice / 2
  const regions = sizeAt(w, rois, 0)
  const half = w.scalar(own, 0.5)
  // Dims: regions, classes, rows and columns of bins, rows and columns of samples.
  const points = [0, 1].map(axis => {
    const start = sub(w, cornerOf(call, w, rois, 2 - axis, 0), half)
    const end = sub(w, cornerOf(call, w, rois, 4 - axis, 1), half)
    const size = extreme(w, 'Max', sub(w, end, start), w.scalar(own, MIN_SIZE))
    const [wideStart, wideSize] = [start, size].map(one => w.reshape(one, [-1, 1, 1, 1, 1, 1]))
    const bins = upTo(pooled * samples[axis]).map(
      i => (Math.floor(i / samples[axis]) + (i % samples[axis]) / samples[axis]) / pooled
    )
    const dims = axis === 0 ? [pooled, 1, samples[0], 1] : [pooled, 1, samples[1]]
    const parts = w.constant(own, bins, dims)
    const moved = offsets
      ? add(w, unsqueezed(w, shiftsOf(call, w, w.cast(offsets, own), 1 - axis, classes), [4, 5]), parts)
      : parts
    return add(w, wideStart, mul(w, moved, wideSize))
  })
  const each = channels / classes
  const bounds = [2, 3].map(axis => sizeAt(w, x, axis))
  const all = [regions, classes, each, pooled, pooled, ...samples]
  const spread = (values: Made): Made => {
    const whole = w.node('Expand', [unsqueezed(w, values, [2]), sizeList(w, all)])
    return reshapedBy(w, whole, [mulSizes(w, regions, channels * pooled * pooled), ...samples])
  }
  const isOn = points.map((one, axis) => {
    const inside = within(w, add(w, one, half), sizeAs(w, bounds[axis], own), true)
    return spread(inside)
  })
  const [y, at] = points.map((one, axis) => spread(movedInside(w, one, bounds[axis])))
  const maps = reshapedBy(w, mapsOf(w, x, rois), [mulSizes(w, regions, channels * pooled * pooled), 1, ...bounds])
  const values = w.node('Squeeze', [sampledAt(w, maps, { y, x: at }), w.constant('int64', [1])])
  const weights = mul(w, isOn[0], isOn[1])
  const sums = reduced(w, 'ReduceSum', mul(w, values, weights), [1, 2], false)
  const counts = extreme(w, 'Max', reduced(w, 'ReduceSum', weights, [1, 2], false), w.scalar(own, 1))
  const result = reshapedBy(w, div(w, sums, counts), [regions, channels, pooled, pooled])
  return [w.cast(result, type)]
}

/** Position-sensitive pooling in nodes of ONNX. */
export const positionRules: readonly Conversion[] = [
  toOnnx(psroiPooling, psroiToOnnx),
  toOnnx(deformablePsroiPooling, deformableToOnnx)
]
