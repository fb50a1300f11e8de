import { fail } from '../../errors.ts'
import { elementwise, knownNumbers, zeroOf } from '../../op-kit/conversion-kit.ts'
import { add, mul, sub, widened } from '../../op-kit/conversion-parts.ts'
import { listParameter } from '../../op-kit/conversion-sizes.ts'
import { type Conversions, type Made, type SourceCall, toOnnx, typeOf, type Writer } from '../../op-kit/conversion.ts'
import { type DType, isInteger } from '../../tensor/dtype.ts'
import { multinomial } from './multinomial.ts'
import { randomUniform } from './random-uniform.ts'

/** Seeds of IR say which numbers are drawn; ONNX leaves that to the runtime. Both 0 leave it to the run in IR too. */
function refuseSeeds(call: SourceCall): void {
  if (['globalSeed', 'opSeed'].some(seed => call.param<bigint>(seed) !== 0n))
    fail('unsupported-op', 'ONNX does not say which numbers a seed gives')
}

/** Other numbers of the same distribution: ONNX leaves the stream to the runtime. */
function uniformToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  refuseSeeds(call)
  const type = call.param<DType>('type')
  const own: DType = type === 'float64' || isInteger(type) ? 'float64' : 'float32'
  const shape = listParameter(call, 'shape', w)
  const like = w.node('ConstantOfShape', [shape])
  const [low, high] = ['low', 'high'].map(name => call.operand(name))
  const [from, to] = [knownNumbers(low), knownNumbers(high)]
  const attributes = { dtype: { dtype: own } }
  if (!isInteger(type) && from && to)
    return [w.cast(w.node('RandomUniformLike', [like], { ...attributes, low: from[0], high: to[0] }), type)]
  const unit = w.node('RandomUniformLike', [like], { ...attributes, low: 0, high: 1 })
  const [start, end] = [low, high].map(bound => w.reshape(w.cast(bound, own), []))
  const spread = mul(w, unit, sub(w, end, start))
  return [w.cast(add(w, isInteger(type) ? w.node('Floor', [spread]) : spread, start), type)]
}

/** Weights as logarithms, whose sum does not matter; no specification says which numbers a seed gives. */
function multinomialToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  if (!call.param<boolean>('replaces')) fail('unsupported-op', 'classes that are drawn at most once')
  const x = call.operand('x')
  const isLogarithm = call.param<boolean>('logarithms')
  const attributes = { sample_size: call.param<number>('samples'), dtype: { dtype: call.param<DType>('dtype') } }
  const own = widened(w, x)
  const positive = isLogarithm ? own : w.node('Log', [own])
  const isImpossible = isLogarithm ? undefined : elementwise(w, 'Equal', own, zeroOf(w, typeOf(own)))
  const weights = isImpossible
    ? elementwise(w, 'Where', isImpossible, w.scalar(typeOf(own), -1e30), positive)
    : positive
  return [w.node('Multinomial', [weights], attributes)]
}

/** Random numbers of one dialect in words of the other. */
export const randomConversions: Conversions = {
  rules: [toOnnx(randomUniform, uniformToOnnx), toOnnx(multinomial, multinomialToOnnx)],
  leniencies: []
}
