import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { COST, Pace } from '../../kernels/core/pace.ts'
import { roundHalfAwayFromZero } from '../../kernels/core/rounding.ts'
import { resolveIndicesPaced } from '../../kernels/gather/indices.ts'
import { type DataDependent, params } from '../../op-kit/define.ts'
import { checkKnownIndices } from '../../op-kit/known-indices.ts'
import { checkDim, checkRank, sharedDim } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { choice, float, inputInts } from '../../op-kit/sources.ts'
import { commonType } from '../../op-kit/types.ts'
import { FROM_START } from '../../op-kit/updates.ts'
import { unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { shapeFrom, unknownDims } from '../../shapes/lists.ts'
import type { Numbers } from '../../tensor/elements.ts'

interface Params {
  /** Height and width of each crop. */
  size: DataDependent<readonly number[]>
  mode: 'bilinear' | 'nearest'
  /** What elements outside the image are. */
  outside: number
}

/** Rules of {@link cropAndResize}. */
export const cropAndResizeRules = defineRules({
  name: 'CropAndResize',
  operands: { x: 'tensor', boxes: 'tensor', batch: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      domain: 'com.microsoft',
      since: 1,
      bind: {
        size: inputInts(3),
        mode: choice<Params['mode']>('mode', { bilinear: 'bilinear', nearest: 'nearest' }),
        outside: float('extrapolation_value')
      }
    }
  ],

  shape({ x, boxes, batch }, { size }) {
    checkRank('X', x, 4)
    checkRank('rois', boxes, 2)
    checkRank('batch_indices', batch, 1)
    checkDim('rois', boxes, 1, 4)
    const count = sharedDim({ rois: [boxes, 0], batch_indices: [batch, 0] })
    if (size !== 'unknown' && size.length !== 2)
      fail('dims-mismatch', `crop_size has ${size.length} elements; a height and a width are expected`)
    const crop = size === 'unknown' ? unknownDims(2) : shapeFrom(size, 'crop_size')
    return [
      tensorFact(commonType({ X: x, rois: boxes }), [count ?? unknownDim(), x.shape?.[1] ?? unknownDim(), ...crop])
    ]
  },

  validate({ x, batch }) {
    checkKnownIndices(batch, x, 0, FROM_START)
  }
})

/**
 * Crops boxes `[top, left, bottom, right]`, as shares of the image, out of images `[N, C, H, W]` and resizes each to
 * one size. The first and the last row of a crop lie on the edges of its box; a crop of one row takes the middle.
 * Coordinates are rounded to float32, since they decide what lies outside. com.microsoft CropAndResize-1.
 */
export const cropAndResize = /* @__PURE__ */ withKernel(cropAndResizeRules, {
  *run({ x, boxes, batch }, { mode, outside }, call) {
    const images = yield* resolveIndicesPaced(batch, x.dims[0], 0, FROM_START)
    const [data, edges] = [yield* readNumbers(x), yield* readNumbers(boxes)]
    const out = call.rawOutput()
    const target = targetOf(out)
    const [, channels, height, width] = x.dims
    const [count, , rows, columns] = out.dims
    if (out.data.length === 0) return
    const pace = new Pace()
    for (let box = 0; box < count; box++) {
      const [top, left, bottom, right] = edges.subarray(box * 4, box * 4 + 4)
      for (let row = 0; row < rows; row++) {
        const y = coordinate(top, bottom, row, rows, height)
        for (let column = 0; column < columns; column++) {
          const at = coordinate(left, right, column, columns, width)
          const isInside = y >= 0 && y <= height - 1 && at >= 0 && at <= width - 1
          for (let c = 0; c < channels; c++) {
            const plane = (images[box] * channels + c) * height * width
            const value = !isInside
              ? outside
              : mode === 'nearest'
                ? data[plane + roundHalfAwayFromZero(y) * width + roundHalfAwayFromZero(at)]
                : between(data, plane, width, y, at)
            target.numbers[((box * channels + c) * rows + row) * columns + column] = value
          }
          if (pace.isDue((1 + channels) * COST.element)) yield
        }
      }
    }
    yield* target.finish()
  }
})

const { fround } = Math

/** Where element `i` of `count` between two edges lies in an axis of `size`. */
function coordinate(first: number, last: number, i: number, count: number, size: number): number {
  if (count === 1) return fround(0.5 * fround(first + last) * (size - 1))
  if (i === 0) return fround(first * (size - 1))
  if (i === count - 1) return fround(last * (size - 1))
  const step = fround(fround(fround(last - first) * (size - 1)) / (count - 1))
  return fround(fround(first * (size - 1)) + fround(i * step))
}

/** The element at a point between four, by linear interpolation along both axes. */
function between(data: Numbers, plane: number, width: number, y: number, x: number): number {
  const [top, left] = [Math.floor(y), Math.floor(x)]
  const [upper, lower] = [plane + top * width, plane + Math.ceil(y) * width]
  const right = Math.ceil(x)
  const above = data[upper + left] + (data[upper + right] - data[upper + left]) * (x - left)
  const below = data[lower + left] + (data[lower + right] - data[lower + left]) * (x - left)
  return above + (below - above) * (y - top)
}
