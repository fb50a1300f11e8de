import { elementwise, expanded, joined, reduced, transposed, unsqueezed } from '../../op-kit/conversion-kit.ts'
import { add, part, sub } from '../../op-kit/conversion-parts.ts'
import { counted, type Size, sizeAt, sizeList, sizeParameter } from '../../op-kit/conversion-sizes.ts'
import {
  type Conversions,
  type Made,
  opNamed,
  refuses,
  type SourceCall,
  toOnnx,
  typeOf,
  type Writer
} from '../../op-kit/conversion.ts'
import { ctcLoss } from '../training/ctc-loss.ts'
import { bifurcationDetector } from './bifurcation-detector.ts'
import { ctcDecoderOps } from './ctc-greedy-decoder.ts'
import { murmurHash3 } from './murmur-hash3.ts'
import { ngramHashMapping, varlenNGramHashMapping } from './ngram-hash-mapping.ts'
import { ngramRepeatBlock } from './ngram-repeat-block.ts'
import { regexFullMatch } from './regex-full-match.ts'
import { stringConcat } from './string-concat.ts'
import { stringNormalizer } from './string-normalizer.ts'
import { stringSplit } from './string-split.ts'
import { stringTensorPack, stringTensorUnpack } from './string-tensor.ts'
import { tfIdfVectorizer } from './tfidf-vectorizer.ts'
import { tokenizer } from './tokenizer.ts'

/** Classes that stay of a decoded sequence, and how many they are. */
interface Decoded {
  /** `[steps, batch]`, -1 behind the last one. */
  readonly classes: Made
  /** `[batch]`, int64. */
  readonly counts: Made
}

/**
 * The best class of each step without blanks and repetitions. What stays is scattered to the front of its sequence, the
 * rest behind its end, which is cut off.
 * @param best classes, `[steps, batch]`, int64
 * @param isWithin steps that belong to the sequence, `[steps, batch]`
 */
function decoded(call: SourceCall, w: Writer, best: Made, isWithin: Made, blank: Made): Decoded {
  const steps = sizeAt(w, best, 0)
  const one = w.constant('int64', [1])
  const none = w.scalar('int64', -1)
  const [shape, row] = [sizeList(w, [steps, sizeAt(w, best, 1)]), sizeList(w, [1, sizeAt(w, best, 1)])]
  const before = part(w, best, 0, 0, -1)
  const isNew = elementwise(w, 'Not', elementwise(w, 'Equal', best, joined(w, [expanded(w, none, row), before], 0)))
  const isClass = elementwise(w, 'And', isWithin, elementwise(w, 'Not', elementwise(w, 'Equal', best, blank)))
  const isKept = call.param<boolean>('mergesRepeated') ? elementwise(w, 'And', isClass, isNew) : isClass
  const kept = w.cast(isKept, 'int64')
  const places = sub(w, w.node('CumSum', [kept, w.scalar('int64', 0)]), one)
  const end = sizeList(w, [steps])
  const target = elementwise(w, 'Where', isKept, places, end)
  const empty = expanded(w, none, add(w, shape, w.constant('int64', [1, 0])))
  const found = w.node('ScatterElements', [empty, target, best], { axis: 0 })
  const classes = part(w, found, 0, 0, end)
  return { classes, counts: reduced(w, 'ReduceSum', kept, [0], false) }
}

/** Scores `[steps, batch, classes]`; a sequence ends where its mask is 0, and the last class is the blank. */
function greedyToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const [scores, mask] = [call.operand('scores'), call.operand('mask')]
  const best = bestOf(w, scores)
  const isOut = w.cast(elementwise(w, 'Equal', mask, w.scalar(typeOf(mask), 0)), 'int64')
  const ended = w.node('CumSum', [isOut, w.scalar('int64', 0)])
  const isWithin = elementwise(w, 'Equal', ended, w.scalar('int64', 0))
  const { classes } = decoded(call, w, best, isWithin, lastClass(w, sizeAt(w, scores, 2)))
  return [w.cast(unsqueezed(w, transposed(w, classes, [1, 0]), [2, 3]), typeOf(scores))]
}

const bestOf = (w: Writer, scores: Made): Made => w.node('ArgMax', [scores], { axis: 2, keepdims: 0 })

const lastClass = (w: Writer, classes: Size): Made =>
  typeof classes === 'number' ? w.scalar('int64', classes - 1) : sub(w, classes, w.constant('int64', [1]))

/** Scores `[batch, steps, classes]` and lengths of the sequences. */
function greedyByLengthToOnnx(call: SourceCall, w: Writer): readonly Made[] {
  const scores = call.operand('scores')
  const best = transposed(w, bestOf(w, scores), [1, 0])
  const steps = unsqueezed(w, counted(w, 0, sizeAt(w, scores, 1)), [1])
  const isWithin = elementwise(w, 'Less', steps, w.cast(call.operand('lengths'), 'int64'))
  const isLast = call.knows('blank') && call.param('blank') === undefined
  const given = isLast ? undefined : sizeParameter(call, 'blank', w)
  const blank =
    given === undefined
      ? lastClass(w, sizeAt(w, scores, 2))
      : typeof given === 'number'
        ? w.scalar('int64', given)
        : given
  const { classes, counts } = decoded(call, w, best, isWithin, blank)
  return [transposed(w, classes, [1, 0]), counts]
    .slice(0, call.outputCount)
    .map((each, i) => w.cast(each, call.param(i === 0 ? 'classType' : 'lengthType')))
}

const BYTES = 'ONNX has no operator on the bytes of strings'
const STRINGS = 'OpenVINO has no operator that looks into strings'
const HASHES = 'OpenVINO has no integers of 64 bits that wrap around, by which hashes are mixed, in its CPU plugin'
const TOKENS = 'the result depends on which tokens are found to be equal one after the other'

/** Operators on texts and on sequences of classes in words of the other dialect. */
export const textConversions: Conversions = {
  rules: [
    toOnnx(opNamed(ctcDecoderOps, 'CTCGreedyDecoder'), greedyToOnnx),
    toOnnx(opNamed(ctcDecoderOps, 'CTCGreedyDecoderSeqLen'), greedyByLengthToOnnx),
    refuses(ctcLoss, 'onnx', 'the sum over all alignments of a sequence; ONNX has no such loss'),
    ...[stringTensorPack, stringTensorUnpack].map(op => refuses(op, 'onnx', BYTES)),
    ...[tokenizer, stringSplit, stringConcat, stringNormalizer, regexFullMatch, tfIdfVectorizer].map(op =>
      refuses(op, 'openvino', STRINGS)
    ),
    ...[murmurHash3, ngramHashMapping, varlenNGramHashMapping].map(op => refuses(op, 'openvino', HASHES)),
    ...[bifurcationDetector, ngramRepeatBlock].map(op => refuses(op, 'openvino', TOKENS))
  ],
  leniencies: []
}
