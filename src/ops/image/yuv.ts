import { fail } from '../../errors.ts'
import { readNumbers, type Target, targetOf } from '../../kernels/core/numbers.ts'
import { storeWhole } from '../../kernels/core/whole.ts'
import { type RgbOrder, rgbToNv12, type YuvLayout, yuvToRgb } from '../../kernels/image/yuv.ts'
import { defineOp, type Op, params } from '../../op-kit/define.ts'
import { checkDim, checkRank } from '../../op-kit/ranks.ts'
import { flag, is } from '../../op-kit/sources.ts'
import { commonType, FLOATS, numbered } from '../../op-kit/types.ts'
import { type Dim, floorDivDims, mayMatch, meetDims, mulDims, printDim, printShape } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { isFloat } from '../../tensor/dtype.ts'
import type { Tensor } from '../../tensor/tensor.ts'

interface Params {
  layout: YuvLayout
  order: RgbOrder
}

const types = { y: ['uint8', ...FLOATS], second: ['uint8', ...FLOATS], third: ['uint8', ...FLOATS] } as const

/**
 * Converts images of luma (Y) and of chroma (U, V) at half the resolution to red, green and blue by BT.601: OpenVINO
 * NV12toRGB-8, NV12toBGR-8, I420toRGB-8, I420toBGR-8. The planes are one tensor `[N, 3 H / 2, W, 1]` or a tensor each.
 * 8-bit results are rounded to the nearest integer.
 */
export const yuvOps: readonly Op[] = (['nv12', 'i420'] as const).flatMap(layout =>
  (['rgb', 'bgr'] as const).map(order =>
    defineOp({
      name: `${layout.toUpperCase()}to${order.toUpperCase()}`,
      operands: { y: 'tensor', second: 'optional', third: 'optional' },
      params: params<Params>(),
      openvino: [{ since: 8, types, bind: { layout: is(layout), order: is(order) } }],

      shape({ y, second, third }, p) {
        const planes = [y, second, third].filter(plane => plane !== undefined)
        const expected = p.layout === 'nv12' ? 2 : 3
        if (planes.length !== 1 && planes.length !== expected)
          fail('wrong-input-count', `there are ${planes.length} planes; expected 1 or ${expected}`)
        for (const plane of planes) checkRank('a plane', plane, 4)
        const [luma, ...chroma] = planes
        if (luma.shape) checkChannels(luma.shape, 1)
        const shape = chroma.length === 0 ? onePlaneShape(luma.shape) : planesShape(luma.shape, chroma, p.layout)
        return [tensorFact(commonType(numbered('plane', planes)), shape)]
      },

      *run({ y, second, third }, p, call) {
        const out = call.output()
        const planes = [y, second, third].filter(plane => plane !== undefined)
        const target = pixelsOf(out)
        yield* yuvToRgb(planes, target.numbers, out.dims, p.layout, p.order)
        yield* target.finish()
      }
    })
  )
)

/**
 * Converts images of red, green and blue to luma and chroma at half the resolution by BT.601: OpenVINO RGBtoNV12-17,
 * BGRtoNV12-17. The planes are one tensor `[N, 3 H / 2, W, 1]` or one each. The chroma of 2 x 2 pixels is that of their
 * mean, and 8-bit results are rounded to the nearest integer; the specification leaves both open.
 */
export const nv12Ops: readonly Op[] = (['rgb', 'bgr'] as const).map(order =>
  defineOp({
    name: `${order.toUpperCase()}toNV12`,
    operands: { x: 'tensor' },
    params: params<{ order: RgbOrder; isOne: boolean }>(),
    openvino: [
      { since: 17, types: { x: ['uint8', ...FLOATS] }, bind: { order: is(order), isOne: flag('single_plane') } }
    ],

    shape({ x }, { isOne }) {
      checkRank('the picture', x, 4)
      const { type, shape } = x
      if (shape === undefined) return [tensorFact(type, undefined), tensorFact(type, undefined)].slice(isOne ? 1 : 0)
      checkDim('the picture', x, 3, 3)
      const [images, rows, columns] = [shape[0], even(shape[1]), even(shape[2])]
      const half = floorDivDims(rows, 2)
      return isOne
        ? [tensorFact(type, [images, mulDims(half, 3), columns, 1])]
        : [tensorFact(type, [images, rows, columns, 1]), tensorFact(type, [images, half, floorDivDims(columns, 2), 2])]
    },

    *run({ x }, p, call) {
      const [, height, width] = x.dims
      const size = height * width
      const first = pixelsOf(call.output())
      const second = p.isOne ? first : pixelsOf(call.output(1))
      const image = p.isOne ? (size * 3) / 2 : size
      const luma = { numbers: first.numbers, start: 0, image }
      const chroma = { numbers: second.numbers, start: p.isOne ? size : 0, image: p.isOne ? image : size / 2 }
      yield* rgbToNv12(yield* readNumbers(x), x.dims, p.order, luma, chroma)
      yield* first.finish()
      if (!p.isOne) yield* second.finish()
    }
  })
)

/** Where results are written as numbers; those of 8 bits are rounded when they are finished. */
function pixelsOf(out: Tensor): Target {
  if (isFloat(out.type)) return targetOf(out)
  const numbers = new Float32Array(out.data.length)
  return { numbers, finish: () => storeWhole(numbers, out) }
}

/** Shape of the output where all planes are in one tensor, the chroma below the luma. */
function onePlaneShape(shape: readonly Dim[] | undefined): Dim[] | undefined {
  if (shape === undefined) return undefined
  const [batch, rows, width] = shape
  if (!mayMatch(mulDims(floorDivDims(rows, 3), 3), rows))
    fail('dims-mismatch', `the planes have ${printDim(rows)} rows in all, which is no multiple of 3`)
  return [batch, mulDims(floorDivDims(rows, 3), 2), even(width), 3]
}

/** Shape of the output where luma and chroma are tensors of their own. */
function planesShape(
  luma: readonly Dim[] | undefined,
  chroma: readonly TensorFact[],
  layout: YuvLayout
): Dim[] | undefined {
  if (luma === undefined) return undefined
  const [batch, rows, width] = luma
  let images: Dim = batch
  for (const { shape } of chroma) {
    if (shape === undefined) continue
    checkChannels(shape, layout === 'nv12' ? 2 : 1)
    if (!mayMatch(mulDims(shape[1], 2), rows) || !mayMatch(mulDims(shape[2], 2), width)) {
      const expected = `expected half the rows and columns of ${printShape(luma)}`
      fail('dims-mismatch', `a colour plane has dims ${printShape(shape)}; ${expected}`)
    }
    images =
      meetDims(images, shape[0]) ??
      fail('dims-mismatch', `the batch has size ${printDim(images)} and ${printDim(shape[0])}`)
  }
  return [images, even(rows), even(width), 3]
}

function checkChannels(shape: readonly Dim[], expected: number): void {
  if (!mayMatch(shape[3], expected))
    fail('dims-mismatch', `a plane has dims ${printShape(shape)}; its last must be ${expected}`)
}

function even(dim: Dim): Dim {
  if (typeof dim === 'number' && dim % 2 !== 0)
    fail('dims-mismatch', `the picture has ${dim} rows or columns; expected an even number`)
  return dim
}
