import { fail } from '../../errors.ts'
import { add } from '../../op-kit/conversion-parts.ts'
import { isKnown } from '../../op-kit/conversion-sizes.ts'
import {
  flatWeights,
  groupedWeights,
  onnxWindowAttributes,
  openvinoWindowAttributes,
  padsOf,
  perChannel,
  type Windows,
  windowsOf
} from '../../op-kit/conversion-windows.ts'
import {
  type Conversions,
  dimsOf,
  first,
  type Made,
  rankOf,
  type SourceCall,
  toOnnx,
  toOpenvino,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { isConcrete } from '../../shapes/dim.ts'
import { isFloat } from '../../tensor/dtype.ts'
import { convTranspose } from './conv-transpose.ts'
import { conv } from './conv.ts'
import { deformRules } from './deform-conversions.ts'
import { fusedConvRules } from './fused-conversions.ts'
import { patchRules } from './patch-conversions.ts'

/** Weights and the number of groups as ONNX has them. */
const flat = (call: SourceCall, w: Writer): { weights: Made; group: number } =>
  call.param('group') === 'leading'
    ? flatWeights(w, call.operand('w'))
    : { weights: call.operand('w'), group: call.param('group') }

/** ONNX convolves floats only: integers are convolved in double precision, where sums of up to 53 bits are exact. */
function inFloats(w: Writer, values: readonly Made[], compute: (values: readonly Made[]) => Made): Made {
  const type = typeOf(values[0])
  if (isFloat(type)) return compute(values)
  return w.cast(compute(values.map(value => w.cast(value, 'float64'))), type)
}

const isPaddedDilated = ({ autoPad, dilations }: Windows): boolean =>
  autoPad.startsWith('same') && dilations.some(dilation => dilation !== 1)

/** ONNX Runtime takes no `auto_pad` together with dilations: the pads are written where they are known. */
function withPads(w: Writer, x: Made, weights: Made, windows: Windows): Windows {
  if (!isPaddedDilated(windows)) return windows
  const [sizes, kernel] = [x, weights].map(value => dimsOf(value).slice(2))
  if (!isConcrete(sizes) || !isConcrete(kernel)) return windows
  const { begin, end } = padsOf(w, windows, sizes, kernel)
  return isKnown(begin) && isKnown(end) ? { ...windows, autoPad: 'explicit', begin, end } : windows
}

function convToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const { weights, group } = flat(call, w)
  const attributes = { ...onnxWindowAttributes(withPads(w, x, weights, windowsOf(call, rankOf(x) - 2))), group }
  return [inFloats(w, [x, weights], inputs => w.node('Conv', inputs, attributes))]
}

const dilatedToOnnx = (call: SourceCall, w: Writer): readonly Made[] | undefined =>
  isPaddedDilated(windowsOf(call, rankOf(call.operand('x')) - 2)) ? convToOnnx(call, w) : undefined

function withBias(w: Writer, y: Made, bias: Made | undefined): readonly Made[] {
  return [bias ? add(w, y, perChannel(w, bias, y)) : y]
}

function convToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const [x, weights] = [call.operand('x'), call.operand('w')]
  const group = call.param<number>('group')
  const attributes = openvinoWindowAttributes(windowsOf(call, rankOf(x) - 2))
  const y =
    group === 1
      ? w.node('Convolution', [x, weights], attributes)
      : w.node('GroupConvolution', [x, groupedWeights(w, weights, group)], attributes)
  return withBias(w, y, call.optional('bias'))
}

function transposeToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const rank = rankOf(x) - 2
  const { weights, group } = flat(call, w)
  const windows = windowsOf(call, rank)
  const shape = call.param<readonly number[] | undefined>('outputShape')
  const padding = call.param<readonly number[] | undefined>('outputPadding')
  if (windows.autoPad !== 'explicit' || shape !== undefined) return fixedTranspose(call, w, weights, group)
  const attributes = { ...onnxWindowAttributes(windows), group, ...(padding && { output_padding: padding }) }
  return [inFloats(w, [x, weights], inputs => w.node('ConvTranspose', inputs, attributes))]
}

/** Where pads follow from the shape of the result, they are computed from it, since ONNX puts odd ones elsewhere. */
function fixedTranspose(call: SourceCall, w: Writer, weights: Made, group: number): readonly Made[] {
  const x = call.operand('x')
  const rank = rankOf(x) - 2
  const { strides, dilations, autoPad } = windowsOf(call, rank)
  const [result] = call.results
  const wanted = result.kind === 'tensor' ? result.shape?.slice(2) : undefined
  const sizes = dimsOf(x).slice(2)
  const kernel = dimsOf(weights).slice(2)
  const padding = call.param<readonly number[] | undefined>('outputPadding')
  const begin: number[] = []
  const end: number[] = []
  const added: number[] = []
  for (let i = 0; i < rank; i++) {
    const [size, window, out] = [sizes[i], kernel[i], wanted?.[i]]
    if (typeof size !== 'number' || typeof window !== 'number' || typeof out !== 'number')
      return fail('unsupported-op', 'pads that follow from dims which are not known before the model runs')
    const full = strides[i] * (size - 1) + dilations[i] * (window - 1) + 1 + (padding?.[i] ?? 0)
    const total = Math.max(0, full - out)
    const smaller = Math.floor(total / 2)
    // The odd pad comes first for same_upper, see `oddFirst`.
    begin.push(autoPad === 'same_upper' ? total - smaller : smaller)
    end.push(total - begin[i])
    added.push((padding?.[i] ?? 0) + Math.max(0, out - full))
  }
  const attributes = {
    strides,
    dilations,
    pads: [...begin, ...end],
    group,
    ...(added.some(one => one > 0) && { output_padding: added })
  }
  return [inFloats(w, [x, weights], inputs => w.node('ConvTranspose', inputs, attributes))]
}

function transposeToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const [x, weights] = [call.operand('x'), call.operand('w')]
  const rank = rankOf(x) - 2
  const group = call.param<number>('group')
  const shape = call.param<readonly number[] | undefined>('outputShape')
  const windows = windowsOf(call, rank)
  const inputs = [x, group === 1 ? weights : groupedWeights(w, weights, group)]
  if (shape !== undefined || windows.autoPad !== 'explicit')
    fail('unsupported-op', 'pads of a transposed convolution that follow from its output shape')
  const padding = call.param<readonly number[] | undefined>('outputPadding') ?? windows.strides.map(() => 0)
  const attributes = { ...openvinoWindowAttributes(windows), output_padding: padding }
  const type = group === 1 ? 'ConvolutionBackpropData' : 'GroupConvolutionBackpropData'
  return withBias(w, w.node(type, inputs, attributes), call.optional('bias'))
}

/** Convolutions of one dialect in words of the other. */
export const convConversions: Conversions = {
  rules: [
    ...fusedConvRules,
    first(toOnnx(conv, dilatedToOnnx)),
    toOnnx(conv, convToOnnx),
    toOpenvino(conv, convToOpenvino),
    toOnnx(convTranspose, transposeToOnnx),
    toOpenvino(convTranspose, transposeToOpenvino),
    ...deformRules,
    ...patchRules
  ],
  leniencies: []
}
