import { asLast, elementwise, staticDims } from '../../op-kit/conversion-kit.ts'
import { div, mul, plus, times, widened } from '../../op-kit/conversion-parts.ts'
import { dimsOf, type Made, type SourceCall, typeOf, type Writer } from '../../op-kit/conversion.ts'
import { isConcrete, normalizeAxes } from '../../shapes/dim.ts'
import { product } from '../../tensor/tensor.ts'

/** By its definition where the rank is not 4: ONNX Runtime takes no other. */
export function lrnOfOtherRank(call: SourceCall, w: Writer): readonly Made[] | undefined {
  const dims = dimsOf(call.operand('x'))
  return dims.length !== 4 && isConcrete(dims) && call.knows('axes') ? lrnToOnnx(call, w) : undefined
}

/** LRN by its definition, along other axes than the channels; sums of windows are means times their size. */
export function lrnToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const [type, dims] = [typeOf(x), staticDims(x, 'the data')]
  const size = call.param<number>('size')
  const region = call.param<number>('region')
  const axes = normalizeAxes(call.param<readonly number[]>('axes'), dims.length)
  const wide = widened(w, x)
  const sums = axes.reduce((squares, axis) => windowSums(w, squares, axis, region), mul(w, wide, wide))
  const scaled = times(w, sums, call.param<number>('alpha') / size ** axes.length)
  const based = plus(w, scaled, call.param('bias'))
  const power = elementwise(w, 'Pow', based, w.scalar(typeOf(based), call.param<number>('beta')))
  return [w.cast(div(w, wide, power), type)]
}

const windowSums = (w: Writer, x: Made, axis: number, size: number): Made =>
  asLast(w, x, axis, moved => {
    const dims = staticDims(moved, 'the data')
    const count = dims[dims.length - 1]
    const lines = w.reshape(moved, [product(dims) / Math.max(1, count), 1, count])
    const pads = [Math.floor((size - 1) / 2), Math.ceil((size - 1) / 2)]
    const means = w.node('AveragePool', [lines], { kernel_shape: [size], pads, count_include_pad: true })
    return w.reshape(times(w, means, size), dims)
  })
