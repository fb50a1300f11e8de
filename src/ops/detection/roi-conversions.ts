import { fail } from '../../errors.ts'
import { chosen, elementwise, extreme, unsqueezed, upTo } from '../../op-kit/conversion-kit.ts'
import { add, div, mul, sub, wideType } from '../../op-kit/conversion-parts.ts'
import { type Size, sizeAt, sizeList } from '../../op-kit/conversion-sizes.ts'
import {
  type Conversion,
  type Made,
  type NewAttributes,
  type SourceCall,
  toOnnx,
  toOpenvino,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import type { DType } from '../../tensor/dtype.ts'
import { roiAlign, roiAlignRotated } from './roi-align.ts'
import { roiFeatureExtractor } from './roi-feature-extractor.ts'
import { roiPooling } from './roi-pooling.ts'
import {
  columnOf,
  linearWeights,
  mapsOf,
  movedInside,
  operandsOf,
  sampledAt,
  sizeAs,
  weighted,
  within
} from './sampling.ts'

function roiPoolingToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const { x, rois, type } = operandsOf(call, w)
  const pooled = call.param<readonly number[]>('pooled')
  if (call.param('method') === 'bilinear') return [w.cast(sampledRegions(w, x, rois, pooled), type)]
  const attributes = { pooled_shape: pooled, spatial_scale: call.param<number>('scale') }
  return [w.cast(w.node('MaxRoiPool', [x, rois], attributes), type)]
}

function roiPoolingToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const [height, width] = call.param<readonly number[]>('pooled')
  const sizes = { pooled_h: height, pooled_w: width }
  const attributes = { ...sizes, spatial_scale: call.param<number>('scale'), method: 'max' }
  return [w.node('ROIPooling', [call.operand('x'), call.operand('rois')], attributes)]
}

/** One sample for each bin, the outermost at the corners; 0 outside the map. */
function sampledRegions(w: Writer, x: Made, rois: Made, pooled: readonly number[]): Made {
  const type = typeOf(x)
  const weights = [0, 1].map(axis => {
    const bins = pooled[axis]
    const size = sizeAt(w, x, 2 + axis)
    const last = sub(w, sizeAs(w, size, type), w.scalar(type, 1))
    const parts = upTo(bins).map(bin => (bins === 1 ? 0.5 : bin / (bins - 1)))
    const [start, end] = [2 - axis, 4 - axis].map(index => columnOf(w, rois, index))
    const first = w.constant(
      type,
      parts.map(part => 1 - part)
    )
    const share = add(w, mul(w, start, first), mul(w, end, w.constant(type, parts)))
    const points = mul(w, share, last)
    return mul(w, linearWeights(w, points, size), unsqueezed(w, within(w, points, last, true), [2]))
  })
  return weighted(w, mapsOf(w, x, rois), weights[0], weights[1])
}

interface Alignment {
  readonly before: number
  readonly after: number
  readonly atLeastOne: boolean
}

/** Where samples lie; before opset 16 there is no such attribute, and `output_half_pixel` is meant. */
const coordinatesOf = ({ opset }: Writer, mode: 'output_half_pixel' | 'half_pixel'): NewAttributes =>
  opset < 16 && mode === 'output_half_pixel' ? {} : { coordinate_transformation_mode: mode }

/** Samples apart, of which IR takes the largest; ONNX takes the largest of weighted elements. */
function roiAlignToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const { x, rois, type, own } = operandsOf(call, w)
  const { before, after, atLeastOne } = call.param<Alignment>('alignment')
  const moved = before === 0 ? rois : add(w, rois, w.scalar(own, before))
  const isMax = call.param('pooling') === 'max-of-samples'
  const samples = call.param<number>('samples')
  if (isMax && samples === 0)
    fail('unsupported-op', 'the largest of samples of which there are as many as a bin has elements')
  const each = isMax ? samples : 1
  const y = w.node('RoiAlign', [x, moved, w.cast(call.operand('batches'), 'int64')], {
    output_height: call.param<number>('height') * each,
    output_width: call.param<number>('width') * each,
    sampling_ratio: isMax ? 1 : samples,
    spatial_scale: call.param<number>('scale'),
    ...coordinatesOf(w, after === 0 && atLeastOne ? 'output_half_pixel' : 'half_pixel')
  })
  if (!isMax) return [w.cast(y, type)]
  const most = w.node('MaxPool', [y], { kernel_shape: [each, each], strides: [each, each] })
  return [w.cast(w.node('Relu', [most]), type)]
}

