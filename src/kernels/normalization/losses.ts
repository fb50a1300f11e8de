import { type Dim, maxDim } from '../../shapes/dim.ts'
import { convertInto } from '../../tensor/convert.ts'
import { type Numbers, toIndices } from '../../tensor/elements.ts'
import { positionOf, Tensor } from '../../tensor/tensor.ts'
import { type AxisLayout, axisLayout } from '../core/axis-layout.ts'
import { convertPaced } from '../core/convert-paced.ts'
import { doubles, readNumbers } from '../core/numbers.ts'
import { COST, inChunks } from '../core/pace.ts'
import { reportIndex } from '../gather/indices.ts'

/** How losses are made of the scores at labels. */
export interface LossRule {
  readonly reduction: 'none' | 'sum' | 'mean'
  /** A label with loss 0 and weight 0. */
  readonly ignored: number | undefined
}

/**
 * Indices of the classes that labels name.
 * @throws NodewiseError `index-out-of-range`, naming the first offender
 */
export function checkLabels(labels: Tensor, classes: Dim, ignored: number | undefined): Int32Array | Float64Array {
  const indices = toIndices(labels)
  const limit = maxDim(classes)
  let bad = -1
  for (let i = 0; i < indices.length && bad < 0; i++)
    if (indices[i] !== ignored && !(indices[i] >= 0 && indices[i] < limit)) bad = i
  if (bad >= 0) reportIndex(String(labels.data[bad]), positionOf(bad, labels.dims), 1, classes)
  return indices
}

/**
 * Writes `-score` at each label times the label's weight into `out`, or the sum or mean of all. A mean is divided by
 * the sum of the weights.
 * @param scores logarithms of probabilities, `[N, C, …]`
 */
export function* storeLoss(
  scores: Numbers,
  dims: readonly number[],
  labels: Tensor,
  weights: Tensor | undefined,
  { reduction, ignored }: LossRule,
  out: Tensor
): Generator<void> {
  const slices = axisLayout(dims, 1)
  const classes = checkLabels(labels, slices.size, ignored)
  const weightOf = classWeights(weights && (yield* readNumbers(weights)), ignored)
  const losses = doubles(classes.length)
  let [loss, total] = [0, 0]
  yield* inChunks(
    classes.length,
    (from, to) => {
      for (let i = from; i < to; i++) {
        const label = classes[i]
        const weight = weightOf(label)
        if (label !== ignored) losses[i] = -scores[offsetOf(slices, i, label)] * weight
        loss += losses[i]
        total += weight
      }
    },
    4 * COST.element
  )
  if (reduction === 'none') return yield* convertPaced(new Tensor('float64', losses, out.dims), out)
  if (reduction === 'mean') loss /= total
  convertInto(new Tensor('float64', Float64Array.of(loss), []), out)
}

const classWeights =
  (weights: Numbers | undefined, ignored: number | undefined) =>
  (label: number): number =>
    label === ignored ? 0 : weights ? weights[label] : 1

/** Index of the score of a label; `i` is the index of the label. */
const offsetOf = ({ size, inner }: AxisLayout, i: number, label: number): number =>
  (Math.floor(i / inner) * size + label) * inner + (i % inner)
