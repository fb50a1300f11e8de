import { fail } from '../../errors.ts'
import { reduced, staticDims, upTo } from '../../op-kit/conversion-kit.ts'
import { onnxWindowAttributes, openvinoWindowAttributes, windowsOf } from '../../op-kit/conversion-windows.ts'
import {
  type Conversions,
  type Made,
  type NewAttributes,
  opNamed,
  rankOf,
  type SourceCall,
  toOnnx,
  toOpenvino,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { normalizeAxis } from '../../shapes/dim.ts'
import { type DType, isFloat } from '../../tensor/dtype.ts'
import { product } from '../../tensor/tensor.ts'
import { adaptivePoolRules } from './adaptive-conversions.ts'
import { averagePool } from './average-pool.ts'
import { fusedPoolRules } from './fused-conversions.ts'
import { globalPoolOps } from './global-pool.ts'
import { maxPool } from './max-pool.ts'

type Rounding = 'floor' | 'ceil' | 'ceil-inside'

/** `ceil` of IR keeps windows that start in the padding at the end; ONNX has only those that hold an element. */
function ceilMode(call: SourceCall): boolean {
  const rounding = call.param<Rounding>('rounding')
  if (rounding !== 'ceil') return rounding === 'ceil-inside'
  const windows = windowsOf(call, call.param<readonly number[]>('kernel').length)
  const mayStartInPadding = windows.autoPad === 'explicit' && windows.end.some(pad => pad > 0)
  const skips = windows.strides.some((stride, i) => stride > call.param<readonly number[]>('kernel')[i])
  if (mayStartInPadding || skips) fail('unsupported-op', 'ceil keeps windows that start in the padding, ONNX does not')
  return true
}

/** What ONNX is told of the windows of an IR. There VALID turns `ceil_mode` off, so no pads are written instead. */
function onnxAttributes(call: SourceCall): NewAttributes {
  const kernel = call.param<readonly number[]>('kernel')
  const windows = windowsOf(call, kernel.length)
  const none = kernel.map(() => 0)
  const isCeil = ceilMode(call)
  const told =
    isCeil && windows.autoPad === 'valid' ? { ...windows, autoPad: 'explicit', begin: none, end: none } : windows
  return { ...onnxWindowAttributes(told), kernel_shape: kernel, ceil_mode: isCeil }
}

function maxPoolToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const attributes = onnxAttributes(call)
  const type = typeOf(x)
  const own: DType = isFloat(type) ? type : type === 'int8' || type === 'uint8' ? type : 'float64'
  const hasIndices = call.outputCount > 1
  const axis = call.param<number>('axis')
  const outputs = w.nodes('MaxPool', [w.cast(x, own)], attributes, { outputs: hasIndices ? 2 : 1 })
  const pooled = w.cast(outputs[0], type)
  return hasIndices ? [pooled, w.cast(countedFrom(w, x, outputs[1], axis), call.param('indexType'))] : [pooled]
}

/** ONNX counts indices over all axes, IR from one on. */
function countedFrom(w: Writer, x: Made, indices: Made, axis: number): Made {
  const first = normalizeAxis(axis, rankOf(x))
  if (first === 0) return indices
  const inner = product(staticDims(x, 'the data').slice(first))
  return w.node('Mod', [indices, w.scalar('int64', inner)], { fmod: 0 })
}

function maxPoolToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const kernel = call.param<readonly number[]>('kernel')
  if (call.param<boolean>('columnMajor') && call.outputCount > 1)
    fail('unsupported-op', 'indices in column-major order')
  const rounding = call.param<Rounding>('rounding') === 'floor' ? 'floor' : 'ceil_torch'
  const attributes = {
    ...openvinoWindowAttributes(windowsOf(call, kernel.length)),
    kernel,
    rounding_type: rounding,
    index_element_type: { dtype: 'int64' as const },
    axis: 0
  }
  const outputs = w.nodes('MaxPool', [call.operand('x')], attributes, {
    outputs: 2,
    since: rounding === 'floor' ? 8 : 14
  })
  return outputs.slice(0, call.outputCount)
}

/** With padding `ceil` of IR counts the cells beyond it, too, which ONNX does not. */
function refuseBeyond(call: SourceCall, x: Made): void {
  const kernel = call.param<readonly number[]>('kernel')
  const { autoPad, strides, dilations, begin, end } = windowsOf(call, kernel.length)
  if (autoPad !== 'explicit' || ![...begin, ...end].some(pad => pad > 0)) return
  const sizes = staticDims(x, 'the data').slice(2)
  const rests = sizes.map((size, i) => size + begin[i] + end[i] - (kernel[i] - 1) * dilations[i] - 1)
  if (rests.some((rest, i) => rest % strides[i] !== 0))
    fail('unsupported-op', 'means that count cells beyond the padding')
}

function averageToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const x = call.operand('x')
  const attributes = { ...onnxAttributes(call), count_include_pad: call.param<boolean>('withPadding') }
  if (call.param<boolean>('withPadding') && call.param<Rounding>('rounding') === 'ceil') refuseBeyond(call, x)
  const type = typeOf(x)
  if (isFloat(type)) return [w.node('AveragePool', [x], attributes)]
  return [w.cast(w.node('Round', [w.node('AveragePool', [w.cast(x, 'float64')], attributes)]), type)]
}

function averageToOpenvino(call: SourceCall, w: Writer): readonly Made[] {
  const kernel = call.param<readonly number[]>('kernel')
  const windows = windowsOf(call, kernel.length)
  if (windows.dilations.some(dilation => dilation !== 1)) fail('unsupported-op', 'means of windows with dilations')
  const { dilations: _, ...attributes } = openvinoWindowAttributes(windows)
  const rounding = call.param<Rounding>('rounding') === 'floor' ? 'floor' : 'ceil_torch'
  return [
    w.node(
      'AvgPool',
      [call.operand('x')],
      { ...attributes, kernel, 'exclude-pad': !call.param<boolean>('withPadding'), rounding_type: rounding },
      { since: rounding === 'floor' ? 1 : 14 }
    )
  ]
}

const globally =
  (name: 'ReduceMean' | 'ReduceMax') =>
  (call: SourceCall, w: Writer): readonly Made[] => {
    const x = call.operand('x')
    return [reduced(w, name, x, upTo(rankOf(x) - 2, 2), true)]
  }

/** Pools of one dialect in words of the other. */
export const poolConversions: Conversions = {
  rules: [
    ...adaptivePoolRules,
    ...fusedPoolRules,
    toOnnx(maxPool, maxPoolToOnnx),
    toOpenvino(maxPool, maxPoolToOpenvino),
    toOnnx(averagePool, averageToOnnx),
    toOpenvino(averagePool, averageToOpenvino),
    toOpenvino(opNamed(globalPoolOps, 'GlobalAveragePool'), globally('ReduceMean')),
    toOpenvino(opNamed(globalPoolOps, 'GlobalMaxPool'), globally('ReduceMax'))
  ],
  leniencies: []
}
