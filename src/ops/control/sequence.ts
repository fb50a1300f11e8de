import { fail } from '../../errors.ts'
import { defineOp, type Op, params } from '../../op-kit/define.ts'
import { type } from '../../op-kit/sources.ts'
import { addDims, asDim, type Dim, maxDim, subDims, toInt } from '../../shapes/dim.ts'
import {
  type Fact,
  factOf,
  knownValue,
  type SequenceFact,
  type TensorFact,
  tensorFact,
  UNKNOWN_TENSOR
} from '../../shapes/fact.ts'
import { hullFacts } from '../../shapes/merge.ts'
import type { DType } from '../../tensor/dtype.ts'
import { isTensor, type Sequence, Tensor, type Value } from '../../tensor/tensor.ts'

/** The fact of a sequence. An unknown value is taken for a sequence of unknown elements. */
export function sequenceFact(fact: Fact): SequenceFact {
  if (fact.kind === 'sequence') return fact
  if (fact.kind === 'tensor' && fact.type === undefined && fact.shape === undefined)
    return { kind: 'sequence', element: UNKNOWN_TENSOR }
  return wrongKind(fact.kind)
}

export const sequenceIn = (value: Value): Sequence =>
  value.type === 'sequence' ? value : wrongKind(isTensor(value) ? 'tensor' : value.type)

const wrongKind = (found: string): never => fail('type-not-allowed', `a ${found} is given; a sequence is expected`)

const sequenceOf = (element: Fact, length: Dim | undefined): SequenceFact => ({
  kind: 'sequence',
  element,
  ...(length !== undefined && { length })
})

const unvalued = ({ type, shape }: TensorFact): TensorFact => tensorFact(type, shape)

/**
 * The index for a position; negative positions count from the end.
 * @param count number of allowed indices; one more than the length where a tensor is inserted
 * @throws NodewiseError `index-out-of-range`, `dims-mismatch` for a position that is no scalar
 */
function indexIn(position: Tensor, length: number, count = length): number {
  const { dims, data } = position
  if (dims.length > 1 || data.length !== 1)
    fail('dims-mismatch', `position has dims [${dims.join(', ')}]; a scalar is expected`)
  const index = BigInt(data[0])
  if (index < -length || index >= count) {
    const expected = count === 0 ? 'it is empty' : `expected ${-length}..${count - 1}`
    fail('index-out-of-range', `position ${index} is out of range for a sequence of length ${length}; ${expected}`, {
      index: `${index}`,
      position: [],
      axis: 0,
      size: length,
      operand: 'position'
    })
  }
  return Number(index) + (index < 0n ? length : 0)
}

/** Checks a known position against the maximum length of the sequence. */
function checkPosition(position: TensorFact | undefined, length: Dim | undefined, extra = 0): void {
  const known = position && knownValue(position)
  const longest = length === undefined ? Infinity : maxDim(length)
  if (known && Number.isFinite(longest)) indexIn(known, longest, longest + extra)
}

/** ONNX SequenceEmpty-11. The element type of an empty sequence is known only during inference. */
const sequenceEmpty = defineOp({
  name: 'SequenceEmpty',
  operands: {},
  params: params<{ type: DType }>(),
  onnx: [{ since: 11, bind: { type: type('dtype', 'float32') } }],
  shape: (_, p) => [sequenceOf(tensorFact(p.type, undefined), 0)],

  run(_, __, call) {
    call.give(0, { type: 'sequence', values: [] })
  }
})

/** ONNX SequenceConstruct-11: tensors of one type, of any dims. */
const sequenceConstruct = defineOp({
  name: 'SequenceConstruct',
  operands: { inputs: 'variadic' },
  onnx: [{ since: 11, bind: {} }],
  shape: ({ inputs }) => [
    sequenceOf(
      inputs.map(unvalued).reduce<Fact>((a, b) => hullFacts(a, b), unvalued(inputs[0])),
      inputs.length
    )
  ],

  run({ inputs }, _, call) {
    call.give(0, { type: 'sequence', values: inputs })
  }
})

/** ONNX SequenceInsert-11: before `position`, at the end when there is none. */
const sequenceInsert = defineOp({
  name: 'SequenceInsert',
  operands: { sequence: 'any', tensor: 'tensor', position: 'optional' },
  onnx: [{ since: 11, bind: {} }],

  shape({ sequence, tensor }) {
    const { element, length } = sequenceFact(sequence)
    const merged = sequenceFact(hullFacts(sequenceOf(element, length), sequenceOf(unvalued(tensor), 1)))
    return [sequenceOf(merged.element, length === undefined ? undefined : addDims(length, 1))]
  },

  validate({ sequence, position }) {
    checkPosition(position, sequenceFact(sequence).length, 1)
  },

  run({ sequence, tensor, position }, _, call) {
    const { values } = sequenceIn(sequence)
    const index = position ? indexIn(position, values.length, values.length + 1) : values.length
    call.give(0, { type: 'sequence', values: values.toSpliced(index, 0, tensor) })
  }
})

/** ONNX SequenceErase-11: without the tensor at `position`, the last when there is none. */
const sequenceErase = defineOp({
  name: 'SequenceErase',
  operands: { sequence: 'any', position: 'optional' },
  onnx: [{ since: 11, bind: {} }],

  shape({ sequence }) {
    const { element, length } = sequenceFact(sequence)
    return [sequenceOf(element, length === undefined ? undefined : asDim(subDims(length, 1)))]
  },

  validate({ sequence, position }) {
    checkPosition(position, sequenceFact(sequence).length)
  },

  run({ sequence, position }, _, call) {
    const { values } = sequenceIn(sequence)
    const index = indexIn(position ?? new Tensor('int64', [-1], []), values.length)
    call.give(0, { type: 'sequence', values: values.toSpliced(index, 1) })
  }
})

/** ONNX SequenceAt-11. */
const sequenceAt = defineOp({
  name: 'SequenceAt',
  operands: { sequence: 'any', position: 'tensor' },
  onnx: [{ since: 11, bind: {} }],

  shape({ sequence, position }) {
    const { element, value } = sequenceFact(sequence)
    const known = knownValue(position)
    if (value?.type !== 'sequence' || !known) return [element]
    return [factOf(value.values[indexIn(known, value.values.length)])]
  },

  validate({ sequence, position }) {
    checkPosition(position, sequenceFact(sequence).length)
  },

  run({ sequence, position }, _, call) {
    const { values } = sequenceIn(sequence)
    call.give(0, values[indexIn(position, values.length)])
  }
})

/** ONNX SequenceLength-11. */
const sequenceLength = defineOp({
  name: 'SequenceLength',
  operands: { sequence: 'any' },
  onnx: [{ since: 11, bind: {} }],
  shape: () => [tensorFact('int64', [])],

  value({ sequence }) {
    const { length } = sequenceFact(sequence)
    return length === undefined ? undefined : [toInt(length)]
  },

  run({ sequence }, _, call) {
    call.output().data[0] = BigInt(sequenceIn(sequence).values.length)
  }
})

/** Lists of tensors (ONNX `seq`). */
export const sequenceOps: readonly Op[] = [
  sequenceEmpty,
  sequenceConstruct,
  sequenceInsert,
  sequenceErase,
  sequenceAt,
  sequenceLength
]
