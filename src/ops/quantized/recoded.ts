import { fail } from '../../errors.ts'
import type { UnaryLoop } from '../../kernels/core/elementwise.ts'
import { leakyRelu, SIGMOID } from '../../kernels/elementwise/activations.ts'
import { quantizationOf, recode } from '../../kernels/quantized/codes.ts'
import { defineOp, type Op, params } from '../../op-kit/define.ts'
import { checkQuantization, OPERANDS_OF_PART, quantizedParts } from '../../op-kit/quantized.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { float, int, is, mapped, type Source } from '../../op-kit/sources.ts'
import { commonType, numbered } from '../../op-kit/types.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { allocate, type Tensor } from '../../tensor/tensor.ts'
import { where } from '../elementwise/where.ts'
import { concat } from '../layout/concat.ts'

/**
 * Activations of com.microsoft on 8-bit codes, through a table of all codes: QLinearLeakyRelu-1 and QLinearSigmoid-1.
 */
export const qlinearActivationOps: readonly Op[] = [
  defineActivation('QLinearLeakyRelu', mapped(float('alpha'), leakyRelu)),
  defineActivation('QLinearSigmoid', is(SIGMOID))
]

function defineActivation(name: string, loop: Source<UnaryLoop>): Op {
  return defineOp({
    name,
    operands: { x: 'tensor', xScale: 'tensor', xZero: 'optional', yScale: 'tensor', yZero: 'optional' },
    params: params<{ loop: UnaryLoop }>(),
    onnx: [{ domain: 'com.microsoft', since: 1, bind: { loop } }],

    shape({ x, xScale, xZero, yScale, yZero }) {
      checkQuantization('X', xScale, xZero)
      checkQuantization('Y', yScale, yZero)
      return [tensorFact(x.type, x.shape)]
    },

    run: ({ x, xScale, xZero, yScale, yZero }, p, call) =>
      recode(x, quantizationOf(xScale, xZero), call.rawOutput(), quantizationOf(yScale, yZero), p.loop)
  })
}

/** Rules of {@link qlinearWhere}. */
export const qlinearWhereRules = defineRules({
  name: 'QLinearWhere',
  operands: {
    condition: 'tensor',
    x: 'tensor',
    xScale: 'tensor',
    xZero: 'tensor',
    y: 'tensor',
    yScale: 'tensor',
    yZero: 'tensor',
    zScale: 'tensor',
    zZero: 'tensor'
  },
  onnx: [{ domain: 'com.microsoft', since: 1, bind: {} }],

  shape({ condition, x, xScale, xZero, y, yScale, yZero, zScale, zZero }, _, call) {
    checkQuantization('X', xScale, xZero)
    checkQuantization('Y', yScale, yZero)
    checkQuantization('Z', zScale, zZero)
    return where.shape({ condition, whenTrue: x, whenFalse: y }, NUMPY, call)
  }
})

/**
 * Takes each code from the second operand where the condition holds, else from the third, brought into the quantization
 * of the result: QLinearWhere-1 of com.microsoft.
 */
export const qlinearWhere = /* @__PURE__ */ withKernel(qlinearWhereRules, {
  *run({ condition, x, xScale, xZero, y, yScale, yZero, zScale, zZero }, _, call) {
    const whenTrue = allocate(zZero.type, x.dims)
    const whenFalse = allocate(zZero.type, y.dims)
    const to = quantizationOf(zScale, zZero)
    yield* recode(x, quantizationOf(xScale, xZero), whenTrue, to)
    yield* recode(y, quantizationOf(yScale, yZero), whenFalse, to)
    yield* where.run({ condition, whenTrue, whenFalse }, NUMPY, call) ?? []
  }
})

const NUMPY = { broadcast: { mode: 'numpy' } }

/** Rules of {@link qlinearConcat}. */
export const qlinearConcatRules = defineRules({
  name: 'QLinearConcat',
  operands: { yScale: 'tensor', yZero: 'tensor', parts: 'variadic' },
  params: params<{ axis: number }>(),
  mixesTypes: true,
  onnx: [{ domain: 'com.microsoft', since: 1, bind: { axis: int('axis') } }],

  shape({ yScale, yZero, parts }, p, call) {
    if (parts.length === 0 || parts.length % OPERANDS_OF_PART !== 0) {
      const given = `${parts.length} inputs follow the zero point of Y`
      fail('wrong-input-count', `${given}; codes, scale and zero point of each part are expected`)
    }
    checkQuantization('Y', yScale, yZero)
    const inputs = quantizedParts(parts).map(([codes, scale, zero], i) => {
      checkQuantization(`input ${i}`, scale, zero)
      commonType({ [`the scale of input ${i}`]: scale, 'the scale of Y': yScale })
      return codes
    })
    const zeros = numbered(
      'the zero point of input',
      quantizedParts(parts).map(([, , zero]) => zero)
    )
    commonType({ 'the zero point of Y': yZero, ...zeros, ...numbered('input', inputs) })
    return [tensorFact(yZero.type, (concat.shape({ inputs }, p, call) as readonly TensorFact[])[0].shape)]
  }
})

/**
 * Concatenates 8-bit codes along an axis, brought into the quantization of the result: QLinearConcat-1 of
 * com.microsoft. Inputs are codes, scale and zero point of each part; all codes have one type.
 */
export const qlinearConcat = /* @__PURE__ */ withKernel(qlinearConcatRules, {
  *run({ yScale, yZero, parts }, p, call) {
    const inputs: Tensor[] = []
    for (const [codes, scale, zero] of quantizedParts(parts)) {
      const input = allocate(yZero.type, codes.dims)
      yield* recode(codes, quantizationOf(scale, zero), input, quantizationOf(yScale, yZero))
      inputs.push(input)
    }
    yield* concat.run({ inputs }, p, call) ?? []
  }
})
