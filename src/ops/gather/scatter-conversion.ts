import { fail } from '../../errors.ts'
import { elementwise, extreme, shapeOf } from '../../op-kit/conversion-kit.ts'
import { div, mul, sub, wideType } from '../../op-kit/conversion-parts.ts'
import { type Made, type NewAttributes, type SourceCall, typeOf, type Writer } from '../../op-kit/conversion.ts'
import { type DType, DTYPES, isFloat } from '../../tensor/dtype.ts'

/** The number that a reduction begins with, where what was there before does not count. */
function neutralOf(type: DType, reduction: string): number | bigint {
  if (reduction !== 'min' && reduction !== 'max') return reduction === 'mul' ? 1 : 0
  if (isFloat(type)) return reduction === 'min' ? Infinity : -Infinity
  const { kind, bits } = DTYPES[type]
  const size = 2n ** BigInt(bits)
  const [low, high] = kind === 'uint' ? [0n, size - 1n] : [-size / 2n, size / 2n - 1n]
  const bound = reduction === 'min' ? high : low
  return bits === 64 ? bound : Number(bound)
}

/** The type in which ONNX Runtime reduces, and in which means are exact. */
function computedIn(type: DType, reduction: string): DType {
  if (isFloat(type)) return wideType(type)
  return reduction === 'mean' ? 'int64' : type
}

/** Quotients of integers rounded down, as IR does; ONNX rounds them towards zero. */
function divided(w: Writer, sums: Made, counts: Made): Made {
  const quotient = div(w, sums, counts)
  if (isFloat(typeOf(sums))) return quotient
  const rest = sub(w, sums, mul(w, quotient, counts))
  const isBelow = elementwise(w, 'Less', rest, w.scalar('int64', 0))
  return sub(w, quotient, w.cast(isBelow, 'int64'))
}

/** What scatters of ONNX are told of a reduction: nothing of none, as before opset 16, when they had no other. */
export const reductionOf = (reduction: string): NewAttributes => (reduction === 'none' ? {} : { reduction })

/** ScatterElementsUpdate with means, or where what was there before does not count. */
export function scatterElementsToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const type = typeOf(call.operand('data'))
  const { kind } = DTYPES[type]
  if (kind === 'bool' || kind === 'string') fail('unsupported-op', `reductions of ${type} without the first value`)
  const reduction = call.param<string>('reduction')
  const own = computedIn(type, reduction)
  const [data, updates] = ['data', 'updates'].map(name => w.cast(call.operand(name), own))
  const indices = w.cast(call.operand('indices'), 'int64')
  const axis = call.param<number>('axis')
  const useInitial = call.param<boolean>('useInitial') || reduction === 'none'
  const everywhere = (value: number | bigint, like: Made): Made =>
    w.node('Expand', [w.scalar(own, value), shapeOf(w, like)])
  const start = useInitial
    ? data
    : w.node('ScatterElements', [data, indices, everywhere(neutralOf(own, reduction), indices)], { axis })
  const named = reduction === 'mean' ? 'add' : reduction
  const sums = w.node('ScatterElements', [start, indices, updates], { axis, ...reductionOf(named) })
  if (reduction !== 'mean') return [w.cast(sums, type)]
  const zeros = everywhere(useInitial ? 1 : 0, data)
  const hits = w.node('ScatterElements', [zeros, indices, everywhere(1, indices)], { axis, reduction: 'add' })
  return [w.cast(divided(w, sums, extreme(w, 'Max', hits, w.scalar(own, 1))), type)]
}
