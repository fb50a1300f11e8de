import { fail } from '../../errors.ts'
import { failEmpty, joinTensors } from '../../kernels/core/join.ts'
import { defineOp, params } from '../../op-kit/define.ts'
import { flag, int } from '../../op-kit/sources.ts'
import { type Dim, mulDims, normalizeAxis, unknownDim } from '../../shapes/dim.ts'
import { tensorFact } from '../../shapes/fact.ts'
import { isTensor } from '../../tensor/tensor.ts'
import { sequenceFact, sequenceIn } from './sequence.ts'

interface Params {
  axis: number
  /** Whether tensors are stacked along a new axis. */
  stacks: boolean
}

/** Concatenates or stacks the tensors of a sequence: ONNX ConcatFromSequence-11. An empty sequence is an error. */
export const concatFromSequence = defineOp({
  name: 'ConcatFromSequence',
  operands: { sequence: 'any' },
  params: params<Params>(),
  onnx: [{ since: 11, bind: { axis: int('axis'), stacks: flag('new_axis') } }],
  dynamic: true,

  shape({ sequence }, p) {
    const { element, length } = sequenceFact(sequence)
    if (length === 0) failEmpty()
    if (element.kind !== 'tensor')
      return fail('type-not-allowed', `the sequence holds a ${element.kind}; tensors are expected`)
    return [tensorFact(element.type, element.shape && joined(element.shape, length ?? unknownDim(1), p))]
  },

  *run({ sequence }, p, call) {
    const tensors = sequenceIn(sequence).values.map(value =>
      isTensor(value) ? value : fail('type-not-allowed', `the sequence holds a ${value.type}; tensors are expected`)
    )
    if (tensors.length === 0) failEmpty()
    if (!p.stacks) normalizeAxis(p.axis, tensors[0].dims.length)
    yield* joinTensors(tensors, p.axis, p.stacks, 'element', (dims, type) => call.output(0, dims, type))
  }
})

/**
 * Dims of the output. Elements may differ along the axis, so a dim there may be unknown although their number is known.
 */
function joined(dims: readonly Dim[], length: Dim, { axis, stacks }: Params): Dim[] {
  if (stacks) return dims.toSpliced(normalizeAxis(axis, dims.length + 1), 0, length)
  const at = normalizeAxis(axis, dims.length)
  const each = dims[at]
  return dims.with(at, typeof each === 'number' ? mulDims(each, length) : unknownDim())
}
