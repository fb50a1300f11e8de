import { fail } from '../../errors.ts'
import { readNumbers, targetOf } from '../../kernels/core/numbers.ts'
import { logProbabilities, pathLogProbability } from '../../kernels/text/ctc.ts'
import { type DataDependent, params } from '../../op-kit/define.ts'
import { checkRank } from '../../op-kit/ranks.ts'
import { defineRules, withKernel } from '../../op-kit/rules.ts'
import { flag, inputInt, optionalInput } from '../../op-kit/sources.ts'
import { FLOATS } from '../../op-kit/types.ts'
import { type Dim, meetDims, printDim, printShape, unknownDim } from '../../shapes/dim.ts'
import { type TensorFact, tensorFact } from '../../shapes/fact.ts'
import { toIndices } from '../../tensor/elements.ts'

interface Params {
  /** Undefined: the last class. */
  blank: DataDependent<number | undefined>
  /**
   * Preprocessing of labels: repetitions are merged (`collapses`), or only the first of each class is kept (`unique`).
   */
  collapses: boolean
  unique: boolean
  /** Whether repetitions in a path are merged. */
  mergesRepeated: boolean
}

const INDEX = ['int32', 'int64'] as const

/** Rules of {@link ctcLoss}. */
export const ctcLossRules = defineRules({
  name: 'CTCLoss',
  operands: { logits: 'tensor', lengths: 'tensor', labels: 'tensor', labelLengths: 'tensor' },
  params: params<Params>(),
  openvino: [
    {
      since: 4,
      types: { logits: FLOATS, lengths: INDEX, labels: INDEX, labelLengths: INDEX, blank: INDEX },
      bind: {
        blank: optionalInput(inputInt(4)),
        collapses: flag('preprocess_collapse_repeated'),
        unique: flag('unique'),
        mergesRepeated: flag('ctc_merge_repeated')
      }
    }
  ],

  shape({ logits, lengths, labels, labelLengths }, { blank }) {
    checkRank('logits', logits, 3)
    checkRank('labels', labels, 2)
    checkRank('the list of lengths', lengths, 1)
    checkRank('the list of label lengths', labelLengths, 1)
    const batch = meetAll('the batch', {
      logits: logits.shape?.[0],
      lengths: lengths.shape?.[0],
      labels: labels.shape?.[0],
      'label lengths': labelLengths.shape?.[0]
    })
    meetAll('the number of steps', { logits: logits.shape?.[1], labels: labels.shape?.[1] })
    checkBlank(blank, logits)
    return [tensorFact(logits.type, [batch])]
  }
})

/** The negative logarithm of the probability that a sequence of logits decodes to its labels. OpenVINO CTCLoss-4. */
export const ctcLoss = /* @__PURE__ */ withKernel(ctcLossRules, {
  *run({ logits, lengths, labels, labelLengths }, p, call) {
    const [batch, steps, classes] = logits.dims
    const blank = p.blank ?? classes - 1
    const target = targetOf(call.output())
    const numbers = yield* readNumbers(logits)
    const [lengthOf, labelLengthOf, labelAt] = [lengths, labelLengths, labels].map(toIndices)
    for (let b = 0; b < batch; b++) {
      const length = checkedLength('sequence', b, lengthOf[b], steps)
      const own = [...labelAt.subarray(b * steps, b * steps + checkedLength('label list', b, labelLengthOf[b], length))]
      checkLabels(own, b, classes, blank)
      const logs = yield* logProbabilities(numbers, b * steps * classes, length, classes)
      target.numbers[b] = -(yield* pathLogProbability(logs, classes, prepared(own, p), blank, p.mergesRepeated))
      yield
    }
    yield* target.finish()
  }
})

function meetAll(what: string, dims: Readonly<Record<string, Dim | undefined>>): Dim {
  let met: Dim | undefined
  for (const [name, dim] of Object.entries(dims)) {
    if (dim === undefined) continue
    const next: Dim | undefined = met === undefined ? dim : meetDims(met, dim)
    if (next === undefined)
      fail('dims-mismatch', `${what} is ${printDim(dim)} in ${name}; ${printDim(met!)} is expected`)
    met = next
  }
  return met ?? unknownDim()
}

/** @throws NodewiseError `value-out-of-range` */
export function checkBlank(blank: Dim | undefined, scores: TensorFact): void {
  const classes = scores.shape?.[2]
  if (typeof blank !== 'number' || typeof classes !== 'number' || (blank >= 0 && blank < classes)) return
  fail(
    'value-out-of-range',
    `the blank class is ${blank} of ${classes}, scores being of shape ${printShape(scores.shape)}`
  )
}

/** @throws NodewiseError `value-out-of-range` */
export function checkedLength(what: string, index: number, length: number, highest: number): number {
  return length >= 0 && length <= highest
    ? length
    : fail('value-out-of-range', `the length of ${what} ${index} is ${length}; expected 0..${highest}`)
}

function checkLabels(labels: readonly number[], row: number, classes: number, blank: number): void {
  for (const label of labels) {
    if (label >= 0 && label < classes && label !== blank) continue
    fail(
      'value-out-of-range',
      `label ${label} of row ${row} is no class below ${classes} other than the blank ${blank}`
    )
  }
}

function prepared(
  labels: readonly number[],
  { collapses, unique }: Pick<Params, 'collapses' | 'unique'>
): readonly number[] {
  if (unique) return [...new Set(labels)]
  return collapses ? labels.filter((label, i) => i === 0 || label !== labels[i - 1]) : labels
}
