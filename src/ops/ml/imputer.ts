import { fail } from '../../errors.ts'
import { unary, type UnaryLoop } from '../../kernels/core/elementwise.ts'
import type { BigInts } from '../../kernels/core/numbers.ts'
import { params } from '../../op-kit/define.ts'
import { checkDim, checkRankAtLeast } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { exactInt, exactInts, float, floats, optional } from '../../op-kit/sources.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { type DType, isFloat } from '../../tensor/dtype.ts'

interface Params {
  floats: readonly number[] | undefined
  replacedFloat: number
  integers: readonly bigint[] | undefined
  replacedInteger: bigint
}

/** Rules of {@link imputer}. */
export const imputerRules = defineRules({
  name: 'Imputer',
  operands: { x: 'tensor' },
  params: params<Params>(),
  onnx: [
    {
      domain: 'ai.onnx.ml',
      since: 1,
      bind: {
        floats: optional(floats('imputed_value_floats')),
        replacedFloat: float('replaced_value_float'),
        integers: optional(exactInts('imputed_value_int64s')),
        replacedInteger: exactInt('replaced_value_int64')
      }
    }
  ],
  inPlace: ['x'],

  shape({ x }, given) {
    if (x.type === undefined) return [tensorFact(undefined, x.shape)]
    const { length } = valuesFor(x.type, given)
    if (length > 1) {
      checkRankAtLeast('the input', x, 1)
      if (x.shape) checkDim('the input', x, x.shape.length - 1, length)
    }
    return [tensorFact(x.type, x.shape)]
  }
})

/**
 * Replaces elements that equal a value, or are NaN where it is NaN, by another: one for each position of the last axis,
 * or one for all. ai.onnx.ml Imputer-1. Where the number of values is another, ONNX Runtime takes the first for all;
 * here it is an error, as in the reference implementation.
 */
export const imputer = /* @__PURE__ */ withKernel(imputerRules, {
  run({ x }, given, call) {
    const { replacedFloat, replacedInteger, integers = [] } = given
    const replaced = isFloat(x.type) ? replacedFloat : Number(replacedInteger)
    const numbers = x.type === 'int64' ? [] : valuesFor(x.type, given).map(Number)
    return unary({ float: loop(replaced, numbers), big: bigLoop(replacedInteger, integers) }, x, call.rawOutput())
  }
})

/** The new values for elements of a type. */
function valuesFor(type: DType, given: Params): readonly (number | bigint)[] {
  const name = isFloat(type) ? 'imputed_value_floats' : 'imputed_value_int64s'
  const values = isFloat(type) ? given.floats : given.integers
  if (!values?.length) fail('missing-attribute', `attribute "${name}" is missing, which an input of type ${type} needs`)
  if (type === 'int32') {
    const outside = given.integers?.find(value => BigInt.asIntN(32, value) !== value)
    if (outside !== undefined)
      fail('unknown-attribute-value', `"${name}" has ${outside}, which is no element of type int32`)
  }
  return values
}

// Two loops, since one that meets 64-bit integers and numbers is slow for both.

const loop =
  (replaced: number, values: readonly number[]): UnaryLoop =>
  (x, out, from, to) => {
    // Few elements are missing: all are copied, and those that are replaced are looked for.
    if (x !== out) out.set(x.subarray(from, to), from)
    if (Number.isNaN(replaced)) {
      for (let i = from; i < to; i++) if (x[i] !== x[i]) out[i] = values[i % values.length]
    } else for (let i = from; i < to; i++) if (x[i] === replaced) out[i] = values[i % values.length]
  }

const bigLoop =
  (replaced: bigint, values: readonly bigint[]): UnaryLoop<BigInts> =>
  (x, out, from, to) => {
    const period = values.length
    for (let i = from, k = from % period; i < to; i++, k = k + 1 === period ? 0 : k + 1)
      out[i] = x[i] === replaced ? values[k] : x[i]
  }
