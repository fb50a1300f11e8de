import { fail } from '../../errors.ts'
import { elementwise, reduced, shapeOf, upTo } from '../../op-kit/conversion-kit.ts'
import { type Conversion, type Made, opNamed, type SourceCall, toOnnx, type Writer } from '../../op-kit/conversion.ts'
import { minDim, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import type { DType } from '../../tensor/dtype.ts'
import { elementCount } from '../../tensor/tensor.ts'
import { stateOps } from './state.ts'

/**
 * A variable is an input of the model whose default is the first value. Where that is computed, the default is empty
 * along every axis, and such a one stands for the computed value.
 */
function readToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const { id } = call.param<{ id: string }>('variable')
  const [result] = call.results
  const first = call.optional('initial')
  const { type, shape } = result as TensorFact
  if (type === undefined || shape === undefined)
    return fail('unsupported-op', `the type or the rank of the variable "${id}" is not known before the model runs`)
  const filled = w.constantOf(first ?? zeros(w, type, shape.map(minDim)))
  if (filled) return [w.carried(id, result, filled)]
  if (shape.length === 0)
    return fail('unsupported-op', `the first value of the variable "${id}", which is a scalar, is computed`)
  const empty = w.constantOf(
    w.constant(
      type,
      [],
      shape.map(() => 0)
    )
  )!
  const given = w.carried(
    id,
    tensorFact(
      type,
      shape.map(() => unknownDim())
    ),
    empty
  )
  const longest = reduced(w, 'ReduceMax', shapeOf(w, given), [0], false)
  const isGiven = w.cast(elementwise(w, 'Greater', longest, w.scalar('int64', 0)), 'int64')
  // Values of a sequence need not have the same dims, as those of Where need.
  const both = w.node('SequenceConstruct', [first, given])
  return [w.node('SequenceAt', [both, isGiven])]
}

/** The most zeros that are written as a first value. */
const MAX_ZEROS = 2 ** 20

function zeros(w: Writer, type: DType, dims: readonly number[]): Made {
  const count = elementCount(dims)
  if (count > MAX_ZEROS) fail('unsupported-op', `a variable of ${count} elements without a first value`)
  const zero = type === 'string' ? '' : type === 'bool' ? false : 0
  return w.constant(
    type,
    upTo(count).map(() => zero),
    dims
  )
}

function assignToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const value = call.operand('value')
  w.carriesOn(call.param('id'), value)
  return [value]
}

/** Variables as inputs and outputs of a model of ONNX, which keeps nothing from run to run. */
export const stateRules: readonly Conversion[] = [
  toOnnx(opNamed(stateOps, 'ReadValue'), readToOnnx),
  toOnnx(opNamed(stateOps, 'Assign'), assignToOnnx)
]
