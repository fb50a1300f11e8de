import type { Label } from './look-up.ts'
import { largestOf, type PostTransform, transformScores, writeTwo } from './scores.ts'
import { mostVotes, type PairDecisions, type PairWork, probabilities } from './svm.ts'

/** Where a classifier writes the label of each row, and its scores. */
export interface Classified {
  readonly labels: { [row: number]: Label }
  readonly scores: Float32Array
}

/** A linear classifier: what is chosen from, and how many scores a row has. */
export interface LinearClasses {
  readonly labels: { readonly values: readonly Label[] }
  readonly columns: number
}

/**
 * Writes what a linear classifier makes of a row's products, one for each class or one for two.
 * @param products are written over
 */
export function classifyLinear(
  products: Float64Array,
  row: number,
  { labels, columns }: LinearClasses,
  post: PostTransform,
  to: Classified
): void {
  const vectors = products.length
  if (vectors === 1) to.labels[row] = labels.values[products[0] > 0 ? 1 : 0]
  else to.labels[row] = labels.values[largestOf(products, 0, vectors)]
  if (vectors < columns) writeTwo(products[0], 'one-minus', post, to.scores, row * columns)
  else {
    transformScores(products, 0, columns, post)
    writeRow(products, row, columns, to)
  }
}

/** A classifier by support vectors, with a decision between each two classes (libsvm). */
export interface PairClasses extends LinearClasses {
  readonly pairs: PairDecisions
  /** Parameters of Platt's sigmoids, where scores are to be probabilities. */
  readonly platt: { readonly a: readonly number[]; readonly b: readonly number[] } | undefined
}

/**
 * Writes what a classifier by support vectors makes of a row's decisions.
 * @param work has the row's decisions, which are written over
 */
export function classifyPairs(
  work: PairWork,
  row: number,
  { labels, columns, pairs, platt }: PairClasses,
  post: PostTransform,
  to: Classified
): void {
  to.labels[row] = labels.values[mostVotes(pairs.classes, work)]
  if (platt) probabilities(pairs.classes, work, platt.a, platt.b)
  const { decisions, ofClasses } = work
  if (!platt && pairs.classes === 2) {
    const first = post === 'SOFTMAX' || post === 'SOFTMAX_ZERO' ? 'one-minus' : 'minus'
    writeTwo(decisions[0], first, post, to.scores, row * columns)
    return
  }
  const own = platt ? ofClasses : decisions
  transformScores(own, 0, columns, post)
  writeRow(own, row, columns, to)
}

/** In a loop, since `set` takes longer to start than a few scores to write. */
function writeRow(from: Float64Array, row: number, columns: number, { scores }: Classified): void {
  for (let k = 0, at = row * columns; k < columns; k++, at++) scores[at] = from[k]
}
