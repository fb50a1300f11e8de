import { convertedPaced } from '../../kernels/core/convert-paced.ts'
import { binary } from '../../kernels/core/elementwise.ts'
import { MULTIPLY } from '../../kernels/elementwise/binary.ts'
import { centred } from '../../kernels/quantized/integer-product.ts'
import { type Op, params } from '../../op-kit/define.ts'
import { checkQuantization } from '../../op-kit/quantized.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, ints } from '../../op-kit/sources.ts'
import { broadcastShapes } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { reduceOps } from '../reduce/reduce.ts'

/** Rules of {@link mulInteger}. */
export const mulIntegerRules = defineRules({
  name: 'MulInteger',
  operands: { a: 'tensor', aZero: 'optional', b: 'tensor', bZero: 'optional' },
  onnx: [{ domain: 'com.microsoft', since: 1, bind: {} }],

  shape({ a, aZero, b, bZero }) {
    checkQuantization('A', undefined, aZero)
    checkQuantization('B', undefined, bZero)
    return [tensorFact('int32', broadcastShapes([a.shape, b.shape]))]
  }
})

/**
 * Elementwise product of 8-bit integers as int32, zero points subtracted first; broadcast by NumPy's rules.
 * MulInteger-1 of com.microsoft.
 */
export const mulInteger = /* @__PURE__ */ withKernel(mulIntegerRules, {
  *run({ a, aZero, b, bZero }, _, call) {
    const left = yield* convertedPaced(yield* centred(a, aZero), 'int32')
    const right = yield* convertedPaced(yield* centred(b, bZero), 'int32')
    yield* binary(MULTIPLY, left, right, call.rawOutput())
  }
})

const reduceSum = reduceOps.find(({ name }) => name === 'ReduceSum') as Op
const sumTypeOf = ({ type }: TensorFact) => type && (type === 'int8' ? 'int32' : 'uint32')

/** Rules of {@link reduceSumInteger}. */
export const reduceSumIntegerRules = defineRules({
  name: 'ReduceSumInteger',
  operands: { data: 'tensor' },
  params: params<{ axes: readonly number[]; keepDims: boolean }>(),
  onnx: [{ domain: 'com.microsoft', since: 1, bind: { axes: ints('axes'), keepDims: flag('keepdims') } }],

  shape: ({ data }, p, call) =>
    reduceSum.shape({ data: tensorFact(sumTypeOf(data), data.shape) }, { ...p, noneIsAll: true }, call)
})

/** Sum of 8-bit integers over axes as 32-bit integers of the same sign. ReduceSumInteger-1 of com.microsoft. */
export const reduceSumInteger = /* @__PURE__ */ withKernel(reduceSumIntegerRules, {
  *run({ data }, p, call) {
    const wide = yield* convertedPaced(data, data.type === 'int8' ? 'int32' : 'uint32')
    yield* reduceSum.run({ data: wide }, { ...p, noneIsAll: true }, call) ?? []
  }
})
