import { fail } from '../../errors.ts'
import { swappedLast } from '../../op-kit/conversion-kit.ts'
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
import { resizeRules } from './resize-conversion.ts'
import { yuvRules } from './yuv-conversions.ts'

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
    toOpenvino(affineGrid, affineGridToOpenvino),
    ...resizeRules,
    ...yuvRules,
    ...cropRules
  ],
  leniencies: [
    // Data are the same whether the point or its neighbours are moved inside, where that is left to the parameter.
    { op: gridSample, parameter: 'movesPoints', allows: () => true },
    { op: gridSample, parameter: 'anyRank', allows: (_, __, call) => rankOf(call.operand('x')) === 4 }
  ]
}
