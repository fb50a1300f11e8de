import { fail } from '../../errors.ts'
import { joined, transposed } from '../../op-kit/conversion-kit.ts'
import { part } from '../../op-kit/conversion-parts.ts'
import {
  extremeSize,
  floorDivSizes,
  mulSizes,
  productOfSizes,
  reshapedBy,
  sizeAt,
  sizeList,
  sizesOf,
  subSizes
} from '../../op-kit/conversion-sizes.ts'
import {
  type Conversion,
  dimsOf,
  type Made,
  type SourceCall,
  toOnnx,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { regionYolo } from './region-yolo.ts'
import { reorgYolo } from './reorg-yolo.ts'
import { topKRois } from './top-k-rois.ts'

/** The data of a region: x and y, more coordinates, objectness, classes. */
function regionYoloToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const type = typeOf(x)
  const [coordinates, classes] = [call.param<number>('coordinates'), call.param<number>('classes')]
  const softmax = call.param<boolean>('softmax')
  const regions = softmax ? call.param<number>('regions') : call.param<readonly number[]>('mask').length
  const size = coordinates + classes + 1
  const [batch, , height, width] = sizesOf(w, x)
  const all = dimsOf(x)[1] === regions * size ? x : part(w, x, 1, 0, regions * size)
  const split = reshapedBy(w, all, [batch, regions, size, height, width])
  const widths = softmax ? [2, coordinates - 2, 1, classes] : [2, coordinates - 2, 1 + classes]
  const found = widths.map((count, i) => {
    if (count === 0) return undefined
    const start = widths.slice(0, i).reduce((a, b) => a + b, 0)
    const own = part(w, split, 2, start, start + count)
    if (i === 1) return own
    const wide = w.cast(own, type === 'bfloat16' || type === 'float16' ? 'float32' : type)
    return w.cast(i === 3 ? w.node('Softmax', [wide], { axis: 2 }) : w.node('Sigmoid', [wide]), type)
  })
  const parts = found.filter(own => own !== undefined)
  const made = reshapedBy(w, joined(w, parts, 2), [batch, regions * size, height, width])
  if (!softmax) return [made]
  const [first, last] = [normalizeAxis(call.param('axis'), 4), normalizeAxis(call.param('endAxis'), 4)]
  const sizes = [batch, regions * size, height, width]
  const flat = productOfSizes(w, sizes.slice(first, last + 1))
  return [reshapedBy(w, made, [...sizes.slice(0, first), flat, ...sizes.slice(last + 1)])]
}

/** The data viewed as `[C / s², H, s, W, s]`: what is at the same place of blocks goes to channels. */
function reorgYoloToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const [stride] = call.param<readonly number[]>('strides')
  const [batch, channels, height, width] = sizesOf(w, x)
  const block = stride * stride
  if (typeof channels === 'number' && channels % block !== 0)
    fail('unsupported-op', `${channels} channels, which ${block} does not divide`)
  const blocks = floorDivSizes(w, channels, block)
  const view = reshapedBy(w, x, [batch, blocks, height, stride, width, stride])
  const moved = transposed(w, view, [0, 3, 5, 1, 2, 4])
  const [rows, columns] = [floorDivSizes(w, height, stride), floorDivSizes(w, width, stride)]
  return [reshapedBy(w, moved, [batch, mulSizes(w, channels, block), rows, columns])]
}

/** The best regions; rows for which there is none are zero. */
function topKRoisToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const [rois, scores] = [call.operand('rois'), call.operand('scores')]
  const count = call.param<number>('count')
  const size = sizeAt(w, rois, 0)
  const type = typeOf(scores) === 'bfloat16' ? 'float32' : typeOf(scores)
  const most = extremeSize(w, 'Min', count, size)
  const [, order] = w.nodes('TopK', [w.cast(scores, type), sizeList(w, [most])], { axis: 0 }, { outputs: 2 })
  const best = w.node('Gather', [rois, order], { axis: 0 })
  if (typeof size === 'number' && size >= count) return [best]
  const pads = sizeList(w, [0, 0, subSizes(w, count, most), 0])
  return [w.node('Pad', [best, pads])]
}

/** Regions of pictures in nodes of ONNX. */
export const regionRules: readonly Conversion[] = [
  toOnnx(regionYolo, regionYoloToOnnx),
  toOnnx(reorgYolo, reorgYoloToOnnx),
  toOnnx(topKRois, topKRoisToOnnx)
]
