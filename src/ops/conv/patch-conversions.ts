import { fail } from '../../errors.ts'
import type { Constant } from '../../graph/graph.ts'
import { elementwise, joined, staticDims, unsqueezed, upTo } from '../../op-kit/conversion-kit.ts'
import {
  addSizes,
  listParameter,
  type Size,
  sizeAt,
  sizeList,
  sizesParameter,
  subSizes
} from '../../op-kit/conversion-sizes.ts'
import { onnxWindowAttributes, openvinoWindowAttributes, padsOf, windowsOf } from '../../op-kit/conversion-windows.ts'
import {
  type Conversion,
  dimsOf,
  type Made,
  rankOf,
  type SourceCall,
  toOnnx,
  toOpenvino,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { toDoubles } from '../../tensor/elements.ts'
import { elementCount, Tensor } from '../../tensor/tensor.ts'
import { binaryConvolution } from './binary-convolution.ts'
import { col2im } from './col2im.ts'
import { extractImagePatches } from './extract-image-patches.ts'

/** `x` with zeros, or another value, around its spatial axes. */
function padded(w: Writer, x: Made, begin: readonly Size[], end: readonly Size[], value?: number): Made {
  if ([...begin, ...end].every(pad => pad === 0)) return x
  const pads = sizeList(w, [0, 0, ...begin, 0, 0, ...end])
  return w.node('Pad', [x, pads, ...(value === undefined ? [] : [w.scalar(typeOf(x), value)])])
}

/** The most taps that are written as a slice each. */
const MAX_TAPS = 1024

/** What each tap reads is a slice of the padded data with the strides as steps. */
function patchesToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const kernel = call.param<readonly number[]>('sizes')
  const windows = windowsOf(call, 2)
  const { strides, dilations } = windows
  const [rows, columns] = kernel
  if (rows * columns > MAX_TAPS) fail('unsupported-op', `patches of ${rows * columns} elements`)
  const sizes = [sizeAt(w, x, 2), sizeAt(w, x, 3)]
  const { begin, end } = padsOf(w, windows, sizes, kernel)
  const wide = padded(w, x, begin, end)
  const all = sizes.map((size, i) => addSizes(w, addSizes(w, size, begin[i]), end[i]))
  const axes = w.constant('int64', [2, 3])
  const parts = upTo(rows * columns).map(tap => {
    const first = [Math.floor(tap / columns) * dilations[0], (tap % columns) * dilations[1]]
    const ends = all.map((size, i) => {
      const end = subSizes(w, size, (kernel[i] - 1) * dilations[i] - first[i])
      // Slice counts an end below 0 from the end of the axis; no window fits there.
      return typeof end === 'number' ? Math.max(0, end) : end
    })
    return w.node('Slice', [wide, w.constant('int64', first), sizeList(w, ends), axes, w.constant('int64', strides)])
  })
  return [joined(w, parts, 1)]
}

/** IR takes blocks of a single picture without a dim for the batch. */
function col2imToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const isOne = rankOf(x) === 2
  const lists = ['image', 'block'].map(name => listParameter(call, name, w))
  const block = sizesParameter(call, 'block', w)
  const attributes = onnxWindowAttributes(windowsOf(call, block.length))
  // ONNX Runtime adds single precision only.
  const type = typeOf(x)
  const wide = type === 'float16' || type === 'bfloat16' ? w.cast(x, 'float32') : x
  const y = w.cast(w.node('Col2Im', [isOne ? unsqueezed(w, wide, [0]) : wide, ...lists], attributes), type)
  return [isOne ? w.node('Squeeze', [y, w.constant('int64', [0])]) : y]
}

/** IR has pictures only, and all attributes of windows but the way to pad. */
function col2imToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const lists = ['image', 'block'].map(name => listParameter(call, name, w))
  const rank = lists.map(list => dimsOf(list)[0]).find(length => typeof length === 'number')
  if (rank !== 2) fail('unsupported-op', 'OpenVINO makes images of 2 dims from blocks')
  const { auto_pad: _, ...attributes } = openvinoWindowAttributes(windowsOf(call, 2))
  return [w.node('Col2Im', [call.operand('x'), ...lists], attributes)]
}

/** Bits as 1 and -1, read when they are needed. */
function signsOf(constant: Constant): Constant {
  const { dims, place } = constant
  return {
    type: 'float32',
    dims,
    byteLength: 4 * elementCount(dims),
    place,
    read: () =>
      new Tensor(
        'float32',
        Float32Array.from(toDoubles(constant.read()), bit => (bit > 0 ? 1 : -1)),
        dims
      )
  }
}

function binaryToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const type = typeOf(x)
  const constant = w.constantOf(call.operand('w')) ?? fail('unsupported-op', 'weights of bits that are no constant')
  const weights = w.keep(signsOf(constant))
  const isOne = elementwise(w, 'Greater', x, w.scalar(type, 0))
  const signs = elementwise(w, 'Where', isOne, w.scalar('float32', 1), w.scalar('float32', -1))
  const windows = windowsOf(call, 2)
  const value = call.param<number>('padValue')
  const { begin, end } = padsOf(w, windows, [sizeAt(w, x, 2), sizeAt(w, x, 3)], staticDims(weights, 'weights').slice(2))
  const { strides, dilations } = windows
  return [w.cast(w.node('Conv', [padded(w, signs, begin, end, value), weights], { strides, dilations }), type)]
}

/** Windows as patches, and patches as pictures, in nodes of ONNX. */
export const patchRules: readonly Conversion[] = [
  toOnnx(extractImagePatches, patchesToOnnx),
  toOnnx(col2im, col2imToOnnx),
  toOpenvino(col2im, col2imToOpenvino),
  toOnnx(binaryConvolution, binaryToOnnx)
]
