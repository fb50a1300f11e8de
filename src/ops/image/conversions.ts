import { fail } from '../../errors.ts'
import { elementwise, staticDims, swappedLast } from '../../op-kit/conversion-kit.ts'
import {
  type Conversions,
  type Made,
  rankOf,
  type SourceCall,
  toOnnx,
  toOpenvino,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { elementCount } from '../../tensor/tensor.ts'
import { affineGrid } from './affine-grid.ts'
import { cropRules } from './crop-conversion.ts'
import { gridSample } from './grid-sample.ts'
import { interpolateToOnnx } from './interpolate-conversion.ts'
import { interpolate } from './interpolate.ts'
import { yuvRules } from './yuv-conversions.ts'

/** Elements that a cubic filter reads beyond the one that a point has passed, and one more. */
const REACH = 3

/** With `border` IR moves each neighbour of a point inside: as if the data went on where ONNX moves the point. */
function cubicBorderToOnnx(call: SourceCall, w: Writer): readonly Made[] | undefined {
  if (call.param('mode') !== 'cubic' || call.param('padding') !== 'border') return undefined
  const [x, grid] = [call.operand('x'), call.operand('grid')]
  const [, , height, width] = staticDims(x, 'data of GridSample with cubic and border')
  const isAligned = call.param<boolean>('alignCorners')
  const factor = (size: number): number => (isAligned ? (size - 1) / (size - 1 + 2 * REACH) : size / (size + 2 * REACH))
  const wider = w.node('Pad', [x, w.constant('int64', [0, 0, REACH, REACH, 0, 0, REACH, REACH])], { mode: 'edge' })
  const points = elementwise(w, 'Mul', grid, w.constant(typeOf(grid), [factor(width), factor(height)]))
  const attributes = { mode: 'cubic', padding_mode: 'border', align_corners: isAligned }
  return [w.node('GridSample', [wider, points], attributes)]
}

/** The most numbers of a grid that is written as a constant. */
const MAX_POINTS = 2 ** 20

/** The points of a grid as a constant, times the matrices. */
function affineGridToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const theta = call.operand('theta')
  const dims = call.param<readonly number[]>('size').slice(2)
  const count = elementCount(dims)
  if (count > MAX_POINTS) fail('unsupported-op', `a grid of ${count} points`)
  const isAligned = call.param<boolean>('alignCorners')
  const at = (i: number, size: number): number =>
    isAligned ? (size === 1 ? -1 : (2 * i) / (size - 1) - 1) : (2 * i + 1) / size - 1
  const points: number[] = []
  for (let p = 0; p < count; p++) {
    let rest = p
    for (const size of dims.toReversed()) {
      points.push(at(rest % size, size))
      rest = Math.floor(rest / size)
    }
    points.push(1)
  }
  const grid = w.constant(typeOf(theta), points, [count, dims.length + 1])
  return [w.reshape(w.node('MatMul', [grid, swappedLast(w, theta)]), [0, ...dims, dims.length])]
}

/** Operators on pictures in words of the other dialect. */
export const imageConversions: Conversions = {
  rules: [
    toOnnx(interpolate, interpolateToOnnx),
    toOnnx(gridSample, cubicBorderToOnnx),
    toOpenvino(affineGrid, affineGridToOpenvino),
    ...yuvRules,
    ...cropRules
  ],
  leniencies: [
    {
      // Linear and reflected data are the same whether the point or its neighbours are moved inside.
      op: gridSample,
      parameter: 'movesPoints',
      allows: (_, __, call) => call.param('mode') !== 'cubic' || call.param('padding') !== 'border'
    },
    { op: gridSample, parameter: 'anyRank', allows: (_, __, call) => rankOf(call.operand('x')) === 4 }
  ]
}