/** A pyramid: each region from the map that suits its size, the others' results being left. */
function featuresToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const given = call.operand('rois')
  const type = typeOf(given)
  const own = wideType(type)
  const rois = w.cast(given, own)
  const maps = call.all('maps').map(map => w.cast(map, own))
  const size = call.param<number>('size')
  const zero = w.scalar(own, 0)
  const [width, height] = [0, 1].map(i => sub(w, columnOf(w, rois, i + 2), columnOf(w, rois, i)))
  const area = mul(w, width, height)
  const sides = div(w, elementwise(w, 'Sqrt', extreme(w, 'Max', area, zero)), w.scalar(own, 224))
  const measure = add(w, sides, w.scalar(own, 1e-6))
  const hasArea = w.reshape(elementwise(w, 'Greater', area, zero), [-1, 1, 1, 1])
  const images = w.node('Expand', [w.scalar('int64', 0), sizeList(w, [sizeAt(w, rois, 0)])])
  // Level 2 begins at the canonical side, and each level at twice the side of the one before.
  const results = maps.map((map, level) => {
    const step = call.param<readonly number[]>('scales')[level]
    const corners = call.param<boolean>('aligned') ? sub(w, rois, w.scalar(own, step / 2)) : rois
    const y = w.node('RoiAlign', [map, corners, images], {
      output_height: size,
      output_width: size,
      sampling_ratio: call.param<number>('samples'),
      spatial_scale: 1 / step,
      ...coordinatesOf(w, 'output_half_pixel')
    })
    const starts = elementwise(w, 'GreaterOrEqual', measure, w.scalar(own, 2 ** (level - 2)))
    return { y, starts: w.reshape(starts, [-1, 1, 1, 1]) }
  })
  const found = results.slice(1).reduce((below, { y, starts }) => chosen(w, starts, y, below), results[0].y)
  return [w.cast(chosen(w, hasArea, found, zero), type), given]
}

/** The most samples of a region along an axis. */
const MAX_SAMPLES = 2 ** 16

/** Points of all bins along one axis, relative to the middle of a region: `[regions, bins * samples]`. */
function offsetsOf(w: Writer, length: Made, bins: number, samples: number, type: DType): Made {
  if (bins * samples > MAX_SAMPLES) fail('unsupported-op', `${bins * samples} samples of a region along an axis`)
  const parts = upTo(bins * samples).map(i => (i + 0.5) / (bins * samples) - 0.5)
  return mul(w, length, w.constant(type, parts))
}

function rotatedToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const { x, rois, type, own } = operandsOf(call, w)
  const samples = call.param<number>('samples')
  if (samples === 0) fail('unsupported-op', 'as many samples as a bin of a rotated region has elements')
  const scale = w.scalar(own, call.param<number>('scale'))
  const scaled = (index: number): Made => mul(w, columnOf(w, rois, index), scale)
  const [centerX, centerY] = [0, 1].map(i => unsqueezed(w, sub(w, scaled(i), w.scalar(own, 0.5)), [2]))
  const angle = unsqueezed(w, columnOf(w, rois, 4), [2])
  const turned = call.param<boolean>('clockwise') ? elementwise(w, 'Neg', angle) : angle
  const [cos, sin] = ['Cos', 'Sin'].map(name => w.node(name, [turned]))
  const down = unsqueezed(w, offsetsOf(w, scaled(3), call.param('height'), samples, own), [2])
  const right = unsqueezed(w, offsetsOf(w, scaled(2), call.param('width'), samples, own), [1])
  const product = (a: Made, b: Made): Made => mul(w, a, b)
  const y = add(w, sub(w, product(down, cos), product(right, sin)), centerY)
  const at = add(w, add(w, product(down, sin), product(right, cos)), centerX)
  const images = w.cast(call.operand('batches'), 'int64')
  const maps = w.node('Gather', [x, images], { axis: 0 })
  const [height, width] = [sizeAt(w, x, 2), sizeAt(w, x, 3)]
  const values = sampledAt(w, maps, { y: movedInside(w, y, height), x: movedInside(w, at, width) })
  // One element outside the map still counts.
  const one = w.scalar(own, 1)
  const onMap = (points: Made, size: Size): Made =>
    within(w, add(w, points, one), add(w, sizeAs(w, size, own), one), true)
  const counted = mul(w, values, unsqueezed(w, product(onMap(y, height), onMap(at, width)), [1]))
  const window = [samples, samples]
  return [w.cast(w.node('AveragePool', [counted], { kernel_shape: window, strides: window }), type)]
}

/** Regions pooled from maps, in nodes of ONNX. */
export const roiRules: readonly Conversion[] = [
  toOnnx(roiPooling, roiPoolingToOnnx),
  toOpenvino(roiPooling, roiPoolingToOpenvino),
  toOnnx(roiAlign, roiAlignToOnnx),
  toOnnx(roiFeatureExtractor, featuresToOnnx),
  toOnnx(roiAlignRotated, rotatedToOnnx)
]
