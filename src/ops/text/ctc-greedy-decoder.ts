import { fail } from '../../errors.ts'
import { readNumbers } from '../../kernels/core/numbers.ts'
import { decodeGreedily } from '../../kernels/text/ctc.ts'
import { type DataDependent, type Op, params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, inputInt, optionalInput, type } from '../../op-kit/sources.ts'
import { FLOATS } from '../../op-kit/types.ts'
import { type Dim, meetDims, printShape, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { convertInto } from '../../tensor/convert.ts'
import type { DType } from '../../tensor/dtype.ts'
import { toIndices } from '../../tensor/elements.ts'
import { Tensor } from '../../tensor/tensor.ts'
import { checkBlank, checkedLength } from '../training/ctc-loss.ts'

/** Rules of {@link ctcGreedyDecoder}. */
const ctcGreedyDecoderRules = defineRules({
  name: 'CTCGreedyDecoder',
  operands: { scores: 'tensor', mask: 'tensor' },
  params: params<{ mergesRepeated: boolean }>(),
  openvino: [
    { since: 1, types: { scores: FLOATS, mask: FLOATS }, bind: { mergesRepeated: flag('ctc_merge_repeated') } }
  ],

  shape({ scores, mask }) {
    const [steps, batch] = shapesOf(scores, mask, 2)
    return [tensorFact(scores.type, [batch, steps, 1, 1])]
  }
})

/**
 * The best class of each step without repetitions and blanks, padded with -1: scores `[steps, batch, classes]` to class
 * numbers `[batch, steps, 1, 1]` of the scores' type. A sequence ends where its mask is 0; the last class is the blank.
 * OpenVINO CTCGreedyDecoder-1.
 */
const ctcGreedyDecoder = /* @__PURE__ */ withKernel(ctcGreedyDecoderRules, {
  *run({ scores, mask }, { mergesRepeated }, call) {
    const out = call.output()
    const [steps, batch, classes] = scores.dims
    const numbers = yield* readNumbers(scores)
    const masks = yield* readNumbers(mask)
    const found = new Int32Array(out.data.length).fill(-1)
    for (let b = 0; b < batch; b++) {
      let length = 0
      while (length < steps && masks[length * batch + b] !== 0) length++
      const sequence = { data: numbers, at: (step: number) => (step * batch + b) * classes, steps: length, classes }
      yield* decodeGreedily(sequence, classes - 1, mergesRepeated, found, b * steps)
      yield
    }
    convertInto(new Tensor('int32', found, out.dims), out)
  }
})

interface Params {
  /** Undefined: the last class. */
  blank: DataDependent<number | undefined>
  mergesRepeated: boolean
  classType: DType
  lengthType: DType
}

const INDEX: readonly DType[] = ['int32', 'int64']

/** Rules of {@link ctcGreedyDecoderSeqLen}. */
const ctcGreedyDecoderSeqLenRules = defineRules({
  name: 'CTCGreedyDecoderSeqLen',
  operands: { scores: 'tensor', lengths: 'tensor' },
  params: params<Params>(),
  openvino: [
    {
      since: 6,
      types: { scores: FLOATS, lengths: INDEX, blank: INDEX },
      bind: {
        blank: optionalInput(inputInt(2)),
        mergesRepeated: flag('merge_repeated'),
        classType: type('classes_index_type'),
        lengthType: type('sequence_length_type')
      }
    }
  ],

  shape({ scores, lengths }, { blank, classType, lengthType }, { outputCount }) {
    for (const each of [classType, lengthType]) {
      if (!INDEX.includes(each)) fail('type-not-allowed', `an output has type ${each}; int32 or int64 is expected`)
    }
    const [batch, steps] = shapesOf(scores, lengths, 1)
    checkBlank(blank, scores)
    return [tensorFact(classType, [batch, steps]), tensorFact(lengthType, [batch])].slice(0, outputCount)
  }
})

/**
 * As CTCGreedyDecoder, for scores `[batch, steps, classes]` and given lengths of sequences. Outputs: class numbers
 * `[batch, steps]`, and how many there are in each sequence. OpenVINO CTCGreedyDecoderSeqLen-6.
 */
const ctcGreedyDecoderSeqLen = /* @__PURE__ */ withKernel(ctcGreedyDecoderSeqLenRules, {
  *run({ scores, lengths }, p, call) {
    const [batch, steps, classes] = scores.dims
    const numbers = yield* readNumbers(scores)
    const lengthOf = toIndices(lengths)
    const found = new Int32Array(batch * steps).fill(-1)
    const counts = new Int32Array(batch)
    for (let b = 0; b < batch; b++) {
      const length = checkedLength('sequence', b, lengthOf[b], steps)
      const sequence = { data: numbers, at: (step: number) => (b * steps + step) * classes, steps: length, classes }
      counts[b] = yield* decodeGreedily(sequence, p.blank ?? classes - 1, p.mergesRepeated, found, b * steps)
      yield
    }
    for (const [i, values] of [found, counts].entries()) {
      if (!call.wanted(i)) continue
      const out = call.output(i)
      convertInto(new Tensor('int32', values, out.dims), out)
    }
  }
})

/** OpenVINO CTCGreedyDecoder and CTCGreedyDecoderSeqLen. */
export const ctcDecoderOps: readonly Op[] = [ctcGreedyDecoder, ctcGreedyDecoderSeqLen]

/** Rules of {@link ctcDecoderOps}. */
export const ctcDecoderRules: readonly Op[] = [ctcGreedyDecoderRules, ctcGreedyDecoderSeqLenRules]

/** The first two dims of the scores, checked against the first `shared` dims of the other operand. */
function shapesOf(scores: TensorFact, other: TensorFact, shared: 1 | 2): [Dim, Dim] {
  checkRank('the scores', scores, 3)
  checkRank(shared === 1 ? 'the list of lengths' : 'the mask', other, shared)
  if (scores.shape?.[2] === 0)
    fail('dims-mismatch', `the scores have shape ${printShape(scores.shape)}; at least one class is expected`)
  const dims = [0, 1].map(i => {
    const own = scores.shape?.[i] ?? unknownDim()
    const said = i < shared ? other.shape?.[i] : undefined
    return said === undefined
      ? own
      : (meetDims(own, said) ??
          fail(
            'dims-mismatch',
            `scores of shape ${printShape(scores.shape)} and sequences of shape ${printShape(other.shape)} do not fit`
          ))
  })
  return [dims[0], dims[1]]
}
