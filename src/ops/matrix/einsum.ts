import { fail } from '../../errors.ts'
import { convertedPaced, convertPaced } from '../../kernels/core/convert-paced.ts'
import { copyStrided } from '../../kernels/core/copy-strided.ts'
import { BIG_INTEGERS, einsum as contract, DOUBLES, type Labelled } from '../../kernels/matrix/einsum.ts'
import { params } from '../../op-kit/define.ts'
import { type Equation, labelDims, labelSizes, outputLabels, parseEquation } from '../../op-kit/equation.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { mapped, text } from '../../op-kit/sources.ts'
import { commonType, numbered } from '../../op-kit/types.ts'
import type { Dim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { isFloat } from '../../tensor/dtype.ts'
import { stridesOf, Tensor } from '../../tensor/tensor.ts'

interface Params {
  equation: Equation
}

const equation = mapped(text('equation'), parseEquation)

/** Rules of {@link einsum}. */
export const einsumRules = defineRules({
  name: 'Einsum',
  operands: { inputs: 'variadic' },
  params: params<Params>(),
  onnx: [{ since: 12, bind: { equation } }],
  openvino: [{ since: 7, bind: { equation } }],

  shape({ inputs }, p) {
    const { terms } = p.equation
    if (terms.length !== inputs.length) {
      fail('wrong-input-count', `the equation has ${terms.length} terms; ${inputs.length} operands are given`)
    }
    const type = commonType(numbered('operand', inputs))
    const shapes = inputs.map(({ shape }: TensorFact) => shape)
    if (shapes.includes(undefined)) return [tensorFact(type, undefined)]
    const labels = labelDims(terms, shapes as (readonly Dim[])[])
    const sizes = labelSizes(labels, shapes as (readonly Dim[])[])
    return [
      tensorFact(
        type,
        outputLabels(p.equation, labels).map(label => sizes.get(label) ?? 1)
      )
    ]
  }
})

/**
 * Einstein summation. Dims with the same label, and those under `...`, are broadcast by NumPy's rules; a label that an
 * operand has twice selects its diagonal. Without `->` the result has the dims of `...` and then, in ASCII order, the
 * labels that occur once. Dims of `...` that the result does not name are summed over. Floats are summed in double
 * precision, integers wrap. ONNX Einsum-12; OpenVINO Einsum-7.
 */
export const einsum = /* @__PURE__ */ withKernel(einsumRules, {
  *run({ inputs }, p, call) {
    const out = call.output()
    if (out.data.length === 0) return
    const shapes = inputs.map(({ dims }) => dims)
    const labels = labelDims(p.equation.terms, shapes)
    const sizes = labelSizes(labels, shapes) as Map<string, number>
    const output = outputLabels(p.equation, labels)
    if (inputs.length === 1 && labels[0].every(label => output.includes(label)))
      return yield* copyLabelled(inputs[0], labels[0], out, output)
    const labelled = function* <A extends Float64Array | BigInt64Array>(
      type: 'float64' | 'int64'
    ): Generator<void, Labelled<A>[]> {
      const operands: Labelled<A>[] = []
      for (const [i, input] of inputs.entries()) {
        const { data } = yield* convertedPaced(input, type)
        operands.push({
          data: data as A,
          labels: labels[i],
          strides: stridesOf(input.dims).map((stride, axis) => (input.dims[axis] === 1 ? 0 : stride))
        })
      }
      return operands
    }
    if (isFloat(out.type)) {
      yield* convertPaced(
        new Tensor(
          'float64',
          yield* contract<Float64Array>(yield* labelled('float64'), output, sizes, DOUBLES),
          out.dims
        ),
        out
      )
    } else {
      yield* convertPaced(
        new Tensor(
          'int64',
          yield* contract<BigInt64Array>(yield* labelled('int64'), output, sizes, BIG_INTEGERS),
          out.dims
        ),
        out
      )
    }
  }
})

/** Elements of an operand whose labels are all kept: its axes in another order, or diagonals, whose steps add up. */
function copyLabelled(
  input: Tensor,
  labels: readonly string[],
  out: Tensor,
  output: readonly string[]
): Generator<void> {
  const from = stridesOf(input.dims)
  const to = stridesOf(out.dims)
  const loops = output.map((label, i) => ({
    count: out.dims[i],
    from: labels.reduce((sum, other, axis) => (other === label ? sum + from[axis] : sum), 0),
    to: to[i]
  }))
  return copyStrided(input, out, loops)
}
