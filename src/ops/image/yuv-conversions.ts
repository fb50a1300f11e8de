import type { RgbOrder, YuvLayout } from '../../kernels/image/yuv.ts'
import { reduced, unsqueezed } from '../../op-kit/conversion-kit.ts'
import { add, mul, part, sub, wideType } from '../../op-kit/conversion-parts.ts'
import { floorDivSizes, mulSizes, reshapedBy, sizeAt } from '../../op-kit/conversion-sizes.ts'
import { type Conversion, type Made, type SourceCall, toOnnx, typeOf, type Writer } from '../../op-kit/conversion.ts'
import { type DType, isFloat } from '../../tensor/dtype.ts'
import { nv12Ops, yuvOps } from './yuv.ts'

/** Luma `[N, H, W, 1]`, and U and V `[N, H / 2, W / 2, 2]`. */
interface Planes {
  readonly luma: Made
  readonly chroma: Made
}

/** Luma and chroma of one tensor `[N, 3 H / 2, W, 1]`. */
function parted(w: Writer, all: Made, layout: YuvLayout): Planes {
  const [images, rows, width] = [0, 1, 2].map(axis => sizeAt(w, all, axis))
  const half = floorDivSizes(w, rows, 3)
  const height = mulSizes(w, half, 2)
  const luma = part(w, all, 1, 0, height)
  const rest = part(w, all, 1, height, rows)
  const columns = floorDivSizes(w, width, 2)
  if (layout === 'nv12') return { luma, chroma: reshapedBy(w, rest, [images, half, columns, 2]) }
  const planes = reshapedBy(w, rest, [images, 2, half, columns])
  return { luma, chroma: w.node('Transpose', [planes], { perm: [0, 2, 3, 1] }) }
}

function planesOf(call: SourceCall, w: Writer, layout: YuvLayout): Planes {
  const [luma, second, third] = ['y', 'second', 'third'].map(name => call.optional(name))
  if (luma === undefined || second === undefined) return parted(w, call.operand('y'), layout)
  return { luma, chroma: third ? w.node('Concat', [second, third], { axis: 3 }) : second }
}

/** Each element of the chroma is that of 2 x 2 pixels. */
function doubled(w: Writer, chroma: Made): Made {
  const [images, height, width] = [0, 1, 2].map(axis => sizeAt(w, chroma, axis))
  const blocks = w.node('Expand', [unsqueezed(w, chroma, [2, 4]), w.constant('int64', [1, 1, 2, 1, 2, 1])])
  return reshapedBy(w, blocks, [images, mulSizes(w, height, 2), mulSizes(w, width, 2), 2])
}

/** What U and V add to red, green and blue by BT.601. */
const CHROMA = [
  [0, -0.391, 2.018],
  [1.596, -0.813, 0]
]

function yuvToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const type = typeOf(call.operand('y'))
  const own = computedIn(type)
  const { luma, chroma } = planesOf(call, w, call.param('layout'))
  const moved = (x: Made, by: number): Made => sub(w, w.cast(x, own), w.scalar(own, by))
  const light = mul(w, moved(luma, 16), w.scalar(own, 1.164))
  const factors = CHROMA.flatMap(row => (call.param<RgbOrder>('order') === 'rgb' ? row : row.toReversed()))
  const colour = w.node('MatMul', [moved(doubled(w, chroma), 128), w.constant(own, factors, [2, 3])])
  return [pixelsOf(w, add(w, light, colour), own, type)]
}

/** Luma, U and V of red, green and blue by BT.601. */
const LUMA = [0.257, 0.504, 0.098]
const UV = [
  [-0.148, 0.439],
  [-0.291, -0.368],
  [0.439, -0.071]
]

function nv12ToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const type = typeOf(x)
  const own = computedIn(type)
  const [images, height, width] = [0, 1, 2].map(axis => sizeAt(w, x, axis))
  const [rows, columns] = [floorDivSizes(w, height, 2), floorDivSizes(w, width, 2)]
  const ordered = <T>(list: readonly T[]): readonly T[] => (call.param('order') === 'rgb' ? list : list.toReversed())
  const wide = w.cast(x, own)
  const planeOf = (pixels: Made, factors: readonly number[], count: number, added: number): Made => {
    const product = w.node('MatMul', [pixels, w.constant(own, factors, [3, count])])
    return pixelsOf(w, add(w, product, w.scalar(own, added)), own, type)
  }
  const luma = planeOf(wide, ordered(LUMA), 1, 16)
  const blocks = reshapedBy(w, wide, [mulSizes(w, images, rows), 2, columns, 2, 3])
  const means = reshapedBy(w, reduced(w, 'ReduceMean', blocks, [1, 3], false), [images, rows, columns, 3])
  const chroma = planeOf(means, ordered(UV).flat(), 2, 128)
  if (!call.param<boolean>('isOne')) return [luma, chroma]
  return [w.node('Concat', [luma, reshapedBy(w, chroma, [images, rows, width, 1])], { axis: 1 })]
}

/** Integers are computed in double precision and rounded once, as floats of single precision, as everywhere here. */
const computedIn = (type: DType): DType => (isFloat(type) ? wideType(type) : 'float64')

function pixelsOf(w: Writer, x: Made, own: DType, type: DType): Made {
  const pixels = w.node('Clip', [x, w.scalar(own, 0), w.scalar(own, 255)])
  return w.cast(isFloat(type) ? pixels : w.node('Round', [w.cast(pixels, 'float32')]), type)
}

/** Pictures of luma and chroma in nodes of ONNX. */
export const yuvRules: readonly Conversion[] = [
  ...yuvOps.map(op => toOnnx(op, yuvToOnnx)),
  ...nv12Ops.map(op => toOnnx(op, nv12ToOnnx))
]
