import { fail } from '../../errors.ts'
import { comparable } from '../../kernels/core/numbers.ts'
import { drain } from '../../kernels/core/pace.ts'
import { followBeams, gatherBeams } from '../../kernels/gather/gather-tree.ts'
import { defineOp } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { type Dim, meetDims, printDim, unknownDim } from '../../shapes/dim.ts'
import { knownValue, type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { dtypesOf } from '../../tensor/dtype.ts'

const NUMERIC = dtypesOf('int', 'uint', 'float')

/** Reads the sequences of beam search back from the last step to the first. OpenVINO GatherTree-1. */
export const gatherTree = defineOp({
  name: 'GatherTree',
  operands: { stepIds: 'tensor', parentIds: 'tensor', maxSeqLen: 'tensor', endToken: 'tensor' },
  openvino: [
    { since: 1, types: { stepIds: NUMERIC, parentIds: NUMERIC, maxSeqLen: NUMERIC, endToken: NUMERIC }, bind: {} }
  ],

  shape({ stepIds, parentIds, maxSeqLen, endToken }) {
    const type = commonType([stepIds, parentIds, maxSeqLen, endToken])
    checkRank('step_ids', stepIds, 3)
    checkRank('parent_ids', parentIds, 3)
    checkRank('max_seq_len', maxSeqLen, 1)
    checkRank('end_token', endToken, 0)
    const [steps, batch, beams] = [0, 1, 2].map(i =>
      merge(stepIds.shape?.[i], parentIds.shape?.[i], `dim ${i} of step_ids and parent_ids`)
    )
    return [
      tensorFact(type, [steps, merge(batch, maxSeqLen.shape?.[0], 'the batch in step_ids and max_seq_len'), beams])
    ]
  },

  validate({ parentIds, maxSeqLen }) {
    const parents = knownValue(parentIds)
    const lengths = knownValue(maxSeqLen)
    if (parents && lengths) drain(followBeams(comparable(parents), comparable(lengths), parents.dims))
  },

  run({ stepIds, parentIds, maxSeqLen, endToken }, _, call) {
    return gatherBeams({ stepIds, parentIds, maxSeqLen, endToken }, call.rawOutput())
  }
})

function commonType(facts: readonly TensorFact[]): TensorFact['type'] {
  const types = new Set(facts.flatMap(({ type }) => type ?? []))
  if (types.size > 1)
    fail('type-not-allowed', `the inputs have types ${[...types].join(', ')}; one type for all is expected`)
  return [...types][0]
}

function merge(a: Dim | undefined, b: Dim | undefined, what: string): Dim {
  if (a === undefined || b === undefined) return a ?? b ?? unknownDim()
  return meetDims(a, b) ?? fail('dims-mismatch', `${what} are ${printDim(a)} and ${printDim(b)}; expected the same`)
}
